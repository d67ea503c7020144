package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"plimsoll/lab/view/metrics"
)

// TestFiguresOfARunNeedTheirToken over HTTP, whoever asks, once there is one.
func TestFiguresOfARunNeedTheirToken(t *testing.T) {
	const token = "token of the figures"
	for name, c := range map[string]struct {
		known, header string
		status        int
	}{
		"NoneIsAskedFor": {"", "", http.StatusOK},
		"None":           {token, "", http.StatusUnauthorized},
		"Another":        {token, "Bearer another", http.StatusUnauthorized},
		"NotAsABearer":   {token, token, http.StatusUnauthorized},
		"Empty":          {token, "Bearer ", http.StatusUnauthorized},
		"Right":          {token, "Bearer " + token, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(figureOptions{token: c.known}.handler(&metrics.Live{}))
			defer web.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			answer, err := web.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != c.status {
				t.Errorf("%d, want %d", answer.StatusCode, c.status)
			}
		})
	}
}
