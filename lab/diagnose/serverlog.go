package diagnose

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/plan"
)

// ServerLog is what the server wrote into its own log during the diagnosis. A kind of line that a setting keeps out is
// null.
type ServerLog struct {
	Source string `json:"source"`
	Bytes  int64  `json:"bytes"`
	// Cut: more was written than is read; the counts are of the last part.
	Cut         bool            `json:"cut"`
	LockWaits   *LogLockWaits   `json:"lock_waits"`
	TempFiles   *LogTempFiles   `json:"temp_files"`
	Checkpoints *LogCheckpoints `json:"checkpoints"`
	Deadlocks   int             `json:"deadlocks"`
	// Plans that auto_explain wrote.
	Plans int `json:"plans"`
	plans []*plan.Plan
	// Errors by their SQLSTATE, of those that are known by their words.
	Errors map[string]int `json:"errors"`
}

// errorWords are the server's own, the same from 15 to 18, of errors that a client may repeat a transaction for, or
// should not have.
var errorWords = []struct{ begin, state string }{
	{"could not serialize access", "40001"}, {"deadlock detected", "40P01"},
	{"canceling statement due to conflict with recovery", "40001"},
	{"canceling statement due to lock timeout", "55P03"}, {"canceling statement due to statement timeout", "57014"},
	{"canceling statement due to user request", cancelledByClient},
	{"terminating connection due to idle-in-transaction timeout", "25P03"},
	{"terminating connection due to transaction timeout", "25P04"},
	{"terminating connection due to idle-session timeout", "57P05"},
	{"temporary file size exceeds", "53400"},
	{"too many connections for role", tooManyConnections}, {"too many connections for database", tooManyConnections},
	{"current transaction is aborted", "25P02"}, {"duplicate key value violates", "23505"},
	{"sorry, too many clients already", tooManyConnections},
	{"remaining connection slots are reserved", tooManyConnections},
	{"out of shared memory", "53200"},
}

// cancelledByClient is the SQLSTATE of a timeout as well: a person, or the driver's own limit, asked for it.
const cancelledByClient = "57014 (asked for by the client)"

// loggedPlansMost are kept.
const loggedPlansMost = 200

// LogLockWaits are waits beyond deadlock_timeout.
type LogLockWaits struct {
	N        int     `json:"n"`
	LongestS float64 `json:"longest_s"`
}

// LogTempFiles are those beyond log_temp_files.
type LogTempFiles struct {
	N     int   `json:"n"`
	Bytes int64 `json:"bytes"`
}

// LogCheckpoints that ended.
type LogCheckpoints struct {
	N        int     `json:"n"`
	ByLog    int     `json:"because_of_log"` // because max_wal_size was reached
	Buffers  int64   `json:"buffers"`
	WriteS   float64 `json:"write_s"`
	SyncS    float64 `json:"sync_s"`
	LongestS float64 `json:"longest_sync_of_a_file_s"`
}

// logBytesMost are read at the end.
const logBytesMost = 16 << 20

// logFile is the server's log, from the beginning of the diagnosis on.
type logFile struct {
	name   string // as shown to users
	format string // stderr, csvlog, jsonlog
	from   int64
	// read from a place to the end, at most logBytesMost; size is where the end is.
	read func(ctx context.Context, from int64) ([]byte, error)
	size func(ctx context.Context) (int64, error)
	on   logSettings
}

// logSettings say which lines are written.
type logSettings struct {
	locks, checkpoints bool
	temp               int64 // kB from which on; -1: none
}

const logSettingsSQL = `SELECT current_setting('log_lock_waits')::bool, current_setting('log_checkpoints')::bool,
	(SELECT setting::bigint FROM pg_settings WHERE name = 'log_temp_files'), current_setting('lc_messages'),
	current_setting('log_destination'), current_setting('logging_collector')::bool`

// openLog finds the log: the collector's file through the server, or the file that the postmaster's stderr is.
func openLog(ctx context.Context, conn *pgx.Conn, postmaster int) (*logFile, error) {
	l := &logFile{}
	var language, destination string
	var collects bool
	if err := conn.QueryRow(ctx, logSettingsSQL).Scan(&l.on.locks, &l.on.checkpoints, &l.on.temp, &language,
		&destination,
		&collects); err != nil {
		return nil, err
	}
	if plain := strings.ToLower(language); plain != "" && plain != "c" && plain != "posix" &&
		!strings.HasPrefix(plain, "c.") && !strings.HasPrefix(plain, "en") {
		return nil, fmt.Errorf("its messages are not in English: lc_messages is %s", language)
	}
	var err error
	if collects {
		err = l.collected(ctx, conn, destination)
	} else {
		err = l.standardError(postmaster)
	}
	if err != nil {
		return nil, err
	}
	l.from, err = l.size(ctx)
	return l, err
}

