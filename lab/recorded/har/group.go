package har

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Defaults and limits of grouping.
const (
	GapDefault = time.Second
	// actLeast is the shortest time in which a person can act on a page. What follows sooner the browser does itself.
	actLeast = 300 * time.Millisecond
	// awayLeast is a gap in which the person did something else.
	awayLeast = 2 * time.Minute
)

// group of requests that one act of the user caused.
type group struct {
	number int
	calls  []*call
	count  int // how often the recording has it
	into   *group
}

// root is the group that this one was merged into.
func (g *group) root() *group {
	for g.into != nil {
		g = g.into
	}
	return g
}

// gaps sets how long nothing was under way before each call, and which redirect led to it.
func gaps(calls []*call) {
	var busy time.Time       // until
	var open []*call         // redirects that nobody has followed yet
	var before time.Duration // the gap of what is left out, which belongs to what follows
	for _, c := range calls {
		if c.left != "" && c.left != Static && c.left != Refused {
			continue
		}
		if c.left == "" {
			for i := len(open) - 1; i >= 0 && c.hop == nil; i-- {
				if open[i].leadsTo(c) {
					c.hop = open[i]
					open = slices.Delete(open, i, i+1)
				}
			}
			if c.redirects() {
				open = append(open, c)
			}
		}
		if !busy.IsZero() && c.Started.After(busy) {
			c.gap = c.Started.Sub(busy)
		}
		if c.left != "" {
			before = max(before, c.gap)
		} else {
			c.gap, before = max(c.gap, before), 0
		}
		if end := c.Started.Add(c.Took); end.After(busy) {
			busy = end
		}
	}
}

// leadsTo says whether an answer is a redirect to another request.
func (c *call) leadsTo(next *call) bool {
	if !c.redirects() {
		return false
	}
	to, err := url.Parse(header(c.Answered, "Location"))
	if err != nil {
		return false
	}
	to = c.url.ResolveReference(to)
	to.Fragment, to.RawFragment = "", ""
	from := *next.url
	from.Fragment, from.RawFragment = "", ""
	return to.String() == from.String() || to.Host == from.Host && to.Path == from.Path && to.RawQuery == from.RawQuery
}

// navigates says whether a browser shows the answer as a page. Proxies and Firefox do not say what kind it is.
func (c *call) navigates() bool {
	if c.Kind != "" {
		return c.Kind == "document" && header(c.Headers, "Sec-Fetch-Dest") != "iframe"
	}
	return (isHTML(c.Entry) || c.redirects()) && !c.byScript()
}

// byScript says whether a page's script has asked.
func (c *call) byScript() bool {
	return c.Kind == "xhr" || c.Kind == "fetch" || header(c.Headers, "X-Requested-With") != "" ||
		header(c.Headers, "Sec-Fetch-Mode") == "cors" || header(c.Headers, "Sec-Fetch-Dest") == "empty"
}

// submits says whether a person has sent a form.
func (c *call) submits() bool {
	return c.Body != nil && (isForm(c.Body.MIME) || isMultipart(c.Body.MIME)) && !c.byScript()
}

// inGroups shares the calls out to groups: a new one begins where the user acted.
func inGroups(calls []*call, gap time.Duration) (groups []*group) {
	for _, c := range calls {
		if c.left != "" {
			continue
		}
		acted := c.gap >= gap || c.navigates() && c.gap >= min(gap, actLeast)
		if len(groups) == 0 || acted && c.hop == nil {
			groups = append(groups, &group{number: len(groups), count: 1})
		}
		g := groups[len(groups)-1]
		if c.hop != nil {
			g = c.hop.group
		}
		c.group = g
		g.calls = append(g.calls, c)
	}
	return groups
}

// leaveLogout leaves out what ends the session, and what follows from it in its group.
func leaveLogout(groups []*group, login *call) {
	for _, g := range groups {
		over := false
		g.calls = slices.DeleteFunc(g.calls, func(c *call) bool {
			if over = (over || logouts.MatchString(c.url.Path)) && c != login && passwordOf(c) == nil; over {
				c.left = Logout
			}
			return over
		})
	}
}

// merge makes one operation of two.
func merge(a, b *group) {
	if a, b = a.root(), b.root(); a == b {
		return
	}
	if a.number > b.number {
		a, b = b, a
	}
	a.calls = append(a.calls, b.calls...)
	slices.SortFunc(a.calls, func(x, y *call) int { return x.Started.Compare(y.Started) })
	b.into, b.calls = a, nil
}

// shape is equal for groups that do the same with other values.
func (g *group) shape() string {
	var b strings.Builder
	for _, c := range g.calls {
		b.WriteString(c.Method + " " + c.url.Host)
		for _, t := range c.texts {
			switch t.place {
			case inPath:
				b.WriteString(t.shape())
			case inForm, inJSON:
				for _, s := range t.spans {
					b.WriteString(" " + s.name)
					if s.chooses() {
						b.WriteString("=" + s.value)
					}
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// choices are names of what says which of its functions a program is to carry out.
var choices = regexp.MustCompile(`(?i)^(_?method|action|do|op|operation(_?name)?|query|mutation|cmd|command|page|` +
	`view|module|controller|route|task|tab|type|event|function|rpc|` +
	`_?(save|addanother|continue|delete|submit|commit).*)$`)

// chooses says whether a value is such a choice.
func (s *span) chooses() bool {
	return s.variable == nil && choices.MatchString(s.name) && strengthOf(s.value) == word
}

// shape of an address is without what identifies one of many.
func (t *text) shape() string {
	var b strings.Builder
	at := 0
	for _, s := range t.spans {
		if s.place == inQuery && !s.chooses() || s.variable != nil || strengthOf(s.value) != word {
			b.WriteString(t.raw[at:s.from] + "*")
			at = s.to
		}
	}
	return b.String() + t.raw[at:]
}

// stepsMost is what a scenario takes of one operation.
const stepsMost = 1000

// count drops groups that repeat others.
func (m *importer) count() (left []*group) {
	known := map[string]*group{}
	for _, g := range m.groups {
		if len(g.calls) == 0 {
			continue
		}
		if len(g.calls) > stepsMost {
			m.doubt(Doubt{Request: g.calls[stepsMost].label(), Done: "left out with what follows",
				Why: "the operation has too many requests without a pause of " + m.Gap.String()})
			g.calls = g.calls[:stepsMost]
		}
		if g == m.login {
			left = append(left, g)
			continue
		}
		shape := g.shape()
		if first := known[shape]; first != nil {
			first.count++
			continue
		}
		known[shape] = g
		left = append(left, g)
	}
	return left
}
