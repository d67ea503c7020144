package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Width is the maximum width of the text.
const Width = 100

// units that must not begin a line.
var units = map[string]bool{"s": true, "ms": true, "min": true, "%": true, "KB": true, "MB": true, "GB": true}

// table is text in columns; the first is left-aligned, those named in left as well.
type table struct {
	left map[int]bool
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) error {
	widths, gap := t.widths()
	for _, row := range t.rows {
		var b strings.Builder
		b.WriteString("  ")
		for i, cell := range row {
			if i > 0 {
				b.WriteString(gap)
			}
			cell = cut(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 || t.left[i] {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// widths of the columns and the gap between them. If the table is too wide, first the gaps shrink, then the first
// column.
func (t *table) widths() (widths []int, gap string) {
	widths, gap = make([]int, len(t.rows[0])), "  "
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	sum := 2 + len(gap)*(len(widths)-1)
	for _, width := range widths {
		sum += width
	}
	if sum > Width {
		gap, sum = " ", sum-(len(widths)-1)
	}
	widths[0] = max(8, widths[0]-max(0, sum-Width))
	return widths, gap
}

func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// Wrap breaks text between words at the width of a report; later lines are indented.
func Wrap(text string, first, indent string) string {
	var b strings.Builder
	line := first
	for i, word := range words(text, Width-utf8.RuneCountInString(first)) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > Width {
			b.WriteString(line + "\n")
			line = indent + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

// words of a text. A unit stays with its number, and a word longer than the width is cut.
func words(text string, width int) (all []string) {
	for _, word := range strings.Fields(text) {
		if units[strings.TrimRight(word, ",;.")] && len(all) > 0 {
			all[len(all)-1] += " " + word
			continue
		}
		for runes := []rune(word); len(runes) > 0; runes = runes[min(width, len(runes)):] {
			all = append(all, string(runes[:min(width, len(runes))]))
		}
	}
	return all
}
