package topology

import (
	"fmt"
	"testing"

	"plimsoll/test/files"
)

// machine lays out the kernel's files of sockets × cores × threads.
func machine(t *testing.T, sockets, cores, threads, nodes int) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) { files.Write(t, root, name, text) }
	for cpu := range sockets * cores * threads {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
		write(dir+"physical_package_id", fmt.Sprintln(cpu%sockets))
		write(dir+"core_id", fmt.Sprintln(cpu/sockets%cores))
	}
	for n := range nodes {
		write(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", n), "")
	}
	return root
}

func TestTopology(t *testing.T) {
	for _, c := range []struct {
		name                           string
		sockets, cores, threads, nodes int
		odd                            bool
	}{
		{"TwoSocketsWithThreads", 2, 16, 2, 2, false},
		{"OneSocket", 1, 4, 1, 1, false},
		{"NodesWithinASocket", 2, 16, 2, 8, false},
		{"OfReportE", 24, 1, 1, 2, true},
		{"NodeOfTwoSockets", 4, 8, 1, 2, true},
		{"FourSocketsOfOneCore", 4, 1, 1, 1, true},
		{"SmallVirtualMachine", 2, 1, 1, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(machine(t, c.sockets, c.cores, c.threads, c.nodes))
			want := Shape{c.sockets, c.sockets * c.cores, c.sockets * c.cores * c.threads, c.nodes}
			if err != nil || got != want {
				t.Fatalf("%+v, %v, want %+v", got, err, want)
			}
			if odd := got.Impossible(); (len(odd) > 0) != c.odd {
				t.Errorf("odd: %q", odd)
			}
		})
	}
	if got, err := Read(t.TempDir()); err == nil {
		t.Errorf("nothing is there, and %+v", got)
	}
}
