package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
)

// killAfter is how long a command may take to end after Ctrl-C.
const killAfter = 10 * time.Second

// Execute a program of a system's owner, with further variables in its environment. What it printed is returned also if
// it fails.
func Execute(ctx context.Context, words []string, environment ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	c := exec.Command(words[0], words[1:]...)
	c.Stdout, c.Stderr = &stdout, &stderr
	c.Env = append(os.Environ(), environment...)
	child, err := process.StartChild(c, syscall.SIGKILL)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("start its command: %w", err), "")
	}
	select {
	case <-child.Exited():
	case <-ctx.Done():
		end(child)
		return nil, ctx.Err()
	}
	if err := child.Err(); err != nil {
		if last := LastLine(stderr.String()); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
		return stdout.Bytes(), problem.New(problem.Failure, fmt.Errorf("its command failed: %w", err), "")
	}
	return stdout.Bytes(), nil
}

// end stops a command and everything that it started.
func end(child *process.Child) {
	_ = syscall.Kill(-child.ID().PID, syscall.SIGTERM)
	select {
	case <-child.Exited():
	case <-time.After(killAfter):
	}
	_ = syscall.Kill(-child.ID().PID, syscall.SIGKILL)
	<-child.Exited()
}

// LastLine of what a program printed.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// Words splits a command line at blanks; quotes keep words together. No shell is involved.
func Words(text string) (all []string, err error) {
	var word strings.Builder
	var quote rune
	in := false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if in {
				all = append(all, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %s is not closed", string(quote))
	}
	if in {
		all = append(all, word.String())
	}
	if len(all) == 0 {
		return nil, errors.New("the command is empty")
	}
	return all, nil
}
