package agents

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"plimsoll/ground/problem"
)

const (
	connectWithin = 5 * time.Second
	readyWithin   = 10 * time.Second
	reconnectWait = 250 * time.Millisecond
	// payloadMax holds the page of a second in which half a million operations ended.
	payloadMax = 8 << 20
)

// Access is how coordinator and agents reach each other.
type Access struct {
	Token string
	// Files in PEM. CA must have signed the other side's certificate; Cert and Key are this side's.
	CA, Cert, Key string
}

// IsTLS reports whether the connection must be encrypted.
func (a Access) IsTLS() bool { return a.CA != "" || a.Cert != "" || a.Key != "" }

func (a Access) tls(isServer bool) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if (a.Cert == "") != (a.Key == "") || isServer && a.Cert == "" {
		return nil, problem.New(problem.Usage, errors.New("a certificate needs its key, and a listener needs both"),
			"give --tls-cert and --tls-key")
	}
	if a.Cert != "" {
		own, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, problem.New(problem.Usage, fmt.Errorf("read certificate: %w", err), "")
		}
		c.Certificates = []tls.Certificate{own}
	}
	if a.CA == "" {
		return c, nil
	}
	text, err := os.ReadFile(a.CA)
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(text) {
		err = errors.New("it contains no certificate")
	}
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read certificates of %s: %w", a.CA, err), "")
	}
	c.RootCAs, c.ClientCAs = pool, pool
	if isServer {
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// listen starts a NATS server inside this process.
func listen(address string, a Access, coordinator string) (*server.Server, error) {
	host, portText, err := net.SplitHostPort(address)
	port, portErr := strconv.Atoi(portText)
	if err = errors.Join(err, portErr); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("address %q: %w", address, err),
			"such as 127.0.0.1:4222; port 0 takes a free one")
	}
	if err := Secure(address, a); err != nil {
		return nil, err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{Host: host, Port: port, NoSigs: true, NoLog: true,
		CustomClientAuthentication: rights{a.Token, coordinator},
		// Defaults to two seconds, less than a client waits.
		AuthTimeout: 2 * connectWithin.Seconds(),
		MaxPayload:  payloadMax, MaxPending: 8 * payloadMax}
	if a.IsTLS() {
		if o.TLSConfig, err = a.tls(true); err != nil {
			return nil, err
		}
		o.TLS, o.TLSTimeout = true, connectWithin.Seconds()
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("listen for agents: %w", err), "")
	}
	// the server itself would only log it and end the process
	free, err := net.Listen("tcp", net.JoinHostPort(host, portText))
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("listen for agents: %w", err),
			"choose another address with --agents-listen; port 0 takes a free one")
	}
	free.Close()
	s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return nil, problem.New(problem.Environment,
			fmt.Errorf("listen for agents at %s: not ready after %v", address, readyWithin), "")
	}
	return s, nil
}

// dial connects to a NATS server; me is the id of an agent, and empty for the coordinator.
func dial(url, me string, a Access) (*nats.Conn, error) {
	if err := Secure(url, a); err != nil {
		return nil, err
	}
	name := "plimsoll coordinator"
	if me != "" {
		name = "plimsoll agent"
	}
	options := []nats.Option{
		nats.Name(name), nats.Timeout(connectWithin), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		// lost messages show as silence
		nats.ReconnectJitter(0, 0), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if a.Token != "" {
		options = append(options, nats.Token(a.Token))
	}
	if me != "" {
		options = append(options, nats.CustomInboxPrefix(inboxOf(me)),
			func(o *nats.Options) error { o.User = me; return nil }) // with the token: whose permissions it has
	}
	if a.IsTLS() {
		secure, err := a.tls(false)
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Secure(secure))
	}
	conn, err := nats.Connect(url, options...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, problem.New(problem.Usage, fmt.Errorf("%s rejects the token", url),
			"give the coordinator's: PLIMSOLL_TOKEN, or --token")
	case err != nil:
		return nil, problem.New(problem.Environment, fmt.Errorf("reach %s: %w", url, err), "")
	}
	return conn, nil
}
