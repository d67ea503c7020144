package mix

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/sqltext"
	"plimsoll/ground/tomlfile"
)

// operationsMost of a scenario: the statements with the most calls or time.
const operationsMost = 50

// meansMade of a statement are its target: nothing else is known of its times.
const meansMade = 4

// Scenario of a mix.
type Scenario struct {
	TOML       string  `json:"toml"`
	Operations int     `json:"operations"`
	Calls      float64 `json:"share_of_calls"`
	Time       float64 `json:"share_of_time"`
	// Values are parameters that must be given, for each operation.
	Values  int            `json:"parameters"`
	LeftOut map[string]int `json:"left_out"` // statements, by reason
}

// Reasons for which a statement is no operation.
const (
	Control   = "control of transactions and sessions"
	OtherKind = "not SELECT, INSERT, UPDATE, DELETE, MERGE or CALL"
	NoText    = "without text"
	Rare      = "beyond the most frequent and longest ones"
	Colon     = "with a colon before a word, which a script would take for a variable"
	OtherBase = "of other databases"
)

var (
	controls = regexp.MustCompile(`(?i)^\s*(BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|SET|SHOW|RESET|` +
		`DISCARD|DEALLOCATE|PREPARE|EXECUTE|CLOSE|FETCH|DECLARE|LISTEN|UNLISTEN)\b`)
	operations = regexp.MustCompile(`(?i)^\s*\(*\s*(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|VALUES|TABLE|CALL)\b`)
	colon      = regexp.MustCompile(`(^|[^:]):[A-Za-z_0-9$]`)
)

// Scenario with an operation for each statement. Values of parameters are variables that nothing sets yet, so that it
// is refused until somebody gives them.
func (m *Mix) Scenario() (*Scenario, error) {
	s := &Scenario{LeftOut: map[string]int{}}
	taken := s.take(m)
	if len(taken) == 0 {
		return nil, fmt.Errorf("none of %s can be an operation", human.Count(len(m.Statements), "statement"))
	}
	var head, body strings.Builder
	for n, one := range taken {
		s.Calls += float64(one.Calls) / float64(m.Calls)
		s.Time += one.Share
		s.operation(&body, n+1, one)
	}
	s.Operations = len(taken)
	for _, text := range []string{
		fmt.Sprintf("A scenario made of pg_stat_statements: %s with %s of all calls and %s of the time.",
			human.Count(len(taken), "statement"), human.Percent(s.Calls), human.Percent(s.Time)),
		"It is a mix without order: each statement is an operation and a transaction by itself, as often as it was " +
			"called. What belonged together is not known, so locks are held more briefly than in production.",
		fmt.Sprintf("Targets are %d times the mean, since nothing else is known: put your own. Think times are not "+
			"known either.", meansMade),
		"The server has replaced constants by parameters also where SQL allows none (INTERVAL $1): " +
			"'plimsoll scenario check THIS_FILE --once' shows which statements fail.",
	} {
		comment(&head, text)
	}
	if s.Values > 0 {
		comment(&head, fmt.Sprintf("%s must be given: nobody has recorded the values, and which rows are hot decides "+
			"the result. 'plimsoll scenario check THIS_FILE' names each that is missing. Set them by \\set in the "+
			"script (\\set o1_p1 random_zipfian(1, 100000, 1.1)), in [variables], or by rows of the base:",
			human.Count(s.Values, "parameter")))
		head.WriteString("#   [data.o1]\n#   query = \"SELECT id AS o1_p1 FROM items ORDER BY random() LIMIT 10000\"\n")
	}
	head.WriteString("\ntitle = \"A mix of pg_stat_statements\"\napplication = \"none\"\n")
	s.TOML = head.String() + body.String()
	return s, nil
}

// take the statements that can be operations.
func (s *Scenario) take(m *Mix) (taken []Statement) {
	base := ""
	for _, one := range m.Statements {
		if base == "" {
			base = one.Database // that with the longest statement
		}
		switch text := sqltext.WithoutStrings(one.Query); {
		case strings.HasPrefix(one.Query, hidden):
			s.LeftOut[NoText]++
		case one.Database != base:
			s.LeftOut[OtherBase]++
		case controls.MatchString(text):
			s.LeftOut[Control]++
		case !operations.MatchString(sqltext.WithoutLead(text)):
			s.LeftOut[OtherKind]++
		case colon.MatchString(one.Query):
			s.LeftOut[Colon]++
		default:
			taken = append(taken, one)
		}
	}
	if len(taken) <= operationsMost {
		return taken
	}
	s.LeftOut[Rare] += len(taken) - operationsMost
	byCalls := slices.Clone(taken)
	slices.SortStableFunc(byCalls, func(a, b Statement) int { return int(min(1, max(-1, b.Calls-a.Calls))) })
	least := byCalls[operationsMost/2-1].Calls
	often := 0
	byTime := operationsMost / 2
	return slices.DeleteFunc(taken, func(one Statement) bool { // half by calls, the rest by time
		switch {
		case one.Calls >= least && often < operationsMost/2:
			often++
			return false
		case byTime > 0:
			byTime--
			return false
		}
		return true
	})
}

func (s *Scenario) operation(w *strings.Builder, n int, one Statement) {
	id := "o" + strconv.Itoa(n)
	sql, values := variables(one.Query, id)
	s.Values += values
	target := max(time.Millisecond, time.Duration(meansMade*one.MeanMS*float64(time.Millisecond)))
	unit := time.Microsecond
	for target/unit >= 100 {
		unit *= 10
	}
	target = (target + unit - 1).Truncate(unit)
	fmt.Fprintf(w, "\n[operations.%s]\n# %s, mean %s ms, %s rows, %s of the time\n", id,
		human.Count(one.Calls, "call"), human.Figure(one.MeanMS, 3), human.Figure(one.Rows, 3), human.Share(one.Share))
	fmt.Fprintf(w, "target = %s\nweight = %s\n", tomlfile.Quote(target.String()),
		strconv.FormatFloat(min(1e9, float64(one.Calls)), 'f', -1, 64))
	fmt.Fprintf(w, "sql = %s\n", quoted(sql))
}

// quoted text over its lines where it can be.
func quoted(sql string) string {
	if strings.Contains(sql, "'''") || strings.ContainsFunc(sql, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || c == 0x7f
	}) {
		return tomlfile.Quote(sql)
	}
	return "'''\n" + sql + "\n'''"
}

// variables in the place of parameters, and how many there are.
func variables(query, id string) (string, int) {
	var b strings.Builder
	seen := map[string]bool{}
	for p := range sqltext.Parts(strings.TrimRight(query, "; \n\t"), false) {
		if p.Kind != sqltext.Parameter {
			b.WriteString(p.Text)
			continue
		}
		name := id + "_p" + p.Text[1:]
		seen[name] = true
		b.WriteString(":" + name)
	}
	return b.String() + ";", len(seen)
}

func comment(w *strings.Builder, text string) {
	for _, line := range human.Wrap(human.PlainLine(text), 116) {
		w.WriteString("# " + line + "\n")
	}
}
