// Package loopback has addresses that tests can release and use again.
package loopback

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// Address is a HOST:PORT where nobody listens. A port of 127.0.0.1 that a test releases may be taken by the server of
// another test before it is used; this address belongs to this process alone, by its number.
func Address(t testing.TB) string {
	t.Helper()
	pid := os.Getpid() // at most 22 bits
	host := netip.AddrFrom4([4]byte{127, byte(64 + pid>>16&63), byte(pid >> 8), byte(pid)})
	l, err := net.Listen("tcp4", netip.AddrPortFrom(host, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
