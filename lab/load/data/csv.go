package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Mistake in a file of rows.
type Mistake struct {
	Line int // from 1; 0: of the whole file
	Says string
	Hint string
}

func (m *Mistake) Error() string { return m.Says }

func hintOf(err error) string {
	var m *Mistake
	if errors.As(err, &m) {
		return m.Hint
	}
	return ""
}

const headerHint = "the first line names the columns: id,name"

// ReadCSV reads rows below a line with the names of the columns. Errors are Mistakes, or the reader's.
func ReadCSV(r io.Reader) (*Table, error) {
	from := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := from.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = from.Discard(3)
	}
	in := csv.NewReader(from)
	in.ReuseRecord = true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, &Mistake{1, "the file is empty", headerHint}
	}
	if err != nil {
		return nil, mistakeOf(err)
	}
	if len(header) == 1 && strings.ContainsAny(header[0], ";\t|") {
		return nil, &Mistake{1, fmt.Sprintf("the columns %q are not separated by commas", header[0]), headerHint}
	}
	t, keep, err := NewTable(header)
	if err != nil {
		return nil, &Mistake{1, err.Error(), headerHint}
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, mistakeOf(err)
		}
		for column, at := range keep {
			line, _ := in.FieldPos(at)
			if !utf8.ValidString(record[at]) || strings.IndexByte(record[at], 0) >= 0 {
				return nil, &Mistake{line, fmt.Sprintf("the value of %s is not text in UTF-8", t.Columns[column]),
					"iconv -f LATIN1 -t UTF-8 converts a file"}
			}
			if err := t.add(column, []byte(record[at]), false); err != nil {
				return nil, &Mistake{line, err.Error(), hintOf(err)}
			}
		}
		t.Rows++
	}
	if t.Rows == 0 {
		return nil, &Mistake{1, "there is no row below the names of the columns", ""}
	}
	return t, nil
}

func mistakeOf(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return err
	}
	m := &Mistake{Line: p.Line, Says: p.Err.Error()}
	if errors.Is(p.Err, csv.ErrFieldCount) {
		m.Says, m.Hint = "another number of values than the first line has", "quote a value that contains a comma"
	}
	if errors.Is(p.Err, csv.ErrQuote) || errors.Is(p.Err, csv.ErrBareQuote) {
		m.Hint = `a value with quotes stands in quotes, its own ones doubled: "6"" nail"`
	}
	return m
}
