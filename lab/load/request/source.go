package request

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"

	"plimsoll/lab/load/script"
)

// Source says where in an answer a value is. As text it is a path in JSON, or begins with another kind:
//
//	items.0.id                          a path in JSON; json:items.0.id is the same
//	css:input[name=csrf]@value          an attribute of the first element of a page that matches a selector
//	css:h1                              its text, without what is around it and with single spaces
//	regex:Total: ([0-9.]+)              what the first group of an expression matches, else the whole
//	header:Location                     a header
//	cookie:csrftoken                    a cookie that the answer sets or the user has
//	header:Location regex:code=([^&]+)  a part of any of these
//	urldecode:cookie:XSRF-TOKEN         one without its escapes; also jsondecode, htmldecode
type Source struct {
	text string
	json bool
	find func(*answer) (value script.Value, found bool, err error)
}

// kinds of sources, and what each makes of the text behind its name.
var kinds = map[string]func(text string) (func(*answer) (script.Value, bool, error), error){
	"json":   func(text string) (func(*answer) (script.Value, bool, error), error) { return inTree(Path(text)), nil },
	"css":    inPage,
	"regex":  inBody,
	"header": inHeader,
	"cookie": inCookies,
}

// kindName is what may stand before the colon.
var kindName = regexp.MustCompile(`^([A-Za-z]+):`)

// Kinds of sources, by name.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// ParseSource reads a source.
func ParseSource(text string) (Source, error) {
	if whole, change, err := derived(text); err != nil {
		return Source{}, err
	} else if change != nil {
		source, err := ParseSource(whole)
		return source.then(text, change), err
	}
	kind, rest := "json", text
	if named := kindName.FindString(text); named != "" {
		kind, rest = named[:len(named)-1], text[len(named):]
	}
	parse := kinds[kind]
	if parse == nil {
		return Source{}, fmt.Errorf("no kind of source %q", kind)
	}
	if rest == "" {
		return Source{}, fmt.Errorf("nothing is named")
	}
	find, err := parse(rest)
	if err != nil {
		return Source{}, err
	}
	return Source{text, kind == "json", find}, nil
}

func (s Source) String() string { return s.text }

// IsJSON says whether the source is a path in JSON.
func (s Source) IsJSON() bool { return s.json }

// Equal compares the texts.
func (s Source) Equal(other Source) bool { return s.text == other.text }

// MarshalText is the source as it was read.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// UnmarshalText reads it again.
func (s *Source) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 { // as a source that is none was written
		*s = Source{}
		return nil
	}
	*s, err = ParseSource(string(text))
	return err
}

// in an answer; an error if it is not there.
func (s Source) in(a *answer) (script.Value, error) {
	value, found, err := s.find(a)
	if err == nil && !found {
		err = fmt.Errorf("the answer has no %s", s)
	}
	return value, err
}

func inTree(p Path) func(*answer) (script.Value, bool, error) {
	return func(a *answer) (value script.Value, found bool, err error) {
		tree, err := a.json()
		if err != nil {
			return value, false, err
		}
		value, err = p.In(tree)
		return value, err == nil, err
	}
}

func inHeader(name string) (func(*answer) (script.Value, bool, error), error) {
	if strings.ContainsAny(name, " \t\r\n:") {
		return nil, fmt.Errorf("%q is no name of a header", name)
	}
	return func(a *answer) (script.Value, bool, error) {
		all := a.Header.Values(name)
		return script.Text(strings.Join(all, ", ")), len(all) > 0, nil
	}, nil
}

func inCookies(name string) (func(*answer) (script.Value, bool, error), error) {
	return func(a *answer) (script.Value, bool, error) {
		for _, c := range a.Cookies() {
			if c.Name == name && c.MaxAge >= 0 {
				return script.Text(c.Value), true, nil
			}
		}
		if a.jar != nil && a.Request != nil {
			for _, c := range a.jar.Cookies(a.Request.URL) {
				if c.Name == name {
					return script.Text(c.Value), true, nil
				}
			}
		}
		return script.Value{}, false, nil
	}, nil
}

func inBody(text string) (func(*answer) (script.Value, bool, error), error) {
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	group := min(1, expression.NumSubexp())
	return func(a *answer) (script.Value, bool, error) {
		at := expression.FindSubmatchIndex(a.body)
		if at == nil || at[2*group] < 0 {
			return script.Value{}, false, nil
		}
		return script.Text(string(a.body[at[2*group]:at[2*group+1]])), true, nil
	}, nil
}

// attribute behind a selector, which may itself contain an @ in brackets or quotes.
var attribute = regexp.MustCompile(`@([A-Za-z_][A-Za-z0-9_:.-]*)$`)

func inPage(text string) (func(*answer) (script.Value, bool, error), error) {
	selector, name := text, ""
	if at := attribute.FindStringSubmatchIndex(text); at != nil {
		selector, name = text[:at[0]], strings.ToLower(text[at[2]:at[3]])
	}
	wanted, err := cascadia.ParseGroup(selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", selector, err)
	}
	return func(a *answer) (script.Value, bool, error) {
		page, err := a.html()
		if err != nil {
			return script.Value{}, false, err
		}
		element := cascadia.Query(page, wanted)
		if element == nil {
			return script.Value{}, false, nil
		}
		if name == "" {
			return script.Text(textOf(element)), true, nil
		}
		for _, attr := range element.Attr {
			if attr.Key == name {
				return script.Text(attr.Val), true, nil
			}
		}
		return script.Value{}, false, nil
	}, nil
}
