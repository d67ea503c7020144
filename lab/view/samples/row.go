// Package samples owns the file of a run's individual operations, and computes the run's figures from it independently:
// it shares no code with lab/load/tally and lab/load/apdex, which count a run, so that an error in one shows in the
// other.
package samples

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Row is one operation of one user. Times are nanoseconds since the start of the ramp.
type Row struct {
	User      int32  `parquet:"user,delta"`
	Operation string `parquet:"operation,dict"`
	Planned   string `parquet:"planned,dict"` // differs where there was nothing to act on
	Due       int64  `parquet:"due_ns,delta"`
	Held      int64  `parquet:"held_ns"` // no session was free (open arrivals)
	Sent      int64  `parquet:"sent_ns,delta"`
	FirstByte *int64 `parquet:"first_byte_ns,optional"` // of the first answer over HTTP
	Done      int64  `parquet:"done_ns,delta"`
	Waited    int64  `parquet:"waited_ns"`    // for something of the generator's own
	Outcome   string `parquet:"outcome,dict"` // ok, refused, overload, failed
	Refused   bool   `parquet:"refused"`
	Resent    int32  `parquet:"resent"`
	Bytes     int64  `parquet:"bytes"` // of the answers' bodies over HTTP
	Error     string `parquet:"error,dict"`
}

// Head is what the figures depend on in addition to the operations.
type Head struct {
	Run        string      `json:"run"`
	Users      int         `json:"users"`
	From       int64       `json:"steady_from_ns"`
	To         int64       `json:"steady_to_ns"`
	Operations []Operation `json:"operations"`
	// Missing is the number of operations that could not be kept.
	Missing int64 `json:"missing"`
	// Cut is the end of the last operation that was written, where the process that wrote the file died.
	Cut int64 `json:"cut_ns,omitempty"`
}

// merge is the head of a load that several processes made, each with a file.
func (h Head) merge(other Head, path string) (Head, error) {
	whole, cut := h, other
	if h.Cut != 0 {
		whole, cut = other, h
	}
	if cut.Cut == 0 && (h.Run != other.Run || h.From != other.From || h.To != other.To) ||
		h.Run != "" && other.Run != "" && h.Run != other.Run || !slices.Equal(h.Operations, other.Operations) {
		return h, fmt.Errorf("read samples: %s belongs to another run than the first file", path)
	}
	if whole.Run == "" {
		whole.Run = cut.Run
	}
	whole.Missing, whole.Cut = h.Missing+other.Missing, max(h.Cut, other.Cut)
	return whole, nil
}

// Operation as it is scored.
type Operation struct {
	ID       string `json:"id"`
	Target   int64  `json:"target_ns"`
	Priority int    `json:"priority"`
}

// HeadKey is the key of the Head in the file's metadata.
const HeadKey = "plimsoll.samples"

// Read a file row by row.
func Read(path string, each func(Row)) (head Head, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(path, PartSuffix) {
		if part, err := os.Open(path + PartSuffix); err == nil {
			defer part.Close()
			return readPart(part, each)
		}
	}
	if err != nil {
		return head, fmt.Errorf("read samples: %w", err)
	}
	defer f.Close()
	if strings.HasSuffix(path, PartSuffix) {
		return readPart(f, each)
	}
	info, err := f.Stat()
	if err != nil {
		return head, fmt.Errorf("read samples: %w", err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return head, fmt.Errorf("read samples: %s is not a complete Parquet file: %w", path, err)
	}
	text, found := file.Lookup(HeadKey)
	if !found {
		return head, fmt.Errorf("read samples: %s holds no samples of a run", path)
	}
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		return head, fmt.Errorf("read samples: %w", err)
	}
	rows := parquet.NewGenericReader[Row](file)
	defer rows.Close()
	return head, readAll(rows, each)
}

func readAll(rows *parquet.GenericReader[Row], each func(Row)) error {
	const atOnce = 1024
	for left := rows.NumRows(); left > 0; {
		batch := make([]Row, atOnce)
		n, err := rows.Read(batch)
		for _, r := range batch[:n] {
			each(r)
		}
		if left -= int64(n); left > 0 && (err != nil || n == 0) {
			return fmt.Errorf("read samples: %d operations are missing: %w", left, errors.Join(err))
		}
	}
	return nil
}

func milliseconds(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }
