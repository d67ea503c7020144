package run

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// ipLocalPortRange is IP_LOCAL_PORT_RANGE of Linux 6.3: the range of a socket's local port.
const ipLocalPortRange = 51

// TestConnectionsGoOnWhenPortsAreUsedUp leaves two ports to each loopback address.
func TestConnectionsGoOnWhenPortsAreUsedUp(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d := &dialer{}
	unknown := false
	d.own.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			const low, high = 48211, 48212
			unknown = unknown || unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, ipLocalPortRange, high<<16|low) != nil
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		})
	}
	from := map[string]bool{}
	for range 7 {
		conn, err := d.dial(context.Background(), "tcp4", listener.Addr().String())
		if unknown {
			t.Skip("the kernel is older than Linux 6.3 and knows no ranges of ports")
		}
		if err != nil {
			t.Fatalf("after %d connections: %v", len(from), err)
		}
		defer conn.Close()
		from[conn.LocalAddr().String()] = true
	}
	if len(from) != 7 || d.source.Load() < 3 {
		t.Errorf("connections from %v", from)
	}
	d.source.Store(sourcesMax - 1)
	for range 2 {
		if conn, err := d.dial(context.Background(), "tcp4", listener.Addr().String()); err == nil {
			defer conn.Close()
		}
	}
	if _, err := d.dial(context.Background(), "tcp4", listener.Addr().String()); !errors.Is(err,
		syscall.EADDRNOTAVAIL) {
		t.Errorf("with no ports left: %v", err)
	}
}
