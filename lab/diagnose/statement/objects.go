package statement

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/sqltext"
)

//go:embed objects.sql
var objectsSQL string

// object that runs when a statement uses a table.
type object struct {
	Named, Name, Kind, Object, Events, Function, Detail string

	Owner uint32 // the role that a policy does not concern; 0: none
	// Kept says that a materialized view is between the name and the table, which only its refresh reads.
	Kept bool
	// Roles that a policy concerns, of those that send statements.
	Roles []int64
}

// Bounds of what one name stands for: relations of that name, and tables below them.
const (
	namesakesMost = 20
	belowMost     = 300
)

// textMost characters of a statement are read.
const textMost = 20_000

// Describe the few: their texts without values, and what runs within them. Statements that were sampled alone may be
// among the ledgers already.
func (in *Inside) Describe(ctx context.Context, conn *pgx.Conn) error {
	for _, step := range []func() error{
		func() error { return in.texts(ctx, conn) },
		func() error { return in.names(ctx, conn) },
		func() error { return in.uses(ctx, conn) },
	} {
		err := step()
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && ctx.Err() == nil {
			in.Missing = append(in.Missing, Missing{"what runs within statements", refused.Message})
			continue
		}
		if err != nil {
			return fmt.Errorf("read what runs within statements: %w", err)
		}
	}
	return nil
}

// PostgreSQL 18 keeps the first value of a list alone, and says so in a comment.
const (
	squashed   = " /*, ... */"
	listGoesOn = ", …"
)

// texts of the ledgers, and of the others as far as they were counted.
func (in *Inside) texts(ctx context.Context, conn *pgx.Conn) error {
	if in.schema == "" {
		return nil
	}
	var ids []int64
	for _, l := range slices.Concat(in.Accounts, in.others) {
		if l.Source == FromCounters {
			ids = append(ids, l.key.query)
		}
	}
	// The same query has a text for each role, and another one where EXPLAIN or a function ran it.
	found, err := conn.Query(ctx, fmt.Sprintf(`SELECT dbid, userid, queryid, %s, left(query, %d)
		FROM %s.pg_stat_statements(true) WHERE queryid = ANY ($1::bigint[])`, in.top, textMost, in.schema), ids)
	if err != nil {
		return err
	}
	texts := map[id]string{}
	var key id
	var text *string
	if _, err = pgx.ForEachRow(found, []any{&key.database, &key.role, &key.query, &key.top, &text}, func() error {
		if text != nil {
			texts[key] = *text
		}
		return nil
	}); err != nil {
		return err
	}
	for _, all := range [][]Account{in.Accounts, in.others} {
		for i := range all {
			if all[i].Source == FromCounters {
				all[i].sent = texts[all[i].key]
				all[i].Text = sqltext.WithoutValues(strings.ReplaceAll(all[i].sent, squashed, listGoesOn))
			}
		}
	}
	return nil
}

const namesSQL = `SELECT 'role', oid::int8, rolname::text, rolsuper OR rolbypassrls FROM pg_roles
	WHERE oid::int8 = ANY ($1::int8[])
	UNION ALL SELECT 'database', oid::int8, datname::text, false FROM pg_database WHERE oid::int8 = ANY ($2::int8[])`

// names of roles and databases, and which roles no policy concerns.
func (in *Inside) names(ctx context.Context, conn *pgx.Conn) error {
	var roles, databases []int64
	for _, l := range in.Accounts {
		roles, databases = append(roles, int64(l.key.role)), append(databases, int64(l.key.database))
	}
	found, err := conn.Query(ctx, namesSQL, roles, databases)
	if err != nil {
		return err
	}
	var kind, name string
	var oid int64
	var free bool
	_, err = pgx.ForEachRow(found, []any{&kind, &oid, &name, &free}, func() error {
		for i := range in.Accounts {
			switch l := &in.Accounts[i]; {
			case kind == "role" && int64(l.key.role) == oid:
				l.Role = name
				if free {
					l.role = everything
				}
			case kind == "database" && int64(l.key.database) == oid:
				l.Database = name
			}
		}
		return nil
	})
	return err
}

// everything is the role of those whom no policy concerns.
const everything = ^uint32(0)

