package techlog

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Append the event as a line of a log, with its end. A value stands in quotes if it has to: in those that it does not
// have, else they are doubled.
func (e *Event) Append(to []byte) []byte {
	to = fmt.Appendf(to, "%02d:%02d.%06d-%d,%s,3", e.At.Minute(), e.At.Second(), e.At.Nanosecond()/1000,
		e.Duration.Microseconds(), e.Name)
	for _, f := range e.Fields {
		to = append(append(append(append(to, ','), f.Name...), '='), quoted(f.Value)...)
	}
	return append(to, '\n')
}

func quoted(value string) string {
	switch {
	case !strings.ContainsAny(value, ",='\"\n\r"):
		return value
	case !strings.Contains(value, "'"):
		return "'" + value + "'"
	}
	return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
}

// Writer writes a log as one process of a 1C server does: a folder of its own, a file for each hour. All may write at
// once.
type Writer struct {
	dir  string
	tick time.Duration

	mu     sync.Mutex
	hour   time.Time
	file   *os.File
	out    *bufio.Writer
	line   []byte
	last   time.Time // tick of the clock
	serial time.Duration
	failed error
}

// NewWriter of the process's folder, which must not be there. A tick is how coarse its clock is, as on some machines;
// zero: as fine as this machine's.
func NewWriter(dir string, process int, tick time.Duration) (*Writer, error) {
	w := &Writer{dir: filepath.Join(dir, fmt.Sprintf("rphost_%d", process)), tick: tick}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write the log: %w", err)
	}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		return nil, fmt.Errorf("write the log: %w", err)
	}
	return w, nil
}

// Write an event. Close tells whether one could not be written.
func (w *Writer) Write(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return
	}
	w.coarsen(&e)
	hour := time.Date(e.At.Year(), e.At.Month(), e.At.Day(), e.At.Hour(), 0, 0, 0, e.At.Location())
	if !hour.Equal(w.hour) {
		if w.failed = errors.Join(w.close(), w.open(hour)); w.failed != nil {
			return
		}
	}
	w.line = e.Append(w.line[:0])
	_, w.failed = w.out.Write(w.line)
}

// coarsen times to ticks of the clock. Behind the tick stand serial numbers, and what took none took a microsecond.
func (w *Writer) coarsen(e *Event) {
	if w.tick == 0 {
		return
	}
	start, at := e.Start().Truncate(w.tick), e.At.Truncate(w.tick)
	if at.After(w.last) {
		w.last, w.serial = at, 0
	}
	w.serial += time.Microsecond
	e.At, e.Duration = w.last.Add(w.serial), max(at.Sub(start), time.Microsecond)
}

func (w *Writer) open(hour time.Time) (err error) {
	w.hour = hour
	w.file, err = os.OpenFile(filepath.Join(w.dir, hour.Format("06010215")+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND,
		0o644)
	if err == nil {
		w.out = bufio.NewWriterSize(w.file, 1<<18)
		if info, failed := w.file.Stat(); failed == nil && info.Size() == 0 {
			_, err = w.out.WriteString("\uFEFF") // as servers begin a file
		}
	}
	return err
}

func (w *Writer) close() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	return errors.Join(w.out.Flush(), file.Close())
}

// Close the log.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.failed, w.close()); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}
