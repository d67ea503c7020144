// Package loopdisk owns disks that experiments make for themselves: a file system in a file, on a loop device that may
// have a limit of its own. What is limited is the device as a whole, whoever writes to it.
//
//	Make ──▶ file, mkfs, mount ──▶ used, with a limit or without ──Remove──▶ no limit, unmounted, no file
//	  └─ first removes what processes left that were killed: whose file nobody has locked
package loopdisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/process"
)

// Options of a disk.
type Options struct {
	// System of files: ext4, xfs, btrfs or ext2. Defaults to ext4.
	System string
	Bytes  int64 // it has room for; the file takes what is written
	// Files that it has room for, where the file system fixes their number; 0: its own choice.
	Files int
}

// Disk is a mounted one.
type Disk struct {
	Dir string // where it is mounted
	// device as MAJOR:MINOR.
	device string
	file   string
	// owned is the open file, locked: whoever may lock it knows that its maker has ended.
	owned   *os.File
	limited bool
}

// prefix of files and folders; the process that made them follows.
const prefix = "plimsoll-disk-"

// made is how many this process has made.
var made atomic.Int32

// unmountWithin is how long a disk may be in use after its end: servers of a program that was killed stop in order.
const unmountWithin = time.Minute

// Make a disk whose file and mount point are in dir. It needs the rights of root.
func Make(ctx context.Context, dir string, o Options) (d *Disk, err error) {
	if o.System == "" {
		o.System = "ext4"
	}
	if err := sweep(dir); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), made.Add(1)))
	d = &Disk{Dir: name, file: name + ".img"}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make a disk: %w", err), d.Remove())
			d = nil
		}
	}()
	if err := errors.Join(os.MkdirAll(d.Dir, 0o755), os.Chmod(d.Dir, 0o755)); err != nil {
		return d, err
	}
	if d.owned, err = sparse(d.file, o.Bytes); err != nil {
		return d, err
	}
	if err := run(ctx, "mkfs."+o.System, o.arguments(d.file)...); err != nil {
		return d, err
	}
	if err := run(ctx, "mount", "-t", o.System, "-o", "loop", d.file, d.Dir); err != nil {
		return d, err
	}
	return d, d.find()
}

func (o Options) arguments(file string) []string {
	switch o.System {
	case "ext4", "ext2":
		// The tables of files are written now, and not while something is measured.
		arguments := []string{"-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}
		if o.Files > 0 {
			arguments = append(arguments, "-N", strconv.Itoa(o.Files))
		}
		return append(arguments, file)
	}
	return []string{"-q", "-f", file}
}

// sparse file of the disk, locked as long as this process runs.
func sparse(file string, bytes int64) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return f, errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), f.Truncate(bytes))
}

func run(ctx context.Context, name string, arguments ...string) error {
	out, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput()
	if err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out))))
	}
	return nil
}

// find its device.
func (d *Disk) find() error {
	var stat unix.Stat_t
	if err := unix.Stat(d.Dir, &stat); err != nil {
		return err
	}
	d.device = fmt.Sprintf("%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	return os.Chmod(d.Dir, 0o755)
}

// Folder on it that the user of servers may write to; the rest is root's, who keeps clusters nowhere else.
func (d *Disk) Folder() (dir string, err error) {
	account, err := process.ServerAccount()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(d.Dir, "servers")
	return dir, errors.Join(os.Mkdir(dir, 0o755), account.Own(dir))
}

// throttle is the file in which the kernel's first version of control groups keeps the limits of all devices together.
// The second version limits groups of processes alone.
const throttle = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device"

// Limit its writes to so many a second; 0: no limit. What was written until then is on the disk first.
func (d *Disk) Limit(perS int) error {
	folder, err := os.Open(d.Dir)
	if err != nil {
		return fmt.Errorf("limit a disk: %w", err)
	}
	err = errors.Join(unix.Syncfs(int(folder.Fd())), folder.Close())
	if err == nil {
		d.limited = true
		err = setLimit(d.device, perS)
	}
	return err
}

func setLimit(device string, perS int) error {
	if err := os.WriteFile(throttle, fmt.Appendf(nil, "%s %d", device, perS), 0); err != nil {
		return fmt.Errorf("limit a disk: %w", err)
	}
	return nil
}

// Remove it and all that is on it.
func (d *Disk) Remove() (err error) {
	if d.limited {
		err = setLimit(d.device, 0)
	}
	err = errors.Join(err, remove(d.Dir, d.file))
	if d.owned != nil {
		err = errors.Join(err, d.owned.Close())
	}
	return err
}

func remove(dir, file string) error {
	for deadline := time.Now().Add(unmountWithin); ; time.Sleep(100 * time.Millisecond) {
		switch err := unix.Unmount(dir, 0); {
		case err == nil:
			continue // it may have been mounted more than once
		case errors.Is(err, unix.EBUSY) && time.Now().Before(deadline):
			continue
		case errors.Is(err, unix.EBUSY):
			return fmt.Errorf("unmount %s: %w", dir, err)
		}
		break // not mounted, or no such folder
	}
	var err error
	if err = os.Remove(dir); os.IsNotExist(err) {
		err = nil
	}
	if gone := os.Remove(file); !os.IsNotExist(gone) {
		err = errors.Join(err, gone)
	}
	return err
}

// sweep removes what processes left that have ended.
func sweep(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, prefix+"*.img"))
	if err != nil {
		return err
	}
	for _, file := range left {
		if err := sweepOne(file); err != nil {
			return fmt.Errorf("remove a disk that was left behind: %w", err)
		}
	}
	return nil
}

func sweepOne(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // its maker has removed it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil //nolint:nilerr // its maker runs
	}
	left := &Disk{Dir: strings.TrimSuffix(file, ".img"), file: file}
	left.limited = left.isMounted() && left.find() == nil && limitOf(left.device) != ""
	return left.Remove()
}

// isMounted: its folder is on another device than the folder around it.
func (d *Disk) isMounted() bool {
	var own, around unix.Stat_t
	return unix.Stat(d.Dir, &own) == nil && unix.Stat(filepath.Dir(d.Dir), &around) == nil && own.Dev != around.Dev
}

// limitOf a device; empty: it has none. The number of a device that is gone is that of the next one, with its limit.
func limitOf(device string) string {
	text, _ := os.ReadFile(throttle) // without it there are no limits
	for line := range strings.Lines(string(text)) {
		if name, limit, found := strings.Cut(strings.TrimSpace(line), " "); found && name == device {
			return limit
		}
	}
	return ""
}

// Impossible says why no disk can be made in dir, with a limit or without; empty: it can.
func Impossible(dir string, limited bool) string {
	d, err := Make(context.Background(), dir, Options{Bytes: 16 << 20})
	if err == nil {
		if limited {
			err = d.Limit(1000)
		}
		err = errors.Join(err, d.Remove())
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// Another file system than ext4 that can be made here; empty: there is none.
func Another() string {
	for _, system := range []string{"xfs", "btrfs", "ext2"} {
		if _, err := exec.LookPath("mkfs." + system); err == nil {
			return system
		}
	}
	return ""
}
