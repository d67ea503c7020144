// Package delay is a TCP proxy that adds delay: it stands in for a network between two tiers where the kernel offers no
// netem. It adds no loss, no bandwidth limit, and no jitter beyond the timer's own.
//
//	client ──▶ read, note the time ──queue──▶ wait until time + delay ──▶ server
//	client ◀──────────────────── copied at once ◀──────────────────────── server
//
// The whole round-trip delay is added on the way to the server, so that one timer is involved, not two.
package delay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
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
	go func() { defer both.Done(); defer cancel(); p.hold(server, client) }()
	go func() { defer both.Done(); defer cancel(); _, _ = io.Copy(client, server) }()
	both.Wait()
}

type chunk struct {
	due   time.Time
	bytes []byte
}

// hold forwards what it reads after the delay, in order, and keeps reading meanwhile.
func (p *Proxy) hold(to io.Writer, from io.Reader) {
	queue := make(chan chunk, chunksMax)
	go func() {
		defer close(queue)
		for {
			buffer := make([]byte, chunkBytes)
			n, err := from.Read(buffer)
			if n > 0 {
				queue <- chunk{time.Now().Add(p.delay), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for c := range queue { // drain it, or the reader would never finish
		if broken {
			continue
		}
		time.Sleep(time.Until(c.due))
		_, err := to.Write(c.bytes)
		broken = err != nil
	}
}
