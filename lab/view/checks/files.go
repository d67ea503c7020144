package checks

import (
	"cmp"
	"errors"
	"os"

	"plimsoll/ground/host/kept"
)

// Files are where a CI server reads a report; an empty one is not written.
type Files struct{ JUnit, Markdown kept.Page }

// Check that they can be written, before anything long begins.
func (f Files) Check() error { return errors.Join(f.JUnit.Check(), f.Markdown.Check()) }

// Write them, with this machine's name, which JUnit asks for.
func (f Files) Write(r Report) error {
	name, _ := os.Hostname()
	r.Host = cmp.Or(r.Host, name)
	return errors.Join(f.JUnit.Write(r.JUnit), f.Markdown.Write(r.Markdown))
}
