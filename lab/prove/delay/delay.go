// Package delay is a TCP proxy that adds delay: it stands in for a network between two tiers where the kernel offers no
// netem. It adds no loss, no bandwidth limit, and no jitter beyond the timer's own.
//
//	client ──▶ read, note the time ──queue──▶ wait until time + delay ──▶ server
//	client ◀──────────────────── copied at once ◀──────────────────────── server
//
// The whole round-trip delay is added on the way to the server, so that one timer is involved, not two. The proxy
// itself takes some time too, which is no constant of the machine: Tune measures round trips and holds back that much
// less.
package delay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Buffers of one direction of one connection: when they are full, the sender waits.
const (
	chunkBytes = 64 << 10
	chunksMax  = 256
)

// Proxy listens until Close.
type Proxy struct {
	listener net.Listener
	delay    time.Duration
	hold     atomic.Int64 // how long a chunk is held back, in nanoseconds
	dial     func(context.Context) (net.Conn, error)
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// Listen accepts connections on a free port of 127.0.0.1 and forwards each through dial.
func Listen(delay time.Duration, dial func(context.Context) (net.Conn, error)) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for delayed connections: %w", err)
	}
	p := &Proxy{listener: l, delay: delay, dial: dial}
	p.hold.Store(int64(delay))
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.running.Add(1)
	go p.accept()
	return p, nil
}

// Address to connect to: 127.0.0.1:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends all connections and waits for them.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	defer p.running.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue // only this client failed
		}
		p.running.Add(1)
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.running.Done()
	defer client.Close()
	server, err := p.dial(p.ctx)
	if err != nil {
		return // the client sees its connection end, as with a real network
	}
	defer server.Close()
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	var both sync.WaitGroup
	both.Add(2)
	go func() { defer both.Done(); defer cancel(); p.holdBack(server, client) }()
	go func() { defer both.Done(); defer cancel(); _, _ = io.Copy(client, server) }()
	both.Wait()
}

type chunk struct {
	due   time.Time
	bytes []byte
}

// Precise is how true to its delay a tuned proxy is.
const Precise = 50 * time.Microsecond

// tunings before a proxy counts as not precise.
const tunings = 8

// Tune corrects what is held back until the round trips through the proxy take the delay longer than the direct ones.
// Both functions measure a typical round trip. It returns the last measured one through the proxy, and by how much it
// misses.
func (p *Proxy) Tune(direct, through func() (time.Duration, error)) (took, missed time.Duration, err error) {
	for range tunings {
		without, err := direct()
		if err != nil {
			return took, missed, err
		}
		if took, err = through(); err != nil {
			return took, missed, err
		}
		missed = took - without - p.delay
		if missed.Abs() <= Precise {
			return took, missed, nil
		}
		p.Hold(p.Held() - missed)
	}
	return took, missed, nil
}

// Held is how long what clients send is held back.
func (p *Proxy) Held() time.Duration { return time.Duration(p.hold.Load()) }

// Hold sets it for what comes from now on.
func (p *Proxy) Hold(d time.Duration) { p.hold.Store(max(0, int64(d))) }

// holdBack forwards what it reads after the delay, in order, and keeps reading meanwhile.
func (p *Proxy) holdBack(to io.Writer, from io.Reader) {
	queue := make(chan chunk, chunksMax)
	go func() {
		defer close(queue)
		for {
			buffer := make([]byte, chunkBytes)
			n, err := from.Read(buffer)
			if n > 0 {
				queue <- chunk{time.Now().Add(p.Held()), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	exact := newTimer()
	broken := false
	for c := range queue { // drain it, or the reader would never finish
		if broken {
			continue
		}
		exact.sleepUntil(c.due)
		_, err := to.Write(c.bytes)
		broken = err != nil
	}
}

// timer sleeps on a thread of its own: the runtime's timers are late by up to a millisecond on an idle machine, and the
// kernel's by 50 µs unless the thread asks for less.
type timer struct{}

func newTimer() timer {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it the delay is less exact, which Tune sees
	return timer{}
}

// spin is the end of a sleep, in which the clock is read again and again.
const spin = 20 * time.Microsecond

func (timer) sleepUntil(due time.Time) {
	for left := time.Until(due); left > 0; left = time.Until(due) {
		if left <= spin {
			continue
		}
		pause := unix.NsecToTimespec(int64(left - spin))
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &pause, nil) // interrupted: what is left is slept again
	}
}
