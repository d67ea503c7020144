package request

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"
)

// Defaults of Settings.
const (
	RedirectsDefault   = 10
	ConnectionsDefault = Shared
	VersionDefault     = HTTP1
)

// Settings of all requests. They travel to agents as JSON, the content of files with them.
type Settings struct {
	// Cookieless users keep no cookies.
	Cookieless bool `json:"cookieless,omitempty"`
	// Redirects that a request follows at most; nil: RedirectsDefault, 0: a redirect is the answer.
	Redirects *int `json:"redirects,omitempty"`
	// Connections says whose they are. Defaults to ConnectionsDefault.
	Connections Sharing `json:"connections,omitempty"`
	// Version of HTTP. Defaults to VersionDefault.
	Version Version `json:"version,omitempty"`
	// Headers of every request that has none of the same name. They are templates; one with a variable that is not set
	// yet, as a token before the log-in, is left out.
	Headers map[string]string `json:"headers,omitempty"`
	// Auth, if not nil, is sent to the base address, and wherever requests go when there is none.
	Auth *Auth `json:"auth,omitempty"`
	TLS  *TLS  `json:"tls,omitempty"`
}

// RedirectsMost is how many redirects a request follows.
func (s *Settings) RedirectsMost() int {
	if s.Redirects == nil {
		return RedirectsDefault
	}
	return *s.Redirects
}

// Sharing says whose connections are.
type Sharing string

const (
	// Shared by all users: as many as requests are under way. A user who thinks holds none.
	Shared Sharing = "shared"
	// OfUser is one for each user, which stays open while the user thinks.
	OfUser Sharing = "user"
	// OfBrowser is up to browserConnections for each user, who needs more than one only for resources.
	OfBrowser Sharing = "browser"
)

// Sharings are all of them.
var Sharings = []Sharing{Shared, OfUser, OfBrowser}

const (
	// browserConnections is how many connections to a server a browser opens with HTTP/1.1, and how many resources it
	// loads at once.
	browserConnections = 6
	// ownIdle is how long a user's own connection stays open unused. Servers close theirs sooner.
	ownIdle = 5 * time.Minute
)

// PerUser is how many connections to one server a user has at most; 0: users have none of their own.
func (s *Settings) PerUser() int {
	switch {
	case s.Connections == OfBrowser && s.Version != HTTP2:
		return browserConnections
	case s.Connections == OfBrowser, s.Connections == OfUser:
		return 1
	}
	return 0
}

// Version of HTTP.
type Version string

const (
	HTTP1 Version = "1.1"
	// HTTP2 is HTTP/2 alone: by ALPN over TLS, and with prior knowledge without.
	HTTP2 Version = "2"
)

// Versions are all of them.
var Versions = []Version{HTTP1, HTTP2}

// Auth is what a request proves its user by; one of both.
type Auth struct {
	Basic  string `json:"basic,omitempty"`  // template of name:password
	Bearer string `json:"bearer,omitempty"` // template of a token
}

// TLS says whom connections trust and what they show. All files are in PEM.
type TLS struct {
	CA          []byte `json:"ca,omitempty"` // trusted authorities instead of the system's
	Certificate []byte `json:"certificate,omitempty"`
	Key         []byte `json:"key,omitempty"`
	Insecure    bool   `json:"insecure,omitempty"`    // any certificate is trusted
	ServerName  string `json:"server_name,omitempty"` // asked for and expected instead of the address's host
}

// Apply the options to a configuration.
func (t *TLS) Apply(c *tls.Config) error {
	if t == nil {
		return nil
	}
	if len(t.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.CA) {
			return errors.New("ca contains no certificate in PEM")
		}
	}
	if len(t.Certificate) > 0 || len(t.Key) > 0 {
		if len(t.Certificate) == 0 || len(t.Key) == 0 {
			return errors.New("certificate and key belong together")
		}
		own, err := tls.X509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return err
		}
		c.Certificates = []tls.Certificate{own}
	}
	c.InsecureSkipVerify, c.ServerName = t.Insecure, t.ServerName
	return nil
}
