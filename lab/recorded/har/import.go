package har

import (
	"errors"
	"net/url"
	"time"
)

// Options of an import.
type Options struct {
	Title string
	Gap   time.Duration // after which a request belongs to another act of the user; 0: GapDefault
	Hosts []string      // of other sites whose requests are kept
	Keep  []Reason      // for which requests are not left out
	// Secrets are written into the scenario as they were recorded.
	Secrets bool
}

// ErrNothing is returned when no requests are left after those that are left out.
var ErrNothing = errors.New("the recording has no requests to an application: only static files, other sites or " +
	"requests without an answer")

// ErrOnlyLogin is returned when the recording ends with the log-in.
var ErrOnlyLogin = errors.New("the recording ends with the log-in")

// importer makes a scenario of a recording.
type importer struct {
	Options
	calls  []*call
	base   *url.URL
	groups []*group
	login  *group // nil: nobody logs in
	who    credentials

	index    map[string][]source  // values of answers so far
	unfound  map[string]bool      // values that the recorded client has made
	ours     map[string]*variable // secrets that the recorded client brought along, by value
	sourced  map[string]*variable // by call and extraction
	byValue  map[string]*variable // the last one that has a value
	byHeader map[string]*variable // by the header that every request of a session has
	jar      map[string]bool      // cookies that answers have set
	secrets  []secret
	doubts   []Doubt
}

// Import makes a scenario of a recording.
func Import(rec *Recording, o Options) (*Scenario, error) {
	if o.Gap <= 0 {
		o.Gap = GapDefault
	}
	m := &importer{Options: o, index: map[string][]source{}, unfound: map[string]bool{}, ours: map[string]*variable{},
		sourced: map[string]*variable{}, byValue: map[string]*variable{},
		byHeader: map[string]*variable{}, jar: map[string]bool{}}
	if m.calls, m.base = sift(rec, o); m.base == nil {
		return nil, ErrNothing
	}
	for _, c := range m.calls {
		if c.left == "" {
			c.texts = textsOf(c, m.base)
		}
	}
	m.who.call = findLogin(m.calls)
	gaps(m.calls)
	m.groups = inGroups(m.calls, o.Gap)
	if !keeps(o, Logout) {
		leaveLogout(m.groups, m.who.call)
	}
	m.splitLogin()
	m.takeCredentials()
	m.correlate()
	m.refetch()
	m.mergeDependent()
	m.groups = m.count()
	m.prune()
	operations := m.operations()
	switch {
	case len(operations) == 0 && m.login != nil:
		return nil, ErrOnlyLogin
	case len(operations) == 0:
		return nil, ErrNothing
	}
	m.doubtRecording(rec)
	return m.scenario(rec, operations), nil
}

func keeps(o Options, r Reason) bool {
	for _, kept := range o.Keep {
		if kept == r {
			return true
		}
	}
	return false
}

// splitLogin makes one group of all that is done up to the log-in.
func (m *importer) splitLogin() {
	l := m.who.call
	if l == nil || l.left != "" {
		m.who.call = nil
		return
	}
	m.login = m.groups[0]
	for _, g := range m.groups[1 : l.group.number+1] {
		merge(m.login, g)
	}
}

// operations are the groups after the log-in that have something to do.
func (m *importer) operations() (all []*group) {
	for _, g := range m.groups {
		if g != m.login && len(g.calls) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// mergeDependent makes one operation of groups of which one needs a value that another gets. What the log-in gets, and
// what every request of a session has in a header, every operation may use.
func (m *importer) mergeDependent() {
	for _, c := range m.calls {
		if c.left != "" {
			continue
		}
		need := func(v *variable) {
			if v != nil && !m.given(v) {
				merge(v.source.call.group, c.group)
			}
		}
		need(c.next)
		for _, t := range c.texts {
			for _, s := range t.spans {
				need(s.variable)
			}
		}
	}
}

// given says whether every operation has a variable: from the user, from the log-in, or in place of one from there.
func (m *importer) given(v *variable) bool {
	return v.source == nil || m.ofLogin(v.source.call) || v.like != nil && m.given(v.like)
}

// ofLogin says whether a request belongs to the log-in.
func (m *importer) ofLogin(c *call) bool {
	return m.login != nil && c.group != nil && c.group.root() == m.login
}
