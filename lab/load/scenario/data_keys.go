package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/data"
	"plimsoll/lab/load/script"
)

// rowsMax of a source whose rows are made: they take no memory.
const rowsMax = 1_000_000_000

// dataKeys are those of rows that operations take variables from.
func dataKeys() []key {
	return []key{
		{"data", true, nil},
		{"data.*", true, func(r *reader, e tomlfile.Entry) error { _, err := r.sourceOf(e); return err }},
		{"data.*.file", false, dataFile},
		{"data.*.sql", false, ofSource(text, func(s *data.Source, sql string) { s.SQL = sql })},
		{"data.*.rows", false, ofSource(func(set func(*reader, int)) setter { return count(1, rowsMax, set) },
			func(s *data.Source, n int) { s.Rows = n })},
		{"data.*.columns", true, nil},
		{"data.*.columns.*", false, dataColumn},
		{"data.*.take", false, dataTake},
		{"data.*.shuffle", false, dataShuffle},
	}
}

// sourceOf is the source that a key belongs to; its first key creates it.
func (r *reader) sourceOf(e tomlfile.Entry) (*data.Source, error) {
	name := e.Key[1]
	if !script.IsName(name) {
		e.Key = e.Key[:2]
		return nil, r.wrong(e, "is not the beginning of a variable name", "letters, digits and _, no digit first")
	}
	for _, s := range r.Own.Data {
		if s.Name == name {
			return s, nil
		}
	}
	s := &data.Source{Name: name, Take: data.Random}
	r.Own.Data = append(r.Own.Data, s)
	r.lines["data "+name] = e.Line
	return s, nil
}

func ofSource[T any](kind func(func(*reader, T)) setter, set func(*data.Source, T)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		s, err := r.sourceOf(e)
		if err != nil {
			return err
		}
		return kind(func(_ *reader, value T) { set(s, value) })(r, e)
	}
}

// dataFile reads a file of rows. What is wrong in it is named with its own line.
func dataFile(r *reader, e tomlfile.Entry) error {
	s, err := r.sourceOf(e)
	if err != nil {
		return err
	}
	path, table, digest, err := r.rows(e)
	if err != nil {
		return err
	}
	s.File, s.Digest = filepath.Base(path), digest
	s.Put(table)
	return nil
}

// rows reads the file that a key names; its path is taken from the folder of the scenario file.
func (r *reader) rows(e tomlfile.Entry) (path string, table *data.Table, digest string, err error) {
	path, ok := e.Raw.(string)
	if !ok {
		return "", nil, "", r.wrong(e, fmt.Sprintf("takes text in quotes, not %v", e.Raw), "")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.file.Path), path)
	}
	table, digest, err = readRows(path)
	var m *data.Mistake
	switch {
	case errors.As(err, &m) && m.Line > 0:
		err = problem.New(problem.Usage, fmt.Errorf("%s:%d: %s: %s", path, m.Line, keyText(e.Key), m.Says), m.Hint)
	case errors.As(err, &m):
		err = problem.New(problem.Usage, fmt.Errorf("%s: %s: %s", path, keyText(e.Key), m.Says), m.Hint)
	case err != nil:
		err = r.wrong(e, fmt.Sprintf("read rows: %v", err), "a path is taken from the folder of the scenario file")
	}
	return path, table, digest, err
}

func readRows(path string) (*data.Table, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	sum := sha256.New()
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		table, err := data.ReadCSV(io.TeeReader(f, sum))
		return table, hex.EncodeToString(sum.Sum(nil)[:8]), err
	case ".parquet":
		if _, err := io.Copy(sum, f); err != nil {
			return nil, "", err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, "", err
		}
		table, err := data.ReadParquet(f, info.Size())
		return table, hex.EncodeToString(sum.Sum(nil)[:8]), err
	}
	return nil, "", &data.Mistake{Says: "neither .csv nor .parquet", Hint: "the name says which of both it is"}
}

func dataColumn(r *reader, e tomlfile.Entry) error {
	s, err := r.sourceOf(e)
	if err != nil {
		return err
	}
	name := e.Key[3]
	if name == "" || !script.IsName("_"+name) {
		return r.wrong(e, "is not the end of a variable name", "letters, digits and _")
	}
	return text(func(_ *reader, t string) { s.Columns = append(s.Columns, data.Column{Name: name, Text: t}) })(r, e)
}

func dataTake(r *reader, e tomlfile.Entry) error {
	s, err := r.sourceOf(e)
	if err != nil {
		return err
	}
	given, _ := e.Raw.(string)
	var words []string
	for _, t := range data.Takes {
		words = append(words, string(t))
	}
	if !slices.Contains(words, given) {
		return r.wrong(e, fmt.Sprintf("must be one of %s, not %v", strings.Join(words, ", "), e.Raw),
			human.NearestHint(given, words, ""))
	}
	s.Take = data.Take(given)
	return nil
}

func dataShuffle(r *reader, e tomlfile.Entry) error {
	s, err := r.sourceOf(e)
	if err != nil {
		return err
	}
	yes, ok := e.Raw.(bool)
	if !ok {
		return r.wrong(e, fmt.Sprintf("takes true or false, not %v", e.Raw), "")
	}
	s.Shuffle = yes
	return nil
}

// completeData checks what spans several keys of a source.
func (r *reader) completeData() error {
	for _, s := range r.Own.Data {
		wrong := func(says, hint string) error {
			return problem.New(problem.Usage, fmt.Errorf("%s: data.%s: %s", r.lineOf("data", s.Name), s.Name, says),
				hint)
		}
		given := 0
		for _, is := range []bool{s.File != "", s.SQL != "", s.Rows > 0} {
			if is {
				given++
			}
		}
		switch {
		case given != 1:
			return wrong("takes one of file, sql and rows", "rows makes them by the expressions in columns")
		case s.Rows == 0 && len(s.Columns) > 0:
			return wrong("columns are made only with rows", `such as rows = 1000, columns = { id = "{{:row}}" }`)
		case s.Rows > 0 && len(s.Columns) == 0:
			return wrong("rows needs columns", `such as columns = { id = "{{:row}}", mail = "u{{:row}}@example.com" }`)
		case s.Shuffle && s.Take == data.Random:
			return wrong(`shuffle has no effect with take = "random"`, "leave it out")
		}
		for _, c := range s.Columns {
			if err := data.CheckColumn(c.Text); err != nil {
				return wrong("columns."+c.Name+": "+err.Error(),
					`text with expressions of pgbench: "u{{:row}}", "{{random(1, 6)}}"`)
			}
		}
	}
	return nil
}

// dataVariables are what the columns set.
func (r *reader) dataVariables(known *script.Sets) {
	for _, s := range r.Own.Data {
		if s.SQL != "" { // its columns are known when it is read
			known.Prefixes = append(known.Prefixes, s.Prefix())
		}
		for _, name := range s.Names() {
			known.Names[s.Prefix()+name] = true
		}
	}
}
