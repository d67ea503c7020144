package request

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/load/script"
)

// Check is what a good answer must fulfil.
type Check struct {
	// Matches must match the body; nil: nothing must.
	Matches *regexp.Regexp `json:"matches,omitempty"`
	// Within is the longest time until the answer with its resources is there; 0: any.
	Within time.Duration `json:"within_ns,omitempty"`
	Values []Expected    `json:"values,omitempty"`
}

// Expected of a value in an answer.
type Expected struct {
	Source Source `json:"source"`
	// Absent values must not be there; otherwise they must.
	Absent bool `json:"absent,omitempty"`
	// Want, unless empty, is what a value of JSON must be, and what any other must contain. It is a template.
	Want string `json:"want,omitempty"`
}

func (c *Check) none() bool { return c.Matches == nil && len(c.Values) == 0 }

// answer that does not fulfil the check is an error. It is the same for all users.
func (c *Check) answer(a *answer, variables map[string]script.Value) error {
	if c.Matches != nil && !c.Matches.Match(a.body) {
		return fmt.Errorf("the answer does not match %s", c.Matches)
	}
	for _, e := range c.Values {
		if err := e.in(a, variables); err != nil {
			return err
		}
	}
	return nil
}

func (e Expected) in(a *answer, variables map[string]script.Value) error {
	value, err := e.Source.in(a)
	switch {
	case e.Absent && err == nil:
		return fmt.Errorf("the answer has %s", e.Source)
	case e.Absent:
		return nil
	case err != nil || e.Want == "":
		return err
	}
	want, err := expand(e.Want, variables, asIs)
	if err != nil {
		return err
	}
	got, comparison := value.String(), "contain"
	fulfilled := strings.Contains(got, want)
	if e.Source.json {
		comparison, fulfilled = "equal", got == want || equalNumbers(got, want)
	}
	if fulfilled {
		return nil
	}
	return &Differs{fmt.Sprintf("%s does not %s %q", e.Source, comparison, e.Want), got}
}

// equalNumbers are 1.5 and 1.50.
func equalNumbers(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	return err == nil && other == nil && x == y
}

// Differs is a value that is not the one expected.
type Differs struct {
	says, got string
}

// Error is the same for all users, so that equal ones are counted together.
func (d *Differs) Error() string { return d.says }

// Detail is what a person needs to find the cause of a single one.
func (d *Differs) Detail() string { return fmt.Sprintf("%s: it is %s", d.says, shown(d.got)) }

func (c *Check) inTime(took time.Duration) error {
	if c.Within > 0 && took > c.Within {
		return fmt.Errorf("the answer took longer than %v", c.Within)
	}
	return nil
}
