package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"plimsoll/lab/run/result"
)

// Judged is what is added to the answer of a search or a comparison: gates, which the answer does not know, and where
// its page lies.
type Judged struct {
	Gates []result.Gate
	Page  string // empty: nowhere
}

// Below the text of the answer stand the gates and the path.
func (j Judged) Below(w io.Writer, text func(io.Writer) error) error {
	if err := text(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, Gates(j.Gates, len(j.Gates)+1))
	if err == nil && j.Page != "" {
		_, err = fmt.Fprintf(w, "report: %s\n", j.Page)
	}
	return err
}

// JSON is that of the answer, an object, with the gates as its last name.
func (j Judged) JSON(answer any) ([]byte, error) {
	text, err := plainJSON(answer)
	if err != nil || len(j.Gates) == 0 {
		return text, err
	}
	more, err := plainJSON(map[string]any{"gates": j.Gates})
	if err != nil {
		return nil, err
	}
	return append(append(text[:len(text)-1], ','), more[1:]...), nil
}

// plainJSON has < and > as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
