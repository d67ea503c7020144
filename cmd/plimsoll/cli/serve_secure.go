package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/platform/worker/secret"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// secureOptions say who may log in to a worker, how, and how often.
type secureOptions struct {
	insecure, passwords bool
	cert, key           string
	limits              server.Limits
	sessionIdle         time.Duration
	figuresToken        string
}

func (o *secureOptions) flags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.passwords, "passwords", false, "users log in with their password, which 'plimsoll passwd' sets")
	fs.StringVar(&o.cert, "tls-cert", "", "`FILE` with the certificate; encrypts all connections; a changed file is "+
		"read again")
	fs.StringVar(&o.key, "tls-key", "", "`FILE` with the private key of --tls-cert")
	fs.BoolVar(&o.insecure, "insecure", false, "listen on other addresses than loopback without --passwords or TLS")
	config.Count(fs, &o.limits.AddressSessions, "address-sessions", 0, 0, 1000000, fmt.Sprintf("maximum sessions from "+
		"one client address; 0: %d, without limit from this machine", server.AddressSessionsDefault))
	config.Count(fs, &o.limits.AddressLogins, "address-logins", 0, 0, 1000000, fmt.Sprintf("maximum log-ins per "+
		"second from one client address; 0: %d, without limit from this machine", server.AddressLoginsDefault))
	config.Count(fs, &o.limits.UserSessions, "user-sessions", 0, 0, 1000000, fmt.Sprintf("with --passwords, maximum "+
		"sessions of one user; 0: %d, without limit from this machine", server.UserSessionsDefault))
	config.Span(fs, &o.sessionIdle, "session-idle", session.IdleDefault, time.Second,
		"end a session that was not used for this long")
	figuresTokenFlag(fs, &o.figuresToken, "`FILE` with the token that other machines must send for /metrics and "+
		"/health/profile; without this flag they are refused")
	// Nothing of this reaches the workers of a run by the environment or the file.
	config.FlagOnly(fs, "insecure", "passwords", "tls-cert", "tls-key", "address-sessions", "address-logins",
		"user-sessions", "session-idle")
}

// figuresTokenFlag is the same setting of who shows figures and who reads them.
func figuresTokenFlag(fs *pflag.FlagSet, file *string, usage string) {
	fs.StringVar(file, "metrics-token-file", "", usage)
	config.Share(fs, "metrics-token-file")
}

// check refuses an address that other machines reach without a password or without encryption.
func (o secureOptions) check(listen string) error {
	if (o.cert == "") != (o.key == "") {
		return problem.New(problem.Usage, errors.New("a certificate needs its key, and a key its certificate"),
			"give --tls-cert and --tls-key")
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil || process.Loopback(host) || o.insecure {
		return nil
	}
	var why, hint string
	switch {
	case !o.passwords:
		why, hint = "anybody who can reach this address could log in", "add --passwords, and --tls-cert and --tls-key"
	case o.cert == "":
		why, hint = "passwords would be sent unencrypted", "add --tls-cert and --tls-key"
	default:
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("--listen %s: %s", listen, why),
		hint+"; or listen on 127.0.0.1 behind a tunnel, or on an isolated network with --insecure")
}

func (o secureOptions) apply(c *server.Config, log *slog.Logger) (err error) {
	c.Passwords, c.Limits, c.SessionIdle = o.passwords, o.limits, o.sessionIdle
	if o.figuresToken != "" {
		if c.FiguresToken, err = secret.File(o.figuresToken); err != nil {
			return err
		}
	}
	if o.cert != "" {
		c.TLS, err = server.TLS(o.cert, o.key, log)
	}
	return problem.New(problem.Usage, err, "")
}
