package installation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// question to a server's program. A program that was replaced since is another one.
type question struct {
	program, args string
	size          int64
	modified      time.Time
}

type answer struct {
	stdout, stderr string
	err            error // of the program; nil: it ended with 0
}

// answers of programs, while this process runs: every start of a server makes the same ten calls.
var answers sync.Map

// runProgram runs a program whose output depends on its arguments alone.
func runProgram(ctx context.Context, program string, args ...string) (stdout, stderr string, err error) {
	q := question{program: program, args: fmt.Sprintf("%q", args)}
	info, missing := os.Stat(program)
	if missing == nil {
		q.size, q.modified = info.Size(), info.ModTime()
		if known, is := answers.Load(q); is {
			a := known.(answer)
			return a.stdout, a.stderr, a.err
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	var exit *exec.ExitError
	if missing == nil && (err == nil || errors.As(err, &exit) && exit.Exited()) { // not where the machine failed
		answers.Store(q, answer{out.String(), errs.String(), err})
	}
	return out.String(), errs.String(), err
}
