package cli

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plimsoll/lab/view/metrics"
	"plimsoll/test/certificate"
	"plimsoll/test/loopback"
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

// TestMetricsOffLoopbackNeedATokenAndTLS by the class of the address; 0.0.0.0 and no host at all are all addresses.
func TestMetricsOffLoopbackNeedATokenAndTLS(t *testing.T) {
	whole := figureOptions{token: "t", cert: "c", key: "k"}
	for _, address := range []string{"127.0.0.1:9187", "127.3.2.1:0", "[::1]:9187", "localhost:9187"} {
		if err := (figureOptions{metrics: address}).check(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"0.0.0.0:9187", ":9187", "[::]:9187", "10.0.0.5:9187", "192.168.1.1:0",
		"169.254.1.1:9187", "[fe80::1]:9187", "[::ffff:10.0.0.5]:9187", "example.org:9187"} {
		for name, c := range map[string]struct {
			o       figureOptions
			refused string
		}{
			"NoToken":         {figureOptions{cert: "c", key: "k"}, "no token is set"},
			"NoTokenInsecure": {figureOptions{insecure: true}, "no token is set"},
			"NoTLS":           {figureOptions{token: "t"}, "the token would be sent unencrypted"},
			"Insecure":        {figureOptions{token: "t", insecure: true}, ""},
			"Both":            {whole, ""},
			"NoKey":           {figureOptions{token: "t", cert: "c"}, "a certificate needs its key"},
		} {
			c.o.metrics = address
			if err := c.o.check(); (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(),
				c.refused) {
				t.Errorf("%s, %s: %v, want %q", name, address, err, c.refused)
			}
		}
	}
}

// TestHeadersOfACollectorAreNotSentInClear to another machine.
func TestHeadersOfACollectorAreNotSentInClear(t *testing.T) {
	t.Setenv(metrics.PushHeaders, "Authorization=Bearer%20secret")
	for address, refused := range map[string]bool{"http://10.0.0.5:4318": true, "https://10.0.0.5:4318": false,
		"http://127.0.0.1:4318": false} {
		if err := (figureOptions{otlp: address}).check(); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := (figureOptions{otlp: "http://10.0.0.5:4318", insecure: true}).check(); err != nil {
		t.Error(err)
	}
}

// TestFiguresOfARunAreEncrypted: a client without TLS gets nothing.
func TestFiguresOfARunAreEncrypted(t *testing.T) {
	authority := certificate.New(t)
	o := figureOptions{metrics: loopback.Address(t), token: "token of the figures"}
	o.cert, o.key = authority.Issue(t, "metrics")
	end, err := serveFigures(&metrics.Live{}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	get := func(scheme string) (int, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+o.metrics+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+o.token)
		// The certificate is of 127.0.0.1, the address of this process's own.
		transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12,
			RootCAs: authority.Pool(), ServerName: "127.0.0.1"}}
		defer transport.CloseIdleConnections()
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	if status, err := get("https"); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
	if status, err := get("http"); err == nil && status != http.StatusBadRequest {
		t.Errorf("in clear: %d", status)
	}
	o.metrics, o.cert = "127.0.0.1:0", o.key
	if _, err := serveFigures(&metrics.Live{}, o); err == nil {
		t.Error("it takes a key for a certificate")
	}
}
