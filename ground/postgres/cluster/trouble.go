package cluster

import (
	"errors"
	"strings"
	"syscall"

	"plimsoll/ground/problem"
)

// What the machine may lack, by the system's error or by PostgreSQL's message.
var troubles = []struct {
	errno syscall.Errno
	text  string
	hint  string
}{
	{syscall.ENOSPC, "No space left on device", "free disk space, or set PLIMSOLL_STATE to a folder on another disk"},
	{syscall.EDQUOT, "Disk quota exceeded", "raise the quota, or set PLIMSOLL_STATE to a folder elsewhere"},
	{syscall.EROFS, "Read-only file system", "set PLIMSOLL_STATE to a folder that can be written"},
	{syscall.EACCES, "Permission denied", "run as the user that owns the state directory, or set PLIMSOLL_STATE to " +
		"a folder of yours"},
	{syscall.EPERM, "Operation not permitted",
		"run as the user that owns the state directory, or set PLIMSOLL_STATE to a folder of yours"},
	{syscall.EMFILE, "Too many open files", "raise the limit of open files: ulimit -n"},
	{syscall.EAGAIN, "Resource temporarily unavailable",
		"raise the limit of processes: ulimit -u, or the container's pids limit"},
	{syscall.ENOMEM, "Cannot allocate memory", "use less memory: --memory 25%"},
	{0, "not supported by build", "the log is compressed in a way that this server was built without: use a build " +
		"that has it, such as the one that wrote the log"},
	{0, "could not create semaphores", "raise kernel.sem, or stop other servers"},
}

// environment adds class and hint to an error caused by the machine; others pass unchanged.
func environment(err error) error {
	for _, t := range troubles {
		if t.errno != 0 && errors.Is(err, t.errno) {
			return problem.New(problem.Environment, err, t.hint)
		}
	}
	return err
}

// environmentText is environment for an error known only by a program's output.
func environmentText(err error, output string) error {
	for _, t := range troubles {
		if strings.Contains(output, t.text) {
			return problem.New(problem.Environment, err, t.hint)
		}
	}
	return err
}
