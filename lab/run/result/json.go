package result

import (
	"io"

	"plimsoll/ground/host/kept"
)

// WriteJSON writes the result, indented, with a final newline.
func (r *Result) WriteJSON(w io.Writer) error { return kept.JSON(w, r) }
