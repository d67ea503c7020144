package human

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

// Plain is s without control characters, except line breaks and tabs.
func Plain(s string) string { return strings.Map(show, s) }

// PlainLine is Plain in one line.
func PlainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return show(r)
	}, s)
}

// PlainJSON is a document with harmful characters escaped: a parser gets each as it was.
func PlainJSON(document []byte) []byte {
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

// PlainWriter cleans everything that is written to another, and lets its own colours through.
type PlainWriter struct {
	to      io.Writer
	key     string // stands for the escape character in colours; unknown to any other text
	mu      sync.Mutex
	partial []byte // the beginning of a character
}

// NewPlainWriter cleans what goes to w.
func NewPlainWriter(w io.Writer) *PlainWriter { return &PlainWriter{to: w, key: "\x00" + rand.Text()} }

// Colour is text in a colour, by the number that terminals give it; it has to be written whole.
func (w *PlainWriter) Colour(number, text string) string {
	return w.key + "[" + number + "m" + PlainLine(text) + w.key + "[0m"
}

// Write implements io.Writer.
func (w *PlainWriter) Write(p []byte) (int, error) {
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
		parts[i] = Plain(parts[i])
	}
	if _, err := io.WriteString(w.to, strings.Join(parts, "\x1b")); err != nil {
		return 0, err
	}
	return len(p), nil
}
