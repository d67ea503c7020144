package self

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"plimsoll/lab/host/cpu"
	"plimsoll/lab/host/process"
	"plimsoll/lab/run"
)

// burner is the name of the process that takes the processors, as the kernel keeps it.
const burner = "plimsoll-burner"

// burnMost is the processor time after which a burner ends, whatever became of this process.
const burnMost = 15

// disturbed is a load on the database while processes that are not ours take the processors.
func disturbed(ctx context.Context, s *stage) (outcome, error) {
	dsn, err := s.database(ctx)
	if err != nil {
		return outcome{}, err
	}
	o, err := s.options("disturbed", `
application = "none"
users = 20
[think]
mean = "100ms"
[operations.statement]
target = "2s"
sql = "SELECT 1"
`, 6*time.Second)
	if err != nil {
		return outcome{}, err
	}
	o.DSN = dsn
	burners, err := s.burn(ctx, runtime.NumCPU())
	defer burners.end()
	if err != nil {
		return outcome{}, err
	}
	before, began := burners.used(), time.Now()
	r, err := run.Run(ctx, o)
	if err != nil || r.Disturbance == nil {
		return outcome{}, err
	}
	took := (burners.used() - before).Seconds() / time.Since(began).Seconds() / float64(runtime.NumCPU())
	s.lie(r)
	var others []string
	for _, who := range r.Disturbance.Who {
		others = append(others, who.Name)
	}
	said, reason := states("valid", "no", valid(r), !r.Valid),
		says("reason", "disturbed: other processes used", r.InvalidReasons)
	// A little more than the limit in the whole run may be less than it in the steady state.
	if took < 2*run.DisturbedLimitDefault {
		said, reason = said.excused(), reason.excused()
	}
	return outcome{[]Figure{
		said, reason,
		says("who", burner, others).excused(), // others may take more than it gets
	}, []string{fmt.Sprintf("what was planted got %.0f %% of the processors; others were named: %s", 100*took,
		strings.Join(others, ", "))}}, nil
}

// burners are processes that do not descend from this one.
type burners []process.ID

// burn so many processors, with a shell under a name of its own that is nobody's child.
func (s *stage) burn(ctx context.Context, n int) (all burners, err error) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	link := filepath.Join(s.dir, burner)
	if err := os.Symlink(shell, link); err != nil && !os.IsExist(err) {
		return nil, err
	}
	for range n {
		script := fmt.Sprintf(`ulimit -t %d; "$0" -c 'while :; do :; done' >/dev/null 2>&1 & echo $!`, burnMost)
		told, err := exec.CommandContext(ctx, shell, "-c", script, link).Output()
		var pid int
		if err == nil {
			_, err = fmt.Sscan(string(told), &pid)
		}
		var started process.ID
		if err == nil {
			started, err = process.Of(pid)
		}
		if err != nil {
			return all, fmt.Errorf("start %s: %w", burner, err)
		}
		all = append(all, started)
	}
	return all, nil
}

// used so far; nothing of one that has ended.
func (b burners) used() (sum time.Duration) {
	for _, one := range b {
		if used, err := cpu.Process(one.PID); err == nil {
			sum += used
		}
	}
	return sum
}

func (b burners) end() {
	for _, one := range b {
		_ = one.Signal(syscall.SIGKILL) // it may have ended by itself
	}
}
