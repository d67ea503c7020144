/*-------------------------------------------------------------------------
 *
 * changes.c
 *	  Has a table changed enough to be analyzed?
 *
 * It has if all of this is true:
 *
 *	  rows in it						>= lower_limit
 *	  rows changed since the last time	>= threshold + scale_factor * rows then
 *	  time since then					>= min_interval
 *
 * A temporary table without statistics of what it holds is analyzed at its first
 * change: when it is new, or was truncated and filled again, as the tables of a
 * pool are.  PostgreSQL takes it for ten full pages otherwise.  That it was
 * emptied shows in its storage (TRUNCATE gives it another one) or in pg_class
 * (fasttruncate() sets the counts to zero; the end of a transaction that deletes
 * rows does so only where an index is built anew and autovacuum is on).  An
 * analysis of fewer rows than threshold begins no interval: the table that is
 * filled row by row is analyzed again as soon as it has some.
 *
 * Changes of a temporary table are counted by this session, which alone makes
 * them.  Those of a permanent table are what the server's statistics say, which
 * learn of a transaction when it has ended, and what this transaction did.
 *
 * extensions/online_analyze/changes.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "online_analyze.h"
#include "pgstat.h"
#include "storage/proc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#if PG_VERSION_NUM >= 170000
#define CURRENT_TRANSACTION() (MyProc->vxid.lxid)
#else
#define CURRENT_TRANSACTION() (MyProc->lxid)
#endif

/* The names of the server's statistics. */
#if PG_VERSION_NUM >= 160000
#define ROWS(entry) ((double) (entry)->live_tuples)
#define CHANGES(entry) ((double) (entry)->mod_since_analyze)
#define WHEN(entry) Max((entry)->last_analyze_time, (entry)->last_autoanalyze_time)
#else
#define ROWS(entry) ((double) (entry)->n_live_tuples)
#define CHANGES(entry) ((double) (entry)->changes_since_analyze)
#define WHEN(entry) Max((entry)->analyze_timestamp, (entry)->autovac_analyze_timestamp)
#endif

static double
analyzed_rows(Relation table)
{
	return Max(table->rd_rel->reltuples, 0);
}

static void
count(TableHistory *history, CmdType command, double rows)
{
	history->changes += rows;
	if (command == CMD_INSERT)
		history->rows += rows;
	else if (command == CMD_DELETE)
		history->rows = Max(history->rows - rows, 0);
}

static bool
was_emptied(const TableHistory *history, Relation table)
{
	return history->storage != table->rd_rel->relfilenode ||
		(history->analyzed_rows > 0 && table->rd_rel->reltuples <= 0 && table->rd_rel->relpages == 0);
}

static void
begin_empty(TableHistory *history, Relation table)
{
	Oid			relid = history->relid;

	memset(history, 0, sizeof(TableHistory));
	history->relid = relid;
	history->storage = table->rd_rel->relfilenode;
}

/* What was before this session, or this library, began to count. */
static void
begin_from_statistics(TableHistory *history, Relation table)
{
	PgStat_StatTabEntry *entry = oa_local_tracking ? NULL : pgstat_fetch_stat_tabentry(history->relid);

	if (entry != NULL)
	{
		history->rows = ROWS(entry);
		history->changes = CHANGES(entry);
		history->when = WHEN(entry);
	}
	else
		history->rows = analyzed_rows(table);
	history->analyzed = table->rd_rel->reltuples > 0;
	history->analyzed_rows = analyzed_rows(table);
}

static void
count_temporary(TableHistory *history, bool found, Relation table, CmdType command, double rows)
{
	if (!found || was_emptied(history, table))
		begin_empty(history, table);
	if (!found)
		begin_from_statistics(history, table);
	count(history, command, rows);
}

static void
count_permanent(TableHistory *history, Relation table, CmdType command, double rows)
{
	PgStat_StatTabEntry *entry = pgstat_fetch_stat_tabentry(history->relid);

	if (history->transaction != CURRENT_TRANSACTION())
		history->changes = history->settled = 0;
	history->transaction = CURRENT_TRANSACTION();
	history->rows = entry == NULL ? 0 : ROWS(entry);
	history->reported = entry == NULL ? 0 : CHANGES(entry);
	history->when = entry == NULL ? history->when : Max(history->when, WHEN(entry));
	history->analyzed_rows = analyzed_rows(table);
	history->analyzed = true;
	count(history, command, rows);
}

static bool
interval_is_over(const TableHistory *history)
{
	if (history->when == 0 || oa_min_interval <= 0)
		return true;
	return (double) (GetCurrentTimestamp() - history->when) >= oa_min_interval * 1000;
}

static bool
is_enough(const TableHistory *history)
{
	double		changes = history->changes + Max(history->reported - history->settled, 0);

	if (history->rows < oa_lower_limit)
		return false;
	if (!history->analyzed)
		return true;
	return changes >= oa_threshold + oa_scale_factor * history->analyzed_rows && interval_is_over(history);
}

/* Counts the rows that a command has changed; is the table to be analyzed? */
bool
oa_changed(Relation table, CmdType command, double rows)
{
	TableHistory *history;
	bool		found;

	if (rows <= 0 || !oa_is_wanted(table))
		return false;
	history = oa_history(RelationGetRelid(table), &found);
	if (RelationUsesLocalBuffers(table))
		count_temporary(history, found, table, command, rows);
	else
		count_permanent(history, table, command, rows);
	return is_enough(history);
}
