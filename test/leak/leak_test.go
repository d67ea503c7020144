package leak

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/test/patience"
)

func TestLeftWaitsForGoroutinesToEnd(t *testing.T) {
	for _, test := range []struct {
		name  string
		after time.Duration
		leaks bool
	}{
		{"NoneIsLeft", 0, false},
		{"TheLastEndsLate", patience.Max - time.Second, false},
		{"OneNeverEnds", 2 * patience.Max, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				err := left(func() error {
					if time.Since(begun) < test.after {
						return errors.New("one is left")
					}
					return nil
				})
				if (err != nil) != test.leaks {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
