package har

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// variable of a scenario that stands for a value of the recording.
type variable struct {
	base       string // what it is called, unless another is called so
	name       string // in the end
	value      string
	source     *source   // nil: the user gives it
	extraction string    // from the source
	like       *variable // what it replaces during a session: both have one name
	first      int       // where it is used first and last, by the calls of its group
	last       int
}

func (m *importer) variable(base, value string) *variable { return &variable{base: base, value: value} }

// correlate goes through the requests in their order and finds where their values come from.
func (m *importer) correlate() {
	for _, c := range m.calls {
		if c.left == "" {
			m.decide(c)
		}
		if c.left != Attempt && c.left != Logout && c.Status > 0 {
			m.learn(c)
		}
	}
	m.renew()
}

// learn adds the values of an answer.
func (m *importer) learn(c *call) {
	facts(c, func(value string, s source) {
		if s.kind == inCookie {
			m.jar[s.key] = true
		}
		m.index[value] = append(m.index[value], s)
	})
}

// decide takes all values of a request.
func (m *importer) decide(c *call) {
	if t := m.cookieText(c); t != nil {
		c.texts = append(c.texts, t)
	}
	for _, t := range c.texts {
		for _, s := range slices.Clone(t.spans) {
			if s.variable == nil {
				m.find(c, t, s)
			}
		}
	}
	m.follow(c)
}

// find says where a value comes from, if it does.
func (m *importer) find(c *call, t *text, s *span) {
	if v := m.ours[s.value]; v != nil && !s.number {
		s.variable = v
		return
	}
	if m.unfound[s.value] {
		return
	}
	strength := strengthOf(s.value)
	all := m.earlier(s.value, c)
	switch {
	case s.place == inForm && m.fromHidden(c, s, all):
	case strength == unique && m.again(c, s):
	case strength == unique && m.from(c, s, all):
	case strength == unique && m.fromTexts(c, s):
	case strength == short:
		m.shortValue(c, s, all)
	case m.pieces(c, t, s):
	case strength == unique:
		m.doubtUnfound(c, t, s)
	}
}

// earlier are the sources that had answered before a request began.
func (m *importer) earlier(value string, c *call) []source {
	const clocks = 5 * time.Millisecond // between the two that a browser has
	return slices.DeleteFunc(slices.Clone(m.index[value]), func(s source) bool {
		return s.call == c || s.call.Started.Add(s.call.Took).After(c.Started.Add(clocks))
	})
}

// again takes a value from where the operation, or the log-in, has it already. A form takes it from its page.
func (m *importer) again(c *call, s *span) bool {
	v := m.byValue[s.value]
	if s.place == inForm || v == nil || !m.ofLogin(v.source.call) && v.source.call.group.root() != c.group.root() {
		return false
	}
	s.variable = v
	m.use(c, v, s)
	return true
}

// fromHidden takes a field of a form from the hidden field of the same name, as a browser does. A word in it may be a
// constant as well.
func (m *importer) fromHidden(c *call, s *span, all []source) bool {
	if len(s.value) < 8 && !strings.ContainsAny(s.value, "0123456789") {
		return false
	}
	hidden := slices.DeleteFunc(slices.Clone(all), func(from source) bool {
		return from.kind != inHidden || from.key != s.name
	})
	return m.from(c, s, hidden)
}

// from takes the value from the best of its sources.
func (m *importer) from(c *call, s *span, all []source) bool {
	v := m.sourceOf(c, s.name, s.value, s.place, all)
	if v == nil {
		return false
	}
	s.variable = v
	m.use(c, v, s)
	return true
}

// sourceOf is the variable from the best source; nil: none leads to the value.
func (m *importer) sourceOf(c *call, name, value string, at place, all []source) *variable {
	rank := func(s source) []int {
		r := []int{0, 0, s.call.Number, 0, int(s.kind)}
		if s.call.left == "" {
			r[0] = 1
		}
		switch {
		case s.call.group != nil && s.call.group.root() == c.group.root():
			r[1] = 2
		case m.ofLogin(s.call):
			r[1] = 1
		}
		if alike(s.key, name) {
			r[3] = 1
		}
		return r
	}
	slices.SortStableFunc(all, func(a, b source) int { return slices.Compare(rank(b), rank(a)) })
	for i := range all {
		if all[i].call.left != "" && all[i].call.left != Static {
			continue
		}
		extraction, ok := all[i].write()
		if !ok || !leads(all[i].call, extraction, value) {
			continue
		}
		m.doubtSource(c, all, i, extraction, name, value)
		return m.extracted(&all[i], extraction, name, value)
	}
	if len(all) > 0 && all[0].call.left == ThirdParty {
		m.doubt(Doubt{Request: c.label(), Value: abbreviated(value), Where: string(at) + " " + name,
			Why: "comes from another site, " + all[0].call.url.Host, Done: "kept as recorded",
			Try: "--host " + all[0].call.url.Hostname()})
	}
	return nil
}

