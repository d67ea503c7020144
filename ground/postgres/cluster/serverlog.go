package cluster

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"

	"plimsoll/ground/human"
)

const (
	// A longer log is rotated at the next start; one old log is kept.
	logBytesMax = 64 << 20
	// How much of a failed start's log is read back.
	logSaidMax = 256 << 10
)

// serverLog is the server's log, open for appending.
type serverLog struct {
	*os.File
	start int64 // where this start's lines begin
}

// openServerLog does not follow a link, because root writes here.
func openServerLog(path string) (*serverLog, error) {
	if info, err := os.Lstat(path); err == nil && info.Size() > logBytesMax {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, environment(fmt.Errorf("rotate server log: %w", err))
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, environment(fmt.Errorf("open server log: %w", err))
	}
	start, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, environment(fmt.Errorf("open server log: %w", err))
	}
	return &serverLog{f, start}, nil
}

// startMessages is what the server logged during one start.
type startMessages struct {
	all   string
	fatal []string // why it ended, with details and hints
}

func (l *serverLog) since() startMessages {
	text := make([]byte, logSaidMax)
	n, _ := l.ReadAt(text, l.start)
	return parseStartMessages(string(text[:n]))
}

// The line prefix of the profiles ends in a space; before the server reads it there is none.
var (
	gravePattern = regexp.MustCompile(`\b(FATAL|PANIC|ERROR):  (.*)`)
	morePattern  = regexp.MustCompile(`\b(DETAIL|HINT):  (.*)`)
	bindPattern  = regexp.MustCompile(`\bLOG:  (could not (?:bind|create|listen|open|access|write).*|` +
		`invalid .*|unrecognized .*|syntax error .*|parameter .*)`)
)

func parseStartMessages(text string) startMessages {
	found := startMessages{all: text}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := bindPattern.FindStringSubmatch(line); m != nil {
			found.fatal = append(found.fatal, m[1])
		} else if m := gravePattern.FindStringSubmatch(line); m != nil {
			found.fatal = append(found.fatal, m[2])
		} else if m := morePattern.FindStringSubmatch(line); m != nil && len(found.fatal) > 0 {
			found.fatal = append(found.fatal, m[2])
		}
	}
	if len(found.fatal) == 0 { // not even the server's own messages: perhaps the loader's
		if last := human.LastLines(text, 3); last != "" {
			found.fatal = []string{last}
		}
	}
	const enough = 6
	found.fatal = found.fatal[max(0, len(found.fatal)-enough):]
	return found
}
