package har

import (
	"net/url"
	"slices"
	"strings"
)

// Variables of who logs in: as the columns name and password of rows [data.user] would be.
const (
	nameVariable     = "user_name"
	passwordVariable = "user_password"
)

// secret is a value of the recording that is not written into a scenario unless that is asked for.
type secret struct {
	*variable
	what string // "password", "Authorization of GET /api/items"
}

// credentials of a log-in.
type credentials struct {
	call      *call // the request that has them; nil: there is none
	user      *variable
	passwords []*variable
	basic     bool // by the header of every request
}

// findLogin finds the request that logs in: the first that sends a password, and of its repetitions the last.
func findLogin(calls []*call) (l *call) {
	for _, c := range calls {
		if c.left != "" || passwordOf(c) == nil {
			continue
		}
		if l == nil {
			l = c
			continue
		}
		if c.Method == l.Method && c.url.Path == l.url.Path {
			l.left = Attempt
			l = c
		}
	}
	return l
}

// passwordOf is the first field of a request that is called one.
func passwordOf(c *call) *span {
	if c.Method == "GET" {
		return nil
	}
	for _, t := range c.texts {
		for _, s := range t.spans {
			if (s.place == inForm || s.place == inJSON) && passwordNames.MatchString(s.name) {
				return s
			}
		}
	}
	return nil
}

// userOf is the field of the name that goes with a password: the one that is called so, or stands before it.
func userOf(c *call) (best *span) {
	for _, t := range c.texts {
		for _, s := range t.spans {
			switch {
			case s.place != inForm && s.place != inJSON || s.variable != nil:
			case passwordNames.MatchString(s.name) || strengthOf(s.value) == unique && !strings.Contains(s.value, "@"):
			case userNames.MatchString(s.name) && best == nil:
				best = s
			}
		}
	}
	return best
}

// takeCredentials makes variables of the user's name and of all passwords, wherever they stand.
func (m *importer) takeCredentials() {
	kept := slices.DeleteFunc(slices.Clone(m.calls), func(c *call) bool { return c.left != "" })
	for _, c := range kept {
		if user, password, ok := basic(header(c.Headers, "Authorization")); ok && m.who.user == nil {
			m.who.basic = true
			m.who.user = m.variable(nameVariable, user)
			m.password(password)
		}
		if m.who.basic {
			c.texts = slices.DeleteFunc(c.texts, func(t *text) bool { return t.name == "Authorization" })
		}
	}
	for _, c := range kept {
		for _, t := range c.texts {
			for _, s := range t.spans {
				if (s.place == inForm || s.place == inJSON) && passwordNames.MatchString(s.name) && !s.number {
					s.variable = m.password(s.value)
				}
			}
		}
	}
	if m.who.call != nil && m.who.user == nil {
		// Some ask for the name on one page and for the password on the next.
		for i := slices.Index(kept, m.who.call); i >= 0 && m.who.user == nil; i-- {
			if s := userOf(kept[i]); s != nil {
				m.who.user = m.variable(nameVariable, s.value)
				s.variable = m.who.user
			}
		}
	}
	for _, c := range kept {
		m.replaceCredentials(c)
	}
}

// password is the variable of one.
func (m *importer) password(value string) *variable {
	for _, v := range m.who.passwords {
		if v.value == value {
			return v
		}
	}
	v := m.variable(passwordVariable, value)
	m.who.passwords = append(m.who.passwords, v)
	m.secrets = append(m.secrets, secret{v, "password"})
	return v
}

// replaceCredentials puts the variables where their values return: passwords anywhere, the name where a user is meant.
func (m *importer) replaceCredentials(c *call) {
	const least = 3
	for _, t := range c.texts {
		for _, s := range t.spans {
			if s.variable != nil {
				continue
			}
			if u := m.who.user; u != nil && s.value == u.value && len(u.value) >= least && !s.number &&
				userNames.MatchString(s.name) {
				s.variable = u
			}
			for _, p := range m.who.passwords {
				if s.value == p.value && len(p.value) >= least && !s.number {
					s.variable = p
				}
			}
		}
		for _, p := range m.who.passwords {
			if len(p.value) >= 5 {
				t.replaceWithin(p.value, p)
			}
		}
	}
}

// replaceWithin puts a variable where its value is a piece of the text, as it is or encoded as the place has it.
func (t *text) replaceWithin(value string, v *variable) (found bool) {
	for _, shown := range t.encoded(value) {
		for at := 0; at < len(t.raw); {
			next := strings.Index(t.raw[at:], shown)
			if next < 0 {
				break
			}
			from := at + next
			at = from + len(shown)
			found = t.put(from, at, value, v) || found
		}
	}
	return found
}

// put adds a span with a variable in the place of those within it or around it; false: another variable is there.
func (t *text) put(from, to int, value string, v *variable) bool {
	name, at := t.name, t.place
	for _, s := range t.spans {
		if s.from < to && from < s.to {
			if s.variable != nil || s.number {
				return false
			}
			name, at = s.name, s.place
		}
	}
	var kept []*span
	for _, s := range t.spans {
		if s.from < to && from < s.to {
			continue
		}
		kept = append(kept, s)
	}
	t.spans = append(kept, &span{from: from, to: to, value: value, name: name, place: at, variable: v})
	slices.SortFunc(t.spans, func(a, b *span) int { return a.from - b.from })
	return true
}

// encoded is how a value may stand in the text.
func (t *text) encoded(value string) []string {
	all := []string{value}
	switch t.place {
	case inPath:
		all = append(all, url.QueryEscape(value), url.PathEscape(value))
	case inJSON:
		all = append(all, jsonEscaped(value), strings.ReplaceAll(jsonEscaped(value), "/", `\/`))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
