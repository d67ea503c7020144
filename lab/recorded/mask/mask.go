// Package mask replaces personal data in recorded statements before anything of them is stored: the literals and
// parameters that stand for columns which rules name, and what looks like an address or a number of a person.
//
//	rules + a random key ──▶ pseudonym of a value: the same value is always the same one, so that joins and later
//	                         statements still match; without the key, which is kept nowhere, it cannot be turned back
package mask

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"plimsoll/lab/recorded/literals"
)

// Mask replaces values. It is safe for concurrent use once its tables are known.
type Mask struct {
	rules  Rules
	key    string
	tables map[string][]string // columns of tables in their order, for INSERT without a list
	// learned: the tables are those of the base; columnNames are all their columns, functions those of its owner.
	learned                bool
	columnNames, functions map[string]bool
}

// New mask by rules, with a key of its own.
func New(rules Rules) *Mask {
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails
	return &Mask{rules: rules, key: hex.EncodeToString(key[:]), tables: map[string][]string{}}
}

// least is how long a pseudonym is at least: shorter ones would be the same for many values.
const least = 8

// pseudonym of a value: digits for a number of a phone or a person, so that what checks such numbers still takes it,
// else hexadecimal. It is as long as the value, but has 8 to 64 characters. base.go does the same in SQL.
func (m *Mask) pseudonym(value string) string {
	sum := sha256.Sum256([]byte(m.key + value))
	text := hex.EncodeToString(sum[:])
	text = text[:min(max(len([]rune(value)), least), len(text))]
	if numeric.MatchString(value) {
		return strings.Map(func(c rune) rune {
			if c >= 'a' {
				return c - 'a' + '0'
			}
			return c
		}, text)
	}
	return text
}

// numeric are values of digits and what people put between them.
var numeric = regexp.MustCompile(`^[0-9 +()-]+$`)

// never are values that no rule masks: empty ones, times, keys in octal or hexadecimal. PostgreSQL reads it, too.
const never = `^$|^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?(?:UTC|GMT|Z|[+-]\d\d(?::?\d\d)?))?$|` +
	`^(\\{1,2}[0-7]{3})+$|^\\{1,2}x[0-9a-fA-F]*$`

var (
	isNever = regexp.MustCompile(never)
	// harmless are values of no column that nobody is known by: signs, few digits, keys, units, formats, zones.
	harmless = regexp.MustCompile(`(?i)^(?:[^\p{L}\d]*|[+-]?\d{1,6}|[+-]?\d*\.\d+|` +
		`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|t|f|true|false|yes|no|on|off|null|now|today|-?infinity|` +
		`utc|gmt|utf-?8|hex|base64|escape|` +
		`(?:Europe|Asia|America|Africa|Australia|Pacific|Atlantic|Indian|Etc)/[\w/+-]+|` +
		`(?:[+-]?\d{0,6} ?(?:year|quarter|mon(?:th)?|week|day|hour|min(?:ute)?|sec(?:ond)?|millisecond|microsecond|` +
		`epoch|dow|doy|decade|century)s? ?)+|` +
		`(?:YYYY|YY|MM|MI|DDD|DD|HH24|HH12|HH|SS|MS|US|TZ|OF|FM|IW|IYYY|[09GLQ]|[-/:., T_])+)$`)
	// casts are values as they stand before a cast to times, numbers and the like.
	casts = regexp.MustCompile(`^[\d\s.,:+\-eETZ{}"]*$`)
	// settled are functions whose arguments are names, units and settings of the server.
	settled = regexp.MustCompile(`^(?:pg_\w+|nextval|currval|setval|set_config|current_setting|to_reg\w+|` +
		`has_\w+_privilege|date_trunc|date_part|timezone|fasttruncate)$`)
	// hexKey is what decode makes a key of, as \x does.
	hexKey = regexp.MustCompile(`^(?:[0-9a-fA-F]{2})*$`)
	// control statements have no data.
	control = regexp.MustCompile(`(?i)^\s*(?:SET|RESET|SHOW|BEGIN|START|COMMIT|END|ABORT|ROLLBACK|SAVEPOINT|RELEASE|` +
		`DISCARD|DEALLOCATE|LISTEN|UNLISTEN|VACUUM|ANALYZE|CHECKPOINT)\b`)
)

// notify sends what an application wrote.
const notify = "pg_notify"

// personal says whether a value is to be masked: one that stands for a column which a rule names, and what the
// statement leaves open.
func (m *Mask) personal(v literals.Value, how scrutiny) bool {
	if m.rules.names(v.Column) || slices.ContainsFunc(v.Others, m.rules.names) {
		return true
	}
	if v.Unseen && len(m.rules.columns) > 0 {
		how = everything
	}
	return how > columnsAlone && !(how < everything && m.known(v.Column)) && !harmless.MatchString(v.Text) &&
		!(v.Function == "decode" && hexKey.MatchString(v.Text)) &&
		(v.Function == notify || !settled.MatchString(v.Function))
}

