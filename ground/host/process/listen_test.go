package process

import (
	"net"
	"os"
	"slices"
	"testing"
)

func TestListening(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	if got := Listening(address + "/path"); !slices.Equal(got, []int{os.Getpid()}) {
		t.Errorf("%s is served by %v, not by %d", address, got, os.Getpid())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, nobody := range []string{address, "http://192.0.2.1:80/", "http://example.invalid/", "", ":",
		"http://127.0.0.1:x"} {
		if got := Listening(nobody); slices.Contains(got, os.Getpid()) {
			t.Errorf("%q is served by %v", nobody, got)
		}
	}
}

func TestListeners_AreThoseOfThePortAndTheState(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 100 0 0 10 0
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 100 0 0 10 0
`
	if got := listeners(table, 8080); !slices.Equal(got, []string{"4711"}) {
		t.Errorf("inodes %v, want only that of the listening socket, 4711", got)
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true,
		"[::1]": true, "::ffff:127.0.0.1": true, "": false, "0.0.0.0": false, "::": false, "10.0.0.1": false,
		"localhost.example": false, "127.0.0.1:80": false} {
		if got := Loopback(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
