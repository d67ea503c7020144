package confusion

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"golang.org/x/sys/unix"

	"plimsoll/ground/host/process"
	"plimsoll/lab/prove/burner"
)

// processes of the server.
func (s *scene) processes() (all []process.ID, err error) {
	root, err := process.Of(s.server.PID())
	if err != nil {
		return nil, err
	}
	family, err := root.Descendants()
	return append([]process.ID{root}, family...), err
}

// compute keeps a processor busy for some ten milliseconds.
func compute(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
	_, err := conn.Exec(ctx, "SELECT sum(length(md5(n::text))) FROM generate_series(1, 30000) n")
	return err
}

// burnMost seconds of processor time may a burner use.
const burnMost = 120

// pin processes to processors; one may have ended since.
func pin(all []process.ID, to *unix.CPUSet) {
	for _, id := range all {
		_ = unix.SchedSetaffinity(id.PID, to)
	}
}

// pinned gives the server one core until the trial ends.
func (s *scene) pinned() (one unix.CPUSet, err error) {
	all, err := s.processes()
	if err != nil {
		return one, err
	}
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(s.server.PID(), &before); err != nil {
		return one, unable{err}
	}
	first := 0
	for !before.IsSet(first) {
		first++
	}
	one.Set(first)
	pin(all, &one)
	s.undo = append(s.undo, func() error {
		all, err := s.processes()
		pin(all, &before)
		return err
	})
	return one, nil
}

// filledCore: the server and a process of others have one core between them.
func filledCore(ctx context.Context, s *scene) error {
	one, err := s.pinned()
	if err != nil {
		return err
	}
	if s.burners, err = burner.Start(ctx, s.dir, 2, burnMost); err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { s.burners.End(); return nil })
	pin(s.burners, &one)
	s.clients(2, "compute", 20*time.Millisecond, compute)
	used, began := s.burners.Used(), time.Now()
	s.checked(func(context.Context) (string, bool) {
		cores := (s.burners.Used() - used).Seconds() / time.Since(began).Seconds()
		// the kernel divides a core by sessions of terminals or by control groups, not by processes
		return fmt.Sprintf("the other process used %.2f cores, at least 0.3", cores), cores >= 0.3
	})
	return nil
}

// cpuContention: other processes fill all cores.
func cpuContention(ctx context.Context, s *scene) (err error) {
	if s.burners, err = burner.Start(ctx, s.dir, 2*runtime.NumCPU(), burnMost); err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { s.burners.End(); return nil })
	s.clients(2, "compute", 20*time.Millisecond, compute)
	used, began := s.burners.Used(), time.Now()
	s.checked(func(context.Context) (string, bool) {
		share := (s.burners.Used() - used).Seconds() / time.Since(began).Seconds() / float64(runtime.NumCPU())
		return fmt.Sprintf("other processes used %.0f %% of all cores, at least 25 %%", 100*share), share >= 0.25
	})
	return nil
}

// heavyWorkload of clients that never think. They run on this machine as well: what they ask for takes the server
// longer than it takes them to ask.
func heavyWorkload(_ context.Context, s *scene) error {
	s.clients(8*runtime.NumCPU(), "crowd", 0, summarize)
	s.checkSteps("crowd", 300)
	return nil
}

// summarize three weeks' orders, by an index.
func summarize(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
	var total pgtype.Numeric
	return conn.QueryRow(ctx, "SELECT sum(total) FROM orders WHERE day BETWEEN $1 AND $1 + 20",
		1+rng.IntN(900)).Scan(&total)
}

// cpuQuota of a fifth of a core.
func cpuQuota(_ context.Context, s *scene) error {
	const share = 0.2
	all, err := s.processes()
	if err != nil {
		return err
	}
	q, err := newQuota(share)
	if err != nil {
		return unable{fmt.Errorf("no control group can be created: %w", err)}
	}
	s.undo = append(s.undo, func() error {
		all, err := s.processes()
		return errors.Join(err, q.remove(all))
	})
	if err := q.take(all); err != nil {
		return unable{err}
	}
	s.clients(2, "compute", 20*time.Millisecond, compute)
	before, began := q.throttled(), time.Now()
	s.checked(func(context.Context) (string, bool) {
		share := (q.throttled() - before).Seconds() / time.Since(began).Seconds()
		return fmt.Sprintf("throttled for %.2f s of each second, added up over the cores; at least 0.2 s", share),
			share >= 0.2
	})
	return nil
}

func dump(ctx context.Context, program, dsn string, count *counted) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		count.failed.Add(1)
		return
	}
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, program, "--host", config.Host, "--port", fmt.Sprint(config.Port),
			"--username", config.User, "--file", os.DevNull, "--format", "plain", config.Database)
		cmd.Env = append(os.Environ(), "PGPASSWORD="+config.Password)
		err := cmd.Run()
		count.n.Add(1)
		if err != nil {
			count.failed.Add(1)
			sleep(ctx, 50*time.Millisecond)
		}
	}
}

// ioSaturation: other programs write to the disk of the data and flush it.
func ioSaturation(ctx context.Context, s *scene) error {
	dd, err := exec.LookPath("dd")
	if err != nil {
		return unable{err}
	}
	before, err := commitTime(ctx, s.dsn)
	if err != nil {
		return err
	}
	for n := range 4 {
		file := filepath.Join(filepath.Dir(s.cluster.DataDir()), fmt.Sprintf("saturation.%d", n))
		s.undo = append(s.undo, func() error {
			if err := os.Remove(file); !os.IsNotExist(err) {
				return err
			}
			return nil
		})
		s.during(func(ctx context.Context) {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, dd, "if=/dev/zero", "of="+file, "bs=1M", "count=256",
					"conv=fsync").Run()
			}
		})
	}
	s.checked(func(ctx context.Context) (string, bool) {
		after, err := commitTime(ctx, s.dsn)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("a commit took %s before and %s now, at least twice as long", before, after),
			after >= 2*before
	})
	return nil
}
