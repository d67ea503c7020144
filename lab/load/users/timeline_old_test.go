//go:build !go1.25

package users

import "testing"

func TestTimeline(t *testing.T) {
	t.Skip("the timelines need Go 1.25 or newer (testing/synctest)")
}
