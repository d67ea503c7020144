package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/platform/id"
)

// Mode of an audit.
type Mode string

const (
	All        Mode = "all"
	SinceClean Mode = "changed"
	Sample     Mode = "sample"
)

// scope is what is looked at. Invariants say in braces what a row belongs to, and each mode makes a condition of it, or none:
//
//	                   all    changed                   sample
//	{document id}      true   the document changed      it is in the sample
//	{changed id}       true   the document changed      true
//	{month org, at}    true   the month changed         true
//	{key a, b, …}      true   true                      the key is in the sample
//
// An invariant that a mode narrows in no way is checked in whole, and the report says so.
type scope struct {
	mode      Mode
	documents []id.ID
	months    string          // condition on @organisation and @moment
	plain     map[string]bool // changed tables that are of no document or month: what reads one of them is looked at in whole
	same      map[string]bool // tables that are as they were: what reads no other holds as it did
	share     float64
	seed      int64
}

var brace = regexp.MustCompile(`\{(document|changed|month|key) ([^{}]+)\}`)

// narrow makes conditions of the braces, and tells whether there is any.
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

// sampled: the same columns of whatever table are in the same sample of a seed, so sides that are compared are of the same keys.
func (s scope) sampled(columns string) string {
	return fmt.Sprintf("(hash_record_extended(ROW(%s), %d) & %d) < %d", columns, s.seed, sampleGrain-1, int64(s.share*sampleGrain+0.5))
}

var tableName = regexp.MustCompile(`\b(cat|doc|inf|acc|gl|plimsoll)_[a-z0-9_]+\b`)

// tablesOf a statement of the audit.
func tablesOf(sql string) []string {
	names := tableName.FindAllString(sql, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

func (s scope) staleFor(sql string) bool {
	return slices.ContainsFunc(tablesOf(sql), func(table string) bool { return s.plain[table] })
}

func (s scope) holdsAsBefore(sql string) bool {
	return s.mode == SinceClean && !slices.ContainsFunc(tablesOf(sql), func(table string) bool { return !s.same[table] })
}

// cell is a month of an organisation.
type cell struct {
	organisation id.ID
	month        time.Time
}

// monthsCondition is true in the cells: ranges that an index on the two columns knows how to look up.
func monthsCondition(cells []cell) string {
	if len(cells) == 0 {
		return "false"
	}
	of := map[time.Time][]string{}
	for _, c := range cells {
		of[c.month] = append(of[c.month], "'"+c.organisation.String()+"'")
	}
	var ranges []string
	for month, organisations := range of {
		slices.Sort(organisations)
		ranges = append(ranges, fmt.Sprintf("@organisation IN (%s) AND @moment >= '%s' AND @moment < '%s'",
			strings.Join(organisations, ", "), month.Format(time.DateOnly), month.AddDate(0, 1, 0).Format(time.DateOnly)))
	}
	slices.Sort(ranges)
	return "(" + strings.Join(ranges, " OR ") + ")"
}
