package delay_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"plimsoll/lab/prove/delay"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func echo(t *testing.T) func(context.Context) (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}
}

func TestProxy_DelaysEachRoundTripAndKeepsTheOrder(t *testing.T) {
	const d = 20 * time.Millisecond
	p, err := delay.Listen(d, echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, text := range []string{"one", "two", "three"} {
		began := time.Now()
		_, _ = io.WriteString(c, text)
		back := make([]byte, len(text))
		if _, err := io.ReadFull(c, back); err != nil || string(back) != text {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
		// a lower bound: it cannot be early, however slow the machine is
		if took := time.Since(began); took < d {
			t.Errorf("%q was back after %s", text, took)
		}
	}
}

// Tune corrects until the difference is the delay, whatever the proxy itself takes, and says when it cannot.
func TestProxy_TuneHoldsBackLess(t *testing.T) {
	const d, own = 2 * time.Millisecond, 700 * time.Microsecond
	p, err := delay.Listen(d, echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	held := d // what a proxy of this cost would add
	direct := func() (time.Duration, error) { return time.Millisecond, nil }
	took, missed, err := p.Tune(direct, func() (time.Duration, error) {
		defer func() { held = d - own }()
		return time.Millisecond + held + own, nil
	})
	if err != nil || missed != 0 || took != 3*time.Millisecond || p.Held() != d-own {
		t.Errorf("%s, missed by %s, %v; held back %s", took, missed, err, p.Held())
	}
	_, missed, err = p.Tune(direct, func() (time.Duration, error) { return 9 * time.Millisecond, nil })
	if err != nil || missed != 6*time.Millisecond || p.Held() != 0 {
		t.Errorf("missed by %s, %v; held back %s", missed, err, p.Held())
	}
}

func TestProxy_CloseEndsConnections(t *testing.T) {
	p, err := delay.Listen(time.Millisecond, echo(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "x")
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}
