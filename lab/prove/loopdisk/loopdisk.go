// Package loopdisk owns disks that experiments make for themselves: a file system in a file, on a loop device that may
// have a limit of its own. What is limited is the device as a whole, whoever writes to it.
//
//	Make ──▶ file, mkfs, mount ──▶ limit ──▶ used ──Remove──▶ no limit, unmounted, no file
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
	// WritesPerS is its limit; 0: none.
	WritesPerS int
}

// Disk is a mounted one.
type Disk struct {
	Dir string // where it is mounted
	// device as MAJOR:MINOR.
	device  string
	file    string
	limited bool
}

// prefix of files and folders; the process that made them follows.
const prefix = "plimsoll-disk-"

// made is how many this process has made.
var made atomic.Int32

// unmountWithin is how long a disk may be in use after its end.
const unmountWithin = 20 * time.Second

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
	if err := errors.Join(os.MkdirAll(d.Dir, 0o755), os.Chmod(d.Dir, 0o755), sparse(d.file, o.Bytes)); err != nil {
		return d, err
	}
	if err := run(ctx, "mkfs."+o.System, o.arguments(d.file)...); err != nil {
		return d, err
	}
	if err := run(ctx, "mount", "-t", o.System, "-o", "loop", d.file, d.Dir); err != nil {
		return d, err
	}
	if err := d.find(); err != nil {
		return d, err
	}
	return d, d.limit(o.WritesPerS)
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

func sparse(file string, bytes int64) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(bytes), f.Close())
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

func (d *Disk) limit(perS int) error {
	if perS == 0 {
		return nil
	}
	d.limited = true
	return setLimit(d.device, perS)
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
	return errors.Join(err, remove(d.Dir, d.file))
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
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), prefix), "-")
		pid, err := strconv.Atoi(maker)
		if err != nil || unix.Kill(pid, 0) == nil {
			continue
		}
		if err := remove(strings.TrimSuffix(file, ".img"), file); err != nil {
			return fmt.Errorf("remove a disk that was left behind: %w", err)
		}
	}
	return nil
}

// Impossible says why no disk can be made in dir, with a limit or without; empty: it can.
func Impossible(dir string, limited bool) string {
	o := Options{Bytes: 16 << 20}
	if limited {
		o.WritesPerS = 1000
	}
	d, err := Make(context.Background(), dir, o)
	if err == nil {
		err = d.Remove()
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
