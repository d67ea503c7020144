package har

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"plimsoll/lab/load/request"
)

// leads says whether an extraction gives the value when it is made from the recorded answer.
func leads(c *call, extraction, value string) bool {
	source, err := request.ParseSource(extraction)
	if err != nil {
		return false
	}
	head := http.Header{}
	for _, h := range c.Answered {
		for line := range strings.SplitSeq(h.Value, "\n") {
			head.Add(h.Name, line)
		}
	}
	got, err := source.In(head, []byte(c.Text))
	return err == nil && got == value
}

// selectorOf writes how to find an attribute, or the text, of the nth element of a page: by what its author has named,
// by its place only where nothing else leads there.
func selectorOf(c *call, nth int, attribute, value string) (string, bool) {
	root, err := html.Parse(strings.NewReader(c.Text))
	if err != nil {
		return "", false
	}
	var node *html.Node
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if nth == 0 {
			node = n
			break
		}
		nth--
	}
	if node == nil {
		return "", false
	}
	at := ""
	if attribute != "" {
		at = "@" + attribute
	}
	for _, selector := range selectors(node, attribute) {
		if extraction := "css:" + selector + at; leads(c, extraction, value) {
			return extraction, true
		}
	}
	return "", false
}

// selectors that may lead to an element, the plainest first.
func selectors(node *html.Node, attribute string) (all []string) {
	own := named(node, attribute)
	if attribute != "" && attribute != "value" && attribute != "content" {
		own = append(own, node.Data+"["+attribute+"]")
	}
	all = append(all, own...)
	if len(own) == 0 {
		own = []string{node.Data}
	}
	for above := node.Parent; above != nil && above.Type == html.ElementNode; above = above.Parent {
		outer := named(above, "")
		if above.Data == "form" {
			for _, key := range []string{"action", "method"} {
				if v := attr(above, key); v != "" && plainName(v) {
					outer = append(outer, bracket(above.Data, key, v))
				}
			}
		}
		for _, one := range outer {
			for _, inner := range own {
				all = append(all, one+" "+inner)
			}
		}
	}
	return append(all, byPlace(node))
}

// named are the selectors of an element alone, by attributes that do not change.
func named(node *html.Node, without string) (all []string) {
	for _, key := range []string{"name", "id", "property", "itemprop", "rel", "type", "role"} {
		if v := attr(node, key); v != "" && key != without && plainName(v) {
			all = append(all, bracket(node.Data, key, v))
		}
	}
	for class := range strings.FieldsSeq(attr(node, "class")) {
		if plainName(class) {
			all = append(all, bracket(node.Data, "class~", class))
		}
	}
	return all
}

// plainName says whether a name was given by a person and so is there the next time.
func plainName(v string) bool {
	return strengthOf(v) != unique && len(v) <= 100 && !strings.ContainsAny(v, "\"\\\n@")
}

func bracket(tag, key, value string) string {
	operator := "="
	if strings.HasSuffix(key, "~") {
		key, operator = strings.TrimSuffix(key, "~"), "~="
	}
	return fmt.Sprintf(`%s[%s%s"%s"]`, tag, key, operator, value)
}

// byPlace is the path of an element from the page's body.
func byPlace(node *html.Node) string {
	var steps []string
	for n := node; n != nil && n.Type == html.ElementNode; n = n.Parent {
		if n.Data == "body" || n.Data == "head" || n.Data == "html" {
			steps = append(steps, n.Data)
			break
		}
		nth := 1
		for before := n.PrevSibling; before != nil; before = before.PrevSibling {
			if before.Type == html.ElementNode && before.Data == n.Data {
				nth++
			}
		}
		steps = append(steps, fmt.Sprintf("%s:nth-of-type(%d)", n.Data, nth))
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}
