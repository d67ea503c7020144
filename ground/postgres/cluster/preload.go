package cluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
)

// latencyText is how a latency is stored: empty if it is the disk's own.
func latencyText(text string) string {
	if d, err := storage.ParseLatency(text); err == nil && d == 0 {
		return ""
	}
	return text
}

// preload adds the library that slows flushes and keeps a journal, if either is requested.
func (c *Cluster) preload(ctx context.Context, srv installation.Server, opts *StartOptions) error {
	latency, err := storage.ParseLatency(c.marker.FlushLatency)
	if err != nil {
		return err
	}
	latency = max(latency, opts.FlushLatency)
	if latency == 0 && opts.Journal == "" {
		return nil
	}
	if err := c.refuseUring(ctx, srv, *opts); err != nil {
		return err
	}
	library := storage.Preload{Data: c.DataDir(), Latency: latency, Journal: opts.Journal, Broken: opts.Broken}
	env, err := library.Env(ctx)
	if err != nil {
		return err
	}
	if err := c.mayLoad(env[0]); err != nil {
		return err
	}
	opts.Env = append(env, opts.Env...)
	if latency > 0 {
		opts.Settings = append([]profile.Setting{{Name: storage.Setting, Value: latency.String()}}, opts.Settings...)
	}
	return nil
}

// mayLoad rejects a library in a folder that the server's user may not enter: the loader would leave it out silently.
func (c *Cluster) mayLoad(preload string) error {
	account, err := c.account()
	if err != nil || account == nil {
		return err
	}
	dir := filepath.Dir(strings.TrimPrefix(preload, "LD_PRELOAD="))
	if kept := unreachable(dir, account); kept != "" {
		return problem.New(problem.Environment,
			fmt.Errorf("user %s cannot enter %s, where the storage library is", account.Name, kept),
			"set PLIMSOLL_CACHE to a folder that every user may enter, or chmod o+x "+kept)
	}
	return nil
}

// errUring: what the server hands to io_uring does not pass through the library.
var errUring = errors.New("io_method=io_uring bypasses the library that slows flushes and records writes")

// refuseUring asks the server's program, which reads every file and the command line as the server will.
func (c *Cluster) refuseUring(ctx context.Context, srv installation.Server, opts StartOptions) error {
	if srv.Major() < 18 { // before it there is no such setting
		return nil
	}
	program, err := srv.Program("postgres")
	if err != nil {
		return err
	}
	account, err := c.account()
	if err != nil {
		return err
	}
	method, err := readSetting(ctx, program, account, c.DataDir(), opts.Settings)
	if err != nil {
		return err
	}
	if method == "io_uring" {
		return problem.New(problem.Usage, errUring, "set io_method to worker or sync in "+c.UserConf())
	}
	return nil
}

func readSetting(ctx context.Context, program string, account *process.Account, data string,
	settings []profile.Setting) (string, error) {
	args := []string{"-C", "io_method", "-D", data}
	for _, s := range settings {
		args = append(args, "-c", s.Name+"="+s.Value)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = serverEnv(), "/"
	account.Run(cmd)
	var output strings.Builder
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("read io_method: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
