package trace

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
)

// secretLength is from where on a secret is masked wherever it occurs. A shorter one would also hide parts of words.
const secretLength = 4

// Mask replaces the secrets in all that was recorded, and in other texts: the values of headers, cookies, fields,
// parameters and variables whose names say so, wherever they occur, and what is written as a password.
func Mask(traces []*Trace, texts ...*string) {
	m := &mask{}
	for _, t := range traces {
		for _, e := range t.Events {
			m.learn(e)
		}
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(m.secrets, func(a, b string) int { return len(b) - len(a) })
	m.secrets = slices.Compact(m.secrets)
	for _, t := range traces {
		for i := range t.Events {
			m.event(&t.Events[i])
		}
	}
	for _, text := range texts {
		m.text(text)
	}
}

// mask knows the secrets, in all the forms in which they may occur.
type mask struct{ secrets []string }

// secret that occurs as it is, in JSON, or in an address.
func (m *mask) secret(value string) {
	if len([]rune(value)) < secretLength || value == human.Masked {
		return
	}
	quoted, _ := json.Marshal(value)
	for _, form := range []string{value, strings.Trim(string(quoted), `"`), url.QueryEscape(value)} {
		if !slices.Contains(m.secrets, form) {
			m.secrets = append(m.secrets, form)
		}
	}
}

func (m *mask) named(name, value string) {
	if human.SecretName(name) {
		m.secret(value)
	}
}

func (m *mask) learn(e Event) {
	for _, v := range e.Sets {
		m.named(v.Name, v.Value)
	}
	if s := e.Statement; s != nil {
		for _, p := range s.Parameters {
			if p.Value != nil {
				m.named(p.Name, *p.Value)
			}
		}
		for _, r := range s.Results {
			m.learnRows(r)
		}
	}
	if r := e.Request; r != nil {
		m.learnHeaders(r.Headers)
		m.learnBody(r.Body)
		if address, err := url.Parse(r.URL); err == nil {
			m.learnFields(address.Query())
		}
		if r.Answer != nil {
			m.learnHeaders(r.Answer.Headers)
			m.learnBody(r.Answer.Body)
		}
	}
}

func (m *mask) learnRows(r Result) {
	for _, row := range r.Values {
		for i, value := range row {
			if value != nil && i < len(r.Columns) {
				m.named(r.Columns[i], *value)
			}
		}
	}
}

func (m *mask) learnHeaders(headers http.Header) {
	for name, values := range headers {
		for _, value := range values {
			switch {
			case !human.SecretName(name):
			case strings.EqualFold(name, "Cookie"):
				all, _ := http.ParseCookie(value)
				for _, c := range all {
					m.secret(c.Value)
				}
			case strings.EqualFold(name, "Set-Cookie"):
				if c, err := http.ParseSetCookie(value); err == nil {
					m.secret(c.Value)
				}
			default:
				m.secret(credential(value))
			}
		}
	}
}

// credential is a header's value without the scheme before it.
func credential(value string) string {
	if _, rest, has := strings.Cut(value, " "); has {
		return rest
	}
	return value
}

// Fields of JSON and of pages with their values, also where the text was cut.
var fields = []*regexp.Regexp{
	regexp.MustCompile(`"([^"\\]+)"\s*:\s*"((?:[^"\\]|\\.)*)`),
	regexp.MustCompile(`(?i)\bname=["']([^"'>]+)["'][^>]*\bvalue=["']([^"'>]+)`),
}

// learnBody looks at fields of JSON, of a page, or of a form.
func (m *mask) learnBody(body string) {
	found := false
	for _, field := range fields {
		for _, one := range field.FindAllStringSubmatch(body, -1) {
			found = true
			m.named(one[1], one[2])
		}
	}
	if form, err := url.ParseQuery(body); err == nil && !found {
		m.learnFields(form)
	}
}

func (m *mask) learnFields(fields url.Values) {
	for name, values := range fields {
		for _, value := range values {
			m.named(name, value)
		}
	}
}

func (m *mask) text(s *string) {
	for _, secret := range m.secrets {
		*s = strings.ReplaceAll(*s, secret, human.Masked)
	}
	*s = human.Redact(*s)
}

func (m *mask) event(e *Event) {
	for i := range e.Sets {
		m.value(e.Sets[i].Name, &e.Sets[i].Value)
	}
	if s := e.Statement; s != nil {
		m.text(&s.SQL)
		m.text(&s.Error)
		for _, p := range s.Parameters {
			if p.Value != nil {
				m.value(p.Name, p.Value)
			}
		}
		for _, r := range s.Results {
			m.rows(r)
		}
	}
	if r := e.Request; r != nil {
		m.text(&r.URL)
		m.text(&r.Body)
		m.text(&r.Error)
		m.headers(r.Headers)
		if r.Answer != nil {
			m.text(&r.Answer.Body)
			m.headers(r.Answer.Headers)
		}
	}
}

// value of a name that says whether it is secret.
func (m *mask) value(name string, value *string) {
	if human.SecretName(name) {
		*value = human.Masked
		return
	}
	m.text(value)
}

func (m *mask) rows(r Result) {
	for _, row := range r.Values {
		for i, value := range row {
			if value != nil && i < len(r.Columns) {
				m.value(r.Columns[i], value)
			}
		}
	}
}

// valueOfPair is the value of each cookie; of Set-Cookie the first pair is the cookie.
var (
	valueOfPair  = regexp.MustCompile(`=[^;]*`)
	valueOfFirst = regexp.MustCompile(`^([^=;]*)=[^;]*`)
)

func (m *mask) headers(headers http.Header) {
	for name, values := range headers {
		for i := range values {
			switch {
			case strings.EqualFold(name, "Cookie"):
				values[i] = valueOfPair.ReplaceAllString(values[i], "="+human.Masked)
			case strings.EqualFold(name, "Set-Cookie"):
				values[i] = valueOfFirst.ReplaceAllString(values[i], "${1}="+human.Masked)
			case human.SecretName(name):
				values[i] = strings.TrimSuffix(values[i], credential(values[i])) + human.Masked
			default:
				m.text(&values[i])
			}
		}
	}
}
