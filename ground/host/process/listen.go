package process

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listening are the processes that serve an address of this machine, without descendants of another of them. Empty if
// the address belongs to another machine or to processes that we may not inspect.
func Listening(address string) (found []int) {
	port, ok := localPort(address)
	if !ok {
		return nil
	}
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for _, inode := range listeners(string(text), port) {
			sockets["socket:["+inode+"]"] = true
		}
	}
	if len(sockets) == 0 {
		return nil
	}
	processes, err := all()
	if err != nil {
		return nil
	}
	parents := map[int]int{}
	for _, s := range processes {
		parents[s.id.PID] = s.parent
		if holds(s.id.PID, sockets) {
			found = append(found, s.id.PID)
		}
	}
	holders := slices.Clone(found)
	return slices.DeleteFunc(found, func(pid int) bool {
		for above := parents[pid]; above > 1; above = parents[above] {
			if slices.Contains(holders, above) {
				return true
			}
		}
		return false
	})
}

// Local says whether a URL leads to this machine.
func Local(address string) bool {
	_, ok := localPort(address)
	return ok
}

// localPort is the port of a URL whose host is this machine.
func localPort(address string) (port int, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return 0, false
	}
	if !localHost(u.Hostname()) {
		return 0, false
	}
	text := u.Port()
	if text == "" {
		text = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	port, err = strconv.Atoi(text)
	return port, err == nil
}

// Loopback says whether a host, without its port, is reached from this machine alone. A name other than localhost may
// mean any machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func localHost(host string) bool {
	if Loopback(host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		n, is := a.(*net.IPNet)
		return is && n.IP.Equal(net.IP(ip.AsSlice()))
	})
}

// listeners are the inodes of sockets that listen on a port, in the form of /proc/net/tcp (proc(5)): local address in
// field 1, state in 3 (0A is listening), inode in 9.
func listeners(table string, port int) (inodes []string) {
	end := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && strings.HasSuffix(f[1], end) {
			inodes = append(inodes, f[9])
		}
	}
	return inodes
}

func holds(pid int, sockets map[string]bool) bool {
	files, err := filepath.Glob(procFile(pid, "fd") + "/*")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(file string) bool {
		to, err := os.Readlink(file)
		return err == nil && sockets[to]
	})
}
