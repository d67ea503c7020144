package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// KeepData copies the data of a stopped cluster next to them, for Rewind; only a complete copy has its final name. It
// is for clusters that tests throw away.
func (c *Cluster) KeepData(ctx context.Context) error {
	if len(c.outsides()) > 0 {
		return c.wrap(errors.New("it has folders on other disks, which a copy of its data would share"))
	}
	if err := removeFile(c.rewoundPath()); err != nil {
		return environment(c.wrap(err))
	}
	partial := c.KeptData() + ".partial"
	for _, old := range []string{partial, c.KeptData()} { // of a killed command, and of an earlier call
		if err := os.RemoveAll(old); err != nil {
			return environment(c.wrap(err))
		}
	}
	if err := c.copyAs(ctx, c.DataDir(), partial); err != nil {
		return err
	}
	return environment(os.Rename(partial, c.KeptData()))
}

// KeptData is the folder of the copy that KeepData makes.
func (c *Cluster) KeptData() string { return filepath.Join(c.dir, "kept") }

// Rewind replaces the data of a stopped cluster with the copy that KeepData made, as change leaves it; see RewindTo.
func (c *Cluster) Rewind(ctx context.Context, change func(data string) error) error {
	return c.RewindTo(ctx, c.KeptData(), change)
}

// RewindTo replaces the data of a stopped cluster with a copy, always of the same folder, as change leaves it. Change
// has the rights of the server's user, whose files those are: what that user puts in its way leads no further than the
// user may go. It must stay in its goroutine.
//
// The second time it copies only the files that were touched since the first: any write, rename or new attribute
// renews a file's time of change (ctime), which no program can set back.
func (c *Cluster) RewindTo(ctx context.Context, kept string, change func(data string) error) error {
	l, err := c.store.lock(ctx, c.Name(), "rewind")
	if err != nil {
		return err
	}
	defer l.Release()
	account, err := c.account()
	if err != nil {
		return err
	}
	ReleaseMemory(c.DataDir())
	rewound, err := os.Stat(c.rewoundPath())
	if err == nil {
		err = removeFile(c.rewoundPath()) // until all is as it was
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.RemoveAll(c.DataDir()); err != nil {
			return environment(c.wrap(err))
		}
		err = c.copyAs(ctx, kept, c.DataDir())
	case err == nil:
		account.WithPermissions(func() { err = copyTouched(kept, c.DataDir(), rewound.ModTime()) })
	}
	if err == nil {
		err = writeFile(c.rewoundPath(), nil, 0o600)
	}
	if err != nil {
		return environment(c.wrap(err))
	}
	account.WithPermissions(func() { err = change(c.DataDir()) })
	return err
}

// rewoundPath is a file that is as old as the last moment at which the data were those that were kept.
func (c *Cluster) rewoundPath() string { return filepath.Join(c.dir, "rewound") }

func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyTouched makes data equal to kept, of which they were a copy at a time.
func copyTouched(kept, data string, at time.Time) error {
	if err := removeUnkept(kept, data); err != nil {
		return err
	}
	return filepath.WalkDir(kept, func(from string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(kept, from)
		if err != nil {
			return err
		}
		to := filepath.Join(data, name)
		switch there, err := os.Lstat(to); {
		case d.IsDir() && errors.Is(err, fs.ErrNotExist):
			return os.Mkdir(to, 0o700)
		case d.IsDir(), err == nil && changedAt(there).Before(at):
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return replaceFile(from, to)
	})
}

// removeUnkept removes what was not there.
func removeUnkept(kept, data string) error {
	return filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(data, path)
		if err != nil {
			return err
		}
		before, err := os.Lstat(filepath.Join(kept, name))
		if err == nil && before.Mode().Type() == d.Type() {
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return filepath.SkipDir
	})
}

// changedAt is when a file, its name or its attributes were changed last.
func changedAt(info fs.FileInfo) time.Time {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return time.Now()
	}
	return time.Unix(stat.Ctim.Unix())
}

// replaceFile replaces a file with a new one.
func replaceFile(from, to string) error {
	if err := removeFile(to); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// JournalDir makes an empty folder for StartOptions.Journal, which the server's user may write.
func (c *Cluster) JournalDir() (string, error) {
	account, err := c.account()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(c.dir, "journal")
	if err := os.RemoveAll(dir); err != nil {
		return "", environment(c.wrap(err))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", environment(c.wrap(err))
	}
	return dir, environment(account.Own(dir))
}

// copyAs copies a folder with its owners, to one that is not there yet.
func (c *Cluster) copyAs(ctx context.Context, from, to string) error {
	cmd := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, to)
	if out, err := cmd.CombinedOutput(); err != nil {
		return c.wrap(environmentText(err, string(out)))
	}
	return nil
}
