package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
)

const (
	// idleConnections are kept open for the next operation of any user. A connection costs the generator about 20 KB; a
	// thinking user needs none. There are as many as operations under way at once: one that is closed after a peak
	// keeps its port for a minute, and peaks would use them up.
	idleConnections = users.InFlightMaxDefault
	// idleTimeout closes a connection before a server would: a connection that the other end closes just when it is
	// used costs a repetition.
	idleTimeout = 20 * time.Second
	dialTimeout = 10 * time.Second
	// sourcesMax is how many loopback addresses connections may come from: a pair of addresses has about 28,000 ports.
	sourcesMax = 16
)

// filesReserved are open besides the users' own connections.
const filesReserved = 200

// filesMost is how many files this process may have open; each connection is one.
func filesMost() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxUint64 // not known
	}
	return limit.Max
}

// enoughFiles refuses more connections than files.
func enoughFiles(connections int, most uint64) error {
	if connections == 0 || uint64(connections+filesReserved) <= most {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("%d users with connections of their own: this process may have "+
		"%d files open", connections, most),
		`raise the limit (ulimit -n), set connections = "shared" in [http], or use --agents`)
}

func newTransport(a Access) *http.Transport { return transportBy(newDialer(), a) }

func newDialer() *dialer { return &dialer{own: net.Dialer{Timeout: dialTimeout}} }

func transportBy(d *dialer, a Access) *http.Transport {
	return &http.Transport{
		DialContext:         d.dial,
		MaxIdleConns:        idleConnections,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
		TLSClientConfig:     a.tls(),
	}
}

// counted records what the transport resends by itself: a GET, or a request with an Idempotency-Key, whose
// connection was lost. The extra time is in the operation's latency. It also records when answers begin, and how long
// they are.
type counted struct {
	*http.Transport
	workers *workersSeen // nil: not needed
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	notes := tally.NotesOf(r.Context())
	if notes == nil {
		return c.Transport.RoundTrip(r)
	}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { // once for each time it is sent
		if sent.Swap(true) {
			notes.Resent()
		}
	}, GotFirstResponseByte: func() { notes.FirstByte(time.Now()) }}
	answer, err := c.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err == nil {
		c.workers.note(r, answer)
		answer.Body = &counting{answer.Body, notes}
	}
	return answer, err
}

// counting notes what is read of a body.
type counting struct {
	io.ReadCloser
	notes *tally.Notes
}

func (c *counting) Read(into []byte) (int, error) {
	n, err := c.ReadCloser.Read(into)
	c.notes.Read(n)
	return n, err
}

// dialer continues with the next loopback address when the ports of one are used up.
type dialer struct {
	own    net.Dialer
	source atomic.Uint32 // 0: the system's default
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for {
		source := d.source.Load()
		conn, err := d.from(source).DialContext(ctx, network, address)
		if err == nil || source+1 >= sourcesMax || !errors.Is(err, syscall.EADDRNOTAVAIL) || !onLoopback(address) {
			return conn, err
		}
		d.source.CompareAndSwap(source, source+1)
	}
}

func (d *dialer) from(source uint32) *net.Dialer {
	one := d.own
	if source > 0 {
		one.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+source))}
	}
	return &one
}

func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.To4() != nil && ip.IsLoopback()
}
