package human

import "strings"

// LastLines of what a program printed, at most so many, as one line: what it said last tells most.
func LastLines(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}
