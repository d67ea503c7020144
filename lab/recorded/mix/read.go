package mix

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/recorded/lines"
)

// lineMost is the longest statement in JSON that is read.
const lineMost = 16 << 20

// Is says whether files are snapshots, by what they begin with: a CSV whose first line names the columns, or JSON
// objects with them.
func Is(paths []string) bool {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return false
		}
		text, file, err := lines.Open(path, func(int) {})
		if err != nil {
			return false
		}
		beginning, _ := io.ReadAll(io.LimitReader(text, 64<<10))
		_ = file.Close()
		if !begins(beginning) {
			return false
		}
	}
	return len(paths) > 0
}

func begins(text []byte) bool {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))
	if isJSON(text) {
		return bytes.Contains(text, []byte(`"calls":`)) && bytes.Contains(text, []byte(`"query":`))
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return named(strings.Split(strings.TrimSpace(string(line)), ","))
}

func isJSON(text []byte) bool { return len(text) > 0 && (text[0] == '[' || text[0] == '{') }

// named says whether columns are those of a snapshot.
func named(columns []string) bool {
	return slices.Contains(columns, "calls") && slices.Contains(columns, "query") &&
		(slices.Contains(columns, "total_exec_time") || slices.Contains(columns, "total_time"))
}

func readSnapshot(path string) (*snapshot, error) {
	text, file, err := lines.Open(path, func(int) {})
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	s := &snapshot{rows: map[id]*row{}, path: path, unread: lines.Unread{Examples: []lines.Example{}}}
	in := lines.NewReader(text, path, lineMost)
	line, err := in.Next()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, ErrNothing)
	}
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")):
		in.Back(line)
		err = s.array(&joined{in: in})
	case isJSON(bytes.TrimSpace(line)):
		in.Back(line)
		err = s.objects(in)
	default:
		in.Back(line)
		err = s.table(&joined{in: in})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// joined are lines as one text again.
type joined struct {
	in   *lines.Reader
	left []byte
}

func (j *joined) Read(p []byte) (int, error) {
	for len(j.left) == 0 {
		line, err := j.in.Next()
		if err != nil {
			return 0, err
		}
		j.left = line
	}
	n := copy(p, j.left)
	j.left = j.left[n:]
	return n, nil
}

func (s *snapshot) leaveOut(line int64, why error) {
	s.unread.Add(lines.Unread{Events: 1, Examples: []lines.Example{{File: s.path, Line: line, Why: why.Error()}}})
}

// table is CSV below a line with the names of the columns.
func (s *snapshot) table(text io.Reader) error {
	in := csv.NewReader(text)
	in.FieldsPerRecord = -1
	columns, err := in.Read()
	if err != nil {
		return fmt.Errorf("read the first line: %w", err)
	}
	for n := 1; ; n++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var wrong *csv.ParseError
		if err != nil && !errors.As(err, &wrong) {
			return fmt.Errorf("read a snapshot: %w", err)
		}
		if err != nil {
			s.leaveOut(int64(wrong.StartLine), err)
			continue
		}
		line, _ := in.FieldPos(0)
		if len(record) != len(columns) {
			s.leaveOut(int64(line), fmt.Errorf("%d values for %d columns", len(record), len(columns)))
			continue
		}
		err = s.keep(func(names ...string) string {
			for _, name := range names {
				if at := slices.Index(columns, name); at >= 0 {
					return record[at]
				}
			}
			return ""
		})
		if err != nil {
			s.leaveOut(int64(line), err)
		}
	}
}

// objects of JSON, one a line, as row_to_json gives them. COPY in its text format doubles their backslashes.
func (s *snapshot) objects(in *lines.Reader) error {
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			line = bytes.ReplaceAll(line, []byte(`\\`), []byte(`\`))
		}
		if err := s.object(line); err != nil {
			s.leaveOut(in.Line, err)
		}
	}
}

// array of JSON objects, as json_agg gives it.
func (s *snapshot) array(text io.Reader) error {
	d := json.NewDecoder(text)
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("read a snapshot: %w", err)
	}
	for n := int64(1); d.More(); n++ {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			s.leaveOut(n, err)
			return nil
		}
		if err := s.object(one); err != nil {
			s.leaveOut(n, err)
		}
	}
	if _, err := d.Token(); err != nil {
		s.leaveOut(int64(len(s.rows)), err)
	}
	return nil
}

func (s *snapshot) object(text []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	return s.keep(func(names ...string) string {
		for _, name := range names {
			if raw, is := fields[name]; is && string(raw) != "null" {
				var text string
				if json.Unmarshal(raw, &text) == nil {
					return text
				}
				return string(raw)
			}
		}
		return ""
	})
}

func count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of them", text)
	}
	return n, nil
}

func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is no time in milliseconds", text)
	}
	return n, nil
}

// moment as PostgreSQL writes it in CSV and JSON; zero: it is none.
func moment(text string) (at time.Time) {
	for _, layout := range []string{"2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999-07:00",
		"2006-01-02T15:04:05.999999-07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return at
}
