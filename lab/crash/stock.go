package crash

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
)

// check gives the number of what is wrong.
type check struct {
	what, sql string
	args      []any
}

// checksOfDocuments are those of the load SQL.
var checksOfDocuments = []check{
	{"totals that differ from their documents", `SELECT count(*) FROM crash_total t LEFT JOIN
		(SELECT account, sum(amount) AS amount, count(*) AS documents FROM crash_document GROUP BY 1) d USING (account)
		WHERE t.amount <> coalesce(d.amount, 0) OR t.documents <> coalesce(d.documents, 0)`, nil},
	{"documents that lack some of their three lines", `SELECT count(*) FROM crash_document d WHERE (SELECT count(*)
		FROM crash_line l WHERE l.document = d.id AND l.amount = d.amount) <> 3`, nil},
	{"lines without a document", `SELECT count(*) FROM crash_line l WHERE NOT EXISTS (SELECT FROM crash_document d
		WHERE d.id = l.document)`, nil},
}

// amchecks of a database that has the extension. Values out of line are followed from their rows, and their tables are
// checked like any other.
var amchecks = []check{
	{"faults that amcheck finds in tables", `SELECT count(*) FROM pg_class c, verify_heapam(c.oid, check_toast => true)
		WHERE c.relkind IN ('r', 'm', 't') AND c.relpersistence = 'p'`, nil},
	{"faults that amcheck finds in indexes", `SELECT count(bt_index_check(c.oid, true)::text) * 0 FROM pg_class c
		JOIN pg_am a ON a.oid = c.relam JOIN pg_index i ON i.indexrelid = c.oid
		WHERE a.amname = 'btree' AND c.relpersistence = 'p' AND i.indisvalid`, nil},
}

// orphansSQL counts files that belong to no table, without those that a cut brought back: a server never flushes the
// removal of a relation's file, and a leftover does no harm but takes room.
const orphansSQL = `SELECT count(*) FROM pg_database d, pg_ls_dir('base/' || d.oid) f
	WHERE d.datname = current_database() AND f ~ '^[0-9]+' AND 'base/' || d.oid || '/' || f <> ALL ($1::text[])
	AND NOT EXISTS (SELECT FROM pg_class c WHERE pg_relation_filenode(c.oid)::text = substring(f, '^[0-9]+'))`

// Amcheck says what PostgreSQL's own checks find wrong in a database that has the extension.
func Amcheck(ctx context.Context, conn *pgx.Conn) (faults []string, err error) {
	var c Cut
	err = c.look(ctx, conn, amchecks...)
	return c.Damage, err
}

// temporary rows of catalogs stay when a session of a stock server is killed, until autovacuum comes. Of tables whose
// rows are in memory nothing may stay.
const temporarySQL = `SELECT count(*) FROM pg_class c WHERE c.relpersistence = 't'
	AND current_setting('enable_temp_memory_catalog', true) = 'on'
	AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'plimsoll%' AND pid <> pg_backend_pid())`

// temporaryName is how the file of a temporary table is called.
var temporaryName = regexp.MustCompile(`^t[0-9]+_[0-9]+`)

// leftovers are files of temporary tables and of sorts, which a start must remove.
func leftovers(data string) (found []string, err error) {
	look := func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the server works
		case err != nil:
			return err
		}
		if !d.IsDir() && (temporaryName.MatchString(d.Name()) || filepath.Base(filepath.Dir(path)) == "pgsql_tmp") {
			found = append(found, "a temporary file was left behind: "+strings.TrimPrefix(path, data+"/"))
		}
		return nil
	}
	owner := process.WithOwnerPermissions(data, func() { err = filepath.WalkDir(filepath.Join(data, "base"), look) })
	return found, errors.Join(owner, err)
}

// takeStock compares what was acknowledged with what is in the database, and looks for damage.
func (l *lab) takeStock(ctx context.Context, in *cluster.Cluster, one *Cut, acks []ack, at time.Time) error {
	conn, err := l.connectTo(ctx, in)
	if err != nil {
		one.Acknowledged, one.Lost = len(acks), len(acks)
		return one.found(err, "the server accepts no connections")
	}
	defer conn.Close(context.WithoutCancel(ctx))
	all := append(slices.Clone(amchecks), check{"temporary tables in the catalogs", temporarySQL, nil},
		check{"files that belong to no table", orphansSQL, []any{append([]string{}, one.undead...)}})
	if err := one.look(ctx, conn, all...); err != nil {
		return err
	}
	return l.stock(ctx, in, one, acks, at)
}

// look makes checks; what is wrong is damage.
func (c *Cut) look(ctx context.Context, conn *pgx.Conn, checks ...check) error {
	for _, each := range checks {
		var wrong int64
		err := conn.QueryRow(ctx, each.sql, each.args...).Scan(&wrong)
		if err := c.found(err, each.what); err != nil {
			return err
		}
		if wrong > 0 {
			c.Damage = append(c.Damage, fmt.Sprintf("%d %s", wrong, each.what))
		}
	}
	return nil
}

func (l *documents) stock(ctx context.Context, in *cluster.Cluster, one *Cut, acks []ack, at time.Time) error {
	conn, err := l.connectTo(ctx, in)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := one.look(ctx, conn, checksOfDocuments...); err != nil {
		return err
	}
	there, err := texts(ctx, conn, "SELECT id::text FROM crash_document")
	if err := one.found(err, "documents"); err != nil {
		return err
	}
	one.count(there, acks, at)
	return nil
}

func texts(ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]string, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// found takes an error of the server itself for damage, and any other for one of ours.
func (c *Cut) found(err error, what string) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		c.Damage = append(c.Damage, fmt.Sprintf("%s: %s", what, refused.Message))
		return nil
	}
	return err
}

// count fills the ledger, and gives the keys that are lost.
func (c *Cut) count(there []string, acks []ack, at time.Time) (lost []string) {
	documents := map[string]bool{}
	has := make(map[string]bool, len(there))
	for _, key := range there {
		has[key] = true
	}
	wal, firstWAL := c.wal, int64(0)
	first := at
	c.Recovered, c.Acknowledged = len(there), len(acks)
	for _, a := range acks {
		wal = max(wal, a.wal)
		if has[a.key] {
			continue
		}
		documents[cmp.Or(a.document, a.key)] = true
		if lost = append(lost, a.key); firstWAL == 0 || a.wal < firstWAL {
			firstWAL = a.wal
		}
		if a.at.Before(first) {
			first = a.at
		}
	}
	if c.Lost, c.LostDocuments = len(lost), len(documents); c.Lost > 0 {
		c.LostMS, c.LostWALBytes = human.MS(at.Sub(first)), wal-firstWAL
	}
	if c.wal > 0 { // the log had come further than its reader saw
		c.ExplainedWALBytes += wal - c.wal
	}
	return lost
}
