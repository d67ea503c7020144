package har

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Scenario is what an import gives.
type Scenario struct {
	TOML       string    `json:"scenario"`
	Requests   int       `json:"requests"`   // in the recording
	Kept       int       `json:"kept"`       // in the scenario
	Operations int       `json:"operations"` // without the log-in
	Login      bool      `json:"login"`
	LeftOut    []LeftOut `json:"left_out"`
	Repeated   int       `json:"repeated"` // groups of requests that are weights of operations
	Values     []Value   `json:"values"`   // correlations
	Doubts     []Doubt   `json:"unsure"`
	// Withheld are variables with secrets that were not written.
	Withheld []string `json:"withheld"`
}

// LeftOut are requests that are not in the scenario.
type LeftOut struct {
	Reason   Reason   `json:"reason"`
	Requests int      `json:"requests"`
	Examples []string `json:"examples"` // addresses, or hosts of other sites
	Keep     string   `json:"keep,omitempty"`
}

// Value of an answer that returns in later requests.
type Value struct {
	Variable   string   `json:"variable"`
	From       string   `json:"from"`
	Extraction string   `json:"extraction"`
	Used       []string `json:"used"`
}

// Doubt is something that the import was not sure of.
type Doubt struct {
	Request string `json:"request"`
	Where   string `json:"where,omitempty"`
	Value   string `json:"value,omitempty"` // abbreviated
	Why     string `json:"why"`
	Done    string `json:"done,omitempty"`
	Try     string `json:"try,omitempty"` // a flag
}

func (d Doubt) String() string {
	text := d.Request
	if d.Where != "" {
		text += ", " + d.Where
	}
	if d.Value != "" {
		text += fmt.Sprintf(" %q", d.Value)
	}
	text = strings.TrimPrefix(text+": "+d.Why, ": ")
	if d.Done != "" {
		text += "; " + d.Done
	}
	if d.Try != "" {
		text += "; try " + d.Try
	}
	return text
}

// doubtsMost are kept; a recording may have thousands of the same.
const doubtsMost = 100

func (m *importer) doubt(d Doubt) {
	if len(m.doubts) < doubtsMost && !slices.Contains(m.doubts, d) {
		m.doubts = append(m.doubts, d)
	}
}

// doubtUnfound is of a value that no answer had.
func (m *importer) doubtUnfound(c *call, t *text, s *span) {
	if t.place == inHeader && saysWhoAsks(t.name) || s.place == inQuery && saysWhoAsks(s.name) {
		if s.number {
			return
		}
		v := m.variable(identifier(s.name), s.value)
		s.variable = v
		m.secrets = append(m.secrets, secret{v, s.name + " of " + c.label()})
		m.ours[s.value] = v
		return
	}
	m.unfound[s.value] = true
	why := "in no answer before: made by the page or by the user"
	if isTime(s.value, c.Started) {
		why = "in no answer before: a time that the page has taken"
	}
	m.doubt(Doubt{Request: c.label(), Where: strings.TrimSpace(string(s.place) + " " + s.name),
		Value: abbreviated(s.value), Why: why, Done: "kept as recorded"})
}

// doubtSource is of a source that may be the wrong one.
func (m *importer) doubtSource(c *call, all []source, at int, extraction, name, value string) {
	chosen, others := all[at], 0
	for _, s := range all {
		if s.call == chosen.call && s.kind == inTree && chosen.kind == inTree && s.key != chosen.key {
			others++
		}
	}
	d := Doubt{Request: c.label(), Where: name, Value: abbreviated(value)}
	switch {
	case others > 0 && !alike(chosen.key, name):
		d.Why = fmt.Sprintf("the answer to %s has it in %d places", chosen.call.label(), others+1)
		d.Done = "taken from " + extraction
	case chosen.kind == byPattern && strings.Contains(extraction, "regex:"):
		d.Why = "found within a text of the answer to " + chosen.call.label()
		d.Done = "taken by " + extraction
	case strings.Contains(extraction, ":nth-of-type("):
		d.Why = "nothing but its place in the page of " + chosen.call.label() + " tells it from others"
		d.Done = "taken from there"
	default:
		return
	}
	m.doubt(d)
}

// doubtRecording is of what the recording itself lacks.
func (m *importer) doubtRecording(rec *Recording) {
	cookies, authorized, cut := 0, 0, 0
	for _, c := range m.calls {
		if header(c.Headers, "Cookie") != "" || header(c.Answered, "Set-Cookie") != "" {
			cookies++
		}
		if header(c.Headers, "Authorization") != "" {
			authorized++
		}
		if c.left == "" && c.Cut {
			cut++
		}
	}
	if strings.Contains(rec.Creator, "WebInspector") && cookies+authorized == 0 {
		m.doubt(Doubt{Why: "the recording has no cookies and no Authorization: Chromium leaves them out unless it is " +
			"told to export with sensitive data (Settings, Network)", Done: "tokens in headers are missing"})
	}
	if cut > 0 {
		m.doubt(Doubt{Why: fmt.Sprintf("the recording lacks the texts of %d of the answers", cut),
			Done: "what comes from them was not found; save the recording with content, before a page is left"})
	}
	if m.login == nil && !m.who.basic {
		m.doubtSession()
	}
	for _, g := range m.groups {
		for _, c := range g.calls {
			for _, t := range c.texts {
				if t.file != "" {
					m.doubt(Doubt{Request: c.label(), Where: "file " + t.name, Why: "recordings have no files",
						Done: "put " + t.file + " beside the scenario"})
				}
			}
		}
	}
	if m.who.call != nil && m.who.user == nil {
		m.doubt(Doubt{Request: m.who.call.label(), Why: "the field with the name of the user was not found",
			Done: "all users log in as the one recorded"})
	}
}

