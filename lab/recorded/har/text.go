package har

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place says in which part of a request a value stands.
type place string

const (
	inPath   place = "path"
	inQuery  place = "query"
	inForm   place = "form"
	inJSON   place = "json"
	inHeader place = "header"
	inBody   place = "body"
)

// text is a part of a request that a scenario writes as a template: the address, a header, a field, a body.
type text struct {
	place place
	name  string // of the header or field
	raw   string
	spans []*span // in order, without overlaps
	file  string  // name of a file that a field uploads
}

// span is a piece of a text that may be a value from an answer.
type span struct {
	from, to int    // in raw
	value    string // decoded
	name     string // of what has the value: field, parameter, JSON key, header; in a path the segment before
	place    place
	number   bool      // a JSON number: a text that replaces it would need quotes
	variable *variable // nil: the text as recorded
}

// textsOf takes a request apart.
func textsOf(c *call, base *url.URL) []*text {
	all := append([]*text{urlText(c, base)}, headerTexts(c)...)
	return append(all, bodyTexts(c.Body)...)
}

// address is what the scenario writes: a path under the base, or all of it for another host.
func address(c *call, base *url.URL) string {
	raw, _, _ := strings.Cut(c.URL, "#")
	if c.url.Scheme == base.Scheme && c.url.Host == base.Host {
		_, rest, _ := strings.Cut(raw, "://")
		if at := strings.IndexAny(rest, "/?"); at >= 0 && rest[at] == '/' {
			return rest[at:]
		} else if at >= 0 {
			return "/" + rest[at:]
		}
		return "/"
	}
	return raw
}

func urlText(c *call, base *url.URL) *text {
	t := &text{place: inPath, name: "url", raw: address(c, base)}
	t.address(0)
	return t
}

// address looks at a path with its query, which may follow a host.
func (t *text) address(at int) {
	if _, rest, absolute := strings.Cut(t.raw[at:], "//"); absolute && t.raw[at] != '?' &&
		strings.IndexAny(t.raw[at:], "/?") >= strings.Index(t.raw[at:], "//") {
		path := strings.IndexAny(rest, "/?")
		if path < 0 {
			return
		}
		at = len(t.raw) - len(rest) + path
	}
	end := len(t.raw)
	if q := strings.IndexByte(t.raw[at:], '?'); q >= 0 {
		end = at + q
	}
	before := ""
	each(t.raw, at, end, '/', func(from, to int) { before = t.segment(from, to, before) })
	if end < len(t.raw) {
		each(t.raw, end+1, len(t.raw), '&', func(from, to int) { t.parameter(from, to, inQuery) })
	}
}

// each gives the pieces between separators.
func each(s string, from, to int, separator byte, piece func(from, to int)) {
	for from <= to {
		end := to
		if at := strings.IndexByte(s[from:to], separator); at >= 0 {
			end = from + at
		}
		if end > from {
			piece(from, end)
		}
		from = end + 1
	}
}

// segment of a path may have parameters: /cart;jsessionid=1A2B.
func (t *text) segment(from, to int, before string) (name string) {
	first := true
	each(t.raw, from, to, ';', func(from, to int) {
		if !first && strings.IndexByte(t.raw[from:to], '=') > 0 {
			t.parameter(from, to, inPath)
			return
		}
		value, err := url.PathUnescape(t.raw[from:to])
		if err != nil {
			value = t.raw[from:to]
		}
		if first = false; name == "" {
			name = value
		}
		t.add(from, to, value, before, inPath)
	})
	return name
}

