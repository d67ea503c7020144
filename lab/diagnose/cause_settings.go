package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

const noSettings = "the settings of roles, databases and tables could not be read"

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

// unexplainedWork is the share of the time of sessions' own work that no problem explains.
func (m *measured) unexplainedWork() float64 {
	return m.uses(work, func(string) bool { return true }).share
}

// ownSettings: a role, a database or the server keeps the planner from a usual way.
var ownSettings = cause{
	name:    "settings-differ",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		if m.settings == nil {
			return nil, noSettings
		}
		f := &Finding{Title: "", Price: new(0.0), partial: true,
			Mechanism: "Settings of a role or a database hold for its sessions alone. Plans that look right in psql " +
				"of " +
				"another role are not those that the application gets.",
			Excluded: []string{"what the statements need by themselves is not taken off: the price is the most that " +
				"the " +
				"setting can take"}}
		for _, s := range m.settings.Differ {
			if !s.narrows() || s.table != "" {
				continue
			}
			share := min(m.timeOf(s), m.unexplainedWork())
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s; its sessions work %s of the time", s.text(),
				human.Percent(m.timeOf(s))))
			if f.Title == "" || share > *f.Price {
				f.Title = fmt.Sprintf("%s has a setting of its own: %s = %s", upperFirst(s.Of), s.Name, s.Value)
				f.Price = new(share)
				f.Next = []string{fmt.Sprintf("EXPLAIN the statement as that role, before and after: SET %s = "+
					"DEFAULT", s.Name),
					fmt.Sprintf("plimsoll compare … --set-b %s=…    measures it; then take the setting back where "+
						"it was "+
						"made (ALTER ROLE … RESET, ALTER DATABASE … RESET)", s.Name)}
			}
		}
		if f.Title == "" {
			return nil, ""
		}
		return f, ""
	},
}

// narrowing are the settings that keep the planner from a usual way, of whoever works.
func (m *measured) narrowing() (lines []string) {
	if m.settings == nil {
		return nil
	}
	for _, s := range m.settings.Differ {
		if s.narrows() && s.table == "" && m.timeOf(s) >= noteFrom.Value {
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
				"plans " +
				"it reads the clock for each row of each node.",
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