// doubtSession is of a recording that begins after the log-in.
func (m *importer) doubtSession() {
	for _, c := range m.calls {
		if c.left != "" {
			continue
		}
		for piece := range strings.SplitSeq(header(c.Headers, "Cookie"), ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(piece), "=")
			if sessions.MatchString(name) && !m.jar[name] && value != "" {
				m.doubt(Doubt{Request: c.label(), Where: "cookie " + name,
					Why: "was there before the recording began", Done: "nobody logs in; record in a private window, " +
						"from before the log-in"})
				return
			}
		}
	}
}

// operation of the scenario.
type operation struct {
	*group
	name, title  string
	target, took time.Duration
}

// Targets are proposed from what was recorded: as many seconds as there are times that the user waits, or twice what
// they took.
const targetLeast = time.Second

func (m *importer) named(groups []*group, titles map[string]string) (all []*operation) {
	taken := map[string]bool{}
	for _, g := range groups {
		o := &operation{group: g}
		o.name = free(g.operationName(), func(name string) bool { return taken[name] })
		taken[o.name] = true
		o.title = g.main().label()
		if title := titles[g.main().Page]; title != "" && !strings.Contains(title, "://") {
			o.title = title
		}
		waits := 1
		for i, c := range g.calls {
			o.took += c.Took
			if i > 0 && c.gap >= actLeast {
				waits++
			}
		}
		o.target = max(time.Duration(waits)*targetLeast, (2 * o.took).Round(500*time.Millisecond))
		o.took = o.took.Round(time.Millisecond)
		all = append(all, o)
	}
	return all
}

// think is the mean time between operations.
func (m *importer) think(operations []*operation) time.Duration {
	var all time.Duration
	n := 0
	for _, o := range operations {
		if gap := o.calls[0].gap; gap >= actLeast && gap < awayLeast {
			all += gap
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return max(100*time.Millisecond, (all / time.Duration(n)).Round(100*time.Millisecond))
}

func (m *importer) kept() (n int) {
	for _, g := range m.groups {
		n += len(g.calls)
	}
	return n
}

// common is a header that all requests have with the same value.
func (m *importer) common(name string) (value string) {
	for _, c := range m.calls {
		if c.left != "" {
			continue
		}
		h := header(c.Headers, name)
		if h == "" || value != "" && h != value {
			return ""
		}
		value = h
	}
	return value
}

func (m *importer) scenario(rec *Recording, groups []*group) *Scenario {
	operations := m.named(groups, rec.Titles)
	m.nameVariables(groups)
	title := cmp.Or(m.Title, "Recorded at "+m.base.Host)
	w := &writer{m: m}
	w.scenario(rec, title, operations)
	s := &Scenario{TOML: w.String(), Requests: len(rec.Entries), Kept: m.kept(), Operations: len(operations),
		Login: m.login != nil, LeftOut: m.leftOut(), Values: m.values(), Doubts: m.doubts, Withheld: []string{}}
	for _, o := range operations {
		s.Repeated += o.count - 1
	}
	if !m.Secrets {
		for _, secret := range m.secrets {
			s.Withheld = append(s.Withheld, secret.name)
		}
	}
	if s.Doubts == nil {
		s.Doubts = []Doubt{}
	}
	return s
}

func (m *importer) leftOut() []LeftOut {
	all := []LeftOut{}
	for _, c := range m.calls {
		if c.left == "" {
			continue
		}
		at := slices.IndexFunc(all, func(l LeftOut) bool { return l.Reason == c.left })
		if at < 0 {
			l := LeftOut{Reason: c.left, Examples: []string{}}
			if slices.Contains(Keepable, c.left) {
				l.Keep = "--keep " + string(c.left)
			}
			at, all = len(all), append(all, l)
		}
		all[at].Requests++
		example := path.Clean("/" + c.url.Path)
		if c.left == ThirdParty || c.left == Analytics {
			example = c.url.Hostname()
		}
		if !slices.Contains(all[at].Examples, example) && len(all[at].Examples) < 3 {
			all[at].Examples = append(all[at].Examples, example)
		}
	}
	return all
}

// Text of a reason, for a person.
func (l LeftOut) Text() string { return reasonText[l.Reason] }

func (m *importer) values() []Value {
	all := []Value{}
	used := map[*variable][]string{}
	for _, g := range m.groups {
		for _, c := range g.calls {
			c.uses(func(v *variable) {
				if !slices.Contains(used[v], c.label()) {
					used[v] = append(used[v], c.label())
				}
			})
		}
	}
	for _, g := range m.groups {
		for _, c := range g.calls {
			for _, v := range c.extract {
				all = append(all, Value{Variable: v.name, From: c.label(), Extraction: v.extraction,
					Used: append([]string{}, used[v]...)})
			}
		}
	}
	return all
}
