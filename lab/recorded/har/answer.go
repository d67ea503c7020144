package har

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// kind is the kind of place in an answer that has a value, the plainest last.
type kind int

const (
	byPattern kind = iota // somewhere in a text
	byAttribute
	inAnswerHeader
	byRedirect // a piece of the address that it leads to
	inCookie
	inField // of a page
	inMeta
	inHidden // field of a page
	inTree   // JSON
)

// source is a place in an answer that had a value.
type source struct {
	call *call
	kind kind
	key  string // what the answer calls the value
	// write gives the extraction as a scenario has it, if it leads to the value.
	write func() (string, bool)
}

// factsMost bounds what is taken from one answer.
const factsMost = 50_000

// facts gives every value of an answer that stands alone, with its place.
func facts(c *call, give func(value string, s source)) {
	n := 0
	add := func(value string, s source) {
		if n++; n <= factsMost && value != "" && len(value) <= 1<<14 {
			s.call = c
			give(value, s)
		}
	}
	headerFacts(c, add)
	switch {
	case c.Text == "":
	case looksJSON(c.Text):
		jsonFacts(c, add)
	case isHTML(c.Entry):
		htmlFacts(c, add)
	}
}

func looksJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(text))
}

func isHTML(e *Entry) bool {
	return strings.Contains(e.MIME, "html") || e.MIME == "" && strings.HasPrefix(strings.TrimSpace(e.Text), "<")
}

// redirects says whether an answer leads elsewhere.
func (c *call) redirects() bool {
	return c.Status >= 300 && c.Status < 400 && header(c.Answered, "Location") != ""
}

func headerFacts(c *call, add func(string, source)) {
	for _, h := range c.Answered {
		switch strings.ToLower(h.Name) {
		case "set-cookie":
			for line := range strings.SplitSeq(h.Value, "\n") { // Chromium writes several into one
				if cookie, err := http.ParseSetCookie(line); err == nil {
					cookieFacts(cookie, add)
				}
			}
		case "location":
			locationFacts(h.Value, add)
		case "date", "content-length", "content-type", "server", "last-modified", "expires", "age", "vary",
			"cache-control", "etag":
		default:
			name, value := headerName(h.Name), h.Value
			add(value, source{kind: inAnswerHeader, key: h.Name,
				write: func() (string, bool) { return "header:" + name, true }})
			if kind := scheme.FindString(value); kind != "" {
				add(value[len(kind):], pieceOfHeader(name, h.Name, value, len(kind), len(value), inAnswerHeader))
			}
		}
	}
}

func cookieFacts(cookie *http.Cookie, add func(string, source)) {
	name := cookie.Name
	add(cookie.Value, source{kind: inCookie, key: name, write: func() (string, bool) { return "cookie:" + name, true }})
	if plain, err := url.QueryUnescape(cookie.Value); err == nil && plain != cookie.Value {
		add(plain, source{kind: inCookie, key: name,
			write: func() (string, bool) { return decodeURL + "cookie:" + name, true }})
	}
}

// locationFacts are the pieces of an address that a redirect leads to, its fragment included.
func locationFacts(location string, add func(string, source)) {
	add(location, source{kind: byRedirect, key: "location", write: func() (string, bool) {
		return "header:Location", true
	}})
	address, fragment, _ := strings.Cut(location, "#")
	t := &text{raw: address}
	t.address(0)
	if t.raw = location; fragment != "" {
		each(location, len(address)+1, len(location), '&', func(from, to int) { t.parameter(from, to, inQuery) })
	}
	for _, s := range t.spans {
		piece := pieceOfHeader("Location", s.name, location, s.from, s.to, byRedirect)
		if s.value != location[s.from:s.to] {
			plain := piece.write
			piece.write = func() (string, bool) {
				extraction, ok := plain()
				return decodeURL + extraction, ok
			}
		}
		add(s.value, piece)
	}
}

// pieceOfHeader is a source that is not all of a header.
func pieceOfHeader(name, key, value string, from, to int, k kind) source {
	return source{kind: k, key: key, write: func() (string, bool) {
		pattern, ok := patternOf(value, from, to)
		return "header:" + name + " " + pattern, ok
	}}
}

