package topology

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/test/files"
)

// twoSockets of two cores with two threads, a node each.
func twoSockets(t *testing.T) string {
	texts := map[string]string{
		"proc/cpuinfo": "model name\t: Example 9000\nflags\t\t: fpu hypervisor\n",
		"proc/meminfo": "MemTotal: 3000 kB\nHugePages_Total:     4\nHugePages_Free:      3\nHugepagesize:    2048 kB\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                        "always [madvise] never\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource":   "tsc\n",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet\n",
		"sys/class/dmi/id/sys_vendor":                                       "Example\n",
		"sys/class/dmi/id/product_name":                                     "Virtual Machine\n",
		"sys/devices/system/node/node0/cpulist":                             "0-3\n",
		"sys/devices/system/node/node1/cpulist":                             "4-7\n",
		"sys/devices/system/node/node0/distance":                            "10 21\n",
		"sys/devices/system/node/node1/distance":                            "21 10\n",
		"sys/devices/system/node/node0/meminfo":                             "Node 0 MemTotal:  1024 kB\n",
		"sys/devices/system/node/node1/meminfo":                             "Node 1 MemTotal:  2048 kB\n",
	}
	for id := range 8 {
		at := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", id)
		texts[at+"topology/physical_package_id"] = fmt.Sprintln(id / 4)
		texts[at+"topology/core_id"] = fmt.Sprintln(id % 4 / 2)
		texts[at+"topology/thread_siblings_list"] = fmt.Sprintf("%d-%d\n", id/2*2, id/2*2+1)
		texts[at+"cache/index0/level"], texts[at+"cache/index0/type"] = "3\n", "Unified\n"
		texts[at+"cache/index0/size"] = "8192K\n"
		texts[at+"cache/index0/shared_cpu_list"] = fmt.Sprintf("%d-%d\n", id/4*4, id/4*4+3)
	}
	return files.Tree(t, texts)
}

func TestReadMap(t *testing.T) {
	m, err := ReadMap(twoSockets(t))
	if err != nil {
		t.Fatal(err)
	}
	if m.Shape != (Shape{2, 4, 8, 2}) || m.Model != "Example 9000" || m.Hypervisor != "Example Virtual Machine" ||
		m.Clock.Source != "tsc" || len(m.Caches) != 2 || m.Caches[1].Bytes != 8<<20 || len(m.Missing) != 0 ||
		m.HugePages.Transparent != "madvise" || *m.HugePages.Free != 3 || *m.HugePages.Bytes != 2<<20 ||
		m.Nodes[1].MemoryBytes != 2<<20 || m.Nodes[0].Distances[1] != 21 {
		t.Errorf("want two sockets of a node each, got %+v", m)
	}
	for pair, want := range map[[2]int]Relation{{0, 1}: SameCore, {0, 2}: SameCache, {0, 4}: OtherNode} {
		if got := m.Between(pair[0], pair[1]); got != want {
			t.Errorf("%v: %s, want %s", pair, got, want)
		}
	}
	if odd := m.Odd(); len(odd) > 0 {
		t.Errorf("odd: %q", odd)
	}
}

func TestReadMap_NamesWhatNoHardwareHas(t *testing.T) {
	const node, cpu = "sys/devices/system/node/node1/", "sys/devices/system/cpu/cpu5/"
	for file, c := range map[string]struct{ text, want string }{
		"sys/devices/system/node/node0/distance": {"11 21\n", "node 0 is 11 from itself"},
		node + "distance":                        {"9 10\n", "node 1 is as near to node 0 as to itself"},
		node + "meminfo":                         {"Node 1 MemTotal: 0 kB\n", "node 1 has processors and no memory"},
		"proc/meminfo":                           {"MemTotal: 8000000 kB\n", "the machine has 7.6 GB"},
		cpu + "topology/physical_package_id":     {"0\n", "different sockets"},
		cpu + "cache/index0/shared_cpu_list":     {"0-7\n", "a cache of level 3 is shared by different sockets"},
	} {
		root := twoSockets(t)
		files.Write(t, root, file, c.text)
		m, err := ReadMap(root)
		if err != nil {
			t.Fatal(err)
		}
		if odd := strings.Join(m.Odd(), "; "); !strings.Contains(odd, c.want) {
			t.Errorf("%s: odd is %q, want %q", file, odd, c.want)
		}
	}
}

func TestReadMap_NamesDistancesThatDifferByDirection(t *testing.T) {
	root := twoSockets(t)
	files.Write(t, root, "sys/devices/system/node/node1/distance", "20 10\n")
	m, err := ReadMap(root)
	if odd := strings.Join(m.Odd(), "; "); err != nil || odd != "from node 0 to 1 is 21, and back 20" {
		t.Errorf("odd is %q, %v", odd, err)
	}
}

func TestReadMap_SaysWhatIsMissing(t *testing.T) {
	m, err := ReadMap(machine(t, 1, 2, 1, 0))
	if err != nil || len(m.Missing) < 4 || m.Clock.Source != "" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := ReadMap(t.TempDir()); err == nil {
		t.Error("nothing is there, and no error")
	}
}

func TestIDs(t *testing.T) {
	for list, want := range map[string]int{"0-3,8": 5, "": 0, "7": 1, "x": 0, "0-999999999": idsMost} {
		if got := Count(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
