package pglog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Prefix is a log_line_prefix, ready to read lines.
type Prefix struct {
	setting string
	line    *regexp.Regexp
	escapes []byte // of the groups, in their order
}

// Prefixes that are tried when none is given: our own clusters', PostgreSQL's, those of distributions and services, and
// those that reports on logs ask for. Of two that fit as well, the first counts: it has more to tell.
var Prefixes = []string{
	"%m [%p] %q%u@%d/%a ", "%m [%p] %q%u@%d ", "%m [%p] ", "%t [%p] ", "%m [%p]: ", "%t [%p]: ", "%t:%r:%u@%d:[%p]:",
	"%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ", "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
	"%m [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ", "%m [%p] %q[user=%u,db=%d,app=%a] ", "%m [%p] %u@%d ",
	"%m %p %c %u %d ",
}

// escape sequences and what they look like in a line.
var sequences = map[byte]string{
	'a': `.*?`, 'u': `\S*?`, 'd': `\S*?`, 'r': `\S*?(?:\(\d+\))?`, 'h': `\S*?`, 'b': `[a-z -]*?`, 'p': `\d+`,
	'P': `\d*`,
	'L': `\S*?`, 't': stamp, 'm': stamp, 'n': `\d+\.\d+`, 'i': `[A-Z ]*?`, 'e': `[0-9A-Z]{5}`, 'c': `[0-9a-f.]+`,
	'l': `\d+`, 's': stamp, 'v': `(?:-?\d+/\d+)?`, 'x': `\d+`, 'Q': `-?\d+`,
}

const stamp = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Za-z0-9+:-]+`

// ParsePrefix reads the value of the setting log_line_prefix.
func ParsePrefix(setting string) (*Prefix, error) {
	p := &Prefix{setting: setting}
	var b strings.Builder
	b.WriteString("^")
	closes := ""
	for i := 0; i < len(setting); i++ {
		if setting[i] != '%' {
			b.WriteString(regexp.QuoteMeta(setting[i : i+1]))
			continue
		}
		i++
		from := i
		for i < len(setting) && (setting[i] == '-' || setting[i] >= '0' && setting[i] <= '9') {
			i++
		}
		if i == len(setting) {
			return nil, fmt.Errorf("log_line_prefix %q ends within an escape", setting)
		}
		padded := i > from
		switch c := setting[i]; {
		case c == '%':
			b.WriteString("%")
		case c == 'q' && closes == "":
			b.WriteString("(?:") // lines of other processes end here
			closes = ")?"
		case c == 'q':
		case sequences[c] == "":
			return nil, fmt.Errorf("log_line_prefix %q: %%%c is unknown", setting, c)
		default:
			if padded {
				b.WriteString(" *(" + sequences[c] + ") *")
			} else {
				b.WriteString("(" + sequences[c] + ")")
			}
			p.escapes = append(p.escapes, c)
		}
	}
	b.WriteString(closes + `([\p{Lu}0-9]+): {1,2}`)
	var err error
	if p.line, err = regexp.Compile(b.String()); err != nil {
		return nil, fmt.Errorf("log_line_prefix %q: %w", setting, err)
	}
	switch {
	case !p.has("tmn"):
		return nil, fmt.Errorf("log_line_prefix %q has no time: %%m is needed", setting)
	case !p.has("pc"):
		return nil, fmt.Errorf("log_line_prefix %q has no process: %%p or %%c is needed to tell sessions", setting)
	}
	return p, nil
}

// String is the setting.
func (p *Prefix) String() string { return p.setting }

func (p *Prefix) has(escapes string) bool {
	for _, c := range p.escapes {
		if strings.IndexByte(escapes, c) >= 0 {
			return true
		}
	}
	return false
}

// read a line that begins an entry or an attachment: its word (LOG, DETAIL …) and the text behind it.
func (p *Prefix) read(line []byte, zone *time.Location) (e Entry, word string, text []byte, ok bool) {
	m := p.line.FindSubmatchIndex(line)
	if m == nil {
		return e, "", nil, false
	}
	for i, c := range p.escapes {
		if m[2*i+2] < 0 {
			continue
		}
		value := string(line[m[2*i+2]:m[2*i+3]])
		var err error
		switch c {
		case 't', 'm':
			e.At, err = parseTime(value, zone)
		case 'n':
			var s float64
			if s, err = strconv.ParseFloat(value, 64); err == nil {
				e.At = time.UnixMicro(int64(s * 1e6)).In(zone)
			}
		case 'p':
			e.Process = value
		case 'c':
			e.Session = value
		case 'u':
			e.User = known(value)
		case 'd':
			e.Database = known(value)
		case 'a':
			e.Application = known(value)
		case 'v':
			e.Transaction = value
		case 'e':
			e.State = value
		}
		if err != nil {
			return e, "", nil, false
		}
	}
	if e.Session == "" {
		e.Session = e.Process
	}
	last := len(m) - 2
	return e, string(line[m[last]:m[last+1]]), line[m[1]:], true
}

// known is "" for what the server did not know.
func known(value string) string {
	if value == "[unknown]" {
		return ""
	}
	return value
}
