package cluster

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"plimsoll/platform/problem"
)

const (
	loopback = "127.0.0.1"
	// Chosen ports lie below what Linux gives to outgoing connections
	// (ip_local_port_range), so that a load test's own clients can't take one.
	portFirst = 15432
	portLast  = 15999
	// Any port that needs no rights.
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

// choosePort is the first that is neither in use nor remembered by a stopped
// cluster beside this one.
func (s *Store) choosePort(name string) (int, error) {
	taken := map[int]bool{}
	clusters, err := s.List()
	if err != nil {
		return 0, err
	}
	for _, c := range clusters {
		taken[c.Port] = c.Name() != name
	}
	for port := portFirst; port <= portLast; port++ {
		if !taken[port] && portFree(port) {
			return port, nil
		}
	}
	return 0, problem.New(problem.Environment, fmt.Errorf("no free port between %d and %d", portFirst, portLast),
		"name one with --port, or do without: --socket-only")
}

// checkPort refuses a port that a person named and that can't be had.
func (s *Store) checkPort(name string, port int) error {
	if port < PortMin || port > PortMax {
		return problem.New(problem.Usage, fmt.Errorf("invalid port %d", port), fmt.Sprintf("%d to %d", PortMin, PortMax))
	}
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return environment(fmt.Errorf("try port %d: %w", port, err))
	}
	return problem.New(problem.Environment, fmt.Errorf("port %d is in use: %w", port, syscall.EADDRINUSE), s.otherPortHint(name))
}

func (s *Store) otherPortHint(name string) string {
	if free, err := s.choosePort(name); err == nil {
		return fmt.Sprintf("--port %d is free; without --port one is chosen", free)
	}
	return "choose another with --port"
}
