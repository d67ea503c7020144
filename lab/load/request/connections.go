package request

import (
	"crypto/tls"
	"net/http"
)

// Connections are those of all users to all servers, as the settings share them.
type Connections struct {
	open   func() *http.Transport
	shared *http.Transport   // nil: each user has its own
	users  []*http.Transport // of those who have sent a request
}

// Open makes transports for so many users. base gives one for all users by HTTP/1.1, with the caller's way to connect
// and its limits; the settings change it.
func (s *Settings) Open(base func() *http.Transport, users int) (*Connections, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if given := base().TLSClientConfig; given != nil {
		config = given.Clone()
	}
	if err := s.TLS.Apply(config); err != nil {
		return nil, err
	}
	c := &Connections{open: func() *http.Transport {
		t := base()
		t.TLSClientConfig, t.Protocols = config, new(http.Protocols)
		if s.Version == HTTP2 {
			// the transport adds the protocol's name to its configuration
			t.TLSClientConfig = config.Clone()
			t.Protocols.SetHTTP2(true)
			t.Protocols.SetUnencryptedHTTP2(true)
		} else {
			t.Protocols.SetHTTP1(true)
		}
		if n := s.PerUser(); n > 0 {
			t.MaxConnsPerHost, t.MaxIdleConnsPerHost, t.IdleConnTimeout = n, n, ownIdle
		}
		return t
	}}
	if s.PerUser() == 0 {
		c.shared = c.open()
	} else {
		c.users = make([]*http.Transport, users)
	}
	return c, nil
}

// Of a user, who sends one operation's requests at a time.
func (c *Connections) Of(user int) *http.Transport {
	if c.shared != nil {
		return c.shared
	}
	if c.users[user] == nil {
		c.users[user] = c.open()
	}
	return c.users[user]
}

// Drop closes a user's own connections; those that all share stay.
func (c *Connections) Drop(user int) {
	if c.shared == nil && c.users[user] != nil {
		c.users[user].CloseIdleConnections()
	}
}

// Close all that are not in use.
func (c *Connections) Close() {
	if c == nil {
		return
	}
	if c.shared != nil {
		c.shared.CloseIdleConnections()
	}
	for _, t := range c.users {
		if t != nil {
			t.CloseIdleConnections()
		}
	}
}
