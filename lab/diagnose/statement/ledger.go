package statement

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Account is the ledger of one statement: where its time goes. Null is not known; Unavailable says why.
type Account struct {
	Text   string `json:"text"`   // without values
	Source string `json:"source"` // FromCounters or FromSamples
	ID     string `json:"query_id,omitempty"`
	// Nested: another statement ran it, by a function, a trigger or a DO block. Null: not told apart.
	Nested   *bool  `json:"nested"`
	Role     string `json:"role,omitempty"`
	Database string `json:"database,omitempty"`
	// S is the time of its calls, planning included where that is measured; Share is that of all statements' time.
	S     float64 `json:"s"`
	Share float64 `json:"share"`
	// ProcessorS is what is left of it without waits, however short its calls are: calls times their mean time, as far
	// as the samples of the statement met no wait.
	ProcessorS *float64   `json:"processor_s"`
	Calls      *float64   `json:"calls"`
	MeanMS     *float64   `json:"mean_ms"`
	PerCall    PerCall    `json:"per_call"`
	RowBlocks  *float64   `json:"blocks_per_row"`
	JIT        *JIT       `json:"jit"`
	Workers    *Workers   `json:"parallel_workers"`
	Parts      []Part     `json:"parts"` // of S, which they add up to; empty: from samples alone
	Waits      []Part     `json:"waits"` // of the samples of it
	Tables     []string   `json:"tables"`
	Triggers   []string   `json:"triggers"`
	Policies   []string   `json:"policies"`
	Functions  []Function `json:"functions"`

	Unavailable []Missing `json:"unavailable"`

	// EachRow is what runs for each row: triggers, and what calls functions: policies, checks, indexes, defaults.
	EachRow []Runs `json:"-"`
	// Views that its text names, and that add up the rows of a table.
	Views []View `json:"-"`
	// Foreign tables, whose rows another server has.
	Foreign []string `json:"-"`
	// Own are functions of the database's users that its text names.
	Own []Own `json:"-"`
	// Shapes of the views that its text names.
	Shapes []Shape `json:"-"`
	// Computed for each row that it writes: generated columns and expressions of indexes.
	Computed []Computed `json:"-"`
	// Unlimited are columns of its tables that it names: numeric without a declared precision.
	Unlimited []Unlimited `json:"-"`

	key   id
	role  uint32 // whom policies concern; 0: not known
	words map[string]bool
	sent  string // as it is sent, with placeholders
}

// Sources of a ledger.
const (
	FromCounters = "pg_stat_statements"
	FromSamples  = "samples"
)

// PerCall are means.
type PerCall struct {
	Rows       *float64 `json:"rows"`      // returned, or written
	RowsRead   *float64 `json:"rows_read"` // of its tables
	Blocks     *float64 `json:"blocks"`    // touched, in memory or not
	BlocksRead *float64 `json:"blocks_read"`
	TempBlocks *float64 `json:"temp_blocks"`
	Toast      *float64 `json:"toast_blocks"` // of values that are stored apart, and their index
	LogBytes   *float64 `json:"wal_bytes"`
	Images     *float64 `json:"full_page_images"`
}

// JIT is what compiling took.
type JIT struct {
	Functions float64 `json:"functions"`
	S         float64 `json:"s"`
}

// Workers that plans asked for, and that were started.
type Workers struct {
	Planned  float64 `json:"planned"`
	Launched float64 `json:"launched"`
}

// Part of the time.
type Part struct {
	Name  string  `json:"name"`
	S     float64 `json:"s"`
	Share float64 `json:"share"`
}

// Function that the statement may run: by its text, a trigger or a policy.
type Function struct {
	Name   string  `json:"name"`
	By     string  `json:"by"`
	Calls  float64 `json:"calls"`
	TotalS float64 `json:"total_s"` // with what it calls
	SelfS  float64 `json:"self_s"`
}

// Runs is a trigger or a policy of a table, by its kind and name, and the functions that it calls.
type Runs struct{ Kind, Name, Table, Function string }

// View that adds up the rows of a table.
type View struct{ Name, Table string }

// Own is a function that somebody wrote.
type Own struct {
	Name    string
	Catches bool // errors in a loop: each turn is a subtransaction

	Language string
	// Sets: it has a SET clause. Definer: it runs as its owner. Neither becomes a part of the statement.
	Sets, Definer bool
	Volatile      bool
	Dynamic       bool // its body has EXECUTE
	Loops, Guards bool // a LOOP, a block with EXCEPTION
	Rows, Cost    float64
}

// Shape of a view.
type Shape struct {
	Name                          string
	Joins, Outer                  int
	Distinct, Adds, Windows, Sets bool // DISTINCT, aggregates or GROUP BY, window functions, UNION and its like
}

