package human_test

import (
	"testing"

	"plimsoll/ground/human"
)

func TestNearest(t *testing.T) {
	known := []string{"users", "duration", "think", "seed", "PLIMSOLL_RUN_USERS", "run"}
	for _, c := range []struct{ name, word, want string }{
		{"SwappedLetters", "usres", "users"},
		{"MissingLetter", "durtion", "duration"},
		{"ForgottenTail", "dur", "duration"},
		{"OtherCase", "Users", "users"},
		{"LongName", "PLIMSOLL_RUN_USER", "PLIMSOLL_RUN_USERS"},
		{"ShortAndSwapped", "rnu", "run"},
		{"NothingNear", "colour", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := human.Nearest(c.word, known); got != c.want {
				t.Errorf("nearest to %q is %q, want %q", c.word, got, c.want)
			}
		})
	}
}
