package run

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// serverLog is the file of the postmaster's messages, if it is on this machine. It is held open: once the server is
// gone, its path cannot be found.
type serverLog struct {
	file *os.File
	from int64 // what was written before the run
}

// logReadMost is how much of the log is read, from its end.
const logReadMost = 1 << 20

// openServerLog returns nil where the log is not visible from here.
func openServerLog(postmaster int) *serverLog {
	if postmaster == 0 {
		return nil
	}
	file, err := os.Open(filepath.Join("/proc", strconv.Itoa(postmaster), "fd/2"))
	if err != nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil
	}
	return &serverLog{file, info.Size()}
}

// lastFatal of a server that died: its first PANIC since the run began, or else its last FATAL that is not about a
// connection that came too late; empty: none is known.
func (l *serverLog) lastFatal() string {
	if l == nil {
		return ""
	}
	info, err := l.file.Stat()
	if err != nil || info.Size() < l.from {
		return ""
	}
	text, _ := io.ReadAll(io.NewSectionReader(l.file, max(l.from, info.Size()-logReadMost), logReadMost))
	fatal := ""
	for line := range bytes.Lines(text) {
		if _, words, found := strings.Cut(string(line), "PANIC:"); found {
			return "PANIC: " + strings.TrimSpace(words)
		}
		if _, words, found := strings.Cut(string(line), "FATAL:"); found && !strings.Contains(words,
			"the database system is") {
			fatal = "FATAL: " + strings.TrimSpace(words)
		}
	}
	return fatal
}

func (l *serverLog) close() {
	if l != nil {
		_ = l.file.Close()
	}
}

// withServerLog adds what the server's log says to a reason.
func (r *record) withServerLog(reason string) string {
	if r.lastFatal == "" {
		return reason
	}
	return reason + ": its log says " + r.lastFatal
}
