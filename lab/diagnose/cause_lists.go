package diagnose

import (
	"fmt"
	"regexp"
	"strings"

	"plimsoll/ground/human"
)

var (
	orTerm = regexp.MustCompile(`(?i)\bor\b`)
	inList = regexp.MustCompile(`(?i)\b(?:in\s*\(|any\s*\(\s*array\s*\[|values\s*\()([^()]*)`)
)

const joinedByOr = "conditions joined by OR"

// listed conditions or values in a text: those joined by OR, or those of its longest list.
func listed(text string) (n int, what string) {
	n, what = len(orTerm.FindAllString(text, -1)), joinedByOr
	for _, m := range inList.FindAllStringSubmatch(text, -1) {
		if values := strings.Count(m[1], ",") + 1; values > n && values >= int(valuesLeast.Value) {
			n, what = values, "values in a list"
		}
	}
	return n, what
}

// longLists: a program writes its data into the text of a statement, which is parsed and planned each time.
var longLists = cause{
	name: "long-list-of-conditions",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			n, what := listed(m.textOf(l))
			if float64(n) < termsLeast.Value {
				continue
			}
			e := m.excessOf(l)
			if e != nil && what == joinedByOr { // each is looked up by itself: its entries are the list's, too
				e.price = e.use.share * max(0, 1-e.calls*secondsPerCall.Value/e.seconds)
			}
			if e == nil || best != nil && *best.Price >= e.price {
				continue
			}
			best = &Finding{Price: &e.price, explains: e.use.statements, Statements: m.book.full(e.use.statements),
				partial: true,
				Title: fmt.Sprintf("A statement has a list of %d %s at least, parsed and planned in each "+
					"call", n, what),
				Mechanism: "The server parses each condition, estimates it, and looks for an index for it, before " +
					"it runs " +
					"anything. It does so again for each call, for no two such texts are the same.",
				Evidence: append([]string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(e.use.share),
					e.use.largest), e.says()}, m.within(e.use.largest)...),
				Excluded: []string{"not its rows: they take less"},
				Next: []string{"send the values as one parameter: = ANY ($1), or JOIN unnest($1::int[], $2::int[]) " +
					"for " +
					"pairs", "many values: COPY them into a temporary table, ANALYZE it, and join"}}
		}
		return best, ""
	},
}
