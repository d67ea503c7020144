package run

import (
	"testing"
	"time"
)

// The log of the database is that of all workers: without one of them it cannot be divided by the requests.
func TestProfiles_Complete(t *testing.T) {
	began := time.Unix(0, 0)
	two := profiles{"http://a": {Started: began}, "http://b": {Started: began}}
	for name, c := range map[string]struct {
		after profiles
		want  bool
	}{
		"Both":       {profiles{"http://a": {Started: began}, "http://b": {Started: began}}, true},
		"OneIsMute":  {profiles{"http://a": {Started: began}}, false},
		"Another":    {profiles{"http://a": {Started: began}, "http://c": {Started: began}}, false},
		"OneMore":    {profiles{"http://a": {}, "http://b": {}, "http://c": {}}, false},
		"StartedNew": {profiles{"http://a": {Started: began}, "http://b": {Started: began.Add(time.Second)}}, false},
	} {
		if got := c.after.complete(two); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
