package run

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	"plimsoll/platform/problem"
	"plimsoll/platform/secret"
	"plimsoll/platform/server"
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
}

// ReadAccess reads the named files.
func ReadAccess(passwordFile, rootsFile, tokenFile string) (a Access, err error) {
	if passwordFile != "" {
		if a.Password, err = secret.File(passwordFile); err != nil {
			return a, err
		}
	}
	if tokenFile != "" {
		if a.FiguresToken, err = secret.File(tokenFile); err != nil {
			return a, err
		}
	}
	if rootsFile == "" {
		return a, nil
	}
	text, err := os.ReadFile(rootsFile)
	if a.Roots = x509.NewCertPool(); err == nil && !a.Roots.AppendCertsFromPEM(text) {
		err = errors.New("it contains no certificate")
	}
	if err != nil {
		err = problem.New(problem.Usage, fmt.Errorf("read certificates of %s: %w", rootsFile, err), "")
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
