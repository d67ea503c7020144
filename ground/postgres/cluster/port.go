package cluster

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"plimsoll/ground/problem"
)

const (
	loopback = "127.0.0.1"
	// Chosen ports lie below Linux's range for outgoing connections (ip_local_port_range), so that a load test's own
	// clients cannot take one.
	portFirst = 15432
	portLast  = 15999
	ports     = portLast - portFirst + 1
	// Any unprivileged port.
	PortMin = 1024
	PortMax = 65535

	socketOnlyPort = 5432
)

// portFree says whether a server could listen on the port now.
func portFree(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// choosePort is the first port that is neither in use nor remembered by another stopped cluster.
func (s *Store) choosePort(name string, from int) (int, error) {
	taken := map[int]bool{}
	clusters, err := s.List()
	if err != nil {
		return 0, err
	}
	for _, c := range clusters {
		taken[c.Port] = c.Name() != name
	}
	for n := range ports {
		port := portFirst + (from-portFirst+n)%ports
		if !taken[port] && portFree(port) {
			return port, nil
		}
	}
	return 0, problem.New(problem.Environment, fmt.Errorf("no free port between %d and %d", portFirst, portLast),
		"choose one with --port, or use --socket-only")
}

// checkPort rejects a port that the user asked for and that is not available.
func (s *Store) checkPort(name string, port int) error {
	if port < PortMin || port > PortMax {
		return problem.New(problem.Usage, fmt.Errorf("invalid port %d", port),
			fmt.Sprintf("%d to %d", PortMin, PortMax))
	}
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return environment(fmt.Errorf("try port %d: %w", port, err))
	}
	return problem.New(problem.Environment, fmt.Errorf("port %d is in use: %w", port, syscall.EADDRINUSE),
		s.otherPortHint(name))
}

func (s *Store) otherPortHint(name string) string {
	if free, err := s.choosePort(name, portFirst); err == nil {
		return fmt.Sprintf("--port %d is free; without --port one is chosen", free)
	}
	return "choose another with --port"
}