// extracted is the variable that an extraction sets.
func (m *importer) extracted(from *source, extraction, name, value string) *variable {
	id := fmt.Sprint(from.call.Number, " ", extraction)
	if v := m.sourced[id]; v != nil {
		return v
	}
	if from.call.left != "" {
		m.keep(from.call)
	}
	v := &variable{base: baseName(from, name), value: value, source: from, extraction: extraction}
	m.sourced[id], m.byValue[value] = v, v
	from.call.extract = append(from.call.extract, v)
	return v
}

// keep takes a request back that was left out, for a value that its answer has.
func (m *importer) keep(c *call) {
	c.left = ""
	c.texts = textsOf(c, m.base)
	at := m.groups[0]
	for _, g := range m.groups {
		if g.into == nil && len(g.calls) > 0 && !g.calls[0].Started.After(c.Started) {
			at = g
		}
	}
	c.group = at
	at.calls = append(at.calls, c)
	slices.SortStableFunc(at.calls, func(a, b *call) int { return a.Started.Compare(b.Started) })
	m.decide(c)
}

// use notes that a header of a session has a new value: later requests have it by the same name.
func (m *importer) use(c *call, v *variable, s *span) {
	if s.place != inHeader || v.source == nil {
		return
	}
	name := strings.ToLower(s.name)
	before := m.byHeader[name]
	switch {
	case before == v:
	case before == nil || m.ofLogin(v.source.call):
		m.byHeader[name] = v
	case v.like == nil && m.ofLogin(before.source.call):
		v.like = before
	}
}

// fromTexts looks for a value within the texts of answers, the last first.
func (m *importer) fromTexts(c *call, s *span) bool {
	v := m.patternIn(c, s.name, s.value)
	if v == nil {
		return false
	}
	s.variable = v
	m.use(c, v, s)
	return true
}

func (m *importer) patternIn(c *call, name, value string) *variable {
	var all []source
	run := longestRun(value)
	for _, from := range m.calls {
		if from == c {
			break
		}
		if from.Text != "" && (from.left == "" || from.left == Static) &&
			!from.Started.Add(from.Took).After(c.Started) && strings.Contains(from.Text, run) {
			all = append(all, source{call: from, kind: byPattern, key: name,
				write: func() (string, bool) { return patternSource(from.Text, value) }})
		}
	}
	return m.sourceOf(c, name, value, inBody, all)
}

// pieces looks for tokens within a value, as in an address that is itself a parameter.
func (m *importer) pieces(c *call, t *text, s *span) (found bool) {
	if s.number {
		return false
	}
	for _, piece := range tokens.FindAllString(s.value, 20) {
		piece = strings.Trim(piece, ".~-")
		if piece == s.value || strengthOf(piece) != unique || m.unfound[piece] {
			continue
		}
		v := m.sourceOf(c, s.name, piece, s.place, m.earlier(piece, c))
		if v == nil {
			v = m.patternIn(c, s.name, piece)
		}
		if v != nil && t.replaceWithin(piece, v) {
			found = true
		}
	}
	return found
}

// shortValue takes a number from the answer that has created what it names. Otherwise it may be a coincidence.
func (m *importer) shortValue(c *call, s *span, all []source) {
	const longEnough = 6
	var made, named []source
	for _, from := range all {
		switch {
		case created(from, c, s):
			made = append(made, from)
		case len(s.value) >= longEnough && from.kind >= byRedirect && alike(from.key, s.name):
			made = append(made, from)
		case idNames.MatchString(from.key) || from.kind == byRedirect:
			named = append(named, from)
		}
	}
	if m.from(c, s, made) {
		return
	}
	if len(named) > 0 && (s.place == inPath || idNames.MatchString(s.name)) {
		m.doubt(Doubt{Request: c.label(), Where: string(s.place) + " " + s.name, Value: abbreviated(s.value),
			Why:  "short; it also stands in the answer to " + named[len(named)-1].call.label(),
			Done: "kept as recorded"})
	}
}

