package incident

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/load/script"
)

// readWork of an application: its head is APP OPTION=VALUE …
func (f *Fault) readWork(head, body string, n *Names, mode script.Mode) (w Work, err error) {
	words := strings.Fields(head)
	if len(words) == 0 {
		return w, fmt.Errorf("work without an application")
	}
	w = Work{App: n.App(f, words[0]), Clients: 1, Mode: mode, As: "role", Role: n.Role(f)}
	for _, word := range words[1:] {
		if err := w.option(word); err != nil {
			return w, fmt.Errorf("%s of %s: %w", word, words[0], err)
		}
	}
	if w.Slow > 0 {
		w.SQL = strings.TrimSuffix(strings.TrimSpace(body), ";")
	}
	text, err := repeat(body)
	if err != nil {
		return w, err
	}
	if w.Script, err = script.Parse(text); err != nil {
		return w, fmt.Errorf("script of %s: %w", words[0], err)
	}
	w.writes = writing.MatchString(text)
	return w, nil
}

// writing statements: a standby takes none.
var writing = regexp.MustCompile(`(?i)\b(insert|update|delete|lock|notify|refresh|create|vacuum|truncate|nextval)\b`)

// Writes says whether it must run on the primary.
func (w Work) Writes() bool { return w.writes }

func (w *Work) option(word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "clients":
		w.Clients, err = strconv.Atoi(value)
	case "think":
		w.Think, err = time.ParseDuration(value)
	case "every":
		w.Every, err = time.ParseDuration(value)
	case "slow":
		w.Slow, err = time.ParseDuration(value)
	case "pool":
		w.Pool, err = strconv.Atoi(value)
	case "mode":
		w.Mode = script.Mode(value)
	case "as":
		w.As = value
	case "on":
		w.Standby = value == "standby"
	case "reconnect":
		w.Reconnect = true
	case "retry":
		w.Retry = true
	default:
		err = fmt.Errorf("unknown option")
	}
	return err
}

// repeat lines that follow "\repeat N".
func repeat(body string) (string, error) {
	var b strings.Builder
	times := 1
	for _, line := range strings.Split(body, "\n") {
		if count, is := strings.CutPrefix(line, `\repeat `); is {
			n, err := strconv.Atoi(strings.TrimSpace(count))
			if err != nil || n < 1 {
				return "", fmt.Errorf("not a number of times: %q", line)
			}
			times = n
			continue
		}
		for i := range times {
			b.WriteString(strings.ReplaceAll(line, "{i}", strconv.Itoa(i+1)) + "\n")
		}
		times = 1
	}
	return b.String(), nil
}
