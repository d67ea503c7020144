package run

import "testing"

// TestNoSecretLeavesTheMachineInClear unless that is asked for.
func TestNoSecretLeavesTheMachineInClear(t *testing.T) {
	protected, open := Access{Password: "correct horse battery"}, Access{}
	for _, c := range []struct {
		url     string
		refused bool
	}{
		{"http://127.0.0.1:8080", false}, {"http://127.9.8.7:8080", false}, {"http://[::1]:8080", false},
		{"http://localhost:8080", false}, {"https://10.0.0.5:8080", false}, {"https://example.org", false},
		{"http://10.0.0.5:8080", true}, {"http://[fe80::1]:8080", true}, {"http://0.0.0.0:8080", true},
		{"http://example.org", true}, {"http://127.0.0.1.example.org", true}, {"http://localhost.example.org", true},
		{"http://127.0.0.1@example.org", true},
	} {
		for name, a := range map[string]Access{"password": protected, "token": {FiguresToken: "t"}} {
			if err := a.Check([]string{"https://127.0.0.1", c.url}); (err != nil) != c.refused {
				t.Errorf("%s to %s: %v", name, c.url, err)
			}
			if a.Insecure = true; a.Check([]string{c.url}) != nil {
				t.Errorf("%s to %s is refused though it was asked for", name, c.url)
			}
		}
		if err := open.Check([]string{c.url}); err != nil {
			t.Errorf("nothing to %s: %v", c.url, err)
		}
	}
}
