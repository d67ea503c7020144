package request

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"plimsoll/lab/load/script"
)

// change makes another text of a value; false: it has none.
type change func(string) (string, bool)

// decoders take away the escapes of a text. They stand before a source: urldecode:cookie:XSRF-TOKEN.
var decoders = map[string]change{
	"urldecode": func(s string) (string, bool) {
		plain, err := url.PathUnescape(s)
		return plain, err == nil
	},
	"jsondecode": func(s string) (plain string, ok bool) {
		err := json.Unmarshal([]byte(`"`+s+`"`), &plain)
		return plain, err == nil
	},
	"htmldecode": func(s string) (string, bool) { return html.UnescapeString(s), true },
}

// partMark stands between a source and the expression for a part of it: header:Location regex:code=([^&]+).
const partMark = " regex:"

// derived reads a source whose value is made of another's; nil: it is none.
func derived(text string) (whole string, make change, err error) {
	if kind, rest, named := strings.Cut(text, ":"); named && decoders[kind] != nil {
		return rest, decoders[kind], nil
	}
	whole, expression, parted := strings.Cut(text, partMark)
	if !parted || strings.HasPrefix(text, "regex:") {
		return "", nil, nil
	}
	e, err := regexp.Compile(expression)
	if err != nil {
		return "", nil, err
	}
	if e.NumSubexp() == 0 {
		return "", nil, fmt.Errorf("%s has no group in parentheses", expression)
	}
	return whole, func(s string) (string, bool) {
		m := e.FindStringSubmatch(s)
		if m == nil {
			return "", false
		}
		return m[1], true
	}, nil
}

// then changes what a source finds.
func (s Source) then(text string, make change) Source {
	return Source{text: text, find: func(a *answer) (script.Value, bool, error) {
		value, found, err := s.find(a)
		if err != nil || !found {
			return value, found, err
		}
		plain, found := make(value.String())
		return script.Text(plain), found, nil
	}}
}

// In an answer of which only headers and body are known, as in a recording.
func (s Source) In(header http.Header, body []byte) (string, error) {
	a := &answer{Response: &http.Response{Header: header}, body: body}
	value, err := s.in(a)
	if err != nil {
		return "", err
	}
	return value.String(), nil
}
