package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

const noSettings = "the settings of roles, databases and tables could not be read"

// ofSession is what made its setting itself: a program that knows what it asks for, as long as that is quick.
const ofSession = "a session"

// timeOf is the share of the time in which sessions with a setting work.
func (m *measured) timeOf(s Setting) float64 {
	seconds := 0.0
	for user, one := range m.book.users {
		ofRole := s.user.role == 0 || s.user.role == user.role
		if ofRole && (s.user.database == 0 || s.user.database == user.database) {
			seconds += one
		}
	}
	return seconds / max(m.ledger.TotalS, 1e-9)
}

// affects says that a setting holds for a statement of the samples, and can be why it takes long.
func (m *measured) affects(s Setting, sampled string) bool {
	return (s.function != "" || s.holds(m.roleOf(sampled))) &&
		s.suffers(nonEmpty(m.book.fullTexts[sampled], sampled))
}

// ownSettings: a role, a database, a function or the server keeps statements from a usual way.
var ownSettings = cause{
	name:    "settings-differ",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		return m.ofSettings(func(s Setting, sampled string) bool {
			return !s.ordersJoins() && (s.Of != ofSession || m.costly(sampled))
		})
	},
}

// joinLimits: tables are joined in the order in which they are written, though another one reads less. It comes before
// what such a plan reads.
var joinLimits = cause{
	name:    "joins-limited",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		f, why := m.ofSettings(func(s Setting, sampled string) bool { return s.ordersJoins() && m.costly(sampled) })
		if f != nil {
			f.Mechanism = "Beyond such a limit the planner does not look for the order in which joins leave the " +
				"fewest rows: it takes the one of the text. Tables are then read whole that another order would " +
				"only look into."
			f.Next = append(f.Next, "does the text join last what leaves the fewest rows? then the order that is "+
				"written is the reason")
		}
		return f, why
	},
}

// costly says that a call of a statement of the samples takes some milliseconds of processor time; where calls are not
// counted, each transaction is one at most.
func (m *measured) costly(sampled string) bool {
	if m.book.longRunning[sampled] > 0 {
		return true
	}
	calls := m.alikeOf(sampled).calls
	if calls <= 0 {
		calls = valueOr(m.transactions(), 0) * m.ledger.ObservedS
	}
	return 1000*m.book.secondsIn(sampled, nil, false)*m.gotProcessor() >= beyondMS.Value*calls
}

// ofSettings is a finding of the setting that can explain most of the time of statements which nothing else explains;
// nil: none can.
func (m *measured) ofSettings(kind func(s Setting, sampled string) bool) (best *Finding, why string) {
	if m.settings == nil {
		return nil, noSettings
	}
	for _, s := range append(slices.Clone(m.settings.Differ), m.setBySessions()...) {
		if !s.narrows() || s.table != "" {
			continue
		}
		u := m.uses(s.classes(), func(sql string) bool { return m.affects(s, sql) && kind(s, sql) })
		if u.share == 0 || best != nil && *best.Price >= u.share {
			continue
		}
		best = &Finding{Price: new(u.share), explains: u.statements, Statements: m.book.full(u.statements),
			partial: true, toLog: knownSettings[s.Name].logs,
			Title: fmt.Sprintf("%s has a setting of its own: %s = %s (%s)", upperFirst(s.Of), s.Name, s.Value, s.Says),
			Mechanism: "Settings of a role, a database or a function hold for its sessions alone. Plans that look " +
				"right in psql of another role are not those that the application gets.",
			Evidence: append([]string{s.text(), fmt.Sprintf("%s of the time is spent on statements that can suffer, "+
				"most on: %s", human.Percent(u.share), u.largest)}, m.within(u.largest)...),
			Excluded: []string{"what the statements need by themselves is not taken off: the price is the most that " +
				"the setting can take"},
			Next: []string{fmt.Sprintf("EXPLAIN the statement as that role, before and after: SET %s = DEFAULT",
				s.Name),
				fmt.Sprintf("plimsoll compare … --set-b %s=…    measures it; then take the setting back where it was "+
					"made (ALTER ROLE … RESET, ALTER DATABASE … RESET)", s.Name)}}
	}
	if best != nil {
		for _, line := range m.narrowing() {
			if !strings.HasPrefix(line, best.Evidence[0]) {
				best.Evidence = append(best.Evidence, line)
			}
		}
	}
	return best, ""
}

