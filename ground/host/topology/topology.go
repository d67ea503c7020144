// Package topology reads sockets, cores, threads and NUMA nodes as the kernel shows them, and names what no hardware
// has: a hypervisor may show anything.
package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Shape of the processors.
type Shape struct {
	Sockets int `json:"sockets"`
	Cores   int `json:"cores"` // of all sockets
	CPUs    int `json:"cpus"`  // threads that the kernel schedules
	Nodes   int `json:"numa_nodes"`
}

// Read the files of a machine below root: "/" is this one.
func Read(root string) (Shape, error) {
	cpus, err := filepath.Glob(filepath.Join(root, "sys/devices/system/cpu/cpu[0-9]*/topology"))
	if err != nil || len(cpus) == 0 {
		return Shape{}, fmt.Errorf("read the topology: the kernel shows none in /sys/devices/system/cpu")
	}
	sockets, cores := map[int]bool{}, map[[2]int]bool{}
	for _, dir := range cpus {
		socket, err := number(filepath.Join(dir, "physical_package_id"))
		if err != nil {
			return Shape{}, err
		}
		core, err := number(filepath.Join(dir, "core_id"))
		if err != nil {
			return Shape{}, err
		}
		sockets[socket], cores[[2]int{socket, core}] = true, true
	}
	nodes, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/node/node[0-9]*"))
	return Shape{len(sockets), len(cores), len(cpus), len(nodes)}, nil
}

func number(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("read the topology: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the topology: %s: %w", file, err)
	}
	return n, nil
}

// socketsMost in servers. Eight are sold; more come from a hypervisor's default of one core per socket.
const socketsMost = 8

// Impossible lists what no hardware has; empty: nothing odd.
func (s Shape) Impossible() (odd []string) {
	if s.Sockets > socketsMost {
		odd = append(odd, fmt.Sprintf("%d sockets: servers have at most %d", s.Sockets, socketsMost))
	}
	if s.Sockets > 2 && s.Cores == s.Sockets {
		odd = append(odd, fmt.Sprintf("%d sockets of one core each: no such processor is sold", s.Sockets))
	}
	if s.Nodes > 1 && s.Sockets > s.Nodes {
		odd = append(odd, fmt.Sprintf("%d sockets share %d NUMA nodes: each socket has its own memory", s.Sockets,
			s.Nodes))
	}
	if s.Nodes > 1 && s.Nodes > s.Cores {
		odd = append(odd, fmt.Sprintf("%d NUMA nodes for %d cores", s.Nodes, s.Cores))
	}
	return odd
}
