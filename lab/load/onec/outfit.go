package onec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
)

// Outfit is what of a server a 1C load uses.
type Outfit string

// Outfits; each has what the one before has.
const (
	Auto       Outfit = ""           // the most that the server has
	Plain      Outfit = "plain"      // nothing: plain texts, TRUNCATE, ANALYZE by the client
	Extensions Outfit = "extensions" // mchar, fulleq, fasttruncate, online_analyze
	Memory     Outfit = "memory"     // and our engine's settings for temporary tables
)

// Outfits are those with a name.
var Outfits = []Outfit{Plain, Extensions, Memory}

// Server is what a server has of all that.
type Server struct {
	Extensions bool
	Analyzes   bool     // online_analyze can be loaded
	Settings   []string // for temporary tables, that our engine alone knows
}

// Probe a server.
func Probe(ctx context.Context, dsn string) (s Server, err error) {
	err = postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		const there = "SELECT count(*) = $2 FROM pg_available_extensions WHERE name = ANY ($1)"
		if err := conn.QueryRow(ctx, there, extensions, len(extensions)).Scan(&s.Extensions); err != nil {
			return err
		}
		rows, err := conn.Query(ctx, "SELECT name FROM pg_settings WHERE name = ANY ($1)", profile.Patched())
		if err == nil {
			s.Settings, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return err
		}
		_, missing := conn.Exec(ctx, "LOAD 'online_analyze'")
		s.Analyzes = missing == nil
		return ctx.Err()
	})
	if err != nil {
		return s, fmt.Errorf("see what the server has for 1C: %w", err)
	}
	return s, nil
}

// On is the outfit that a server gives; one that it cannot give is refused.
func (o Outfit) On(s Server) (Outfit, error) {
	whole := s.Extensions && s.Analyzes
	switch {
	case o == Auto && whole && len(s.Settings) > 0:
		return Memory, nil
	case o == Auto && whole:
		return Extensions, nil
	case o == Auto:
		return Plain, nil
	case !slices.Contains(Outfits, o):
		return o, problem.New(problem.Usage, fmt.Errorf("%q is no outfit of a 1C load", o), "there are: "+Names())
	case o != Plain && !whole:
		return o, problem.New(problem.Environment, errors.New("the server lacks "+strings.Join(extensions, ", ")+
			" or online_analyze"), "'make engine' builds servers with them; 1c+plain needs none")
	case o == Memory && len(s.Settings) == 0:
		return o, problem.New(problem.Usage, errors.New("a stock server has no temporary tables in memory"),
			"name a cluster of ours, or the outfit extensions")
	}
	return o, nil
}

// Names of all outfits.
func Names() string {
	var all []string
	for _, o := range Outfits {
		all = append(all, string(o))
	}
	return strings.Join(all, ", ")
}

// Database is the name of the base that an outfit needs, in every cluster.
func (o Outfit) Database() string {
	if o == Plain {
		return "onec_plain"
	}
	return "onec"
}

// Options of a session, as PGOPTIONS has them.
func (o Outfit) Options(s Server) string {
	var all []string
	if o != Plain {
		all = append(all, "-c session_preload_libraries=online_analyze", "-c online_analyze.table_type=temporary",
			"-c online_analyze.verbose=off")
	}
	value := "off"
	if o == Memory {
		value = "on"
	}
	for _, name := range s.Settings {
		all = append(all, "-c "+name+"="+value)
	}
	return strings.Join(all, " ")
}
