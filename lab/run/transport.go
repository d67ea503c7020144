package run

import (
	"net"
	"net/http"
	"time"
)

const (
	// idleConnections are kept for the next operation, whosever it is. A connection
	// costs the generator about 20 KB, a thinking user needs none.
	idleConnections = 1024
	// idleTimeout closes a connection before a server would: one that is closed from
	// the other end just when it is used costs a repetition.
	idleTimeout = 20 * time.Second
	dialTimeout = 10 * time.Second
)

func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConns:        idleConnections,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
}