// Here says that the statement runs in the database that is connected, whose catalogs can be read.
func (in *Inside) Here(l Account) bool {
	return l.Source == FromSamples || l.key.database == in.server.Database
}

// Words of a statement that may be names, also as the server folds them.
func Words(sql string) map[string]bool {
	all := map[string]bool{}
	outside := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' }
	for _, word := range strings.FieldsFunc(sql, outside) {
		if r, _ := utf8.DecodeRuneInString(word); !unicode.IsDigit(r) && r != '$' {
			all[word], all[strings.ToLower(word)] = true, true
		}
	}
	return all
}

// wordsMost are looked up, and those of one statement more.
const wordsMost = 4000

func (in *Inside) uses(ctx context.Context, conn *pgx.Conn) error {
	words := map[string]bool{}
	for _, all := range [][]Account{in.Accounts, in.others} {
		for i := range all {
			all[i].words = Words(all[i].Text)
		}
	}
	for _, l := range in.Accounts {
		if in.Here(l) && len(words) < wordsMost {
			maps.Copy(words, l.words)
		}
	}
	roles := []int64{}
	for _, l := range in.Accounts {
		roles = append(roles, int64(l.key.role))
	}
	found, err := conn.Query(ctx, objectsSQL, slices.Sorted(maps.Keys(words)), namesakesMost, belowMost, roles)
	if err != nil {
		return err
	}
	var all []object
	var o object
	if _, err = pgx.ForEachRow(found, []any{&o.Named, &o.Name, &o.Kind, &o.Object, &o.Events, &o.Function, &o.Owner,
		&o.Detail, &o.Kept, &o.Roles}, func() error {
		o.Detail = sqltext.WithoutValues(o.Detail)
		all = append(all, o)
		return nil
	}); err != nil {
		return err
	}
	for i := range in.Accounts {
		if l := &in.Accounts[i]; in.Here(*l) {
			in.apply(l, all)
		}
	}
	return nil
}

// writesRows are the kinds of what calls a function for each row that is written, beside triggers.
var writesRows = map[string]bool{"check constraint": true, "index on an expression": true, "default": true}

// callsIt says that a text calls a function: its name may be that of a column, too.
func callsIt(text, function string) bool {
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN_$])` + regexp.QuoteMeta(function) + `"?\s*\(`).MatchString(text)
}

// computes are the kinds of what is computed for each row that is written, by whatever function.
var computes = map[string]bool{"generated column": true, "expression of an index": true}

// traits of an object: words, and numbers by their names.
type traits struct {
	words   map[string]bool
	numbers map[string]float64
}

func traitsOf(text string) traits {
	t := traits{map[string]bool{}, map[string]float64{}}
	for _, one := range strings.Fields(text) {
		if name, value, is := strings.Cut(one, "="); is {
			t.numbers[name], _ = strconv.ParseFloat(value, 64)
		} else {
			t.words[one] = true
		}
	}
	return t
}

// own function of a user.
func (o object) own() Own {
	t := traitsOf(o.Events)
	language, _, _ := strings.Cut(o.Events, " ")
	return Own{Name: o.Name, Catches: o.Detail != "", Language: language, Sets: t.words["set"],
		Definer: t.words["definer"], Volatile: t.words["volatile"], Dynamic: t.words["execute"], Loops: t.words["loop"],
		Guards: t.words["exception"], Rows: t.numbers["rows"], Cost: t.numbers["cost"]}
}

// shape of a view.
func (o object) shape() Shape {
	t := traitsOf(o.Events)
	return Shape{o.Name, int(t.numbers["joins"]), int(t.numbers["outer"]), t.words["distinct"], t.words["adds"],
		t.words["windows"], t.words["sets"]}
}

// concerns says whether a policy is checked for a role.
func (o object) concerns(role uint32) bool {
	return role == 0 || role != everything && role != o.Owner && slices.Contains(o.Roles, int64(role))
}