func (t *text) parameter(from, to int, at place) {
	name, _, assigned := strings.Cut(t.raw[from:to], "=")
	if !assigned {
		return
	}
	start := from + len(name) + 1
	value, err := url.QueryUnescape(t.raw[start:to])
	if err != nil {
		value = t.raw[start:to]
	}
	t.add(start, to, value, unescaped(name), at)
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

func (t *text) add(from, to int, value, name string, at place) *span {
	if value == "" {
		return nil
	}
	s := &span{from: from, to: to, value: value, name: name, place: at}
	t.spans = append(t.spans, s)
	return s
}

// plainText is one whose value stands as it is.
func plainText(at place, name, value string) *text {
	t := &text{place: at, name: name, raw: value}
	t.add(0, len(value), value, name, at)
	return t
}

// droppedHeaders say what a browser is and what it has in its cache; cookies are in the user's jar.
var droppedHeaders = regexp.MustCompile(`(?i)^(host|connection|content-length|cookie|user-agent|accept-encoding|` +
	`accept-language|cache-control|pragma|dnt|te|priority|upgrade-insecure-requests|sec-.*|if-none-match|` +
	`if-modified-since|if-range|range|origin|referer|expect|via|forwarded|x-forwarded-.*|x-client-data|` +
	`save-data|keep-alive|transfer-encoding|proxy-.*|content-type|purpose|baggage|sentry-trace|traceparent|` +
	`tracestate|x-datadog-.*)$`)

// headerNames are tokens of RFC 9110.
var headerNames = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// scheme of an Authorization header: Bearer, Token, JWT.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]* +`)

func headerTexts(c *call) (all []*text) {
	for _, h := range c.Headers {
		if droppedHeaders.MatchString(h.Name) || h.Value == "" || !headerNames.MatchString(h.Name) ||
			strings.EqualFold(h.Name, "Accept") && !strings.HasPrefix(h.Value, "application/") {
			continue
		}
		t := &text{place: inHeader, name: headerName(h.Name), raw: h.Value}
		from := len(scheme.FindString(h.Value))
		t.add(from, len(h.Value), h.Value[from:], h.Name, inHeader)
		all = append(all, t)
	}
	// What a body is must be said unless it is what a scenario takes it for. A browser sends where it comes from, and
	// some applications look at that, always under TLS.
	if is := header(c.Headers, "Content-Type"); is != "" && c.Body != nil && !isForm(is) && !isMultipart(is) &&
		is != "application/json" {
		all = append(all, &text{place: inHeader, name: "Content-Type", raw: is})
	}
	if from := header(c.Headers, "Referer"); from != "" && c.url.Scheme == "https" && c.Method != "GET" {
		all = append(all, &text{place: inHeader, name: "Referer", raw: from})
	}
	slices.SortStableFunc(all, func(a, b *text) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(all, func(a, b *text) bool { return a.name == b.name })
}

// headerName writes x-csrftoken, as HTTP/2 has it, as people do.
func headerName(name string) string {
	if name != strings.ToLower(name) {
		return name
	}
	parts := strings.Split(name, "-")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "-")
}

func isForm(mimeType string) bool {
	return strings.HasPrefix(strings.ToLower(mimeType), "application/x-www-form-urlencoded")
}

func isMultipart(mimeType string) bool {
	return strings.HasPrefix(strings.ToLower(mimeType), "multipart/form-data")
}

// bodyTexts are the fields of a form, or one text.
func bodyTexts(b *Body) []*text {
	switch {
	case b == nil:
		return nil
	case isForm(b.MIME) || isMultipart(b.MIME):
		return fieldTexts(b)
	}
	if t := jsonText(b.Text); t != nil {
		return []*text{t}
	}
	t := &text{place: inBody, name: "body", raw: b.Text}
	for _, at := range tokens.FindAllStringIndex(b.Text, spansMost) {
		t.add(at[0], at[1], b.Text[at[0]:at[1]], "body", inBody)
	}
	return []*text{t}
}

// spansMost bounds what is looked at in one request.
const spansMost = 2000

// tokens are pieces that a program may have made.
var tokens = regexp.MustCompile(`[A-Za-z0-9_.~-]{8,}`)

func fieldTexts(b *Body) (all []*text) {
	fields := b.Fields
	if isForm(b.MIME) && b.Text != "" {
		fields = formFields(b.Text) // what a writer took apart may be decoded or not
	} else if len(fields) == 0 {
		fields = partFields(b)
	}
	for _, f := range fields {
		if len(all) == spansMost {
			break
		}
		t := plainText(inForm, f.Name, f.Value)
		t.file = f.File
		all = append(all, t)
	}
	return all
}

func formFields(body string) (fields []Field) {
	for piece := range strings.SplitSeq(strings.TrimSpace(body), "&") {
		if piece != "" {
			name, value, _ := strings.Cut(piece, "=")
			fields = append(fields, Field{Name: unescaped(name), Value: unescaped(value)})
		}
	}
	return fields
}

func partFields(b *Body) (fields []Field) {
	_, parameters, err := mime.ParseMediaType(b.MIME)
	if err != nil || parameters["boundary"] == "" {
		return nil
	}
	parts := multipart.NewReader(strings.NewReader(b.Text), parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err != nil {
			return fields
		}
		value, err := io.ReadAll(io.LimitReader(part, bodyBytesMost))
		if err != nil {
			return fields
		}
		fields = append(fields, Field{Name: part.FormName(), Value: string(value), File: part.FileName(),
			MIME: part.Header.Get("Content-Type")})
	}
}

// jsonText has a span for each text and number; nil: it is not JSON.
func jsonText(raw string) *text {
	if !json.Valid([]byte(raw)) {
		return nil
	}
	t := &text{place: inJSON, name: "body", raw: raw}
	walkJSON(raw, func(path []string, from, to int, value any) bool {
		name := ""
		for i := len(path) - 1; i >= 0; i-- {
			if _, err := strconv.Atoi(path[i]); err != nil {
				name = path[i]
				break
			}
		}
		switch v := value.(type) {
		case string:
			t.add(from+1, to-1, v, name, inJSON)
		case json.Number:
			t.add(from, to, v.String(), name, inJSON).number = true
		}
		return len(t.spans) < spansMost
	})
	return t
}

// walkJSON gives the path, the bytes and the value of each text, number, boolean and null of valid JSON, until leaf
// returns false.
func walkJSON(raw string, leaf func(path []string, from, to int, value any) bool) {
	type level struct {
		object bool
		key    bool // the next text is a key
		index  int
	}
	var levels []level
	var path []string
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	after := func() { // a value of the innermost level has ended
		if n := len(levels); n > 0 {
			l := &levels[n-1]
			if l.key = l.object; !l.object {
				l.index++
			}
		}
	}
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			return
		}
		n := len(levels)
		if n > 0 && !levels[n-1].object {
			path[n-1] = strconv.Itoa(levels[n-1].index)
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				levels = append(levels, level{object: v == '{', key: v == '{'})
				path = append(path, "")
				continue
			}
			levels, path = levels[:n-1], path[:n-1]
			after()
		case string:
			if n > 0 && levels[n-1].key {
				path[n-1], levels[n-1].key = v, false
				continue
			}
			if !leaf(path, begins(raw, before), int(d.InputOffset()), v) {
				return
			}
			after()
		default:
			if !leaf(path, begins(raw, before), int(d.InputOffset()), v) {
				return
			}
			after()
		}
	}
}

// begins is where the token behind a separator begins.
func begins(raw string, at int64) int {
	rest := raw[at:]
	return int(at) + len(rest) - len(strings.TrimLeft(rest, " \t\r\n,:"))
}

// basic is the user name and password of an Authorization header.
func basic(h string) (user, password string, ok bool) {
	kind, code, _ := strings.Cut(h, " ")
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(code))
	if !strings.EqualFold(kind, "basic") || err != nil || !bytes.Contains(plain, []byte(":")) {
		return "", "", false
	}
	user, password, _ = strings.Cut(string(plain), ":")
	return user, password, true
}
