package pressure

import (
	"testing"
	"time"

	"plimsoll/test/files"
)

const psi = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name              string
		files             map[string]string
		throttled, memory time.Duration // -1: unknown
	}{
		{"Version2TakesTheGroupThatLostMost", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/pressure/memory": psi,
			"sys/fs/cgroup/a/cpu.stat":   "usage_usec 9\nnr_throttled 4\nthrottled_usec 3000000\n",
			"sys/fs/cgroup/a/b/cpu.stat": "usage_usec 9\nnr_throttled 4\nthrottled_usec 1000000\n",
		}, 3 * time.Second, 1500 * time.Millisecond},
		{"Version1", map[string]string{
			"proc/self/cgroup":              "3:memory:/x\n2:cpu,cpuacct:/y\n",
			"sys/fs/cgroup/cpu/y/cpu.stat":  "nr_periods 1\nnr_throttled 1\nthrottled_time 2000000000\n",
			"sys/fs/cgroup/x/cpu.stat":      "throttled_usec 99000000\n",
			"sys/fs/cgroup/cpu/cpu.stat":    "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
			"sys/fs/cgroup/memory/cpu.stat": "throttled_usec 99000000\n",
		}, 2 * time.Second, -1},
		{"NothingIsUnknown", nil, -1, -1},
		{"NonsenseIsUnknown", map[string]string{"proc/self/cgroup": "0::/\n", "proc/pressure/memory": "some total=x\n",
			"sys/fs/cgroup/cpu.stat": "throttled_usec many\n"}, -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readAt(files.Tree(t, c.files), "self")
			for name, both := range map[string]struct {
				got  *time.Duration
				want time.Duration
			}{"throttled": {got.Throttled, c.throttled}, "memory": {got.Memory, c.memory}} {
				switch {
				case both.got == nil && both.want != -1:
					t.Errorf("%s unknown, want %v", name, both.want)
				case both.got != nil && *both.got != both.want:
					t.Errorf("%s %v, want %v", name, *both.got, both.want)
				}
			}
		})
	}
}
