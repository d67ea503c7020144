// Package plain makes text safe to print: what a server, a file, a process or the environment wrote cannot control the
// terminal.
package plain

import (
	"bytes"
	"crypto/rand"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// shown replaces each control character.
const shown = utf8.RuneError

// harmful are control characters, including those with the eighth bit set, and those that change the direction of
// writing. Lines and tabs are layout.
func harmful(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

func show(r rune) rune {
	if harmful(r) {
		return shown
	}
	return r
}

// Text is s without control characters, except line breaks and tabs.
func Text(s string) string { return strings.Map(show, s) }

// Line is Text in one line.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return show(r)
	}, s)
}

// JSON is a document with harmful characters escaped: a parser gets each as it was.
func JSON(document []byte) []byte {
	const digits = "0123456789abcdef"
	var b bytes.Buffer
	for _, r := range string(document) {
		if !harmful(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\u`) // all of them have four digits
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(digits[r>>shift&0xf])
		}
	}
	return b.Bytes()
}

// Writer cleans everything that is written to another, and lets its own colours through.
type Writer struct {
	to      io.Writer
	key     string // stands for the escape character in colours; unknown to any other text
	mu      sync.Mutex
	partial []byte // the beginning of a character
}

// NewWriter cleans what goes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w, key: "\x00" + rand.Text()} }

// Colour is text in a colour, by the number that terminals give it; it has to be written whole.
func (w *Writer) Colour(number, text string) string {
	return w.key + "[" + number + "m" + Line(text) + w.key + "[0m"
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.partial, p...)
	end := len(text)
	for n := 1; n < utf8.UTFMax && n <= end; n++ {
		if utf8.RuneStart(text[end-n]) {
			if !utf8.FullRune(text[end-n:]) {
				end -= n
			}
			break
		}
	}
	w.partial = bytes.Clone(text[end:])
	parts := strings.Split(string(text[:end]), w.key)
	for i := range parts {
		parts[i] = Text(parts[i])
	}
	if _, err := io.WriteString(w.to, strings.Join(parts, "\x1b")); err != nil {
		return 0, err
	}
	return len(p), nil
}
