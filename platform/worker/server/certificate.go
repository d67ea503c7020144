package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLS reads a certificate and its key, and reads them again when either file has changed, so that a renewed certificate
// needs no restart. If the new files do not match, the earlier certificate stays in use.
func TLS(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	c := &renewed{cert: certFile, key: keyFile, log: log}
	if err := c.read(c.stamp()); err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.current}, nil
}

type renewed struct {
	cert, key string
	log       *slog.Logger

	mutex sync.Mutex
	is    *tls.Certificate
	seen  [2]stamp
}

// stamp changes when a file is written or replaced.
type stamp struct {
	modified time.Time
	size     int64
}

func (c *renewed) stamp() (s [2]stamp) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

func (c *renewed) read(now [2]stamp) error {
	c.seen = now
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.is = &pair
	}
	return err
}

func (c *renewed) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if now := c.stamp(); now != c.seen {
		if err := c.read(now); err != nil {
			c.log.Error("the changed certificate cannot be used; the earlier one stays in use", "error", err)
		}
	}
	return c.is, nil
}
