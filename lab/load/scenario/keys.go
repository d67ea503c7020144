package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/users"
)

// key is a key that a scenario file may have; * stands for any name.
type key struct {
	pattern string
	table   bool
	set     func(*reader, tomlfile.Entry) error
}

var keys []key

func init() {
	keys = []key{
		{"title", false, text(func(r *reader, s string) { r.Title = s })},
		{"application", false, nil}, // read before all others
		{"users", false, count(1, usersMax, func(r *reader, n int) { r.users = n })},
		{"refused", false, share(func(r *reader, x float64) { r.Refused = x })},
		{"backdated", false, share(func(r *reader, x float64) { r.Backdated = x })},
		{"backdated_days", false, count(1, 3650, func(r *reader, n int) { r.BackdatedDays = n })},

		{"think", true, nil},
		{"think.mean", false, mean(allThink)},
		{"think.distribution", false, distribution(allThink)},
		{"think.cap", false, thinkCap(allThink)},

		{"operations", true, nil},
		{"operations.*", true, nil},
		{"operations.*.title", false, ofOperation(text, func(op *Operation, s string) { op.Title = s })},
		{"operations.*.target", false, ofOperation(duration, func(op *Operation, d time.Duration) { op.Target = d })},
		{"operations.*.priority", false, operationCount(1, 100, func(op *Operation, n int) { op.Priority = n })},
		{"operations.*.least", false, operationCount(0, 1e9, func(op *Operation, n int) { op.Least = n })},
		{"operations.*.refused_share", false,
			ofOperation(share, func(op *Operation, x float64) { op.RefusedShare = &x })},
		{"operations.*.weight", false, ofOperation(weight, func(op *Operation, w float64) { op.Weight = w })},

		{"roles", true, nil},
		{"roles.*", true, func(r *reader, e tomlfile.Entry) error { r.roleOf(e); return nil }},
		{"roles.*.users", false, func(r *reader, e tomlfile.Entry) error {
			return count(0, usersMax, func(r *reader, n int) { r.roleOf(e).Users = n })(r, e)
		}},
		{"roles.*.weights", true, func(r *reader,
			e tomlfile.Entry) error {
			r.roleOf(e).Weights = map[string]float64{}
			return nil
		}},
		{"roles.*.weights.*", false, roleWeight},
		{"roles.*.think", true, nil},
		{"roles.*.think.mean", false, mean(roleThink)},
		{"roles.*.think.distribution", false, distribution(roleThink)},
		{"roles.*.think.cap", false, thinkCap(roleThink)},

		{"day", true, nil},
		{"day.file", false, dayFile},
		{"day.*", false, dayPoint},
	}
	keys = append(keys, slices.Concat(ownKeys(), sqlKeys(), dataKeys(), stageKeys(), gateKeys)...)
}

// usersMax is what one generator process is built for, with some reserve.
const usersMax = 100_000

// noThink stands for an explicit think time of zero until all keys are read.
const noThink = time.Duration(math.MinInt64)

func (k key) matches(path []string) bool {
	parts := strings.Split(k.pattern, ".")
	if len(parts) != len(path) {
		return false
	}
	for i, part := range parts {
		if part != "*" && part != path[i] {
			return false
		}
	}
	return true
}

func (k key) takes() string {
	name := strings.ReplaceAll(k.pattern, "*", "NAME")
	switch {
	case k.table:
		return "a table: [" + name + "]"
	case slices.ContainsFunc(keys, func(each key) bool { return each.table && each.pattern == k.pattern+".*" }):
		return "a list of tables: [[" + name + "]]"
	}
	return "a value, not a table"
}

