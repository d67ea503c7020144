package peers

import (
	"fmt"
	"os/exec"
	"strconv"
)

// Oha from crates.io. Its workers do not think.
var Oha = Tool{Name: "oha", Version: ohaVersion, Install: ohaFromCargo, Command: ohaCommand, Read: ohaReport}

func ohaCommand(program string, j Job) (*exec.Cmd, error) {
	arguments := []string{"--no-tui", "--output-format", "json", "--output", j.Path("oha.json"), "-c",
		strconv.Itoa(j.Users), "-z", fmt.Sprintf("%gs", j.Lasting.Seconds())}
	if j.Rate > 0 { // its own cure for what is due while the server stands still
		arguments = append(arguments, "-q", fmt.Sprintf("%g", j.Rate), "--latency-correction")
	}
	cmd := exec.Command(program, append(arguments, "-H", "Authorization: Bearer bench", j.Base+"/v1/cards/7")...)
	cmd.Env = j.environment()
	return cmd, nil
}

func ohaReport(j Job) (o Report, err error) {
	var r struct {
		Summary                struct{ Average, Slowest float64 } // seconds, as the percentiles
		LatencyPercentiles     struct{ P50, P95, P99 float64 }
		StatusCodeDistribution map[string]int64
		ErrorDistribution      map[string]int64
	}
	if err := readJSON(j.Path("oha.json"), &r); err != nil {
		return o, err
	}
	o = Report{Mean: 1000 * r.Summary.Average, P50: 1000 * r.LatencyPercentiles.P50,
		P95: 1000 * r.LatencyPercentiles.P95, P99: 1000 * r.LatencyPercentiles.P99, Max: 1000 * r.Summary.Slowest}
	for status, n := range r.StatusCodeDistribution {
		if status < "400" {
			o.Answers += n
		} else {
			o.Failed += n
		}
	}
	for why, n := range r.ErrorDistribution {
		if why != ohaEnd {
			o.Failed += n
		}
	}
	return o, nil
}

// ohaEnd is how oha counts what is under way when its time is over.
const ohaEnd = "aborted due to deadline"
