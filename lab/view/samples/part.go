package samples

import (
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

// PartSuffix is that of the file next to the Parquet file, which cannot be read before it is complete: the head as it
// was planned, and then the operations, as they came. It is left if the process died.
const PartSuffix = ".part"

// Part is written a piece at a time.
type Part struct {
	zip   *gzip.Writer
	lines *gob.Encoder
}

// NewPart begins with the head.
func NewPart(w io.Writer, head Head) (*Part, error) {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	p := &Part{z, gob.NewEncoder(z)}
	return p, errors.Join(p.lines.Encode(head), z.Flush())
}

// Write some operations, which can then be read.
func (p *Part) Write(rows []Row) error { return errors.Join(p.lines.Encode(rows), p.zip.Flush()) }

// readPart reads up to where it ends. Its steady state goes to the last operation at most.
func readPart(r io.Reader, each func(Row)) (head Head, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return head, fmt.Errorf("read samples: nothing was written before the process died: %w", err)
	}
	lines := gob.NewDecoder(z)
	if err := lines.Decode(&head); err != nil {
		return head, fmt.Errorf("read samples: nothing was written before the process died: %w", err)
	}
	for {
		var rows []Row
		if lines.Decode(&rows) != nil {
			break // here it ends, perhaps within a piece
		}
		for _, row := range rows {
			head.Cut = max(head.Cut, row.Done)
			each(row)
		}
	}
	head.Cut = max(1, head.Cut)
	head.To = max(head.From, min(head.To, head.Cut))
	return head, nil
}
