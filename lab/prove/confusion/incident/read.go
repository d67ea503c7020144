package incident

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/lab/load/script"
)

//go:embed faults/*.sql
var files embed.FS

//go:embed base.sql
var baseSQL string

//go:embed loads.sql
var loadsSQL string

// Base makes the schema shop, of which each trial has a copy with other names.
func Base() string { return baseSQL }

// All faults, in the order of their files.
func All() []*Fault { return read() }

var read = sync.OnceValue(func() (all []*Fault) {
	names, err := fs.Glob(files, "faults/*.sql")
	for _, name := range names {
		text, failed := files.ReadFile(name)
		faults, wrong := parse(path.Base(name), string(text))
		err = errors.Join(err, failed, wrong)
		all = append(all, faults...)
	}
	if err != nil {
		panic(err) // a test reads them all
	}
	return all
})

// Loads of an ordinary shop, in the form of faults that break nothing: eight of three kinds.
func Loads() []*Fault { return readLoads() }

var readLoads = sync.OnceValue(func() []*Fault {
	all, err := parse("loads.sql", loadsSQL)
	if err != nil {
		panic(err) // a test reads them
	}
	return all
})

var (
	opening   = regexp.MustCompile(`^-- (?:fault|load) ([a-z0-9-]+)$`)
	opened    = regexp.MustCompile(`^-- (before|plant|remove|work|bad|hold|cured|cure)\b *(.*)$`)
	directive = regexp.MustCompile(`^-- ([a-z]+)(?: ([a-z]+))?(?:: *(.*))?$`)
)

// parse a file of faults.
func parse(file, text string) (all []*Fault, err error) {
	var f *Fault
	body := (*string)(nil) // of the open section; nil: the head of a fault
	for line := range strings.SplitSeq(joined(text), "\n") {
		if m := opening.FindStringSubmatch(line); m != nil {
			f = &Fault{Name: m[1], source: file, Settle: 2 * time.Second}
			all, body = append(all, f), nil
			continue
		}
		m := opened.FindStringSubmatch(line)
		switch {
		case f == nil: // a comment before the first
		case m != nil:
			body = f.open(m[1], m[2])
		case body != nil:
			*body += line + "\n"
		case strings.TrimSpace(line) != "":
			if err := f.readHead(line); err != nil {
				return all, fmt.Errorf("%s: %s: %w", file, f.Name, err)
			}
		}
	}
	return all, nil
}

// joined lines of a head: one that begins with dashes and four spaces continues the one before.
func joined(text string) string { return strings.ReplaceAll(text, "\n--     ", " ") }

func (f *Fault) readHead(line string) error {
	m := directive.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("not a line of a fault's head: %q", line)
	}
	return f.direct(m[1], m[2], m[3])
}

// open a section.
func (f *Fault) open(kind, head string) *string {
	lists := map[string]*[]section{"work": &f.text.Work, "bad": &f.text.Bad, "hold": &f.text.Hold,
		"cured": &f.text.Cured}
	if list := lists[kind]; list != nil {
		*list = append(*list, section{head: head})
		return &(*list)[len(*list)-1].body
	}
	return map[string]*string{"before": &f.text.Before, "plant": &f.text.Plant, "remove": &f.text.Remove,
		"cure": &f.text.Cure}[kind]
}

// direct is a line of a fault's head.
func (f *Fault) direct(word, name, value string) (err error) {
	switch word {
	case "does":
		f.Does = value
	case "from":
		f.From = value
	case "kind":
		f.Kind = value
	case "unseen":
		f.Unseen = true
	case "direct":
		f.Direct = true
	case "standby":
		f.Standby = true
	case "outside":
		f.Outside = true
	case "apart":
		f.Apart = true
	case "library":
		f.Library = value
	case "settle":
		f.Settle, err = time.ParseDuration(value)
	case "draw":
		d := draw{name: name}
		if _, err := fmt.Sscan(value, &d.low, &d.high); err != nil || d.low <= 0 || d.high < d.low {
			return fmt.Errorf("not two numbers: %q", value)
		}
		f.draws = append(f.draws, d)
	case "right":
		f.Right, err = patterns(f.Right, value)
	case "half":
		f.Half, err = patterns(f.Half, value)
	case "also":
		f.Also, err = patterns(f.Also, value)
	case "harm":
		f.Harm, err = patterns(f.Harm, value)
	case "never":
		f.Never = append(f.Never, strings.Fields(value)...)
	case "about":
		f.text.About = value
	case "effect":
		f.text.Effect = value
	case "server":
		f.text.Server = append(f.text.Server, value)
	default:
		return fmt.Errorf("unknown word %q", word)
	}
	return err
}

func patterns(to []*regexp.Regexp, text string) ([]*regexp.Regexp, error) {
	p, err := regexp.Compile(`(?i)` + group.ReplaceAllStringFunc(text,
		func(name string) string { return groups[name] }))
	return append(to, p), err
}

// Play the fault under the names and numbers of a trial.
func (f *Fault) Play(n *Names) (*Played, error) {
	p := &Played{Fault: f, Role: n.Role(f)}
	var errs []error
	fill := func(text string) string {
		filled, err := n.fill(f, text)
		errs = append(errs, err)
		return filled
	}
	p.Before, p.Plant = fill(f.text.Before), fill(f.text.Plant)
	p.Remove, p.Cure = fill(f.text.Remove), fill(f.text.Cure)
	for object := range strings.FieldsSeq(fill(f.text.About)) {
		_, bare, qualified := strings.Cut(object, ".")
		if !qualified {
			bare = object
		}
		p.About = append(p.About, bare)
	}
	var err error
	if f.Kind == "" {
		p.Effect, err = f.readEffect(fill(f.text.Effect), n)
		errs = append(errs, err)
	}
	for _, text := range f.text.Server {
		name, value, found := strings.Cut(fill(text), " = ")
		if !found {
			errs = append(errs, fmt.Errorf("%s: not a setting: %q", f.Name, text))
		}
		p.Server = append(p.Server, Setting{name, value})
	}
	for _, list := range []struct {
		from []section
		to   *[]Work
		mode script.Mode
	}{{f.text.Work, &p.Work, script.Extended}, {f.text.Bad, &p.Bad, script.Extended},
		{f.text.Cured, &p.Cured, script.Extended}, {f.text.Hold, &p.Hold, script.Simple}} {
		for _, s := range list.from {
			w, err := f.readWork(fill(s.head), fill(s.body), n, list.mode)
			errs = append(errs, err)
			*list.to = append(*list.to, w)
		}
	}
	for i := range p.Hold {
		p.Hold[i].As = "owner"
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.source, f.Name, err)
	}
	return p, nil
}

// readEffect of a fault.
func (f *Fault) readEffect(text string, n *Names) (e Effect, err error) {
	words := strings.Fields(text)
	at := map[string]int{Time: 2, PerStep: 2, Reach: 1}
	if len(words) == 0 || at[words[0]] == 0 || len(words) <= at[words[0]] {
		return e, fmt.Errorf("not an effect: %q", text)
	}
	e.Kind = words[0]
	least := at[e.Kind]
	if least == 2 {
		e.App = n.App(f, words[1])
	}
	e.Least, err = strconv.ParseFloat(words[least], 64)
	e.SQL = strings.Join(words[least+1:], " ")
	if (e.SQL == "") != (e.Kind == Time) {
		err = fmt.Errorf("an effect in time has no SQL, and the others have: %q", text)
	}
	return e, err
}
