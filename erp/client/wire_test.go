package client

import (
	"bytes"
	"strings"
	"testing"
)

// TestAFailureKeepsItsSQLState checks that reports can find the SQLSTATE of the database's error in the text.
func TestAFailureKeepsItsSQLState(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{500, `{"error":{"code":"internal","message":"oops","sqlstate":"42P01"}}`,
			"status 500: internal: oops (SQLSTATE 42P01)"},
		{503, `{"error":{"code":"unavailable","message":"busy","sqlstate":"40P01"}}`,
			"the worker answered 503: unavailable (SQLSTATE 40P01)"},
		{503, `{"error":{"code":"overloaded","message":"full"}}`, "the worker answered 503: overloaded"},
	} {
		r := &response{status: c.status, body: bytes.NewBuffer([]byte(c.body))}
		if _, err := r.outcome(); err == nil || strings.TrimSpace(err.Error()) != c.want {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
}