var setsOne = regexp.MustCompile(`(?i)^\s*set\s+(?:session\s+|local\s+)?([a-z_]+)\s*(?:=|\bto\b)\s*'?([\w.]+)'?` +
	`\s*;?\s*$`)

// setBySessions are settings that sessions give themselves, as far as their SET was sampled, or was counted with its
// value, as PostgreSQL does until 17.
func (m *measured) setBySessions() (all []Setting) {
	add := func(text string, user roleIn) {
		found := setsOne.FindStringSubmatch(text)
		if found == nil || saysOf(strings.ToLower(found[1]), found[2]) == "" {
			return
		}
		name := strings.ToLower(found[1])
		all = append(all, Setting{Name: name, Value: found[2], Of: ofSession, Says: saysOf(name, found[2]),
			user: user, boot: m.settings.boot[name]})
	}
	for _, l := range slices.Concat(m.statements, m.inside.Others()) {
		add(l.Sent(), sender(&l))
	}
	for text, p := range m.book.normalized {
		if r, known := m.book.runners[p.text]; known {
			add(text, r.user)
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Name+a.Value, b.Name+b.Value) })
	return all
}

// narrowing are the settings that keep the planner from a usual way, of whoever works.
func (m *measured) narrowing() (lines []string) {
	if m.settings == nil {
		return nil
	}
	for _, s := range m.settings.Differ {
		if s.narrows() && s.table == "" && s.function == "" && m.timeOf(s) >= noteFrom.Value {
			lines = append(lines, fmt.Sprintf("%s; its sessions work %s of the time", s.text(),
				human.Percent(m.timeOf(s))))
		}
	}
	return lines
}

func upperFirst(text string) string {
	r := []rune(text)
	if len(r) > 0 && r[0] >= 'a' && r[0] <= 'z' {
		r[0] -= 'a' - 'A'
	}
	return string(r)
}

// loggingStatements: the server does something for each statement that no statement asks for.
var loggingStatements = cause{
	name:    "logging-of-statements",
	healthy: "",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		if m.settings == nil {
			return nil, noSettings
		}
		if len(m.settings.PerStatement) == 0 {
			return nil, ""
		}
		f := &Finding{partial: true,
			Mechanism: "The session that runs the statement formats and writes it before it goes on; with timing of " +
				"plans it reads the clock for each row of each node.",
			Excluded: []string{"no wait event shows it: it is processor time of the session"}}
		var names []string
		times, working := false, 0.0
		for _, s := range m.settings.PerStatement {
			f.Evidence = append(f.Evidence, s.text())
			f.Next = append(f.Next, fmt.Sprintf("plimsoll compare … --set-b %s=…    with and without: what does it "+
				"take?",
				s.Name))
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
			if s.Name == "auto_explain.log_analyze" {
				times, working = true, max(working, m.timeOf(s))
			}
		}
		f.Title = "Settings make the server log or count something for each statement: " + strings.Join(names, ", ")
		if len(f.Evidence) == 1 && m.settings.PerStatement[0].Name == "pg_stat_statements.track_planning" {
			return f, "" // a lock that only many equal statements meet
		}
		if times && working >= problemFrom.Value { // of all statements, logged or not
			f.grave = true
			f.Evidence = append(f.Evidence, fmt.Sprintf("sessions whose plans are timed, node by node, work %s of the "+
				"time; what that takes is not counted anywhere", human.Percent(working)))
		}
		f.Next = slices.Compact(f.Next)
		if m.log == nil {
			f.Evidence = append(f.Evidence, "how much is logged is not known: the server's log cannot be read")
			return f, ""
		}
		bytes := float64(m.log.Bytes) / max(m.ledger.ObservedS, 1e-9)
		f.Evidence = append(f.Evidence, fmt.Sprintf("%.2f MB of the server's log a second", bytes/(1<<20)))
		if !times { // that is not in the log's size
			f.Price = new(min(float64(m.log.Bytes)*loggedByte.Value/max(m.ledger.TotalS, 1e-9),
				m.unexplainedShare(waits.Running)))
		}
		return f, ""
	},
}
