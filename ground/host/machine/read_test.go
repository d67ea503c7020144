package machine

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/test/files"
)

func TestRead_ThisMachine(t *testing.T) {
	f, err := Read(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if f.MemoryBytes < 64<<20 || f.Cores < 1 || f.DiskFreeBytes <= 0 || f.Disk == "" {
		t.Errorf("got %+v", f)
	}
}

func TestReadLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  limits
	}{
		{"NoControlGroups", nil, limits{}},
		{"Version2Unlimited", map[string]string{
			"proc/self/cgroup":         "0::/user.slice/x\n",
			"sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/cpu.max": "max 100000\n",
		}, limits{}},
		{"Version2LeastOfAllAbove", map[string]string{
			"proc/self/cgroup":                            "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":                  "1073741824\n",
			"sys/fs/cgroup/a/b/memory.max":                "4294967296\n",
			"sys/fs/cgroup/a/cpu.max":                     "400000 100000\n",
			"sys/fs/cgroup/a/b/cpu.max":                   "150000 100000\n",
			"sys/fs/cgroup/elsewhere/should/not/cpu.max":  "1000 100000\n",
			"sys/fs/cgroup/elsewhere/should/n/memory.max": "1000\n",
		}, limits{1 << 30, 1.5}},
		{"Version2InAContainerWithTheHostsPath", map[string]string{
			"proc/self/cgroup":         "0::/docker/0123456789\n",
			"sys/fs/cgroup/memory.max": "2147483648\n", "sys/fs/cgroup/cpu.max": "50000 100000\n",
		}, limits{2 << 30, 0.5}},
		{"Version1", map[string]string{
			"proc/self/cgroup":                                "9:memory:/m\n4:cpu,cpuacct:/c\n1:name=systemd:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
			"sys/fs/cgroup/memory/m/memory.limit_in_bytes":    "536870912\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us":            "200000\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_period_us":           "100000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":              "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":             "100000\n",
			"sys/fs/cgroup/cpuset/c/irrelevant.cfs_period_us": "100000\n",
		}, limits{512 << 20, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readLimits(files.Tree(t, c.files), self)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// The server may be in a control group of its own: ours does not limit its memory.
func TestReadLimits_OfAnotherProcess(t *testing.T) {
	root := files.Tree(t, map[string]string{
		"proc/self/cgroup": "0::/user\n", "proc/4711/cgroup": "0::/system/postgresql\n",
		"sys/fs/cgroup/user/memory.max":              "1073741824\n",
		"sys/fs/cgroup/system/postgresql/memory.max": "8589934592\n",
	})
	if got, err := readLimits(root, "4711"); err != nil || got.memoryBytes != 8<<30 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := readLimits(root, self); err != nil || got.memoryBytes != 1<<30 {
		t.Errorf("got %+v, %v", got, err)
	}
	if f, err := ReadOf(1<<30, t.TempDir()); err == nil {
		t.Errorf("of no process: %+v", f)
	}
}

func TestLimited(t *testing.T) {
	hardware := Facts{MemoryBytes: 8 << 30, Cores: 8}
	for _, c := range []struct {
		name string
		l    limits
		want Facts
	}{
		{"NoLimits", limits{}, hardware},
		{"WiderThanTheHardware", limits{1 << 50, 99}, hardware},
		{"Both", limits{1 << 30, 1.5}, Facts{MemoryBytes: 1 << 30, Cores: 2, LimitedBy: "cgroup memory, cgroup cpu"}},
		{"LessThanACoreIsOne", limits{0, 0.2}, Facts{MemoryBytes: 8 << 30, Cores: 1, LimitedBy: "cgroup cpu"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := hardware.limited(c.l); got != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestDiskKind(t *testing.T) {
	const virtual, bare = "flags : fpu hypervisor sse\n", "flags : fpu sse\n"
	for _, c := range []struct {
		name, disk, rotational, cpu string
		partition                   bool
		want                        DiskKind
	}{
		{"SolidState", "nvme0n1", "0\n", bare, false, SolidState},
		{"PartitionAsksItsDisk", "nvme0n1", "0\n", bare, true, SolidState},
		{"Rotating", "sda", "1\n", bare, true, Rotational},
		{"RotatingSaysTheHypervisor", "sda", "1\n", virtual, false, UnknownDisk},
		{"SolidStateIsBelievedFromAHypervisor", "sda", "0\n", virtual, false, SolidState},
		{"VirtioClaimsToRotate", "vda", "1\n", bare, true, UnknownDisk},
		{"NotSaid", "sda", "", bare, false, UnknownDisk},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := map[string]string{"proc/cpuinfo": c.cpu, "sys/devices/x/" + c.disk + "/dev": "8:0\n"}
			if c.rotational != "" {
				texts["sys/devices/x/"+c.disk+"/queue/rotational"] = c.rotational
			}
			node := "sys/devices/x/" + c.disk
			if c.partition {
				node += "/" + c.disk + "p1"
				texts[node+"/partition"] = "1\n"
			}
			root := files.Tree(t, texts)
			link(t, root, node, "sys/dev/block/8:1")
			kind, name := diskKind(root, "8:1")
			if kind != c.want || name != c.disk {
				t.Errorf("got %s %s", kind, name)
			}
		})
	}
	t.Run("FileSystemWithoutADevice", func(t *testing.T) {
		if kind, name := diskKind(t.TempDir(), "0:42"); kind != UnknownDisk || name != "" {
			t.Errorf("got %s %s", kind, name)
		}
	})
}

func link(t *testing.T, root, target, name string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, target), path); err != nil {
		t.Fatal(err)
	}
}