// collected by the server's collector: read with the server's own functions, wherever it runs.
func (l *logFile) collected(ctx context.Context, conn *pgx.Conn, destination string) error {
	for _, format := range []string{"jsonlog", "csvlog", "stderr"} {
		if strings.Contains(destination, format) {
			l.format = format
			break
		}
	}
	if l.format == "" {
		return fmt.Errorf("it goes to %s, not to a file", destination)
	}
	var name *string
	if err := conn.QueryRow(ctx, "SELECT pg_current_logfile($1)", l.format).Scan(&name); err != nil || name == nil {
		return fmt.Errorf("pg_current_logfile names none (%w)", errors.Join(errNoLog, err))
	}
	l.name = *name
	l.size = func(ctx context.Context) (n int64, err error) {
		err = conn.QueryRow(ctx, "SELECT size FROM pg_stat_file($1)", l.name).Scan(&n)
		return n, explainDenied(err)
	}
	l.read = func(ctx context.Context, from int64) (text []byte, err error) {
		err = conn.QueryRow(ctx, "SELECT pg_read_binary_file($1, $2, $3)", l.name, from, logBytesMost).Scan(&text)
		return text, explainDenied(err)
	}
	return nil
}

var errNoLog = errors.New("the server writes no such file")

// explainDenied says which privilege is missing.
func explainDenied(err error) error {
	if err != nil && strings.Contains(err.Error(), "42501") {
		return errors.New("permission denied: GRANT pg_read_server_files TO the user")
	}
	return err
}

// standardError of the postmaster, where that is a file of this machine.
func (l *logFile) standardError(postmaster int) error {
	if postmaster == 0 {
		return errors.New("logging_collector is off, and the server's processes are not visible from here")
	}
	link := filepath.Join("/proc", strconv.Itoa(postmaster), "fd/2")
	file, err := os.Readlink(link)
	if err != nil {
		return fmt.Errorf("logging_collector is off, and the server's stderr is not visible: %w", err)
	}
	if info, err := os.Stat(link); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("logging_collector is off, and the server's stderr is not a file: %s", file)
	}
	l.name, l.format = file, "stderr"
	l.size = func(context.Context) (int64, error) {
		info, err := os.Stat(link)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	l.read = func(_ context.Context, from int64) ([]byte, error) {
		f, err := os.Open(link)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.NewSectionReader(f, from, logBytesMost))
	}
	return nil
}

// written since it was opened.
func (l *logFile) written(ctx context.Context) (*ServerLog, error) {
	end, err := l.size(ctx)
	if err != nil {
		return nil, err
	}
	s := &ServerLog{Source: l.name, Bytes: end - l.from, Errors: map[string]int{}}
	if s.Bytes < 0 {
		return nil, errors.New("it was rotated or truncated meanwhile")
	}
	if s.Bytes > logBytesMost {
		s.Cut, l.from = true, end-logBytesMost
	}
	text, err := l.read(ctx, l.from)
	if err != nil {
		return nil, err
	}
	if l.on.locks {
		s.LockWaits = &LogLockWaits{}
	}
	if l.on.temp >= 0 {
		s.TempFiles = &LogTempFiles{}
	}
	if l.on.checkpoints {
		s.Checkpoints = &LogCheckpoints{}
	}
	for _, message := range messages(text, l.format) {
		s.add(message)
	}
	return s, nil
}

// messages of a log, without what precedes them.
func messages(text []byte, format string) (all []string) {
	const messageColumn = 13 // of csvlog
	switch format {
	case "csvlog":
		r := csv.NewReader(bytes.NewReader(text))
		r.FieldsPerRecord, r.LazyQuotes = -1, true
		for {
			row, err := r.Read()
			if err != nil {
				return all
			}
			if len(row) > messageColumn {
				all = append(all, row[messageColumn])
			}
		}
	case "jsonlog":
		for line := range bytes.Lines(text) {
			var row struct {
				Message string `json:"message"`
			}
			if json.Unmarshal(line, &row) == nil {
				all = append(all, row.Message)
			}
		}
		return all
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, logBytesMost)
	taken := false // the line before
	for lines.Scan() {
		if more, goesOn := strings.CutPrefix(lines.Text(), "\t"); goesOn {
			if taken {
				all[len(all)-1] += "\n" + more
			}
			continue
		}
		taken = false
		for _, level := range []string{"LOG:  ", "ERROR:  ", "FATAL:  "} {
			if _, message, found := strings.Cut(lines.Text(), level); found {
				all, taken = append(all, message), true
				break
			}
		}
	}
	return all
}

