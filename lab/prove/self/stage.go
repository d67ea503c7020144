package self

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/lab/line"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// stage is where lines are played: a folder for scenarios, and a database once one is needed.
type stage struct {
	Options
	dir  string
	dsn  string
	down func() error
	// filled books, once a line needs them
	filled string
	// How a test makes a report wrong.
	falsify      func(*result.Result)
	falsifyLine  func(*line.Line)
	falsifyAudit func(*audit.Report)
}

func newStage(o Options) (*stage, error) {
	dir, err := os.MkdirTemp("", "plimsoll-self-")
	return &stage{Options: o, dir: dir}, err
}

// close leaves nothing behind.
func (s *stage) close() error {
	err := os.RemoveAll(s.dir)
	if s.down != nil {
		err = errors.Join(err, s.down())
	}
	return err
}

// database of this test, made by the first who asks.
func (s *stage) database(ctx context.Context) (dsn string, err error) {
	if s.dsn == "" {
		s.dsn, s.down, err = s.Database(ctx)
	}
	return s.dsn, err
}

// users of a load, who think a constant time. Without a ramp and with a drain every request of a load is one that is
// counted.
const (
	crowd = 20
	think = 100 * time.Millisecond
)

// header of the scenarios.
const header = `
application = "none"
users = 20
[think]
mean = "100ms"
distribution = "constant"
`

func (s *stage) write(name, text string) (path string, err error) {
	path = filepath.Join(s.dir, name+".toml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// options of a run of a scenario.
func (s *stage) options(name, text string, lasts time.Duration) (run.Options, error) {
	path, err := s.write(name, text)
	if err != nil {
		return run.Options{}, err
	}
	read, err := scenario.Read(path)
	if err != nil {
		return run.Options{}, err
	}
	l := load.Default()
	l.Scenario, l.Ramp, l.Duration = read, 0, lasts
	return run.Options{Load: l, DisturbedLimit: run.DisturbedLimitDefault, Software: "prove --self"}, nil
}

// measured is a run on a server, and what the witness saw meanwhile.
type measured struct {
	*result.Result
	*server
	noise
}

// only is the one operation of the run.
func (m measured) only() result.Operation { return m.Operations[0] }

func (m measured) outcome(figures []Figure, planted ...string) outcome {
	return outcome{figures: figures, disturbed: disturbances(m.noise, m.Result, planted...)}
}

// plant is the load on a planted server.
type plant struct {
	name       string // of the behaviour
	operations string // of the scenario
	lasts      time.Duration
	change     func(*run.Options) // nil: none
}

// measure it.
func (s *stage) measure(ctx context.Context, p plant) (m measured, err error) {
	o, err := s.options(p.name, header+p.operations, p.lasts)
	if err != nil {
		return m, err
	}
	if p.change != nil {
		p.change(&o)
	}
	if m.server, err = s.plant(ctx, p.name, o.DSN); err != nil {
		return m, err
	}
	defer m.server.Stop()
	o.Scenario.Own.Base = m.URL
	end := watch(m.URL)
	m.Result, err = run.Run(ctx, o)
	m.noise = end()
	if err != nil {
		return m, err
	}
	s.falsifyResult(m.Result)
	return m, m.settle(ctx)
}

// falsifyResult changes what was reported, where a test asks for it.
func (s *stage) falsifyResult(r *result.Result) {
	if s.falsify != nil {
		s.falsify(r)
	}
}
