package advise

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

const concurrently = " CONCURRENTLY"

func (c Change) creates() bool { return c.Index != "" && strings.HasPrefix(c.SQL, "CREATE") }
func (c Change) drops() bool   { return c.Index != "" && strings.HasPrefix(c.SQL, "DROP") }

// builtIndex is an index as it is now.
type builtIndex struct {
	Exists, Valid bool
	// Builder is the process that builds it now; 0: none.
	Builder    int
	Definition string
	// Needed says what needs it; empty: nothing but queries.
	Needed string
}

const indexNowSQL = `SELECT true AS "exists", x.indisvalid AS valid, pg_get_indexdef(x.indexrelid) AS definition,
	coalesce((SELECT min(p.pid) FROM pg_stat_progress_create_index p WHERE p.index_relid = x.indexrelid
		AND p.datname = current_database()), 0) AS builder,
	CASE WHEN EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid) THEN 'a constraint'
		WHEN x.indisreplident THEN 'replication, as the replica identity of its table'
		WHEN x.indisclustered THEN 'CLUSTER' ELSE '' END AS needed
	FROM pg_index x WHERE x.indexrelid = to_regclass($1)`

func (w *worker) index(ctx context.Context, name string) (i builtIndex, err error) {
	rows, err := w.conn.Query(ctx, indexNowSQL, name)
	if err != nil {
		return i, err
	}
	i, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[builtIndex])
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return i, err
}

// sameIndex says whether two texts define one index: what the server prints, and what we have sent.
func sameIndex(a, b string) bool {
	plain := func(text string) string {
		text = strings.NewReplacer(concurrently, "", " IF NOT EXISTS", "", " USING btree", "", `"`, "").Replace(text)
		return strings.ReplaceAll(text, " ", "")
	}
	return plain(a) == plain(b)
}

// beforeBuild: an index of that name may be there, be another one, or be built by somebody at this moment.
func (w *worker) beforeBuild(ctx context.Context, c Change) (there bool, err error) {
	now, err := w.index(ctx, c.Index)
	switch {
	case err != nil || !now.Exists:
		return false, err
	case now.Builder != 0:
		return false, &refused{fmt.Sprintf("process %d is building it", now.Builder)}
	case !sameIndex(now.Definition, c.SQL):
		return false, &refused{"another index has its name: " + now.Definition}
	}
	return now.Valid, nil
}

// beforeDrop keeps the statements that recreate the index. Something may need it only since the advice.
func (w *worker) beforeDrop(ctx context.Context, s *Step, half bool) (gone bool, err error) {
	now, err := w.index(ctx, s.Change.Index)
	switch {
	case err != nil || !now.Exists:
		return !now.Exists, err
	case half:
		return false, nil
	case now.Needed != "":
		return false, &refused{"it is needed now by " + now.Needed}
	case !now.Valid:
		return false, &refused{"it is not valid: somebody may be building it"}
	}
	s.Restore, err = w.restoring(ctx, s.Change.Index)
	return false, err
}

const restoringSQL = `SELECT pg_get_indexdef(i.oid) AS definition,
	coalesce(pg_get_expr(x.indpred, x.indrelid), '') AS predicate,
	coalesce((SELECT spcname FROM pg_tablespace WHERE oid = i.reltablespace), '') AS tablespace,
	coalesce(obj_description(i.oid, 'pg_class'), '') AS comment, x.indexprs IS NOT NULL AS expressions,
	format('%I.%I', n.nspname, t.relname) AS "table", quote_ident(i.relname) AS name, x.indisclustered AS clustered,
	x.indisreplident AS identity,
	ARRAY(SELECT format('ALTER COLUMN %s SET STATISTICS %s', attnum, attstattarget) FROM pg_attribute
		WHERE attrelid = i.oid AND attstattarget >= 0 ORDER BY attnum) AS targets,
	ARRAY(SELECT format('DEPENDS ON EXTENSION %I', e.extname) FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
		WHERE d.classid = 'pg_class'::regclass AND d.objid = i.oid AND d.refclassid = 'pg_extension'::regclass
		AND d.deptype = 'x') AS extensions
	FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
	JOIN pg_namespace n ON n.oid = t.relnamespace WHERE i.oid = to_regclass($1)`