// created says whether an answer is that of the request which made the thing that a short number names: POST /orders
// answers {"id": 17}, or leads to /orders/17, and then somebody asks for /orders/17 or sends order_id=17.
func created(from source, c *call, s *span) bool {
	if from.call.Method != "POST" && from.call.Method != "PUT" {
		return false
	}
	if from.kind == byRedirect {
		return from.key != "" && subject(from.key) == subject(s.name)
	}
	if from.kind != inTree || !idNames.MatchString(from.key) {
		return false
	}
	made := ""
	for piece := range strings.SplitSeq(strings.Trim(from.call.url.Path, "/"), "/") {
		if strengthOf(piece) == word {
			made = piece
		}
	}
	return made != "" && (subject(made) == subject(s.name) || subject(made) == subject(from.key) && from.key == s.name)
}

// follow makes a variable of an address to which a redirect led, if it has something that may be another next time.
func (m *importer) follow(c *call) {
	if c.hop == nil || c.hop.left != "" || len(c.texts) == 0 {
		return
	}
	changes := slices.ContainsFunc(c.texts[0].spans, func(s *span) bool {
		return s.variable != nil && s.variable.source != nil || strengthOf(s.value) != word
	})
	location := header(c.hop.Answered, "Location")
	if !changes || location == "" {
		return
	}
	from := source{call: c.hop, kind: byRedirect, key: "next"}
	c.next = m.extracted(&from, "header:Location", "next", location)
	m.release(c)
}

// release forgets the doubts about an address that is followed as it is.
func (m *importer) release(c *call) {
	m.doubts = slices.DeleteFunc(m.doubts, func(d Doubt) bool {
		return d.Request == c.label() && (strings.HasPrefix(d.Where, string(inPath)) ||
			strings.HasPrefix(d.Where, string(inQuery)))
	})
}

// cookieText is a header with the cookies that a page's script has set from values of answers: the jar lacks them.
func (m *importer) cookieText(c *call) *text {
	var kept []string
	var values []string
	for piece := range strings.SplitSeq(header(c.Headers, "Cookie"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(piece), "=")
		if name == "" || m.jar[name] || strengthOf(value) != unique ||
			len(m.earlier(value, c)) == 0 && m.patternIn(c, name, value) == nil {
			continue
		}
		kept, values = append(kept, name), append(values, value)
	}
	if len(kept) == 0 {
		return nil
	}
	t := &text{place: inHeader, name: "Cookie"}
	for i, name := range kept {
		if i > 0 {
			t.raw += "; "
		}
		t.raw += name + "="
		t.add(len(t.raw), len(t.raw)+len(values[i]), values[i], "cookie "+name, inHeader)
		t.raw += values[i]
	}
	return t
}

// renew extracts a value again where an answer brings a new one for the one that the request has sent, as a refresh
// token is replaced each time it is used.
func (m *importer) renew() {
	for _, c := range m.calls {
		if c.left != "" || !looksJSON(c.Text) {
			continue
		}
		sent := map[string]*variable{} // by what the answer that it came from calls it
		for _, t := range c.texts {
			for _, s := range t.spans {
				if v := s.variable; v != nil && v.source != nil && v.source.kind == inTree && v.source.call != c {
					sent[v.source.key] = v
				}
			}
		}
		facts(c, func(value string, from source) {
			v := sent[from.key]
			if from.kind != inTree || v == nil || value == v.value || strengthOf(value) != unique {
				return
			}
			if extraction, ok := from.write(); ok && leads(c, extraction, value) {
				again := m.extracted(&from, extraction, from.key, value)
				if again.like == nil {
					again.like = v
				}
				delete(sent, from.key)
			}
		})
	}
}

// alike says whether two names mean the same: csrftoken and X-CSRFToken, id and order_id.
func alike(a, b string) bool {
	plain := func(s string) string {
		s = strings.NewReplacer("-", "", "_", "", " ", "", ".", "", "[", "", "]", "").Replace(strings.ToLower(s))
		return strings.TrimPrefix(s, "x")
	}
	a, b = plain(a), plain(b)
	return a != "" && b != "" && (a == b || strings.Contains(a, b) || strings.Contains(b, a))
}

func (c *call) label() string { return c.Method + " " + cmp.Or(c.url.Path, "/") }
