package scenario

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
)

// redirectsMost is more than any browser follows.
const redirectsMost = 50

// httpKeys describe what all requests have in common.
func httpKeys() []key {
	return []key{
		{"http", true, nil},
		{"http.base", false, base},
		{"http.cookies", false, boolean(func(r *reader, keeps bool) { r.Own.HTTP.Cookieless = !keeps })},
		{"http.redirects", false, count(0, redirectsMost, func(r *reader, n int) { r.Own.HTTP.Redirects = &n })},
		{"http.connections", false, oneOf(request.Sharings, func(r *reader, s request.Sharing) {
			r.Own.HTTP.Connections = s
		})},
		{"http.version", false, oneOf(request.Versions, func(r *reader, v request.Version) { r.Own.HTTP.Version = v })},
		{"http.headers", true, nil},
		{"http.headers.*", false, commonHeader},
		{"http.auth", true, nil},
		{"http.auth.basic", false, auth(func(a *request.Auth, s string) { a.Basic = s })},
		{"http.auth.bearer", false, auth(func(a *request.Auth, s string) { a.Bearer = s })},
		{"http.tls", true, func(r *reader, _ tomlfile.Entry) error { r.Own.HTTP.TLS = &request.TLS{}; return nil }},
		{"http.tls.ca", false, certificates(func(t *request.TLS, pem []byte) { t.CA = pem })},
		{"http.tls.certificate", false, certificates(func(t *request.TLS, pem []byte) { t.Certificate = pem })},
		{"http.tls.key", false, certificates(func(t *request.TLS, pem []byte) { t.Key = pem })},
		{"http.tls.insecure", false, boolean(func(r *reader, b bool) { r.Own.HTTP.TLS.Insecure = b })},
		{"http.tls.server_name", false, text(func(r *reader, s string) { r.Own.HTTP.TLS.ServerName = s })},
	}
}

// contentKeys describe what one request sends.
func contentKeys(at string) []key {
	return []key{
		{at + ".body", false, template(func(q *request.Request, s string) { q.Body = s })},
		{at + ".form", true, nil},
		{at + ".form.*", false, field(func(q *request.Request) *map[string][]string { return &q.Form })},
		{at + ".multipart", true, nil},
		{at + ".multipart.*", false, field(func(q *request.Request) *map[string][]string { return &q.Multipart })},
		{at + ".files", true, nil},
		{at + ".files.*", false, formFile},
		{at + ".body_file", false, bodyFile},
	}
}

func base(r *reader, e tomlfile.Entry) error {
	s, _ := e.Raw.(string)
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return r.wrong(e, fmt.Sprintf("takes an address, not %v", e.Raw), `such as "http://127.0.0.1:8000"`)
	}
	r.Own.Base = s
	return nil
}

func boolean(set func(*reader, bool)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		b, ok := e.Raw.(bool)
		if !ok {
			return r.wrong(e, fmt.Sprintf("takes true or false, not %v", e.Raw), "")
		}
		set(r, b)
		return nil
	}
}

// oneOf some words.
func oneOf[T ~string](all []T, set func(*reader, T)) setter {
	var words []string
	for _, one := range all {
		words = append(words, string(one))
	}
	return func(r *reader, e tomlfile.Entry) error {
		s, _ := e.Raw.(string)
		if !slices.Contains(words, s) {
			return r.wrong(e, fmt.Sprintf("must be one of %s, not %v", strings.Join(words, ", "), e.Raw),
				human.NearestHint(s, words, `as text, such as "`+words[0]+`"`))
		}
		set(r, T(s))
		return nil
	}
}

// templateText is text with {{variables}}.
func (r *reader) templateText(e tomlfile.Entry) (string, error) {
	s, ok := e.Raw.(string)
	if !ok {
		return "", r.wrong(e, fmt.Sprintf("takes text in quotes, not %v", e.Raw), "")
	}
	if _, err := request.Variables(s); err != nil {
		return "", r.wrong(e, err.Error(), "such as {{token}}")
	}
	return s, nil
}

func commonHeader(r *reader, e tomlfile.Entry) error {
	s, err := r.templateText(e)
	if err != nil {
		return err
	}
	if r.Own.HTTP.Headers == nil {
		r.Own.HTTP.Headers = map[string]string{}
	}
	return r.headerInto(r.Own.HTTP.Headers, e, s)
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (r *reader) headerInto(headers map[string]string, e tomlfile.Entry, template string) error {
	name := e.Key[len(e.Key)-1]
	if !headerName.MatchString(name) {
		return r.wrong(e, "is no name of a header", `such as Accept-Language = "en"`)
	}
	headers[name] = template
	return nil
}

func auth(set func(*request.Auth, string)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		s, err := r.templateText(e)
		if err != nil {
			return err
		}
		if r.Own.HTTP.Auth != nil {
			return r.wrong(e, "basic and bearer exclude each other", "keep one")
		}
		if e.Key[2] == "basic" && !strings.Contains(s, ":") {
			return r.wrong(e, "takes a name and a password", `such as "{{name}}:{{password}}"`)
		}
		r.Own.HTTP.Auth = &request.Auth{}
		set(r.Own.HTTP.Auth, s)
		return nil
	}
}

