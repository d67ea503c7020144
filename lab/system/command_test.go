package system_test

import (
	"slices"
	"testing"

	"plimsoll/lab/system"
)

func TestWords(t *testing.T) {
	got, err := system.Words(`bench  --name 'two words' --x="a b" ''`)
	if want := []string{"bench", "--name", "two words", "--x=a b", ""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v", got, err)
	}
	for _, wrong := range []string{"", "  ", "a 'b"} {
		if _, err := system.Words(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestParseRestore(t *testing.T) {
	for text, want := range map[string]system.Restore{
		"DELETE FROM done":  {SQL: "DELETE FROM done"},
		"!rsync -a 'a b' c": {Command: []string{"rsync", "-a", "a b", "c"}},
		"":                  {},
	} {
		if got, err := system.ParseRestore(text); err != nil || got.SQL != want.SQL || !slices.Equal(got.Command,
			want.Command) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := system.ParseRestore("!"); err == nil {
		t.Error("no command is taken for one")
	}
}
