package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// initdbArgs: checksums, because torn and lost writes must be detected (the default in PostgreSQL 18, an option
// before). Passwords even on the socket: its folder keeps other users out, the password keeps other services of root
// out.
func initdbArgs(major int, data, passwordFile string, unsafe bool) []string {
	args := append([]string{
		"--pgdata", data, "--username", Superuser, "--pwfile", passwordFile,
		"--auth-local", "scram-sha-256", "--auth-host", "scram-sha-256",
		"--data-checksums", "--no-instructions",
	}, localeArgs(major)...)
	if unsafe {
		args = append(args, "--no-sync")
	}
	return args
}

// localeArgs: text is UTF-8, compared by code point (C.UTF-8). So indexes survive a new version of the C library, LIKE
// 'prefix%' uses them, a comparison is a memcmp, and all machines agree, while upper and lower know every alphabet.
// Queries that sort names for people name an ICU collation. From 17 on the server has this locale built in; older
// servers use the C library's.
func localeArgs(major int) []string {
	args := []string{"--encoding", "UTF8", "--locale", "C.UTF-8", "--lc-messages", "C"}
	if major >= 17 {
		args = append(args, "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8")
	}
	return args
}

func initdb(ctx context.Context, srv installation.Server, account *process.Account, data, passwordFile string,
	unsafe bool) error {
	program, err := srv.Program("initdb")
	if err != nil {
		return err
	}
	return fillData(ctx, srv, account, data, exec.Command(program, initdbArgs(srv.Major(), data, passwordFile,
		unsafe)...))
}

// copyData copies the data folder of a stopped cluster, as the server's user: it owns both.
func copyData(ctx context.Context, srv installation.Server, account *process.Account, from, data string) error {
	return fillData(ctx, srv, account, data, exec.Command("cp", "-a", from+"/.", data))
}

// DataKey tells data folders apart that initdb makes differently: by the engine and its files, the arguments, and the
// owner.
func DataKey(ctx context.Context, engine string) (string, error) {
	srv, err := installation.Find(ctx, engine)
	if err != nil {
		return "", err
	}
	account, err := process.ServerAccount()
	if err != nil {
		return "", err
	}
	owner := os.Geteuid()
	if account != nil {
		owner = account.UID
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s %s %d %q %q", owner, srv.Prefix, srv.Version, srv.Patchset,
		initdbArgs(srv.Major(), "", "", true), includes)
	for _, program := range []string{"postgres", "initdb"} {
		path, err := srv.Program(program)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(path)
		if err != nil {
			return "", environment(err)
		}
		fmt.Fprintf(sum, " %d %d", info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil)[:12]), nil
}

// fillData runs the program that fills a data folder, as the server's user.
func fillData(ctx context.Context, srv installation.Server, account *process.Account, data string,
	cmd *exec.Cmd) error {
	_, err := runFilling(ctx, srv, account, data, cmd)
	return err
}

// runFilling is fillData, with what the program printed.
func runFilling(ctx context.Context, srv installation.Server, account *process.Account, data string,
	cmd *exec.Cmd) (string, error) {
	name := filepath.Base(cmd.Path)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = append(serverEnv(), cmd.Env...)
	cmd.Dir = "/"
	account.Run(cmd)
	child, err := process.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		return "", startTrouble(err, srv, account)
	}
	select {
	case <-child.Exited():
	case <-ctx.Done():
		_ = child.SignalGroup(syscall.SIGKILL) // it may have ended already
		<-child.Exited()
		return "", ctx.Err()
	}
	if child.Err() == nil {
		return output.String(), ctx.Err()
	}
	if dir := unreachable(data, account); dir != "" {
		return "", problem.New(problem.Environment, fmt.Errorf("user %s cannot enter %s", account.Name, dir),
			"set PLIMSOLL_STATE to a folder that every user may enter, or chmod o+x "+dir)
	}
	tail := human.LastLines(output.String(), 5)
	return output.String(), environmentText(fmt.Errorf("%s: %w: %s", name, child.Err(), tail), output.String())
}

// serverEnv is the environment of PostgreSQL's programs: no PG* variables, and messages in one language, because we
// parse them.
func serverEnv() []string {
	var kept []string
	for _, e := range withoutPG(os.Environ()) {
		if name, _, _ := strings.Cut(e, "="); name != "LANG" && name != "LANGUAGE" && !strings.HasPrefix(name, "LC_") {
			kept = append(kept, e)
		}
	}
	return append(kept, "LC_ALL=C.UTF-8")
}

// startTrouble explains why a program of the engine could not be executed.
func startTrouble(err error, srv installation.Server, account *process.Account) error {
	if account == nil {
		return environment(fmt.Errorf("run %s: %w", srv, err))
	}
	if dir := unreachable(srv.BinDir, account); dir != "" {
		return problem.New(problem.Environment,
			fmt.Errorf("user %s cannot enter %s, where %s is", account.Name, dir, srv),
			"set PLIMSOLL_CACHE to a folder that every user may enter, or chmod o+x "+dir)
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		return problem.New(problem.Environment, fmt.Errorf("become user %s: %w", account.Name, err),
			"this root may not change users (a restricted container): run as an ordinary user")
	}
	return environment(fmt.Errorf("run %s as user %s: %w", srv, account.Name, err))
}

// unreachable is the topmost folder of path that the account may not enter.
func unreachable(path string, account *process.Account) string {
	if account == nil {
		return ""
	}
	for _, dir := range ancestors(path) {
		if info, err := os.Stat(dir); err != nil || !account.MayEnter(info) {
			return dir
		}
	}
	return ""
}

// ancestors of a path from the top, itself included.
func ancestors(path string) []string {
	if parent := filepath.Dir(path); parent != path {
		return append(ancestors(parent), path)
	}
	return []string{path}
}
