package delay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Network is a network namespace of its own. What runs in it reaches this machine through one link alone, which takes
// its time for every packet: handshakes, acknowledgements and all. To a server that listens on this machine's end they
// are clients of another machine.
//
//	in it: program ──▶ tun ──queue──▶ wait until time + delay ──▶ tun ──▶ this machine
//	       program ◀── tun ◀───────── passed on at once ◀──────── tun ◀── this machine
//
// As with a Proxy the whole delay of a round trip is added on the way out, so that one timer is involved.
type Network struct {
	space   *os.File // the namespace
	in, out *os.File // both ends of the link
	here    net.IP   // this machine's address on the link
	hold    atomic.Int64
	pumps   sync.WaitGroup
}

const (
	// packetMost is the link's MTU, as of an Ethernet.
	packetMost = 1500
	// packetsMost are on their way; beyond it the link drops them, as a network does.
	packetsMost = 4096
)

// networks that this process has opened: each has addresses of its own, of those reserved for tests of networks
// (RFC 2544).
var networks atomic.Int32

// OpenNetwork makes a namespace with a link that takes so much longer for a round trip. It needs the rights of root.
func OpenNetwork(delay time.Duration) (n *Network, err error) {
	number := networks.Add(1)
	n = &Network{}
	n.hold.Store(int64(delay))
	here := [4]byte{198, 18 + byte(os.Getpid()&1), byte(os.Getpid() >> 1), byte(number<<2) | 1}
	there := here
	there[3]++
	n.here = net.IP(here[:])
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open a network of its own: %w", err), n.Close())
		}
	}()
	if err := n.unshare(there, here); err != nil {
		return n, err
	}
	if n.out, err = openLink(here, there); err != nil {
		return n, err
	}
	n.pumps.Add(2)
	go func() { defer n.pumps.Done(); n.holdBack() }()
	go func() { defer n.pumps.Done(); pass(n.in, n.out) }()
	return n, nil
}

// unshare makes the namespace, with a loopback and its end of the link.
func (n *Network) unshare(own, peer [4]byte) error {
	return onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		if n.space, err = os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())); err != nil {
			return err
		}
		if err := raise("lo"); err != nil {
			return err
		}
		n.in, err = openLink(own, peer)
		return err
	})
}

// onThread does something on a thread that ends with it, since it may be in another namespace then.
func onThread(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- do()
	}()
	return <-done
}

// openLink makes a tun device in the thread's namespace, with addresses of both its ends.
func openLink(own, peer [4]byte) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	device, err := unix.NewIfreq("plimsoll%d")
	if err == nil {
		device.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, device)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a tun device: %w", err), unix.Close(fd))
	}
	link := os.NewFile(uintptr(fd), "tun") // only now can it be waited for
	name := device.Name()
	for _, one := range []struct {
		request uint
		address [4]byte
	}{{unix.SIOCSIFADDR, own}, {unix.SIOCSIFDSTADDR, peer}, {unix.SIOCSIFNETMASK, [4]byte{255, 255, 255, 255}}} {
		if err := address(name, one.request, one.address); err != nil {
			return nil, errors.Join(fmt.Errorf("address of %s: %w", name, err), link.Close())
		}
	}
	if err := raise(name); err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return link, nil
}

// control asks for something about a device of the thread's namespace.
func control(name string, request uint, fill func(*unix.Ifreq) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	device, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := fill(device); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, request, device)
}

func address(name string, request uint, a [4]byte) error {
	return control(name, request, func(d *unix.Ifreq) error { return d.SetInet4Addr(a[:]) })
}

func raise(name string) error {
	err := control(name, unix.SIOCSIFFLAGS, func(d *unix.Ifreq) error {
		d.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		return nil
	})
	if err != nil {
		return fmt.Errorf("bring up %s: %w", name, err)
	}
	return nil
}

// pass packets on at once, until an end is closed.
func pass(to io.Writer, from io.Reader) {
	packet := make([]byte, packetMost)
	for {
		n, err := from.Read(packet)
		if err != nil {
			return
		}
		_, _ = to.Write(packet[:n]) // one that is lost is sent again
	}
}

// holdBack passes packets on after the delay, in order.
func (n *Network) holdBack() {
	queue := make(chan chunk, packetsMost)
	go func() {
		defer close(queue)
		for {
			packet := make([]byte, packetMost)
			length, err := n.in.Read(packet)
			if err != nil {
				return
			}
			select {
			case queue <- chunk{time.Now().Add(n.Held()), packet[:length]}:
			default: // lost
			}
		}
	}()
	exact := newTimer()
	for packet := range queue {
		exact.sleepUntil(packet.due)
		_, _ = n.out.Write(packet.bytes)
	}
}

// Here is the address at which programs in the network reach servers of this machine that listen there.
func (n *Network) Here() net.IP { return n.here }

// Addresses of all such networks.
const Addresses = "198.18.0.0/15"

// Held is how long a packet on its way out is held back.
func (n *Network) Held() time.Duration { return time.Duration(n.hold.Load()) }

// Hold sets it for packets from now on.
func (n *Network) Hold(d time.Duration) { n.hold.Store(max(0, int64(d))) }

// enter is the program that does so, of util-linux.
const enter = "nsenter"

// Command that runs another one in the network.
func (n *Network) Command(command []string) []string {
	return append([]string{enter, fmt.Sprintf("--net=/proc/%d/fd/%d", os.Getpid(), n.space.Fd())}, command...)
}

// Dial from within: to a program in the network by its loopback, or to this machine through the link.
func (n *Network) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = onThread(func() error {
		if err := unix.Setns(int(n.space.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		// An address with a number is dialled on this thread; a name would be looked up on others.
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Close the link. The namespace goes with the last program in it.
func (n *Network) Close() (err error) {
	for _, file := range []*os.File{n.in, n.out, n.space} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	n.pumps.Wait()
	return err
}

// Impossible says why this process cannot open a network of its own; empty: it can.
func Impossible() string {
	if _, err := exec.LookPath(enter); err != nil {
		return err.Error()
	}
	n, err := OpenNetwork(0)
	if err != nil {
		return err.Error()
	}
	if err := n.Close(); err != nil {
		return err.Error()
	}
	return ""
}
