package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/cluster/profile"
)

// oneCExtensions are what a 1C server looks for in its infobase, which it creates from template1. Other builds for 1C
// have the last two as extensions; in ours they are libraries alone.
var oneCExtensions = []string{"mchar", "fulleq", "fasttrun", "online_analyze", "plantuner"}

// oneCNeeded of them keep a 1C server from working where they are missing.
const oneCNeeded = 3

// oneCLocales are those that a 1C server sets lc_messages to, by its language.
var oneCLocales = []string{"en_US.UTF-8", "ru_RU.UTF-8"}

// prepare gives a server that has just started what its cluster is to have.
func (c *Cluster) prepare(ctx context.Context, opts StartOptions) error {
	oneC := c.Profile == profile.OneC
	if opts.restore || c.ReplicaOf != "" || len(c.Tablespaces) == 0 && !oneC {
		return nil
	}
	conn, err := c.connect(ctx)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		c.store.say("note: tablespaces and extensions were not looked at: %v", err) // the user changed the password
		return nil
	}
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := c.ensureSpaces(ctx, conn); err != nil || !oneC {
		return err
	}
	if err := c.noteLocales(ctx, conn); err != nil {
		return err
	}
	return c.in(ctx, "template1", func(conn *pgx.Conn) error { return c.addOneCExtensions(ctx, conn) })
}

func (c *Cluster) addOneCExtensions(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, "SELECT name FROM pg_available_extensions WHERE name = ANY ($1)", oneCExtensions)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for _, name := range oneCExtensions {
		if !there[name] {
			continue
		}
		if _, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS "+name); err != nil {
			return fmt.Errorf("create extension %s in template1: %w", name, err)
		}
	}
	var missing []string
	for _, name := range oneCExtensions[:oneCNeeded] {
		if !there[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.store.say("note: this server lacks %s: a 1C server cannot make an infobase on it; 'make engine' builds one "+
			"that has them", strings.Join(missing, ", "))
	}
	return nil
}

// noteLocales names the locales that a 1C server will ask for in vain. Only the server itself knows which it has.
func (c *Cluster) noteLocales(ctx context.Context, conn *pgx.Conn) error {
	missing, err := MissingLocales(ctx, conn)
	for _, name := range missing {
		c.store.say("note: this machine lacks the locale %s, so a 1C server whose messages are in that language gets "+
			"an error for SET lc_messages\n      %s", name, LocaleCure(name))
	}
	return err
}

// MissingLocales are those that a 1C server may set lc_messages to and this server does not accept.
func MissingLocales(ctx context.Context, conn *pgx.Conn) (missing []string, err error) {
	const invalidValue = "22023"
	for _, name := range oneCLocales {
		_, err := conn.Exec(ctx, "SET lc_messages = '"+name+"'")
		refused := (*pgconn.PgError)(nil)
		switch {
		case err == nil:
		case errors.As(err, &refused) && refused.Code == invalidValue:
			missing = append(missing, name)
		default:
			return nil, err
		}
	}
	_, err = conn.Exec(ctx, "RESET lc_messages")
	return missing, err
}

// LocaleCure makes a locale on the server's machine; running processes do not see it.
func LocaleCure(name string) string {
	language, _, _ := strings.Cut(name, ".")
	return fmt.Sprintf("as root: localedef -i %s -f UTF-8 %s (Debian: package locales), then restart the server",
		language, name)
}
