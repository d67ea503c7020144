package diagnose

import (
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// payers are the applications whose sessions a cause keeps waiting, where several share the server; nil: one alone, or
// the cause keeps nobody in particular waiting.
func (m *measured) payers(c cause, f *Finding) []Part {
	takes, known := m.takes(c, f)
	if f.Price == nil || !known || !m.shared() {
		return nil
	}
	times := amounts{}
	for key, w := range m.book.events {
		for pair, seconds := range w.pairs {
			if takes(pair.statement, key.class) {
				times.add(pair.application, seconds)
			}
		}
	}
	return parts(times, partsKept)
}

// takes says which of the sessions' time a cause takes: that of the statements it explains, or else of its classes of
// waits. It is not known where the price rests on something else.
func (m *measured) takes(c cause, f *Finding) (takes func(sql string, class waits.Class) bool, known bool) {
	classes, mine := c.classes, func(string) bool { return true }
	if len(f.explains) > 0 {
		classes = work
		mine = func(sql string) bool { return slices.Contains(f.explains, sql) }
	}
	return func(sql string, class waits.Class) bool {
		return slices.Contains(classes, class) && mine(sql) && !m.known(sql, class)
	}, len(classes) > 0
}

// ofOneApplication says that a waste whose share of all time is small takes so much of one application's that its users
// notice: beside a larger problem of others each share is small.
func (m *measured) ofOneApplication(c cause, f *Finding) bool {
	takes, known := m.takes(c, f)
	if !c.waste || f.Price == nil || f.remark || !known || len(f.explains) == 0 ||
		*f.Price < applicationFrom.Value || m.ledger.Sessions < sessionsLeast.Value {
		return false
	}
	taken, all, sum := amounts{}, amounts{}, 0.0
	for key, w := range m.book.events {
		for pair, seconds := range w.pairs {
			all.add(pair.application, seconds)
			if takes(pair.statement, key.class) {
				taken.add(pair.application, seconds)
				sum += seconds
			}
		}
	}
	part := min(1, *f.Price*m.ledger.TotalS/max(sum, 1e-9)) // of these statements' time
	for name, seconds := range taken {
		if name != others && part*seconds >= applicationPart.Value*all[name] {
			return true
		}
	}
	return false
}

// shared says whether sessions of more than one application were active.
func (m *measured) shared() bool {
	first := ""
	for _, w := range m.book.events {
		for name := range w.applications {
			if first != "" && name != first {
				return true
			}
			first = name
		}
	}
	return false
}

// Who pays, in words; empty: one application alone, or nobody in particular.
func (f Finding) Who() string {
	var texts []string
	for _, p := range f.Applications {
		texts = append(texts, p.Name+" "+human.Percent(p.Share))
	}
	return strings.Join(texts, ", ")
}

// Classes of causes whose time is that of waits.
var (
	inClient  = []waits.Class{waits.Client}
	inLocks   = []waits.Class{waits.Lock}
	inLog     = []waits.Class{waits.WAL}
	inStandby = []waits.Class{waits.Standby}
	inData    = []waits.Class{waits.IO}
	inLatches = []waits.Class{waits.Latch}
	inOthers  = []waits.Class{waits.IPC}
	inSleep   = []waits.Class{waits.Sleep}
	inRunning = []waits.Class{waits.Running}
)
