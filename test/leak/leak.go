// Package leak owns the end of a test binary that must leave no goroutine behind.
//
//	func TestMain(m *testing.M) { leak.Main(m) }
//
// goleak alone gives goroutines that are about to end half a second, too little on a machine that stands still.
package leak

import (
	"fmt"
	"os"

	"go.uber.org/goleak"

	"plimsoll/test/patience"
)

// Main runs the tests like goleak.VerifyTestMain, and waits with patience for goroutines to end.
func Main(m goleak.TestingM, options ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		if err := left(func() error { return goleak.Find(options...) }); err != nil {
			fmt.Fprintf(os.Stderr, "leak: goroutines are left behind: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// left is what find still finds after long waiting.
func left(find func() error) (err error) {
	patience.Holds(func() bool {
		err = find()
		return err == nil
	})
	return err
}
