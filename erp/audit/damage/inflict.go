package damage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
)

// Inflict damages: each is done to a posted document that no other is done to. The answer is what its violation names.
// Words replace what the SQL has in braces, besides {type} and {id}.
func Inflict(ctx context.Context, conn *pgx.Conn, damages map[string]Damage, words []string) (map[string]string,
	error) {
	names := slices.SortedFunc(maps.Keys(damages), func(one, other string) int {
		// those that not every document will do for come first
		return cmp.Or(len(needed(damages[other]))-len(needed(damages[one])), strings.Compare(one, other))
	})
	used, subjects := []string{}, map[string]string{}
	for _, name := range names {
		d := damages[name]
		if d.Of == "" {
			subjects[name] = d.Names
			continue
		}
		found, err := victim(ctx, conn, d, used)
		if err != nil {
			return nil, fmt.Errorf("damage %s: %w", name, err)
		}
		if found == "" {
			return nil, fmt.Errorf("damage %s: no suitable %s is left", name, d.Of)
		}
		used, subjects[name] = append(used, found), found
	}
	for _, name := range names {
		d := damages[name]
		sql := strings.NewReplacer(append([]string{"{type}", d.Of, "{id}", "'" + subjects[name] + "'"},
			words...)...).Replace(d.SQL)
		if _, err := conn.Exec(ctx, sql); err != nil {
			return nil, fmt.Errorf("damage %s: %w", name, err)
		}
	}
	return subjects, nil
}

// victim is the newest document that the damage can be done to.
func victim(ctx context.Context, conn *pgx.Conn, d Damage, used []string) (found string, err error) {
	where := "posted AND NOT id = ANY ($1::uuid[])"
	for _, table := range needed(d) {
		where += " AND EXISTS (SELECT FROM " + table + " WHERE recorder = d.id)"
	}
	err = conn.QueryRow(ctx, "SELECT coalesce((SELECT id::text FROM doc_"+d.Of+" d WHERE "+where+
		" ORDER BY number DESC LIMIT 1), '')", used).Scan(&found)
	return found, err
}

var recordedIn = regexp.MustCompile(`\b(acc|inf|gl)_[a-z_]+`)

// needed are the tables that the document of a damage must have recorded in.
func needed(d Damage) []string {
	tables := recordedIn.FindAllString(d.SQL, -1)
	register, _, _ := strings.Cut(d.Field, " ")
	for _, r := range erp.Metadata().Accumulation {
		if r.Name == register && d.Of != "settlement_registrar" {
			tables = append(tables, r.Table())
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}
