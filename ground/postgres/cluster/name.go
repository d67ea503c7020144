package cluster

import (
	"fmt"
	"regexp"

	"plimsoll/ground/problem"
)

// A name becomes part of paths and of the server's process titles.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// CheckName says what is wrong with a cluster's name.
func CheckName(name string) error {
	if validName.MatchString(name) {
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("invalid cluster name %q", name),
		"up to 40 lower-case letters, digits, - and _, not beginning with - or _")
}
