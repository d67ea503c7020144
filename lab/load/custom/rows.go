package custom

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync/atomic"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/data"
)

// rows that users take from the sources of data.
type rows struct {
	uses   map[*Action][]use
	taken  [][]uint32    // by source, by user
	usedUp []atomic.Bool // by source
}

// use of a source by an action: each time that it is done it takes a row, whose values are variables.
type use struct {
	source  int
	columns []usedColumn
}

type usedColumn struct {
	column   int
	variable string
}

// ReadData reads the rows that are queried, once, before a load.
func (s Settings) ReadData(ctx context.Context, dsn string) error {
	for _, source := range s.Data {
		if source.SQL == "" {
			continue
		}
		if err := source.Query(ctx, dsn); err != nil {
			return problem.New(problem.Environment, fmt.Errorf("data.%s.sql: %w", source.Name, err), hintOf(err))
		}
	}
	return nil
}

func hintOf(err error) string {
	var m *data.Mistake
	if errors.As(err, &m) {
		return m.Hint
	}
	return ""
}

// CheckData says what is wrong with the rows for so many users: a column that an action uses and that is not there, or
// too few rows.
func CheckData(s Settings, actions []*Action, users int) error {
	for _, a := range append([]*Action{s.Login}, actions...) {
		if _, err := usesOf(s.Data, a); err != nil {
			return err
		}
	}
	for _, source := range s.Data {
		if n := source.Len(); source.Take == data.Once && n < users {
			return tooFew(source, fmt.Sprintf("%d users need one each", users))
		}
	}
	return nil
}

// CheckEnough refuses rows that are taken once and are fewer than the load will take: as many as operations of each
// action.
func CheckEnough(s Settings, actions []*Action, operations []float64) error {
	for _, source := range s.Data {
		if source.Take != data.Once {
			continue
		}
		needed := 0.0
		for i, a := range actions {
			if len(namesIn(a, source)) > 0 {
				needed += operations[i]
			}
		}
		if float64(source.Len()) < needed {
			return tooFew(source, fmt.Sprintf("the load takes about %.0f", needed))
		}
	}
	return nil
}

func tooFew(source *data.Source, why string) error {
	return problem.New(problem.Usage, fmt.Errorf(`data.%s has %d rows, take = "once" gives each only once, and %s`,
		source.Name, source.Len(), why), `give it more rows, or take = "sequence", which begins again`)
}

func (p *Player) openRows(ctx context.Context) error {
	p.rows = rows{uses: map[*Action][]use{}, usedUp: make([]atomic.Bool, len(p.Data))}
	p.Planned = cmp.Or(p.Planned, p.Users)
	for _, source := range p.Data {
		if err := source.Prepare(); err != nil {
			return fmt.Errorf("data.%s: %w", source.Name, err)
		}
		if source.SQL != "" && source.Len() == 0 {
			if err := source.Query(ctx, p.DSN); err != nil {
				return fmt.Errorf("data.%s.sql: %w", source.Name, err)
			}
		}
		if source.Len() == 0 {
			return fmt.Errorf("data.%s has no rows", source.Name)
		}
		p.rows.taken = append(p.rows.taken, make([]uint32, p.Users))
	}
	for _, a := range append([]*Action{p.Login}, p.Actions...) {
		uses, err := usesOf(p.Data, a)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			p.rows.uses[a] = uses
		}
	}
	return nil
}

// usesOf an action: which columns of which sources.
func usesOf(sources []*data.Source, a *Action) (all []use, err error) {
	if a == nil {
		return nil, nil
	}
	for i, source := range sources {
		u := use{source: i}
		for _, name := range namesIn(a, source) {
			column := slices.Index(source.Names(), name)
			if column < 0 {
				return nil, problem.New(problem.Usage, fmt.Errorf("data.%s has no column %s, which an operation uses",
					source.Name, name), fmt.Sprintf("it has %q", source.Names()))
			}
			u.columns = append(u.columns, usedColumn{column, source.Prefix() + name})
		}
		if len(u.columns) > 0 {
			all = append(all, u)
		}
	}
	return all, nil
}

// namesIn an action of the columns of a source. Scripts and templates are texts of its JSON, wherever they stand: so
// none is forgotten.
func namesIn(a *Action, source *data.Source) (names []string) {
	text, err := json.Marshal(a)
	if a == nil || err != nil {
		return nil
	}
	prefix := regexp.QuoteMeta(source.Prefix())
	find := regexp.MustCompile(`(?:(?:^|[^:]):|\{\{\s*)` + prefix + `(\w+)`)
	for _, found := range find.FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names
}

// takeRows sets the variables of the rows that an operation takes.
func (p *Player) takeRows(user int, a *Action, rng *rand.Rand) error {
	for _, u := range p.rows.uses[a] {
		source, k := p.Data[u.source], &p.rows.taken[u.source][user]
		row, left := source.Row(user, p.Planned, *k, p.Seed, rng)
		if !left {
			p.rows.usedUp[u.source].Store(true)
			return &data.UsedUp{Source: source.Name, Rows: source.Len()}
		}
		*k++
		for _, c := range u.columns {
			v, err := source.Value(row, c.column, p.Seed)
			if err != nil {
				return fmt.Errorf("data.%s, row %d: %w", source.Name, row+1, err)
			}
			p.users[user][c.variable] = v
		}
	}
	return nil
}

// UsedUp are the sources of which users got no row any more.
func (p *Player) UsedUp() (texts []string) {
	for i := range p.rows.usedUp {
		if p.rows.usedUp[i].Load() {
			texts = append(texts, (&data.UsedUp{Source: p.Data[i].Name, Rows: p.Data[i].Len()}).Error()+
				", so the run was ended: give it more rows, or take = \"sequence\", which begins again")
		}
	}
	return texts
}

// SharedRows are sources with fewer rows than users, each of whom has one: users share them.
func (s Settings) SharedRows(users int) (texts []string) {
	for _, source := range s.Data {
		if n := source.Len(); source.Take == data.PerUser && n < users {
			texts = append(texts, fmt.Sprintf("data.%s has %d rows for %d users, who share them", source.Name, n,
				users))
		}
	}
	return texts
}
