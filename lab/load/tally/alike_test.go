package tally

import "testing"

func TestAlike_LeavesOutWhatDiffersEachTime(t *testing.T) {
	for text, want := range map[string]string{
		"read tcp 127.0.0.1:43210->127.0.0.1:8080: connection reset by peer": "read tcp 127.0.0.1->127.0.0.1:8080: " +
			"connection reset by peer",
		"read tcp [::1]:43210->[::1]:8080: EOF":               "read tcp [::1]->[::1]:8080: EOF",
		"no document 0199c0de-1234-7abc-8def-0123456789ab":    "no document ID",
		"no document 0199c0de12347abc8def0123456789ab, sorry": "no document ID, sorry",
		"ERROR: duplicate key value (SQLSTATE 23505)":         "ERROR: duplicate key value (SQLSTATE 23505)",
		"dial tcp 127.0.0.1:5432: refused":                    "dial tcp 127.0.0.1:5432: refused",
		"status 503: overloaded, again in 12 s":               "status 503: overloaded, again in 12 s",
	} {
		if got := comparableText(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
