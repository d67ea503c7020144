package cluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// KeepData copies the data of a stopped cluster beside them, for Rewind. It is for clusters that tests throw away.
func (c *Cluster) KeepData(ctx context.Context) error {
	return c.copyAs(ctx, c.DataDir(), c.KeptData())
}

// KeptData is the folder of the copy that KeepData makes.
func (c *Cluster) KeptData() string { return filepath.Join(c.dir, "kept") }

// Rewind replaces the data of a stopped cluster with the copy that KeepData made, as change leaves it. Change has the
// rights of the server's user, whose files those are: what that user puts in its way leads no further than the user may
// go. It must stay in its goroutine.
func (c *Cluster) Rewind(ctx context.Context, change func(data string) error) error {
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
	if err := os.RemoveAll(c.DataDir()); err != nil {
		return environment(c.wrap(err))
	}
	if err := c.copyAs(ctx, c.KeptData(), c.DataDir()); err != nil {
		return err
	}
	account.See(func() { err = change(c.DataDir()) })
	return err
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