// The server's own words (src/backend: proc.c, deadlock.c, fd.c, xlog.c), the same from 15 to 18.
var (
	waitLine = regexp.MustCompile(`^process \d+ (still waiting for|acquired) .* after ([0-9.]+) ms`)
	tempLine = regexp.MustCompile(`^temporary file: path "[^"]*", size (\d+)`)
	doneLine = regexp.MustCompile(`^(?:checkpoint|restartpoint) complete: wrote (\d+) buffers .*write=([0-9.]+) s, ` +
		`sync=([0-9.]+) s, .*longest=([0-9.]+) s`)
	fullLine = regexp.MustCompile(`^checkpoint starting:.*\bwal\b`)
)

func (s *ServerLog) add(message string) {
	amount := func(text string) float64 {
		x, _ := strconv.ParseFloat(text, 64) // the expression allows digits alone
		return x
	}
	for _, one := range errorWords {
		if strings.HasPrefix(message, one.begin) {
			if s.Errors == nil {
				s.Errors = map[string]int{}
			}
			s.Errors[one.state]++
		}
	}
	switch {
	case strings.HasPrefix(message, "duration: "):
		if p := plan.FromLog(message); p != nil {
			if s.Plans++; len(s.plans) < loggedPlansMost {
				s.plans = append(s.plans, p)
			}
		}
	case message == "deadlock detected":
		s.Deadlocks++
	case s.LockWaits != nil && waitLine.MatchString(message):
		m := waitLine.FindStringSubmatch(message)
		if m[1] != "acquired" { // who acquired it is in the log as waiting, too
			s.LockWaits.N++
		}
		s.LockWaits.LongestS = max(s.LockWaits.LongestS, amount(m[2])/1000)
	case s.TempFiles != nil && tempLine.MatchString(message):
		s.TempFiles.N++
		s.TempFiles.Bytes += int64(amount(tempLine.FindStringSubmatch(message)[1]))
	case s.Checkpoints != nil && fullLine.MatchString(message):
		s.Checkpoints.ByLog++
	case s.Checkpoints != nil && doneLine.MatchString(message):
		m := doneLine.FindStringSubmatch(message)
		c := s.Checkpoints
		c.N++
		c.Buffers += int64(amount(m[1]))
		c.WriteS += amount(m[2])
		c.SyncS += amount(m[3])
		c.LongestS = max(c.LongestS, amount(m[4]))
	}
}

// logged evidence, each empty where the log has none.
func (m *measured) loggedLocks() (lines []string) {
	if m.log == nil {
		return nil
	}
	if w := m.log.LockWaits; w != nil && w.N > 0 {
		lines = append(lines, fmt.Sprintf("the server's log has %s for longer than deadlock_timeout, the longest "+
			"%.1f s", human.Count(w.N, "wait"), w.LongestS))
	}
	if m.log.Deadlocks > 0 {
		lines = append(lines, "the server's log has "+human.Count(m.log.Deadlocks, "deadlock"))
	}
	return lines
}

func (m *measured) loggedTempFiles() []string {
	if m.log == nil || m.log.TempFiles == nil || m.log.TempFiles.N == 0 {
		return nil
	}
	t := m.log.TempFiles
	return []string{fmt.Sprintf("the server's log has %d temporary files of %.0f MB in all", t.N,
		float64(t.Bytes)/(1<<20))}
}

func (m *measured) loggedCheckpoints() []string {
	if m.log == nil || m.log.Checkpoints == nil || m.log.Checkpoints.N == 0 {
		return nil
	}
	c := m.log.Checkpoints
	return []string{fmt.Sprintf("the server's log has %d checkpoints of %d buffers, %d of them because max_wal_size "+
		"was reached; flushing their files took %.1f s, one file at most %.2f "+
		"s", c.N, c.Buffers, c.ByLog, c.SyncS, c.LongestS)}
}

// readLog at the end; what cannot be read or is not written is missing with its reason.
func (w *watch) readLog(ctx context.Context, s *sources) *ServerLog {
	const name = "lines of the server's log"
	if w.logErr != nil {
		s.miss(name, w.logErr.Error())
		return nil
	}
	found, err := w.log.written(ctx)
	if err != nil {
		s.miss(name, err.Error())
		return nil
	}
	for _, kind := range []struct {
		setting string
		missing bool
	}{{"log_lock_waits", found.LockWaits == nil}, {"log_temp_files", found.TempFiles == nil},
		{"log_checkpoints", found.Checkpoints == nil}} {
		if kind.missing {
			s.miss(name, kind.setting+" is off")
		}
	}
	return found
}
