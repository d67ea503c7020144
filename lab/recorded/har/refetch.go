package har

import "slices"

// refetch gives an operation the page whose form it sends, if the recorded user came to that page by the log-in: there
// it is shown once, and the operation is done many times. A hidden field may serve a single time.
func (m *importer) refetch() {
	if m.login == nil {
		return
	}
	type place struct {
		group *group
		page  *call
	}
	copies := map[place]*call{}
	for _, c := range slices.Clone(m.calls) {
		if c.left != "" || m.ofLogin(c) || !c.submits() {
			continue
		}
		for _, t := range c.texts {
			for _, s := range t.spans {
				v := s.variable
				if s.place != inForm || v == nil || v.source == nil || !m.showsForms(v.source.call) {
					continue
				}
				at := place{c.group, v.source.call}
				if copies[at] == nil {
					copies[at] = m.copyInto(c.group, v.source.call)
				}
				s.variable = copies[at].copyOf(v)
			}
		}
	}
}

// showsForms says whether a request is one for a page after the log-in, which can be repeated at any time.
func (m *importer) showsForms(c *call) bool {
	return m.ofLogin(c) && c.Method == "GET" && c.next == nil && !c.redirects() && isHTML(c.Entry) &&
		c.Started.After(m.who.call.Started)
}

func (m *importer) copyInto(g *group, page *call) *call {
	c := *page
	c.group, c.hop, c.extract, c.gap = g, nil, nil, 0
	g.calls = slices.Insert(g.calls, 0, &c)
	m.calls = append(m.calls, &c)
	return &c
}

// copyOf a variable, set by the copy of a page.
func (c *call) copyOf(v *variable) *variable {
	for _, known := range c.extract {
		if known.extraction == v.extraction {
			return known
		}
	}
	source := *v.source
	source.call = c
	own := &variable{base: v.base, value: v.value, source: &source, extraction: v.extraction}
	c.extract = append(c.extract, own)
	return own
}
