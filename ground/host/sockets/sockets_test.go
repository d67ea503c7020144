package sockets_test

import (
	"io"
	"net"
	"testing"

	"plimsoll/ground/host/sockets"
)

// listen on all addresses; each client gets back what it sends.
func listen(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); _, _ = io.Copy(conn, conn) }()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func talk(t *testing.T, conn net.Conn, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for range 3 {
		if _, err := io.WriteString(conn, "ping"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
	}
}

// Who is on this machine has no network. Through a network: the tests of lab/prove/delay.
func TestRoundTrips_OfThisMachineAreNone(t *testing.T) {
	port := listen(t)
	for _, to := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} {
		conn, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: to, Port: port})
		if err != nil && to.To4() == nil {
			t.Logf("NOT TESTED: IPv6 cannot be had here, because %v", err)
			continue
		}
		talk(t, conn, err)
	}
	if all, err := sockets.RoundTrips(port); err != nil || len(all) != 0 {
		t.Errorf("%v, %v; want none", all, err)
	}
}
