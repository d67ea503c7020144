package web

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table of a page, by the template "table", and of a terminal. What does not belong to the first or the last column are
// figures.
type Table struct {
	Title   string // its caption
	Label   string // for who does not see it; defaults to the title
	Class   string // of the style sheet
	Columns []string
	Rows    [][]string
	// Names: the first column is text. Says: the last one is sentences.
	Names, Says bool
}

// Region is what a screen reader calls the table.
func (t Table) Region() string { return cmp.Or(t.Label, t.Title) + ", scrolls sideways" }

// ClassOf a column in the style sheet.
func (t Table) ClassOf(column int) string {
	switch {
	case column == 0 && t.Names:
		return ""
	case column == len(t.Columns)-1 && t.Says:
		return "says"
	}
	return "n"
}

// Text writes the columns for a terminal, each line behind an indent. Without names all are set to the right.
func (t Table) Text(w io.Writer, indent string) error {
	flags, end := uint(0), ""
	if !t.Names {
		flags, end = tabwriter.AlignRight, "\t"
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		fmt.Fprintln(out, indent+strings.Join(row, "\t")+end)
	}
	return out.Flush()
}