// siblings are the keys that the table of path may have.
func siblings(path []string) (names []string) {
	for _, k := range keys {
		at := strings.LastIndexByte(k.pattern, '.')
		parent, name := "", k.pattern
		if at >= 0 {
			parent, name = k.pattern[:at], k.pattern[at+1:]
		}
		top := parent == "" && len(path) == 1
		if name == "*" || !top && !(key{pattern: parent}).matches(path[:len(path)-1]) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// roleOf is the role that a key belongs to; its first key creates it.
func (r *reader) roleOf(e tomlfile.Entry) *Role {
	for i := range r.Roles {
		if r.Roles[i].Name == e.Key[1] {
			return &r.Roles[i]
		}
	}
	r.Roles = append(r.Roles, Role{Name: e.Key[1]})
	r.lines["role "+e.Key[1]] = e.Line
	return &r.Roles[len(r.Roles)-1]
}

func roleWeight(r *reader, e tomlfile.Entry) error {
	id := e.Key[3]
	if r.operation(id) == nil {
		return r.wrong(e, "no such key operation", human.NearestHint(id, r.ids(),
			"there are "+strings.Join(r.ids(), ", ")))
	}
	return weight(func(r *reader, w float64) {
		role := r.roleOf(e)
		if role.Weights == nil {
			role.Weights = map[string]float64{}
		}
		role.Weights[id] = w
	})(r, e)
}

// dayPoint is "09:30" = 0.8.
func dayPoint(r *reader, e tomlfile.Entry) error {
	at, err := time.Parse("15:04", e.Key[1])
	if err != nil {
		return r.wrong(e, "takes a time of the day as its key", `such as "09:30" = 0.8`)
	}
	p := Point{At: time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute}
	return weight(func(r *reader, level float64) {
		p.Level = level
		r.Day = append(r.Day, p)
		slices.SortFunc(r.Day, func(a, b Point) int { return int(a.At - b.At) })
	})(r, e)
}

// The following make a setter from the type of a value and what to do with it.

func text(set func(*reader, string)) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		s, ok := e.Raw.(string)
		if !ok {
			return r.wrong(e, fmt.Sprintf("takes text in quotes, not %v", e.Raw), "")
		}
		set(r, s)
		return nil
	}
}

func number(takes string, least, most float64, set func(*reader, float64)) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		x, ok := e.Raw.(float64)
		if n, whole := e.Raw.(int64); whole {
			x, ok = float64(n), true
		}
		if !ok || !(x >= least && x <= most) {
			return r.wrong(e, fmt.Sprintf("takes %s, not %v", takes, e.Raw), "")
		}
		set(r, x)
		return nil
	}
}

func share(set func(*reader, float64)) func(*reader, tomlfile.Entry) error {
	return number("a share between 0 and 1", 0, 1, set)
}

func weight(set func(*reader, float64)) func(*reader, tomlfile.Entry) error {
	return number("a number of 0 or more", 0, 1e9, set)
}

func count(least, most int, set func(*reader, int)) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		n, ok := e.Raw.(int64)
		if !ok || n < int64(least) || n > int64(most) {
			return r.wrong(e, fmt.Sprintf("takes a whole number between %d and %d, not %v", least, most, e.Raw), "")
		}
		set(r, int(n))
		return nil
	}
}

// duration is greater than zero.
func duration(set func(*reader, time.Duration)) func(*reader, tomlfile.Entry) error {
	return span(time.Nanosecond, set)
}

func span(least time.Duration, set func(*reader, time.Duration)) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		s, _ := e.Raw.(string)
		d, err := time.ParseDuration(s)
		if err != nil || d < least {
			return r.wrong(e, fmt.Sprintf("takes a duration such as \"500ms\" or \"20m\", not %v", e.Raw), "")
		}
		set(r, d)
		return nil
	}
}

// thinkOf finds the think time that a key belongs to.
type thinkOf func(*reader, tomlfile.Entry) *users.Think

func allThink(r *reader, _ tomlfile.Entry) *users.Think { return &r.think }

func roleThink(r *reader, e tomlfile.Entry) *users.Think { return &r.roleOf(e).Think }

func mean(thinkTime thinkOf) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		return span(0, func(r *reader, d time.Duration) {
			if d == 0 {
				d = noThink
			}
			thinkTime(r, e).Mean = d
		})(r, e)
	}
}

func thinkCap(thinkTime thinkOf) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		return duration(func(r *reader, d time.Duration) { thinkTime(r, e).Cap = d })(r, e)
	}
}

func distribution(thinkTime thinkOf) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		s, _ := e.Raw.(string)
		var words []string
		for _, d := range users.Distributions {
			words = append(words, string(d))
		}
		if !slices.Contains(words, s) {
			return r.wrong(e, fmt.Sprintf("must be one of %s, not %q", strings.Join(words, ", "), s),
				human.NearestHint(s, words, ""))
		}
		thinkTime(r, e).Distribution = users.Distribution(s)
		return nil
	}
}

func ofOperation[T any](kind func(func(*reader, T)) func(*reader, tomlfile.Entry) error,
	set func(*Operation, T)) func(*reader, tomlfile.Entry) error {
	return func(r *reader, e tomlfile.Entry) error {
		return kind(func(r *reader, value T) { set(r.operation(e.Key[1]), value) })(r, e)
	}
}

func operationCount(least, most int, set func(*Operation, int)) func(*reader, tomlfile.Entry) error {
	return ofOperation(func(set func(*reader, int)) func(*reader, tomlfile.Entry) error {
		return count(least, most, set)
	}, set)
}