// apply what runs when the statement uses its tables.
func (in *Inside) apply(l *Account, all []object) {
	does := func(events string) bool {
		return slices.ContainsFunc(strings.Fields(strings.ToLower(events)), func(event string) bool {
			return l.words[event]
		})
	}
	by := map[string]string{} // functions
	for _, o := range all {
		if !l.words[o.Named] || o.Kept && !l.words["refresh"] {
			continue
		}
		switch {
		case o.Kind == "table":
			l.Tables = append(l.Tables, o.Name)
			if o.Object != "" {
				l.Views = append(l.Views, View{o.Object, o.Name})
			}
			if o.Events != "" {
				l.Foreign = append(l.Foreign, o.Name)
			}
		case o.Kind == "trigger" && does(o.Events):
			l.Triggers = append(l.Triggers, fmt.Sprintf("%s of %s, %s: %s", o.Object, o.Name, o.Detail, o.Function))
			by[o.Function] = "trigger " + o.Object
			if o.Detail == "for each row" {
				l.EachRow = append(l.EachRow, Runs{o.Kind, o.Object, o.Name, o.Function})
			}
		case o.Kind == "policy" && does(o.Events) && o.concerns(l.role):
			l.Policies = append(l.Policies, fmt.Sprintf("%s of %s: %s", o.Object, o.Name, o.Detail))
			for _, function := range strings.Fields(o.Function) {
				by[function] = "policy " + o.Object
			}
			if o.Function != "" {
				l.EachRow = append(l.EachRow, Runs{o.Kind, o.Object, o.Name, o.Function})
			}
		case writesRows[o.Kind] && does(o.Events):
			by[o.Function] = o.Kind + " " + o.Object
			l.EachRow = append(l.EachRow, Runs{o.Kind, o.Object, o.Name, o.Function})
		case o.Kind == "function" && callsIt(l.Text, o.Object):
			l.Own = append(l.Own, o.own())
		case o.Kind == "view":
			l.Shapes = append(l.Shapes, o.shape())
		case computes[o.Kind] && does(o.Events):
			l.Computed = append(l.Computed, Computed{o.Kind, o.Object, o.Name, o.Detail})
		case o.Kind == "numeric" && l.words[o.Object]:
			l.Unlimited = append(l.Unlimited, Unlimited{o.Name, o.Object})
		}
	}
	slices.Sort(l.Tables)
	l.Tables = slices.Compact(l.Tables)
	for name := range in.functions {
		_, plain, _ := strings.Cut(name, ".")
		if by[name] == "" && l.words[plain] {
			by[name] = "its text"
		}
	}
	in.addFunctions(l, by)
	in.addReads(l)
}

func (in *Inside) addFunctions(l *Account, by map[string]string) {
	for name, how := range by {
		if f, counted := in.functions[name]; counted {
			l.Functions = append(l.Functions, Function{name, how, f.calls, f.totalMS / 1000, f.selfMS / 1000})
		}
	}
	slices.SortFunc(l.Functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	if in.server.Calls == "none" && len(by) > 0 {
		l.miss(Functions, "track_functions is none")
	}
	for _, f := range l.Functions {
		if f.By != "its text" { // which calls are this statement's is not counted where several write the table
			l.take("function "+f.Name, f.TotalS)
		}
	}
}

// readerLeast of the time of all statements that name a table: what was read of it is then said of this one.
const readerLeast = 0.9

// addReads counts what was read of its tables, where it is nearly alone in using them.
func (in *Inside) addReads(l *Account) {
	const name = "rows read"
	switch {
	case len(l.Tables) == 0 || l.Calls == nil || *l.Calls <= 0:
		return
	case l.Nested != nil && *l.Nested:
		return
	}
	own, all := 0.0, 0.0
	for _, o := range slices.Concat(in.Accounts, in.others) {
		shares := slices.ContainsFunc(l.Tables, func(table string) bool {
			_, plain, _ := strings.Cut(table, ".")
			return o.words[plain]
		})
		if !shares || o.key.database != l.key.database {
			continue
		}
		if all += o.S; o.key.query == l.key.query {
			own += o.S
		}
	}
	if own < readerLeast*all {
		l.miss(name, "other statements use its tables, too")
		return
	}
	rows, toast := 0.0, 0.0
	for _, table := range l.Tables {
		rows, toast = rows+in.tables[table].rows, toast+in.tables[table].toast
	}
	l.PerCall.RowsRead, l.PerCall.Toast = each(rows, *l.Calls), each(toast, *l.Calls)
}
