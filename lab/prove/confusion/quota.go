package confusion

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/host/process"
)

// quota is a control group of our own that withholds processors.
type quota struct{ dir, parent string }

// period of a quota, as the kernel's default is.
const period = 100 * time.Millisecond

// newQuota of so many cores, in the hierarchy that the machine has.
func newQuota(cores float64) (q quota, err error) {
	name := fmt.Sprintf("plimsoll-confusion-%d", os.Getpid())
	micros := int64(cores * float64(period.Microseconds()))
	files := map[string]string{}
	switch root := "/sys/fs/cgroup"; {
	case exists(filepath.Join(root, "cpu", "cpu.cfs_quota_us")) || exists(filepath.Join(root, "cpu", "cgroup.procs")):
		q = quota{filepath.Join(root, "cpu", name), filepath.Join(root, "cpu")}
		files["cpu.cfs_period_us"] = strconv.FormatInt(period.Microseconds(), 10)
		files["cpu.cfs_quota_us"] = strconv.FormatInt(micros, 10)
	case exists(filepath.Join(root, "cgroup.subtree_control")):
		q = quota{filepath.Join(root, name), root}
		files["cpu.max"] = fmt.Sprintf("%d %d", micros, period.Microseconds())
	default:
		return q, errors.New("no hierarchy of control groups is visible here")
	}
	if err := os.Mkdir(q.dir, 0o755); err != nil && !os.IsExist(err) {
		return q, err
	}
	for name, value := range files {
		if err := os.WriteFile(filepath.Join(q.dir, name), []byte(value), 0o644); err != nil {
			return q, errors.Join(err, os.Remove(q.dir))
		}
	}
	return q, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func move(to string, all []process.ID) error {
	for _, id := range all {
		err := os.WriteFile(filepath.Join(to, "cgroup.procs"), []byte(strconv.Itoa(id.PID)), 0o644)
		if err != nil && id.Alive() {
			return err
		}
	}
	return nil
}

func (q quota) take(all []process.ID) error { return move(q.dir, all) }

// remove it. Its processes go back to where they were.
func (q quota) remove(all []process.ID) error {
	err := move(q.parent, all)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		gone := os.Remove(q.dir)
		if gone == nil || time.Now().After(deadline) {
			return errors.Join(err, gone)
		}
	}
}

// throttled so far.
func (q quota) throttled() time.Duration {
	text, err := os.ReadFile(filepath.Join(q.dir, "cpu.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case name == "throttled_usec":
			return time.Duration(n) * time.Microsecond
		case name == "throttled_time":
			return time.Duration(n)
		}
	}
	return 0
}
