package cli

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"gopkg.in/natefinch/lumberjack.v2"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/machine"
	"plimsoll/ground/problem"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// Bounds of what a worker keeps.
const (
	mebibyte = 1 << 20
	// sessionShare is the share of the memory that a worker uses for session data: several workers share a machine.
	sessionShare    = 16
	eventFileMB     = 64
	eventFilesOlder = 3
)

// keepOptions are about what a worker keeps: session data, and the log of its events.
type keepOptions struct {
	sessionMemory, traceSample int
	events                     string
	slow                       time.Duration
}

func (o *keepOptions) flags(fs *pflag.FlagSet) {
	config.Count(fs, &o.sessionMemory, "session-memory", 0, 0, 1<<20, "MiB of session data in memory; sessions "+
		"unused longest go to files in the state directory; 0: 1/16 of the machine's memory")
	fs.StringVar(&o.events, "events", "", "write the event log to this `FILE`: logins, refusals, retries, lock "+
		"timeouts and who held the lock, slow operations, drain; one JSON object a line, rotated at 64 MB")
	config.Span(fs, &o.slow, "slow", server.SlowDefault, 0,
		"log operations that take longer to the event log; 0: none")
	config.Count(fs, &o.traceSample, "trace-sample", 0, 0, 1000000000,
		"trace one request in this many: its trace goes to the event log, its bytes of WAL to /health/profile; 0: none")
}

// idle flags where there is no event log.
func (o *keepOptions) idle() idle {
	return idle{o.events == "", []string{"slow"}, "applies only to --events", "add --events FILE"}
}

// apply gives the worker its places; done closes them.
func (o *keepOptions) apply(c *server.Config) (done func(), err error) {
	c.TraceSample, c.Slow = o.traceSample, o.slow
	if o.slow == 0 {
		c.Slow = -1
	}
	c.SessionMemory = int64(o.sessionMemory) * mebibyte
	if c.SessionMemory == 0 {
		c.SessionMemory = sessionMemory()
	}
	c.SessionDir = sessionDir(c.Log)
	if o.events == "" {
		return func() {}, nil
	}
	// Tried now, so that a wrong name is reported at the start.
	file, err := os.OpenFile(o.events, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("open event log: %w", err),
			"name a file in a folder that exists with --events")
	}
	file.Close()
	log := &lumberjack.Logger{Filename: o.events, MaxSize: eventFileMB, MaxBackups: eventFilesOlder}
	c.Events = slog.New(slog.NewJSONHandler(log, nil))
	return func() { log.Close() }, nil
}

func sessionMemory() int64 {
	facts, err := machine.Read("/")
	if err != nil {
		return session.MemoryDefault
	}
	return max(16*mebibyte, facts.MemoryBytes/sessionShare)
}

// sessionDir is where data of sessions may go. A worker without a state directory does without.
func sessionDir(log *slog.Logger) string {
	dir := filepath.Join(dirs.State(), "sessions")
	if err := dirs.Private(dir); err != nil {
		log.Warn("session data stays in memory", "error", err)
		return ""
	}
	return dir
}