// Computed for each row that is written: by a generated column, or the expression of an index.
type Computed struct{ Kind, Name, Table, Expression string }

// Unlimited is a column of type numeric without a declared precision.
type Unlimited struct{ Table, Name string }

// Totals of all statements that the server counted. Null is not known.
type Totals struct {
	LastedS float64  `json:"lasted_s"`
	Calls   float64  `json:"calls"` // sent by clients
	ExecS   float64  `json:"execution_s"`
	NestedS *float64 `json:"nested_s"` // of statements within others, a part of ExecS
	PlanS   *float64 `json:"planning_s"`
	JITS    *float64 `json:"jit_s"`
	// JITFunctions that were compiled.
	JITFunctions *float64 `json:"jit_functions"`
	Evicted      *float64 `json:"evicted"` // statements that pg_stat_statements gave up meanwhile
}

// Inside is what was counted between two readings.
type Inside struct {
	Accounts []Account
	Totals   *Totals // nil: statements are not counted
	Missing  []Missing

	// Hidden reads, the largest first.
	Hidden []Hidden

	// Toast are the blocks touched of values that are stored apart, by table.
	Toast map[string]float64

	functions map[string]function
	tables    map[string]table
	server    Server
	schema    string
	top       string    // the column that tells statements of clients, or true
	others    []Account // beyond those that are kept, for who else reads a table: at most othersMost
}

// Others that were counted, beyond those that are kept.
func (in *Inside) Others() []Account { return in.others }

// Accounts that are kept, of statements that clients sent and of those within others.
const (
	ledgersMost = 12
	nestedMost  = 6
	othersMost  = 300
)

// Between two readings of the same server. Statements carry no text yet: Describe reads those of the few.
func Between(before, after *Reading) *Inside {
	in := &Inside{Missing: after.missing, functions: map[string]function{}, tables: map[string]table{},
		Toast:  map[string]float64{},
		server: after.server, schema: after.schema, top: after.top}
	for name, now := range after.functions {
		was := before.functions[name]
		if one := (function{grew(was.calls, now.calls), grew(was.totalMS, now.totalMS),
			grew(was.selfMS, now.selfMS)}); one.calls > 0 {
			in.functions[name] = one
		}
	}
	for name, now := range after.tables {
		was, known := before.tables[name]
		if !known && len(before.tables) >= tablesMost {
			continue
		}
		in.tables[name] = table{grew(was.rows, now.rows), grew(was.toast, now.toast)}
		if blocks := in.tables[name].toast; blocks > 0 {
			in.Toast[name] = blocks
		}
	}
	if after.schema == "" || before.schema == "" {
		return in
	}
	in.count(before, after)
	return in
}

func (in *Inside) count(before, after *Reading) {
	t := &Totals{LastedS: after.at.Sub(before.at).Seconds()}
	if before.server.Evicted >= 0 {
		t.Evicted = known(grew(float64(before.server.Evicted), float64(after.server.Evicted)))
	}
	var all []Account
	nested, jit, compiled, planned := 0.0, 0.0, 0.0, 0.0
	for key, now := range after.statements {
		was, is := before.statements[key]
		if !is && before.cut {
			continue
		}
		var d [columns]float64
		for c := range columns {
			d[c] = grew(was[c], now[c])
		}
		if !(d[calls] > 0 || d[execMS] > 0) {
			continue
		}
		one := in.ledger(key, d)
		all = append(all, one)
		jit, compiled = jit+d[jitMS]/1000, compiled+d[jitFunctions]
		planned += d[planMS] / 1000
		if key.top {
			t.Calls, t.ExecS = t.Calls+d[calls], t.ExecS+d[execMS]/1000
		} else {
			nested += d[execMS] / 1000
		}
	}
	t.JITS, t.JITFunctions = known(jit), known(compiled)
	if in.server.Planning {
		t.PlanS = known(planned)
	}
	if in.server.Track == "all" {
		t.NestedS = &nested
	}
	in.Totals = t
	in.keep(all)
}

// keep the costliest of both kinds.
func (in *Inside) keep(all []Account) {
	slices.SortFunc(all, func(a, b Account) int { return cmp.Or(cmp.Compare(b.S, a.S), cmp.Compare(a.ID, b.ID)) })
	sum := in.Totals.ExecS
	if in.Totals.PlanS != nil {
		sum += *in.Totals.PlanS
	}
	kept := map[bool]int{}
	for _, one := range all {
		most := nestedMost
		if one.key.top {
			most = ledgersMost
		}
		one.Share = one.S / max(sum, 1e-9)
		if kept[one.key.top] < most {
			kept[one.key.top]++
			in.Accounts = append(in.Accounts, one)
		} else if len(in.others) < othersMost {
			in.others = append(in.others, one)
		}
	}
}

