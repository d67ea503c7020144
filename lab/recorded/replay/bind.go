package replay

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"plimsoll/lab/recorded/literals"
)

// binder finds values that a program read from an answer, and puts those of this replay in their place. A log has no
// answers: that a value came from one shows when a statement gives a new number or key here (RETURNING, nextval), and
// one of the next statements of its session has a value that the session has not used before, that stands for a column
// named like a key, and that is nearest to it.
//
//	here:    INSERT … RETURNING id ──▶ 1507
//	in log:  INSERT … RETURNING id      … UPDATE … WHERE id = 1042      1042 means 1507 from now on, in all sessions
//
// Ids of other sessions differ because sessions meet in another order, or because the base is of another moment.
type binder struct {
	escapes bool

	mu    sync.Mutex
	here  map[string]string // values here by those of the log
	shift map[string]int64  // by statement: how far values were from those of the log last
	bound int64             // values that were put in place
	found int64             // values that were found
}

// awaited is a value that a statement has given here, and that one in the log stands for.
type awaited struct {
	value, source string
	left          int // statements that may still have it
}

// Limits of the search.
const (
	awaitStatements = 40
	awaitValues     = 64      // of a session
	knownValues     = 4096    // of a session
	boundMost       = 1 << 20 // values of the log with another one here
	// shiftMost is how far a first value may be from that of the log: a base of another day.
	shiftMost = 10_000_000
	// nearMost is how far a further value of the same statement may be from the shift of the one before.
	nearMost = 10_000
	// Where the text does not say which column a number stands for, it must be large and very near: it may be a price.
	smallest     = 1000
	veryNearMost = 256
)

func newBinder(escapes bool) *binder {
	return &binder{escapes: escapes, here: map[string]string{}, shift: map[string]int64{}}
}

// keys are names of columns that hold ids and numbers of objects.
var keys = regexp.MustCompile(`(?i)(?:^|[._]|[^a])(?:id|key|ref|no|nr|num|number|code)$`)

// source of new values: what a statement writes, or the sequence that it asks.
var source = regexp.MustCompile(`(?i)(?:\bINTO\s+|\bUPDATE\s+|val\s*\(\s*')([\p{L}_"][\p{L}\d_."]*)`)

// gives matches statements that give new values.
var gives = regexp.MustCompile(`(?i)\bRETURNING\b|\b(?:nextval|lastval|currval|gen_random_uuid|uuidv[47]|` +
	`uuid_generate_\w+)\s*\(`)

var (
	wholeNumber = regexp.MustCompile(`^[1-9]\d{0,17}$`)
	uuid        = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// memory of a session: the values that it has used, and those that it is about to.
type memory struct {
	awaits []awaited
	used   map[string]bool
}

// given: a statement of the session has given a value here.
func (m *memory) given(value, text string) {
	if (wholeNumber.MatchString(value) || uuid.MatchString(value)) && len(m.awaits) < awaitValues {
		m.awaits = append(m.awaits, awaited{value, strings.Join(source.FindStringSubmatch(text), " "), awaitStatements})
	}
}

// bind the values of a statement.
func (b *binder) bind(m *memory, s *statement) {
	b.mu.Lock()
	idle := len(b.here) == 0
	b.mu.Unlock()
	if idle && len(m.awaits) == 0 {
		return
	}
	if m.used == nil || len(m.used) > knownValues {
		m.used = map[string]bool{}
	}
	f := literals.Finder{Escapes: b.escapes}
	if len(m.awaits) > 0 {
		b.look(f, m, s)
	}
	s.Text = f.Replace(s.Text, s.Values, func(v literals.Value) string {
		if mayBeKey(v) {
			m.used[v.Text] = true
		}
		return b.of(v)
	})
}

// of a value of the log, what it is here.
func (b *binder) of(v literals.Value) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	other, known := b.here[v.Text]
	if !known || other == v.Text || !mayBeKey(v) {
		return v.Text
	}
	b.bound++
	return other
}

// look for values that the session awaits among those of its next statement.
func (b *binder) look(f literals.Finder, m *memory, s *statement) {
	var all []literals.Value
	values := append([]*string(nil), s.Values...)
	f.Replace(s.Text, values, func(v literals.Value) string {
		if wholeNumber.MatchString(v.Text) || uuid.MatchString(v.Text) {
			all = append(all, v)
		}
		return v.Text
	})
	var rest []awaited
	for _, a := range m.awaits {
		if at, is := b.nearest(m, a, all); is {
			b.know(at, a)
			continue
		}
		if a.left--; a.left > 0 {
			rest = append(rest, a)
		}
	}
	m.awaits = rest
}

// nearest of the values to the one awaited; false: none can be it.
func (b *binder) nearest(m *memory, a awaited, all []literals.Value) (best string, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shift, before := b.shift[a.source]
	least := int64(-1)
	for _, v := range all {
		_, taken := b.here[v.Text]
		if uuid.MatchString(a.value) {
			if uuid.MatchString(v.Text) && !taken && !m.used[v.Text] {
				return v.Text, true
			}
			continue
		}
		n, err := strconv.ParseInt(v.Text, 10, 64)
		here, _ := strconv.ParseInt(a.value, 10, 64)
		if err != nil || taken || n != here && m.used[v.Text] || !mayBeKey(v) {
			continue
		}
		distance, most := here-n-shift, int64(nearMost)
		if distance < 0 {
			distance = -distance
		}
		switch {
		case v.Column == "":
			most = veryNearMost
		case !before:
			most = shiftMost
		}
		if distance <= most && (least < 0 || distance < least) {
			best, least, is = v.Text, distance, true
		}
	}
	return best, is
}

// mayBeKey says whether a value may have come from an answer, by where it stands.
func mayBeKey(v literals.Value) bool {
	switch {
	case uuid.MatchString(v.Text):
		return true
	case v.Column != "":
		return keys.MatchString(v.Column)
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	return err == nil && n >= smallest
}

func (b *binder) know(inLog string, a awaited) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.here) >= boundMost {
		return
	}
	b.here[inLog] = a.value
	b.found++
	n, err := strconv.ParseInt(inLog, 10, 64)
	here, failed := strconv.ParseInt(a.value, 10, 64)
	if err == nil && failed == nil {
		b.shift[a.source] = here - n
	}
}