type describedIndex struct {
	Definition, Predicate, Tablespace, Comment, Table, Name string
	Expressions, Clustered, Identity                        bool
	Targets, Extensions                                     []string
}

// restoring are the statements that recreate an index as it is: pg_get_indexdef leaves out its tablespace, its
// comment, what ANALYZE is to gather of its expressions, and its marks.
func (w *worker) restoring(ctx context.Context, name string) ([]string, error) {
	rows, err := w.conn.Query(ctx, restoringSQL, name)
	if err != nil {
		return nil, err
	}
	i, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[describedIndex])
	if err != nil {
		return nil, err
	}
	return i.statements(name)
}

func (i describedIndex) statements(name string) (all []string, err error) {
	create := strings.Replace(i.Definition, " INDEX ", " INDEX"+concurrently+" IF NOT EXISTS ", 1)
	if i.Tablespace != "" {
		where := ""
		if i.Predicate != "" {
			where = " WHERE " + i.Predicate
		}
		before, ends := strings.CutSuffix(create, where)
		if !ends {
			return nil, &refused{"its definition is not understood, so it could not be restored: " + i.Definition}
		}
		create = before + " TABLESPACE " + pgx.Identifier{i.Tablespace}.Sanitize() + where
	}
	all = append(all, create)
	for _, action := range append(i.Targets, i.Extensions...) {
		all = append(all, "ALTER INDEX "+name+" "+action)
	}
	if i.Comment != "" {
		all = append(all, "COMMENT ON INDEX "+name+" IS "+literal(i.Comment))
	}
	if i.Clustered {
		all = append(all, "ALTER TABLE "+i.Table+" CLUSTER ON "+i.Name)
	}
	if i.Identity {
		all = append(all, "ALTER TABLE "+i.Table+" REPLICA IDENTITY USING INDEX "+i.Name)
	}
	if i.Expressions { // their statistics went with the index
		all = append(all, "ANALYZE "+i.Table)
	}
	return all, nil
}

// clear the way for a build: an index of an interrupted build. One that somebody builds now is left alone.
func (w *worker) clear(ctx context.Context, c Change) error {
	now, err := w.index(ctx, c.Index)
	switch {
	case err != nil || !now.Exists || now.Valid:
		return err
	case now.Builder != 0:
		return &refused{fmt.Sprintf("process %d is building it", now.Builder)}
	}
	_, err = w.conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+c.Index)
	return err
}

// removeLeftover of a build that the server gave up, and say so. The drop waits as long as for any lock of a table.
// What it could not remove stays planned, so that a revert removes it.
func (w *worker) removeLeftover(ctx context.Context, s *Step) string {
	now, err := w.index(ctx, s.Change.Index)
	if err != nil || !now.Exists || now.Valid {
		return ""
	}
	_, err = w.conn.Exec(ctx, fmt.Sprintf("SET lock_timeout = %d", w.LockWait.Milliseconds()))
	if err == nil {
		_, err = w.conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+s.Change.Index)
	}
	if err == nil {
		return "; what it had built was removed"
	}
	s.State = Planned
	return "; " + unfinishedText(s.Change)
}

// leftover of a build whose connection is gone.
func (w *worker) leftover(ctx context.Context, c Change) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupMost)
	defer cancel()
	var left bool
	err := w.fresh(ctx, "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid)",
		&left, c.Index)
	if err == nil && !left {
		return ""
	}
	return "; " + unfinishedText(c)
}

func unfinishedText(c Change) string {
	return "index " + c.Index + " is left unfinished: it is written and never read, until --revert drops it or " +
		"--apply rebuilds it"
}
