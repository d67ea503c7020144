// Package sockets reads what the kernel measures of TCP connections.
package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes and numbers of the kernel's inet_diag (include/uapi/linux/inet_diag.h).
const (
	requestBytes  = 56 // of inet_diag_req_v2
	answerBytes   = 72 // of inet_diag_msg, before its attributes
	byFamily      = 20 // SOCK_DIAG_BY_FAMILY
	infoAttribute = 2  // INET_DIAG_INFO: tcp_info
	established   = 1  // TCP_ESTABLISHED

	peerPortAt    = 6     // in inet_diag_msg
	ownAt, peerAt = 8, 24 // addresses there

	// minRTTAt is where tcp_info has the shortest round trip, in microseconds.
	minRTTAt = int(unsafe.Offsetof(unix.TCPInfo{}.Min_rtt))

	patience = time.Second
)

// RoundTrips to clients on other machines that are connected to a port of this one, by the client's end: for each
// connection the shortest of the last five minutes (tcp_min_rtt_wlen). The kernel takes the time until what it sends is
// acknowledged. Where the client acknowledges with its next statement, its own time is in it: the shortest has least of
// that. Servers that listen on other addresses may have the same port: whose client it is knows the server.
func RoundTrips(port int) (all map[netip.AddrPort]time.Duration, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("ask the kernel for connections: %w", err)
	}
	defer unix.Close(fd)
	limit := unix.NsecToTimeval(int64(patience))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, fmt.Errorf("ask the kernel for connections: %w", err)
	}
	all = map[netip.AddrPort]time.Duration{}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
		if err := unix.Sendto(fd, request(family, port), 0, kernel); err != nil {
			return nil, fmt.Errorf("ask the kernel for connections: %w", err)
		}
		if err := answers(fd, all); err != nil {
			return nil, fmt.Errorf("read the kernel's connections: %w", err)
		}
	}
	return all, nil
}

// request all established connections of a family whose own port is this one.
func request(family byte, port int) []byte {
	b := make([]byte, unix.NLMSG_HDRLEN+requestBytes)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], byFamily)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := b[unix.NLMSG_HDRLEN:]
	body[0], body[1], body[2] = family, unix.IPPROTO_TCP, 1<<(infoAttribute-1)
	binary.NativeEndian.PutUint32(body[4:], 1<<established)
	binary.BigEndian.PutUint16(body[8:], uint16(port))
	return b
}

func answers(fd int, all map[netip.AddrPort]time.Duration) error {
	buffer := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				if len(m.Data) >= 4 {
					return unix.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
				}
				return errors.New("the kernel refuses")
			}
			if took, ok := shortest(m.Data); ok {
				all[peer(m.Data)] = took
			}
		}
	}
}

// shortest round trip of one connection; false: it is this machine's own, or was not measured.
func shortest(b []byte) (time.Duration, bool) {
	if len(b) < answerBytes || !elsewhere(b) {
		return 0, false
	}
	for at := answerBytes; at+unix.SizeofRtAttr <= len(b); {
		length, kind := int(binary.NativeEndian.Uint16(b[at:])), binary.NativeEndian.Uint16(b[at+2:])
		if length < unix.SizeofRtAttr || at+length > len(b) {
			return 0, false
		}
		if value := b[at+unix.SizeofRtAttr : at+length]; kind == infoAttribute && len(value) >= minRTTAt+4 {
			us := binary.NativeEndian.Uint32(value[minRTTAt:])
			return time.Duration(us) * time.Microsecond, us > 0 && us < 1<<31 // the kernel's "none yet" is its largest
		}
		at += (length + unix.RTA_ALIGNTO - 1) &^ (unix.RTA_ALIGNTO - 1)
	}
	return 0, false
}

// elsewhere is the client's end of a connection.
func elsewhere(b []byte) bool {
	here, there := address(b[0], b[ownAt:]), address(b[0], b[peerAt:])
	return here != there && !there.IsLoopback()
}

// peer is the client's end.
func peer(b []byte) netip.AddrPort {
	return netip.AddrPortFrom(address(b[0], b[peerAt:]), binary.BigEndian.Uint16(b[peerPortAt:]))
}

func address(family byte, b []byte) netip.Addr {
	if family == unix.AF_INET {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16([16]byte(b[:16])).Unmap()
}
