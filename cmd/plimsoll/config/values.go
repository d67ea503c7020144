package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/ground/human"
)

// Count is a whole number of at least Min and at most Max.
type count struct {
	p        *int
	min, max int
}

// Count defines a flag that takes a whole number between min and max.
func Count(fs *pflag.FlagSet, p *int, name string, def, min, max int, usage string) {
	*p = def
	fs.Var(&count{p, min, max}, name, usage)
}

func (c *count) String() string { return strconv.Itoa(*c.p) }
func (c *count) Type() string   { return "int" }
func (c *count) Set(s string) error {
	n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err != nil {
		return err
	}
	if n < c.min || n > c.max {
		return Reason(fmt.Sprintf("must be between %d and %d, not %d", c.min, c.max, n))
	}
	*c.p = n
	return nil
}

type fraction struct{ p *float64 }

// Fraction defines a flag that takes a number between 0 and 1.
func Fraction(fs *pflag.FlagSet, p *float64, name string, def float64, usage string) {
	*p = def
	fs.Var(fraction{p}, name, usage)
}

func (f fraction) String() string { return strconv.FormatFloat(*f.p, 'g', -1, 64) }
func (f fraction) Type() string   { return "float64" }
func (f fraction) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return err
	}
	if !(v >= 0 && v <= 1) {
		return Reason("must be between 0 and 1, not " + s)
	}
	*f.p = v
	return nil
}

type span struct {
	p   *time.Duration
	min time.Duration
}

// Span defines a flag that takes a duration of at least min.
func Span(fs *pflag.FlagSet, p *time.Duration, name string, def, min time.Duration, usage string) {
	*p = def
	fs.Var(span{p, min}, name, usage)
}

func (d span) String() string { return human.Duration(*d.p) }
func (d span) Type() string   { return "duration" }
func (d span) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return err
	}
	if v < d.min {
		return Reason(fmt.Sprintf("must be at least %s, not %s", d.min, s))
	}
	*d.p = v
	return nil
}

type choice struct {
	p    *string
	from []string
}

// Choice defines a flag that takes one of a few words; "" means none.
func Choice(fs *pflag.FlagSet, p *string, name, def string, from []string, usage string) {
	*p = def
	fs.Var(&choice{p, from}, name, usage)
}

func (c *choice) String() string { return *c.p }
func (c *choice) Type() string   { return strings.Join(c.from, "|") }
func (c *choice) Set(s string) error {
	for _, f := range c.from {
		if s == f {
			*c.p = s
			return nil
		}
	}
	if s == "" {
		*c.p = ""
		return nil
	}
	reason := fmt.Sprintf("must be one of %s, not %q", strings.Join(c.from, ", "), s)
	if near := human.Nearest(s, c.from); near != "" {
		reason += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return Reason(reason)
}

type optionalSpan struct {
	p   **time.Duration
	min time.Duration
}

// OptionalSpan defines a flag that takes a duration of at least min, or is left out: then there is none.
func OptionalSpan(fs *pflag.FlagSet, p **time.Duration, name string, min time.Duration, usage string) {
	*p = nil
	fs.Var(optionalSpan{p, min}, name, usage)
}

func (d optionalSpan) String() string {
	if d.p == nil || *d.p == nil {
		return ""
	}
	return span{*d.p, d.min}.String()
}
func (d optionalSpan) Type() string { return "duration" }
func (d optionalSpan) Set(s string) error {
	if s == "" {
		*d.p = nil
		return nil
	}
	var v time.Duration
	if err := (span{&v, d.min}).Set(s); err != nil {
		return err
	}
	*d.p = &v
	return nil
}

type age struct{ p *time.Duration }

// Age defines a flag that takes a duration with days and weeks too: 30d, 2w, 12h.
func Age(fs *pflag.FlagSet, p *time.Duration, name, usage string) { fs.Var(age{p}, name, usage) }

func (a age) String() string {
	if *a.p == 0 {
		return ""
	}
	return human.Duration(*a.p)
}
func (a age) Type() string { return "age" }
func (a age) Set(s string) error {
	const day = 24 * time.Hour
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, is := strings.CutSuffix(s, suffix)
		if n, err := strconv.ParseFloat(number, 64); is && err == nil && n > 0 && n < 1e5 {
			*a.p = time.Duration(n * float64(unit))
			return nil
		}
	}
	v, err := time.ParseDuration(s)
	if err == nil && v <= 0 {
		return Reason("must be more than nothing, not " + s)
	}
	*a.p = v
	return err
}

type size struct{ p *int64 }

// Size defines a flag that takes an amount of bytes with its unit: 300MB, 5GB, 5G.
func Size(fs *pflag.FlagSet, p *int64, name, usage string) { fs.Var(size{p}, name, usage) }

func (z size) String() string {
	if *z.p == 0 {
		return ""
	}
	return human.Bytes(*z.p)
}
func (z size) Type() string { return "size" }
func (z size) Set(s string) error {
	if !strings.HasSuffix(strings.ToUpper(s), "B") {
		s += "B"
	}
	n, err := human.ParseBytes(s)
	if err == nil {
		*z.p = n
	}
	return err
}