func certificates(set func(*request.TLS, []byte)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		_, pem, err := r.fileOf(e)
		if err == nil {
			set(r.Own.HTTP.TLS, pem)
		}
		return err
	}
}

// values of a field: text, a number, true or false, or a list of them.
func (r *reader) values(e tomlfile.Entry) (all []string, err error) {
	list, is := e.Raw.([]any)
	if !is {
		list = []any{e.Raw}
	}
	for _, item := range list {
		s, ok := scalar(item)
		if !ok {
			return nil, r.wrong(e, fmt.Sprintf("takes text, a number or a list of them, not %v", e.Raw), "")
		}
		if _, err := request.Variables(s); err != nil {
			return nil, r.wrong(e, err.Error(), "such as {{item}}")
		}
		all = append(all, s)
	}
	return all, nil
}

// scalar value as text.
func scalar(raw any) (string, bool) {
	switch raw.(type) {
	case string, int64, float64, bool:
		return fmt.Sprint(raw), true
	}
	return "", false
}

func field(of func(*request.Request) *map[string][]string) setter {
	return func(r *reader, e tomlfile.Entry) error {
		all, err := r.values(e)
		if err != nil {
			return err
		}
		fields := of(r.requestOf(e))
		if *fields == nil {
			*fields = map[string][]string{}
		}
		(*fields)[e.Key[len(e.Key)-1]] = all
		return nil
	}
}

func formFile(r *reader, e tomlfile.Entry) error {
	f, err := r.sentFile(e)
	if err != nil {
		return err
	}
	q := r.requestOf(e)
	if q.Files == nil {
		q.Files = map[string]request.File{}
	}
	q.Files[e.Key[len(e.Key)-1]] = f
	return nil
}

func bodyFile(r *reader, e tomlfile.Entry) error {
	f, err := r.sentFile(e)
	if err == nil {
		r.requestOf(e).BodyFile = &f
	}
	return err
}

// readSource refuses what cannot be looked for in an answer.
func (r *reader) readSource(e tomlfile.Entry, text string) (request.Source, error) {
	source, err := request.ParseSource(text)
	if err != nil {
		hint := `such as "css:input[name=csrf]@value", "regex:Total: ([0-9]+)", "header:Location", "cookie:token" ` +
			`or, ` +
			`in JSON, "items.0.id"`
		if kind, _, _ := strings.Cut(text, ":"); !slices.Contains(request.Kinds(), kind) {
			hint = human.NearestHint(kind, request.Kinds(), hint)
		}
		return source, r.wrong(e, err.Error(), hint)
	}
	return source, nil
}

func extract(r *reader, e tomlfile.Entry) error {
	name := e.Key[len(e.Key)-1]
	if !script.IsName(name) {
		return r.wrong(e, "is not a variable name", "letters, digits and _, no digit first")
	}
	s, ok := e.Raw.(string)
	if !ok {
		return r.wrong(e, fmt.Sprintf("takes text in quotes, not %v", e.Raw), "")
	}
	source, err := r.readSource(e, s)
	if err != nil {
		return err
	}
	q := r.requestOf(e)
	if q.Extract == nil {
		q.Extract = map[string]request.Source{}
	}
	q.Extract[name] = source
	return nil
}

// check takes matches, within, or a source with what it must be.
func check(r *reader, e tomlfile.Entry) error {
	c := &r.requestOf(e).Check
	switch name := e.Key[len(e.Key)-1]; name {
	case "matches":
		s, _ := e.Raw.(string)
		expression, err := regexp.Compile(s)
		if err != nil || s == "" {
			return r.wrong(e, fmt.Sprintf("takes a regular expression, not %v", e.Raw), syntaxOf(err))
		}
		c.Matches = expression
		return nil
	case "within":
		return duration(func(_ *reader, d time.Duration) { c.Within = d })(r, e)
	default:
		source, err := r.readSource(e, name)
		if err != nil {
			return err
		}
		expected := request.Expected{Source: source}
		if there, is := e.Raw.(bool); is && !source.IsJSON() {
			expected.Absent = !there
		} else {
			values, err := r.values(e)
			if err != nil || len(values) != 1 || values[0] == "" {
				return r.wrong(e, fmt.Sprintf("takes one text or number, not %v", e.Raw),
					"true says that it is there, false that it is not")
			}
			expected.Want = values[0]
		}
		c.Values = append(c.Values, expected)
		return nil
	}
}

func syntaxOf(err error) string {
	if err == nil {
		return `such as "Thank you, [A-Z]"`
	}
	return err.Error()
}

func resources(r *reader, e tomlfile.Entry) error {
	all, err := r.values(e)
	if err != nil {
		return err
	}
	r.requestOf(e).Resources = all
	return nil
}
