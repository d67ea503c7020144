package trial_test

import (
	"testing"
	"time"

	"plimsoll/lab/prove/trial"
)

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{20 * time.Minute: "20m", 10 * time.Hour: "10h",
		90 * time.Second: "1m30s"} {
		if got := trial.Length(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
