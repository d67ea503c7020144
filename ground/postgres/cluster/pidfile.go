package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/host/process"
)

// pidFile is the part of postmaster.pid that the server has written so far.
type pidFile struct {
	pid       int
	startedAt time.Time
	status    string // starting, ready, stopping, standby
}

// The lines of postmaster.pid (PostgreSQL's pidfile.h).
const (
	pidLine    = 0
	startLine  = 2
	memoryLine = 6
	statusLine = 7
)

const pidName = "postmaster.pid"

func (c *Cluster) pidPath() string { return filepath.Join(c.DataDir(), pidName) }

// readPidFile is zero if there is none.
func (c *Cluster) readPidFile() (f pidFile, err error) {
	text, err := c.readData(pidName)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, environment(fmt.Errorf("read pid file: %w", err))
	}
	lines := strings.Split(string(text), "\n")
	line := func(n int) string {
		if n < len(lines) {
			return strings.TrimSpace(lines[n])
		}
		return ""
	}
	f.pid, _ = strconv.Atoi(line(pidLine)) // an unwritten line counts as none
	if seconds, err := strconv.ParseInt(line(startLine), 10, 64); err == nil {
		f.startedAt = time.Unix(seconds, 0)
	}
	f.status = line(statusLine)
	return f, nil
}

// postmaster is the server that runs in our data folder; zero if there is none. The pid file counts only if that
// process really works in our folder: the pid may have been reused.
func (c *Cluster) postmaster() (process.ID, error) {
	f, err := c.readPidFile()
	if err != nil || f.pid <= 0 {
		return process.ID{}, err
	}
	account, err := c.account()
	if err != nil {
		return process.ID{}, err
	}
	if id, ok := process.At(f.pid, c.DataDir(), "postgres", account); ok {
		return id, nil
	}
	return process.ID{}, nil
}

// processes are the cluster's postmaster and its children, or children that outlived it.
func (c *Cluster) processes() ([]process.ID, error) {
	account, err := c.account()
	if err != nil {
		return nil, err
	}
	found, err := process.In(c.DataDir(), "postgres", account)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}
