package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"plimsoll/platform/data/id"
)

// Mode of an audit.
type Mode string

const (
	All        Mode = "all"
	SinceClean Mode = "changed"
	Sample     Mode = "sample"
)

// scope is the part of the books to check. Invariants mark in braces what a row belongs to, and each mode replaces the
// mark by a condition:
//
//	                   all    changed                   sample
//	{document id}      true   the document changed      it is in the sample
//	{changed id}       true   the document changed      true
//	{month org, at}    true   the month changed         true
//	{key a, b, …}      true   true                      the key is in the sample
//
// An invariant that a mode does not narrow is checked completely, and the report says so.
type scope struct {
	mode      Mode
	documents []id.ID
	months    string // condition on @organisation and @moment
	// changed tables without document or month: invariants that read one of them are checked completely
	plain map[string]bool
	same  map[string]bool // unchanged tables: invariants that read no others still hold
	share float64
	seed  int64
}

var brace = regexp.MustCompile(`\{(document|changed|month|key) ([^{}]+)\}`)

// narrow replaces the braces by conditions, and says whether any narrows.
func (s scope) narrow(sql string, args []any) (text string, all []any, narrowed bool) {
	all = slices.Clone(args)
	position := 0
	text = brace.ReplaceAllStringFunc(sql, func(match string) string {
		part := brace.FindStringSubmatch(match)
		kind, columns := part[1], part[2]
		condition := "true"
		switch {
		case s.mode == SinceClean && (kind == "document" || kind == "changed") && len(s.documents) == 0:
			condition = "false"
		case s.mode == SinceClean && (kind == "document" || kind == "changed"):
			if position == 0 {
				all = append(all, s.documents)
				position = len(all)
			}
			condition = fmt.Sprintf("%s = ANY ($%d::uuid[])", columns, position)
		case s.mode == SinceClean && kind == "month":
			organisation, moment, _ := strings.Cut(columns, ", ")
			condition = strings.NewReplacer("@organisation", organisation, "@moment", moment).Replace(s.months)
		case s.mode == Sample && (kind == "document" || kind == "key"):
			condition = s.sampled(columns)
		}
		narrowed = narrowed || condition != "true"
		return condition
	})
	return text, all, narrowed
}

// sampleGrain is the resolution of a share.
const sampleGrain = 1 << 20

// sampled: equal columns are in the same sample of a seed, whatever the table, so that the sides of a comparison have
// the same keys.
func (s scope) sampled(columns string) string {
	return fmt.Sprintf("(hash_record_extended(ROW(%s), %d) & %d) < %d", columns, s.seed, sampleGrain-1,
		int64(s.share*sampleGrain+0.5))
}

// tableKinds begin the names of tables that an audit reads.
var tableKinds = []string{"cat", "doc", "inf", "acc", "gl", "plimsoll"}

// tablesOf a statement of the audit.
func tablesOf(sql string) []string {
	names := strings.FieldsFunc(sql, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	names = slices.DeleteFunc(names, func(word string) bool {
		kind, rest, _ := strings.Cut(word, "_")
		return rest == "" || !slices.Contains(tableKinds, kind)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

func (s scope) staleFor(sql string) bool {
	return slices.ContainsFunc(tablesOf(sql), func(table string) bool { return s.plain[table] })
}

func (s scope) holdsAsBefore(sql string) bool {
	return s.mode == SinceClean && !slices.ContainsFunc(tablesOf(sql), func(table string) bool {
		return !s.same[table]
	})
}

// cell is a month of an organisation.
type cell struct {
	organisation id.ID
	month        time.Time
}

// monthsCondition is true in the cells: ranges that an index on the two columns can look up.
func monthsCondition(cells []cell) string {
	if len(cells) == 0 {
		return "false"
	}
	owners := map[time.Time][]string{}
	for _, c := range cells {
		owners[c.month] = append(owners[c.month], "'"+c.organisation.String()+"'")
	}
	var ranges []string
	for month, organisations := range owners {
		slices.Sort(organisations)
		ranges = append(ranges, fmt.Sprintf("@organisation IN (%s) AND @moment >= '%s' AND @moment < '%s'",
			strings.Join(organisations, ", "), month.Format(time.DateOnly),
			month.AddDate(0, 1, 0).Format(time.DateOnly)))
	}
	slices.Sort(ranges)
	return "(" + strings.Join(ranges, " OR ") + ")"
}
