package human

import (
	"strings"
	"unicode/utf8"
)

// Wrap a text into lines of at most so many characters, at its blanks; a longer word has a line of its own.
func Wrap(text string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Hanging wraps a text behind its first word, to lines of at most so many characters whose later ones are indented. Of
// more than MOST lines the rest is cut off, and marked; 0: all.
func Hanging(first, text string, width, most int) string {
	indent := utf8.RuneCountInString(first)
	lines := Wrap(text, max(width-indent-2, width/4)) // room for the mark
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			first = strings.Repeat(" ", indent)
		}
		if i == most-1 && len(lines) > most {
			b.WriteString(first + line + " …\n")
			break
		}
		b.WriteString(first + line + "\n")
	}
	return b.String()
}
