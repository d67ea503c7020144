package har

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"plimsoll/lab/load/script"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// identifier is a name as variables may have: csrf_token for X-CSRF-Token, access_token for accessToken.
func identifier(name string) string {
	var b strings.Builder
	before := ' '
	for _, c := range name {
		if unicode.IsUpper(c) && unicode.IsLower(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
		before = c
	}
	plain := strings.Trim(notInNames.ReplaceAllString(b.String(), "_"), "_")
	plain = strings.TrimPrefix(plain, "x_")
	const most = 40
	if plain = plain[:min(len(plain), most)]; plain == "" || !script.IsName(plain) {
		plain = "value"
	}
	return plain
}

// baseName is what the answer calls a value, or the request, or what the value belongs to.
func baseName(from *source, name string) string {
	key := identifier(from.key)
	if key != "id" && key != "value" && key != "pk" && from.kind != byRedirect {
		return key
	}
	if from.kind == byRedirect && from.key != "next" && (strengthOf(from.key) == word && from.key != "") {
		if noun := subject(from.key); noun != strings.ToLower(from.key) {
			return identifier(noun + "_id")
		}
		return key
	}
	if key == "id" || key == "pk" {
		noun := ""
		for piece := range strings.SplitSeq(strings.Trim(from.call.url.Path, "/"), "/") {
			if strengthOf(piece) == word && len(piece) > 2 {
				noun = piece
			}
		}
		if noun != "" {
			return identifier(subject(noun) + "_" + key)
		}
	}
	if key == "value" {
		return identifier(name)
	}
	return key
}

// prune forgets extractions that no request of the scenario uses any more.
func (m *importer) prune() {
	used := map[*variable]bool{}
	for _, g := range m.groups {
		for _, c := range g.calls {
			c.uses(func(v *variable) { used[v] = true })
		}
	}
	for _, g := range m.groups {
		for _, c := range g.calls {
			c.extract = slices.DeleteFunc(c.extract, func(v *variable) bool { return !used[v] && v.like == nil })
		}
	}
}

// nameVariables gives names: to those of the log-in and of the user for good, to others within their operation, where
// one name serves several whose times do not overlap.
func (m *importer) nameVariables(operations []*group) {
	taken := map[string]bool{"braces": true, script.ClientID: true, script.DefaultSeed: true}
	for _, s := range m.secrets {
		fixed(s.variable, taken)
	}
	if m.who.user != nil {
		fixed(m.who.user, taken)
	}
	if m.login != nil {
		for _, c := range m.login.calls {
			for _, v := range c.extract {
				fixed(v, taken)
			}
		}
	}
	for _, g := range operations {
		g.nameVariables(taken)
	}
}

func fixed(v *variable, taken map[string]bool) {
	if v.name == "" {
		v.name = free(v.base, func(name string) bool { return taken[name] })
		taken[v.name] = true
	}
}

// free is the first of base, base_2, base_3, … that is not taken.
func free(base string, taken func(string) bool) string {
	for n, name := 1, base; ; name = fmt.Sprintf("%s_%d", base, n) {
		if !taken(name) {
			return name
		}
		n++
	}
}

func (g *group) nameVariables(taken map[string]bool) {
	var local []*variable
	for i, c := range g.calls {
		for _, v := range c.extract {
			if v.name == "" {
				v.first, v.last = i, i
				local = append(local, v)
			}
		}
		c.uses(func(v *variable) { v.last = max(v.last, i) })
	}
	for i, v := range local {
		if v.like != nil {
			continue
		}
		v.name = free(v.base, func(name string) bool {
			return taken[name] || slices.ContainsFunc(local[:i], func(other *variable) bool {
				return other.name == name && other.last > v.first
			})
		})
	}
	for _, v := range local {
		for like := v.like; like != nil; like = like.like {
			v.name = like.name
		}
	}
}

// uses gives the variables that a request sends.
func (c *call) uses(each func(*variable)) {
	if c.next != nil {
		each(c.next)
	}
	for _, t := range c.sent() {
		for _, s := range t.spans {
			if s.variable != nil {
				each(s.variable)
			}
		}
	}
}

// verbs name what a request does.
var verbs = map[string]string{"GET": "open", "HEAD": "open", "POST": "post", "PUT": "put", "PATCH": "change",
	"DELETE": "delete"}

// main is the request that a group is named after: the first that changes something, else the first.
func (g *group) main() *call {
	for _, c := range g.calls {
		if c.Method != "GET" && c.Method != "HEAD" {
			return c
		}
	}
	return g.calls[0]
}

// operationName is the last words of its address and what is done: cart_items.post.
func (g *group) operationName() string {
	c := g.main()
	var words []string
	for piece := range strings.SplitSeq(strings.Trim(c.url.Path, "/"), "/") {
		piece, _, _ = strings.Cut(piece, ";")
		if strengthOf(piece) == word && piece != "" && piece != "api" {
			words = append(words, identifier(piece))
		}
	}
	words = words[max(0, len(words)-2):]
	if len(words) == 0 {
		words = []string{"home"}
	}
	verb := verbs[c.Method]
	if verb == "" {
		verb = strings.ToLower(c.Method)
	}
	return strings.Join(words, "_") + "." + verb
}