func jsonFacts(c *call, add func(string, source)) {
	n := 0
	walkJSON(c.Text, func(path []string, from, to int, value any) bool {
		var plain string
		switch v := value.(type) {
		case string:
			plain = v
		case fmt.Stringer: // a number
			plain = v.String()
		default:
			return true
		}
		key, dotted := "", false
		for i := len(path) - 1; i >= 0; i-- {
			dotted = dotted || strings.Contains(path[i], ".") || path[i] == ""
			if _, err := strconv.Atoi(path[i]); err != nil && key == "" {
				key = path[i]
			}
		}
		steps := strings.Join(path, ".")
		indirect := dotted || len(path) == 0 || strings.Contains(path[0], ":")
		add(plain, source{kind: inTree, key: key, write: func() (string, bool) {
			if indirect {
				return patternSource(c.Text, plain)
			}
			return steps, true
		}})
		n++
		return n < factsMost
	})
}

// htmlFacts are the attributes of a page's elements, and the texts of those that have little.
func htmlFacts(c *call, add func(string, source)) {
	root, err := html.Parse(strings.NewReader(c.Text))
	if err != nil {
		return
	}
	nth := -1
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		nth++
		n := nth
		give := func(attribute, value string, k kind, key string) {
			if value == "" || strengthOf(value) == word && k < inField {
				return
			}
			add(value, source{kind: k, key: key, write: func() (string, bool) {
				return selectorOf(c, n, attribute, value)
			}})
		}
		name := attr(node, "name")
		for _, a := range node.Attr {
			switch {
			case a.Key == "value" && name != "" && strings.EqualFold(attr(node, "type"), "hidden"):
				give(a.Key, a.Val, inHidden, name)
			case a.Key == "value" && (name != "" || node.Data == "option"):
				give(a.Key, a.Val, inField, name)
			case a.Key == "content" && node.Data == "meta":
				give(a.Key, a.Val, inMeta, name+attr(node, "property"))
			case a.Key == "id" || a.Key == "class" || a.Key == "name" || a.Key == "for" || a.Key == "style" ||
				a.Key == "nonce":
			default:
				give(a.Key, a.Val, byAttribute, strings.TrimPrefix(a.Key, "data-"))
			}
		}
		if child := node.FirstChild; child != nil && child == node.LastChild && child.Type == html.TextNode {
			if plain := strings.TrimSpace(child.Data); len(plain) <= 200 && node.Data != "script" {
				give("", plain, byAttribute, attr(node, "id"))
			}
		}
	}
}

func attr(node *html.Node, key string) string {
	for _, a := range node.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// whole says whether what stands at a place is not a piece of a longer word.
func whole(body string, from, to int) bool {
	return (from == 0 || !wordByte(body[from-1])) && (to == len(body) || !wordByte(body[to]))
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var (
	plainClass = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	contexts   = regexp.MustCompile(`[A-Za-z0-9_.-]*[^A-Za-z0-9_.-]*$`)
)

// patternOf is a regular expression of which the first match in the text has the bytes from…to as its group: what
// stands before the value, as little of it as will do, and what the value is made of.
func patternOf(body string, from, to int) (string, bool) {
	value := body[from:to]
	var class string
	switch {
	case digits.MatchString(value) && (to == len(body) || body[to] < '0' || body[to] > '9'):
		class = `([0-9]+)`
	case plainClass.MatchString(value) && (to == len(body) || !wordByte(body[to]) && body[to] != '-'):
		class = `([A-Za-z0-9_-]+)`
	case to < len(body):
		class = `([^` + classByte(body[to]) + `]+)`
	default:
		class = `(.+)`
	}
	const contextMost = 60
	for start := from; start > 0 && from-start < contextMost; {
		piece := contexts.FindString(body[max(0, start-contextMost):start])
		if piece == "" || strings.Contains(piece, "\n") && start < from {
			break
		}
		start -= len(piece)
		before := spaces.ReplaceAllString(regexp.QuoteMeta(body[start:from]), `\s+`)
		expression, err := regexp.Compile(before + class)
		if err != nil {
			break
		}
		if m := expression.FindStringSubmatch(body); m != nil && m[1] == value {
			return "regex:" + before + class, true
		}
	}
	return "", false
}

var spaces = regexp.MustCompile(`\s+`)

func classByte(c byte) string {
	if strings.IndexByte(`\]^-`, c) >= 0 {
		return `\` + string(c)
	}
	return string(c)
}
