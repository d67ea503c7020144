package delay

import (
	"context"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/sockets"
)

// echoing is a server of this machine that programs in a network reach.
func echoing(t *testing.T, n *Network) (address *net.TCPAddr) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: n.Here()})
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
			// The network goes before it could say that the client has.
			context.AfterFunc(t.Context(), func() { conn.Close() })
			go func() { _, _ = io.Copy(conn, conn) }()
		}
	}()
	return l.Addr().(*net.TCPAddr)
}

func opened(t *testing.T, delay time.Duration) *Network {
	t.Helper()
	n, err := OpenNetwork(delay)
	if err != nil {
		t.Skipf("NOT TESTED: cannot be had here, because %v", err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func roundTrip(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	began, answer := time.Now(), make([]byte, 4)
	if _, err := io.WriteString(conn, "ping"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "ping" {
		t.Fatalf("%q, %v", answer, err)
	}
	return time.Since(began)
}

// What is in the network reaches this machine through the link alone, each packet after the delay.
func TestNetwork_TakesItsTimeForEveryRoundTrip(t *testing.T) {
	const delay = 20 * time.Millisecond
	n := opened(t, delay)
	began := time.Now()
	conn, err := n.Dial(t.Context(), "tcp", echoing(t, n).String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if took := time.Since(began); took < delay {
		t.Errorf("the handshake took %s", took)
	}
	for range 3 {
		if took := roundTrip(t, conn); took < delay {
			t.Errorf("a round trip took %s", took)
		}
	}
	n.Hold(0)
	n.Hold(-1)
	if n.Held() != 0 {
		t.Errorf("%s are held back", n.Held())
	}
	roundTrip(t, conn)
}

// A command runs in the network: the addresses of this machine are not there.
func TestNetwork_CommandsRunInIt(t *testing.T) {
	n := opened(t, 0)
	command := n.Command([]string{"cat", "/proc/net/dev"})
	out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var devices []string
	for line := range strings.Lines(string(out)) {
		if name, _, found := strings.Cut(line, ":"); found {
			devices = append(devices, strings.TrimSpace(name))
		}
	}
	here, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, device := range here {
		up, its := device.Flags&net.FlagUp != 0, device.Flags&(net.FlagLoopback|net.FlagPointToPoint) == 0
		if up && its && slices.Contains(devices, device.Name) {
			t.Errorf("%s of this machine is in the network", device.Name)
		}
	}
	if !slices.Contains(devices, "plimsoll0") {
		t.Errorf("devices %q, want the link among them", devices)
	}
	// its loopback is not this machine's
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if conn, err := n.Dial(t.Context(), "tcp", l.Addr().String()); err == nil {
		conn.Close()
		t.Error("a program in the network reaches this machine's loopback")
	}
}

func TestNetwork_TwoAtOnce(t *testing.T) {
	for _, n := range []*Network{opened(t, 0), opened(t, 0)} {
		conn, err := n.Dial(t.Context(), "tcp", echoing(t, n).String())
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, conn)
		conn.Close()
	}
}

// The kernel measures the round trips to those in the network: each takes at least the delay, however busy the machine
// is.
func TestNetwork_TheKernelMeasuresItsRoundTrips(t *testing.T) {
	const delay = 20 * time.Millisecond
	n := opened(t, delay)
	address := echoing(t, n)
	conn, err := n.Dial(t.Context(), "tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	roundTrip(t, conn)
	all, err := sockets.RoundTrips(address.Port)
	took := all[conn.LocalAddr().(*net.TCPAddr).AddrPort()]
	if err != nil || len(all) != 1 || took < delay {
		t.Errorf("%v, %v; want one of at least %s", all, err, delay)
	}
	if all, err := sockets.RoundTrips(1); err != nil || len(all) != 0 {
		t.Errorf("another port has %v, %v", all, err)
	}
}
