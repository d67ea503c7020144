package usl_test

import (
	"fmt"

	"plimsoll/lab/line/usl"
)

// Throughput that was measured at six numbers of users tells where it would peak.
func ExampleOf() {
	law := usl.Law{Gamma: 10, Sigma: 0.02, Kappa: 0.0001}
	var measured []usl.Point
	for _, n := range []float64{1, 10, 25, 50, 100, 200} {
		measured = append(measured, usl.Point{N: n, X: law.At(n)})
	}
	fit, err := usl.Of(measured, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("one user asks for %.0f/s; the highest throughput is at %.0f users\n", fit.Gamma, fit.Peak())
	// Output: one user asks for 10/s; the highest throughput is at 99 users
}
