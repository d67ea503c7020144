package worker

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// tailMax is how much of a log's end is kept.
const tailMax = 4 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailMax; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// line is the last non-empty line.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.kept)
	return strings.ToValidUTF8(string(text[bytes.LastIndexByte(text, '\n')+1:]), "�")
}

// lossy accepts all output, also what the log has no room for: without a reader, SIGPIPE would kill a worker that
// writes.
type lossy struct{ log io.Writer }

func (l lossy) Write(p []byte) (int, error) {
	_, _ = l.log.Write(p)
	return len(p), nil
}
