package result

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the result, indented, with a final newline.
func (r *Result) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}