// known figure; nil if it is not a number.
func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// each is a mean of some calls.
func each(sum, calls float64) *float64 {
	if calls <= 0 {
		return nil
	}
	return known(sum / calls)
}

func (in *Inside) ledger(key id, d [columns]float64) Account {
	l := empty()
	l.Source, l.ID, l.key, l.role = FromCounters, strconv.FormatInt(key.query, 10), key, key.role
	l.Calls, l.MeanMS, l.S = known(d[calls]), each(d[execMS], d[calls]), d[execMS]/1000
	l.PerCall = PerCall{Rows: each(d[rows], d[calls]), Blocks: each(d[hit]+d[read], d[calls]),
		BlocksRead: each(d[read], d[calls]), TempBlocks: each(d[tempRead]+d[tempWritten], d[calls]),
		LogBytes: each(d[walBytes], d[calls]), Images: each(d[walImages], d[calls])}
	l.RowBlocks = each(d[hit]+d[read], d[rows])
	if in.server.Track == "all" {
		l.Nested = new(!key.top)
	}
	if !math.IsNaN(d[jitMS]) {
		l.JIT = &JIT{d[jitFunctions], d[jitMS] / 1000}
	} else {
		l.miss("JIT", "pg_stat_statements counts it from PostgreSQL 15 on (ALTER EXTENSION pg_stat_statements UPDATE)")
	}
	if !math.IsNaN(d[toLaunch]) {
		l.Workers = &Workers{d[toLaunch], d[launched]}
	} else {
		l.miss("parallel workers", "pg_stat_statements counts them from PostgreSQL 18 on")
	}
	l.split(d, in.server)
	return l
}

// split the time into what was measured of it, and the rest.
func (l *Account) split(d [columns]float64, s Server) {
	rest := l.S
	part := func(name string, ms float64) {
		if seconds := min(ms/1000, rest); seconds > 0 {
			l.Parts, rest = append(l.Parts, Part{Name: name, S: seconds}), rest-seconds
		}
	}
	part("compiling (JIT)", d[jitMS])
	if s.TimesIO {
		part("reading blocks", d[readMS])
		part("writing blocks", d[writeMS])
		part("temporary files", d[tempMS])
	} else {
		l.miss(Blocks, "track_io_timing is off")
	}
	if s.Planning {
		if d[planMS] > 0 {
			l.Parts, l.S = append(l.Parts, Part{Name: "planning", S: d[planMS] / 1000}), l.S+d[planMS]/1000
		}
	} else {
		l.miss(Plans, "pg_stat_statements.track_planning is off")
	}
	l.Parts = append(l.Parts, Part{Name: executing, S: rest})
	l.shares()
}

// executing is the part that nothing splits further.
const executing = "executing"

func (l *Account) shares() {
	for i := range l.Parts {
		l.Parts[i].Share = l.Parts[i].S / max(l.S, 1e-9)
	}
	slices.SortStableFunc(l.Parts, func(a, b Part) int { return cmp.Compare(b.S, a.S) })
}

// take a part out of what nothing splits.
func (l *Account) take(name string, seconds float64) {
	for i := range l.Parts {
		if l.Parts[i].Name == executing {
			seconds = min(seconds, l.Parts[i].S)
			l.Parts[i].S -= seconds
			l.Parts = append(l.Parts, Part{Name: name, S: seconds})
			l.shares()
			return
		}
	}
}

func (l *Account) miss(name, why string) { l.Unavailable = append(l.Unavailable, Missing{name, why}) }

// empty lists, not null ones.
func empty() Account {
	return Account{Parts: []Part{}, Waits: []Part{}, Tables: []string{}, Triggers: []string{}, Policies: []string{},
		Functions: []Function{}, Unavailable: []Missing{}}
}

// Sampled is the ledger of a statement that the server does not count.
func Sampled(text string, seconds, share float64) Account {
	const why = "pg_stat_statements does not count statements here"
	l := empty()
	l.Text, l.Source, l.S, l.Share = text, FromSamples, seconds, share
	for _, name := range []string{"calls", "JIT", "blocks", "temporary files", "log", "parallel workers", Plans} {
		l.miss(name, why)
	}
	return l
}

// PartOf is the share of one part; 0 if there is none.
func (l *Account) PartOf(name string) float64 {
	for _, p := range l.Parts {
		if p.Name == name {
			return p.Share
		}
	}
	return 0
}

// Sender of it: the numbers of the database and of the role.
func (l *Account) Sender() (database, role uint32) { return l.key.database, l.key.role }

// Sent is the text with placeholders, as the server keeps it; empty: it keeps none.
func (l *Account) Sent() string { return l.sent }
