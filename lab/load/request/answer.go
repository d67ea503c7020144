package request

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/html"
)

// bodyMax bounds how much of an answer is read.
const bodyMax = 64 << 20

// answer is what came back, parsed as far as it is asked for.
type answer struct {
	*http.Response
	body []byte
	jar  http.CookieJar // nil: the user keeps no cookies

	tree      any
	page      *html.Node
	treeError error
}

// read the whole answer, so that its connection is free again.
func read(response *http.Response, jar http.CookieJar) (*answer, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return &answer{Response: response, body: body, jar: jar}, nil
}

// decode undoes the compression that a header of the request has asked for. What nobody looks at stays as it is.
func (a *answer) decode() error {
	switch encoding := strings.ToLower(a.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		plain, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		if a.body, err = io.ReadAll(io.LimitReader(plain, bodyMax)); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		a.Header.Del("Content-Encoding")
		return nil
	default:
		return fmt.Errorf("the answer is compressed as %q: ask for gzip alone by Accept-Encoding", encoding)
	}
}

// json is the body as a tree; what follows the first value is ignored.
func (a *answer) json() (any, error) {
	if a.tree == nil && a.treeError == nil {
		decoder := json.NewDecoder(bytes.NewReader(a.body))
		decoder.UseNumber()
		if err := decoder.Decode(&a.tree); err != nil {
			a.treeError = fmt.Errorf("the answer is not JSON: %w", err)
		}
	}
	return a.tree, a.treeError
}

// html is the body as a page. Any text is one.
func (a *answer) html() (*html.Node, error) {
	if a.page == nil {
		var err error
		if a.page, err = html.Parse(bytes.NewReader(a.body)); err != nil {
			return nil, fmt.Errorf("the answer is not HTML: %w", err)
		}
	}
	return a.page, nil
}

// textOf an element as a person reads it: without scripts, with single spaces.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && (d.Parent.Type != html.ElementNode || !hidden[d.Parent.Data]) {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

var hidden = map[string]bool{"script": true, "style": true, "noscript": true, "template": true}
