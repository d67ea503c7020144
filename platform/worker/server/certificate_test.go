package server

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/test/certificate"
)

// trusting is a client at 127.0.0.n that trusts the authority.
func trusting(t *testing.T, a *certificate.Authority, n byte) *http.Client {
	by := from(t, n)
	by.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: a.Pool()}
	return by
}

func TestCertificateIsReadAnew(t *testing.T) {
	a, log := certificate.New(t), &logged{}
	cert, key := a.Issue(t, "worker")
	config, err := TLS(cert, key, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	b := serving(t, Config{TLS: config}, func(l net.Listener) net.Listener { return l })
	shown := func(most uint16) (string, error) {
		c, err := tls.Dial("tcp", strings.TrimPrefix(b.url, "https://"), &tls.Config{RootCAs: a.Pool(),
			MaxVersion: most})
		if err != nil {
			return "", err
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
	}
	written := 0
	date := func() { // however fast the test is
		written++
		for _, name := range []string{cert, key} {
			at := time.Unix(1_700_000_000+int64(written), 0)
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, err := shown(0)
	if err != nil {
		t.Fatal(err)
	}
	a.Issue(t, "worker")
	date()
	second, err := shown(0)
	if err != nil || second == first {
		t.Errorf("the earlier certificate is shown, %v", err)
	}
	if err := os.WriteFile(key, []byte("half of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	date()
	if still, err := shown(0); still != second || err != nil {
		t.Errorf("certificate %s, %v; want %s", still, err, second)
	}
	if !strings.Contains(log.String(), "the earlier one stays") {
		t.Errorf("log: %s", log)
	}
	a.Issue(t, "worker")
	date()
	if third, err := shown(0); third == second || err != nil {
		t.Errorf("not read after it was put right, %v", err)
	}
	if _, err := shown(tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 was taken")
	}
	if status, _, body := b.logIn(t, trusting(t, a, 1), ""); status != http.StatusCreated {
		t.Errorf("log in: %d %s", status, body)
	}
}

func TestCertificateMustFit(t *testing.T) {
	a := certificate.New(t)
	cert, key := a.Issue(t, "one")
	_, other := a.Issue(t, "other")
	if _, err := TLS(cert, other, slog.Default()); err == nil {
		t.Error("a key of another certificate was taken")
	}
	if _, err := TLS(filepath.Join(t.TempDir(), "none"), key, slog.Default()); err == nil {
		t.Error("a certificate that is missing was taken")
	}
}
