package human

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile has a title that is set, a cursor that is moved, colours in eight bits, and text that is turned round.
const hostile = "a\x1b]0;title\x07b\x1b[2Jc\u009b31md\rover\u202eeht\u2066\x7f\x9b\x00"

func TestPlain_ShowsWhatATerminalWouldObey(t *testing.T) {
	got := Plain(hostile + "\tnext\nline")
	if strings.ContainsFunc(got, harmful) || !strings.Contains(got, "]0;title") ||
		!strings.HasSuffix(got, "\tnext\nline") {
		t.Errorf("text %q, want it without control characters, in two lines", got)
	}
	if got := PlainLine("a\tb\nc"); got != "a b c" {
		t.Errorf("line %q, want one line", got)
	}
	if got := Plain("Ünïcode 漢字 ∞ ×"); got != "Ünïcode 漢字 ∞ ×" {
		t.Errorf("text %q, want it unchanged", got)
	}
}

func TestPlainWriter_CleansHoweverTextIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + hostile + "end"
		var out strings.Builder
		w := NewPlainWriter(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			if written, err := io.WriteString(w, rest[:n]); err != nil || written != n {
				t.Fatalf("%d, %v", written, err)
			}
			rest = rest[n:]
		}
		if got := out.String(); got != Plain(text) || !utf8.ValidString(got) {
			t.Errorf("%q, want %q", got, Plain(text))
		}
	})
}

func TestPlainWriter_LetsItsOwnColoursThroughAndNoOthers(t *testing.T) {
	var out strings.Builder
	w := NewPlainWriter(&out)
	fmt.Fprintf(w, "%s \x1b[31mred\x1b[0m", w.Colour("32", "gr\x1b[5meen"))
	if want := "\x1b[32mgr\ufffd[5meen\x1b[0m \ufffd[31mred\ufffd[0m"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestPlainJSON_EscapesAndLosesNothing(t *testing.T) {
	want := strings.ToValidUTF8(hostile, "")
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(want); err != nil {
		t.Fatal(err)
	}
	clean := PlainJSON([]byte(text.String()))
	var got string
	if err := json.Unmarshal(clean, &got); err != nil || got != want {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
	if strings.ContainsFunc(string(clean), harmful) {
		t.Errorf("JSON %q has control characters", clean)
	}
}