// value with a pseudonym in its place, or in those of its parts.
func (m *Mask) value(v literals.Value, how scrutiny) string {
	switch {
	case v.Comment:
		return m.Text(v.Text)
	case isNever.MatchString(v.Text), v.Cast && (casts.MatchString(v.Text) || harmless.MatchString(v.Text)):
		return v.Text
	case !m.personal(v, how):
		return m.Text(v.Text)
	}
	return parts(v.Text, func(text string) string {
		part := v
		if part.Text = text; text != v.Text && (isNever.MatchString(text) || !m.personal(part, how)) {
			return m.Text(text)
		}
		return m.inPattern(text)
	})
}

// inPattern keeps the signs around what LIKE looks for.
func (m *Mask) inPattern(text string) string {
	inner := strings.Trim(text, "%")
	if inner == "" {
		return text
	}
	before, after, _ := strings.Cut(text, inner)
	return before + m.pseudonym(inner) + after
}

// scrutiny is how much a statement may say without a column that is known.
type scrutiny int

const (
	columnsAlone scrutiny = iota // only what stands for a named column is personal
	unknownToo                   // and what stands for no column of the base
	everything                   // and all else: a subquery may call a named column as another one is called
)

// known says whether a column is one of the base, which no rule names. Until the base is known each is.
func (m *Mask) known(column string) bool {
	if !m.learned {
		return column != ""
	}
	table, name, qualified := strings.Cut(column, ".")
	if !qualified {
		return m.columnNames[column]
	}
	return ofSystem(table) || slices.Contains(m.tables[table], name)
}

func ofSystem(table string) bool { return strings.HasPrefix(table, "pg_") }

// derived are tables that a statement makes itself.
var derived = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|USING)\s*(?:LATERAL\s*)?\(|\bWITH\b|` +
	`,\s*(?:LATERAL\s*)?\(\s*SELECT\b`)

// scrutiny of a statement. It may have personal data where it names no column if it names one that a rule names, or a
// table with such a column, or one that is not of the base, or none, or calls a function of the owner's.
func (m *Mask) scrutiny(text string, escapes bool) scrutiny {
	if len(m.rules.columns) == 0 || control.MatchString(text) {
		return columnsAlone
	}
	tables, columns := literals.Names(text, escapes)
	switch {
	case slices.ContainsFunc(columns, m.rules.names) && m.learned && derived.MatchString(text):
		return everything
	case slices.ContainsFunc(columns, m.rules.names), m.learned && (len(tables) == 0 || ofOthers.MatchString(text)),
		slices.ContainsFunc(tables, m.mayHold), slices.ContainsFunc(columns, m.calls):
		return unknownToo
	}
	return columnsAlone
}

// ofOthers are statements that carry out others, which nobody sees.
var ofOthers = regexp.MustCompile(`(?i)^\s*(?:CALL|EXECUTE|DO)\b`)

// calls says whether a name is that of a function of the base's owner, which may store what it is given.
func (m *Mask) calls(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return m.functions[name] || name == notify
}

// mayHold says whether a table may have a column that a rule names.
func (m *Mask) mayHold(table string) bool {
	all, known := m.tables[table]
	return !known && m.learned && !ofSystem(table) || slices.ContainsFunc(all, func(column string) bool {
		return m.rules.names(table + "." + column)
	})
}

// Statement with its literals and parameters masked; values are changed in place. Escapes is literals.Finder's.
func (m *Mask) Statement(text string, values []*string, escapes bool) string {
	if m == nil {
		return text
	}
	how := m.scrutiny(text, escapes)
	f := literals.Finder{Escapes: escapes, Columns: func(table string) []string { return m.tables[table] },
		Casts: true}
	return f.Replace(text, values, func(v literals.Value) string {
		if v.Number {
			return v.Text // rules are about texts
		}
		return m.value(v, how)
	})
}

// Text replaces what looks like personal data anywhere in a text.
func (m *Mask) Text(text string) string {
	if m == nil {
		return text
	}
	for _, p := range m.rules.patterns {
		text = p.ReplaceAllStringFunc(text, m.pseudonym)
	}
	return text
}

// inMessage are the parts of a server's message that may quote data.
var inMessage = regexp.MustCompile(`"[^"]*"|'[^']*'|«[^»]*»|=\([^)]*\)`)

// Message without what it quotes, and with the rest masked.
func (m *Mask) Message(text string) string {
	if m == nil {
		return text
	}
	return m.Text(inMessage.ReplaceAllString(text, `"…"`))
}
