package run

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/platform/worker/secret"
	"plimsoll/platform/worker/server"
)

// Access is how protected application servers are reached. It is never sent or stored: each process reads its own
// files.
type Access struct {
	// Password of all users; empty if none is required.
	Password string
	// Roots are the trusted certificate authorities; nil means the system's.
	Roots *x509.CertPool
	// FiguresToken is sent when asking workers for their figures.
	FiguresToken string
	// Insecure sends both unencrypted to other machines.
	Insecure bool
}

// Check that no secret is sent in clear to another machine.
func (a Access) Check(urls []string) error {
	for _, one := range urls {
		if u, err := url.Parse(one); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return problem.New(problem.Usage, fmt.Errorf("--url: %q is not a URL", one),
				"such as --url http://10.0.0.5:8080")
		}
	}
	if a.Insecure || a.Password == "" && a.FiguresToken == "" {
		return nil
	}
	for _, url := range urls {
		if Unencrypted(url) {
			return problem.New(problem.Usage, fmt.Errorf("--url %s: the password or token would be sent unencrypted "+
				"to another machine", url), "reach it by https, or add --insecure on an isolated network")
		}
	}
	return nil
}

// Unencrypted says that requests to an address leave this machine unencrypted.
func Unencrypted(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	return !process.Loopback(u.Hostname())
}

// AccessFiles name the files that hold an Access; empty: there is none.
type AccessFiles struct {
	Password, Roots, FiguresToken string
	Insecure                      bool
}

// Read the files.
func (f AccessFiles) Read() (a Access, err error) {
	a.Insecure = f.Insecure
	if f.Password != "" {
		if a.Password, err = secret.File(f.Password); err != nil {
			return a, err
		}
	}
	if f.FiguresToken != "" {
		if a.FiguresToken, err = secret.File(f.FiguresToken); err != nil {
			return a, err
		}
	}
	if f.Roots == "" {
		return a, nil
	}
	text, err := os.ReadFile(f.Roots)
	if a.Roots = x509.NewCertPool(); err == nil && !a.Roots.AppendCertsFromPEM(text) {
		err = errors.New("it contains no certificate")
	}
	if err != nil {
		err = problem.New(problem.Usage, fmt.Errorf("read certificates of %s: %w", f.Roots, err), "")
	}
	return a, err
}

func (a Access) tls() *tls.Config {
	if a.Roots == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.Roots}
}

// client for occasional requests.
func (a Access) client() *http.Client {
	if a.Roots == nil {
		return http.DefaultClient
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: a.tls(), DisableKeepAlives: true}}
}

func (a Access) asker() server.Asker { return server.Asker{Client: a.client(), Token: a.FiguresToken} }
