/*-------------------------------------------------------------------------
 *
 * temp_statistics.c
 *	  Statistics of temporary tables, counted while they are filled.
 *
 * Nobody but this session writes to its temporary tables, so it can count what
 * ANALYZE has to look for.  With temp_live_statistics = on the heap's table access
 * method tells of each row, and the planner, when it asks, gets the number of rows,
 * and for the first columns the share of nulls, the width and the number of
 * different values (temp_count.c).  Nothing is written to pg_class or pg_statistic:
 * no row, no invalidation, nothing that a rollback would have to undo there.  The
 * planner's own hooks are the way in.
 *
 * What is counted belongs to a storage, since TRUNCATE and rewriting commands give
 * a table another one, and a rollback gives it the former one back.  It is complete
 * if the storage was empty when the first row came; of others nothing is told.
 *
 * Transactions.  Before the first change in a (sub)transaction, what has been
 * counted is saved; a rollback brings that back.  Cutting a table in place (ON
 * COMMIT DELETE ROWS, fasttruncate(), TRUNCATE of a table that is as new as its
 * subtransaction) cannot be rolled back, so it empties what is saved, too.
 *
 * ANALYZE wins until the table has changed as much as autovacuum would wait for.
 *
 * Cached plans.  A plan that was made for few rows is bad for many, and nobody
 * would tell it.  So the relation is invalidated, once, when it has become much
 * larger than it was for a plan.  A plan that was made for many rows does for few.
 *
 * src/backend/plimsoll/temp_statistics.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_statistic.h"
#include "plimsoll/temp_count.h"
#include "plimsoll/temp_statistics.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

/* As autovacuum_analyze_threshold and autovacuum_analyze_scale_factor. */
#define CHANGES_BEGIN	50
#define CHANGES_PART	0.1

/* A plan for fewer rows than the table has, by this factor, is made again. */
#define MUCH_LARGER		8

/* A session that counts with more memory than that follows no more tables. */
#define MEMORY_MAX		((Size) 16 * 1024 * 1024)

/* What had been counted before a (sub)transaction changed the table. */
typedef struct Saved
{
	struct Saved *outer;
	int			level;
	TempCount  *count;
} Saved;

typedef struct Followed
{
	RelFileLocator locator;
	Oid			relid;			/* whose storage it was when last met */
	TempCount  *count;			/* NULL: not all that happened is known */
	double		planned;		/* the fewest rows of a plan; 0: none */
	Saved	   *saved;			/* the innermost first */
	dlist_node	node;			/* in changed, if something is saved */
} Followed;

typedef struct FollowedEntry
{
	RelFileLocator locator;
	Followed   *table;
	char		status;
} FollowedEntry;

#define SH_PREFIX followed
#define SH_ELEMENT_TYPE FollowedEntry
#include "plimsoll/locator_hash.h"

bool		temp_live_statistics = false;
int			temp_statistics_tables = 0;

static MemoryContext context = NULL;
static followed_hash *tables = NULL;
static Followed *last = NULL;	/* looked up */

/* Tables that the current transaction changed. */
static dlist_head changed = DLIST_STATIC_INIT(changed);

static get_relation_stats_hook_type next_relation_stats_hook = NULL;
static get_attavgwidth_hook_type next_attavgwidth_hook = NULL;

static void transaction_ends(XactEvent event, void *arg);
static void subtransaction_ends(SubXactEvent event, SubTransactionId mySubid,
								SubTransactionId parentSubid, void *arg);
static bool column_statistics(PlannerInfo *root, RangeTblEntry *rte,
							  AttrNumber attnum, VariableStatData *vardata);
static int32 column_width(Oid relid, AttrNumber attnum);

/* At the start of the server, and again after each crash of a session. */
void
temp_statistics_init(void)
{
	static bool installed = false;

	if (installed)
		return;
	installed = true;
	next_relation_stats_hook = get_relation_stats_hook;
	get_relation_stats_hook = column_statistics;
	next_attavgwidth_hook = get_attavgwidth_hook;
	get_attavgwidth_hook = column_width;
}

static Followed *
find(Relation table)
{
	if (last == NULL || !RelFileLocatorEquals(last->locator, table->rd_locator))
	{
		FollowedEntry *entry;

		if (temp_statistics_tables == 0)
			return NULL;
		entry = followed_lookup(tables, table->rd_locator);
		if (entry == NULL)
			return NULL;
		last = entry->table;
	}
	last->relid = RelationGetRelid(table);
	return last;
}

static void
create_tables(void)
{
	if (tables != NULL)
		return;
	if (context == NULL)
	{
		context = AllocSetContextCreate(TopMemoryContext, "Plimsoll temp statistics",
										ALLOCSET_DEFAULT_SIZES);
		RegisterXactCallback(transaction_ends, NULL);
		RegisterSubXactCallback(subtransaction_ends, NULL);
	}
	tables = followed_create(context, 64, NULL);
}

/* The table is met for the first time, before it is written to. */
static Followed *
follow(Relation table)
{
	FollowedEntry *entry;
	Followed   *new;
	bool		found;

	create_tables();
	new = MemoryContextAllocZero(context, sizeof(Followed));
	new->locator = table->rd_locator;
	new->relid = RelationGetRelid(table);
	if (RelationGetNumberOfBlocks(table) == 0 &&
		MemoryContextMemAllocated(context, true) < MEMORY_MAX)
		new->count = temp_count_new(RelationGetNumberOfAttributes(table), context);
	entry = followed_insert(tables, new->locator, &found);
	Assert(!found);
	entry->table = new;
	temp_statistics_tables++;
	return new;
}

/* Forgets the innermost of what is saved; its count is the caller's. */
static TempCount *
pop_saved(Followed *table)
{
	Saved	   *saved = table->saved;
	TempCount  *count = saved->count;

	table->saved = saved->outer;
	if (table->saved == NULL)
		dlist_delete(&table->node);
	pfree(saved);
	return count;
}

static void
lose_track(Followed *table)
{
	while (table->saved != NULL)
		temp_count_release(pop_saved(table));
	if (table->count != NULL)
		temp_count_release(table->count);
	table->count = NULL;
}

/* Before a change: what has been counted, to be changed, or NULL. */
static TempCount *
count_to_change(Followed *table)
{
	int			level = GetCurrentTransactionNestLevel();
	Saved	   *saved;
	TempCount  *copy;

	if (table->count != NULL && !temp_live_statistics)
		lose_track(table);
	if (table->count == NULL || (table->saved != NULL && table->saved->level == level))
		return table->count;

	copy = temp_count_copy(table->count, context);
	saved = MemoryContextAlloc(context, sizeof(Saved));
	saved->outer = table->saved;
	saved->level = level;
	saved->count = table->count;
	if (table->saved == NULL)
		dlist_push_tail(&changed, &table->node);
	table->saved = saved;
	table->count = copy;
	return copy;
}

/* The same for a table that may not be followed yet, or not at all. */
static TempCount *
count_of(Relation table)
{
	Followed   *followed = find(table);

	return followed == NULL ? NULL : count_to_change(followed);
}

/* Has the table outgrown a plan? */
static void
check_plans(Relation table, Followed *followed)
{
	if (followed->planned <= 0 || followed->count->rows <= followed->planned * MUCH_LARGER)
		return;
	followed->planned = 0;
	CacheInvalidateRelcache(table);
}

/* Body of temp_statistics_inserted(). */
void
temp_statistics_count_inserted(Relation table, TupleTableSlot **slots, int nslots)
{
	Followed   *followed = find(table);
	TempCount  *count;

	if (followed == NULL)
	{
		if (!temp_live_statistics)
			return;
		followed = follow(table);
	}
	count = count_to_change(followed);
	if (count == NULL)
		return;
	for (int i = 0; i < nslots; i++)
		temp_count_insert(count, slots[i], context);
	check_plans(table, followed);
}

/* Body of temp_statistics_updated(). */
void
temp_statistics_count_updated(Relation table, TupleTableSlot *slot)
{
	TempCount  *count = count_of(table);

	if (count != NULL)
		temp_count_update(count, slot, context);
}

/* Body of temp_statistics_deleted(). */
void
temp_statistics_count_deleted(Relation table)
{
	TempCount  *count = count_of(table);

	if (count != NULL)
		temp_count_delete(count);
}

/* Body of temp_statistics_emptied(): no rollback brings the rows back. */
void
temp_statistics_count_emptied(Relation table)
{
	Followed   *followed = find(table);

	if (followed == NULL)
		return;
	for (Saved *saved = followed->saved; saved != NULL; saved = saved->outer)
		temp_count_empty(saved->count);
	if (followed->count != NULL)
		temp_count_empty(followed->count);
	else if (temp_live_statistics)
		followed->count = temp_count_new(RelationGetNumberOfAttributes(table), context);
}

/* Body of temp_statistics_analyzed(). */
void
temp_statistics_count_analyzed(Relation table)
{
	TempCount  *count = count_of(table);

	if (count == NULL)
		return;
	count->analyzed_changes = count->changes;
	count->analyzed_rows = count->rows;
}

/* Body of temp_statistics_unlinked(). */
void
temp_statistics_forget(const SMgrRelation *files, int nfiles)
{
	for (int i = 0; i < nfiles; i++)
	{
		FollowedEntry *entry = followed_lookup(tables, files[i]->smgr_rlocator.locator);
		Followed   *table;

		if (entry == NULL || !SmgrIsTemp(files[i]))
			continue;
		table = entry->table;
		lose_track(table);
		followed_delete_item(tables, entry);
		temp_statistics_tables--;
		if (last == table)
			last = NULL;
		pfree(table);
	}
}

static void
transaction_ends(XactEvent event, void *arg)
{
	bool		commit = event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE;

	if (!commit && event != XACT_EVENT_ABORT)
		return;
	while (!dlist_is_empty(&changed))
	{
		Followed   *table = dlist_head_element(Followed, node, &changed);
		TempCount  *before = pop_saved(table);

		if (commit)
			temp_count_release(before);
		else
		{
			temp_count_release(table->count);
			table->count = before;
		}
	}
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mySubid,
					SubTransactionId parentSubid, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	dlist_mutable_iter iter;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	dlist_foreach_modify(iter, &changed)
	{
		Followed   *table = dlist_container(Followed, node, iter.cur);
		Saved	   *saved = table->saved;

		if (saved->level < level)
			continue;
		if (event == SUBXACT_EVENT_ABORT_SUB)
		{
			temp_count_release(table->count);
			table->count = pop_saved(table);
		}
		else if (saved->outer != NULL && saved->outer->level == level - 1)
			temp_count_release(pop_saved(table));
		else
			saved->level = level - 1;
	}
}

/* Body of temp_statistics_size(). */
void
temp_statistics_tell_size(Relation table, BlockNumber *pages, double *tuples)
{
	Followed   *followed = find(table);

	if (followed == NULL || followed->count == NULL || !temp_live_statistics)
		return;

	/*
	 * Of an empty table we know that it is, but a plan that is made now is most
	 * likely to be used when it is filled: stock's guess stays.
	 */
	if (followed->count->rows > 0)
	{
		*pages = RelationGetNumberOfBlocks(table);
		*tuples = followed->count->rows;
	}
	if (followed->planned == 0 || *tuples < followed->planned)
		followed->planned = Max(*tuples, 1);
}

/* Is what ANALYZE stored of the column still true? */
static bool
analysis_serves(const Followed *table, Oid relid, AttrNumber attnum)
{
	const TempCount *count = table->count;

	return count->analyzed_changes >= 0 &&
		count->changes - count->analyzed_changes <=
		CHANGES_BEGIN + CHANGES_PART * count->analyzed_rows &&
		SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid),
							  Int16GetDatum(attnum), BoolGetDatum(false));
}

/* The count that tells of the column, or NULL. */
static const TempCount *
count_for_column(Oid relid, AttrNumber attnum)
{
	Relation	table;
	Followed   *followed;

	if (!temp_live_statistics || temp_statistics_tables == 0 || attnum <= 0)
		return NULL;
	table = RelationIdGetCached(relid); /* who plans has it open */
	if (table == NULL || !temp_statistics_follows(table))
		return NULL;
	followed = find(table);
	if (followed == NULL || followed->count == NULL || followed->count->rows == 0 ||
		attnum > followed->count->ncolumns || analysis_serves(followed, relid, attnum))
		return NULL;
	return followed->count;
}

static HeapTuple
form_statistics(const TempCount *count, Oid relid, AttrNumber attnum)
{
	static TupleDesc desc = NULL;
	Datum		values[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {0};

	if (desc == NULL)
	{
		Relation	catalog = table_open(StatisticRelationId, AccessShareLock);
		MemoryContext caller = MemoryContextSwitchTo(context);

		desc = CreateTupleDescCopy(RelationGetDescr(catalog));
		MemoryContextSwitchTo(caller);
		table_close(catalog, AccessShareLock);
	}
	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(attnum);
	values[Anum_pg_statistic_stanullfrac - 1] =
		Float4GetDatum(temp_count_null_frac(count, attnum - 1));
	values[Anum_pg_statistic_stawidth - 1] =
		Int32GetDatum(temp_count_width(count, attnum - 1));
	values[Anum_pg_statistic_stadistinct - 1] =
		Float4GetDatum(temp_count_distinct(count, attnum - 1));
	for (int i = Anum_pg_statistic_stanumbers1 - 1; i < Natts_pg_statistic; i++)
		nulls[i] = true;
	return heap_form_tuple(desc, values, nulls);
}

/* For the planner: a row as pg_statistic would have it. */
static bool
column_statistics(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum,
				  VariableStatData *vardata)
{
	const TempCount *count;

	if (next_relation_stats_hook && next_relation_stats_hook(root, rte, attnum, vardata))
		return true;
	if (rte->rtekind != RTE_RELATION || rte->inh)
		return false;
	count = count_for_column(rte->relid, attnum);
	if (count == NULL)
		return false;
	vardata->statsTuple = form_statistics(count, rte->relid, attnum);
	vardata->freefunc = heap_freetuple;
	vardata->acl_ok = true;		/* there is no value in it */
	return true;
}

static int32
column_width(Oid relid, AttrNumber attnum)
{
	const TempCount *count;
	int32		width = 0;

	if (next_attavgwidth_hook)
		width = next_attavgwidth_hook(relid, attnum);
	if (width > 0)
		return width;
	count = count_for_column(relid, attnum);
	return count == NULL ? 0 : temp_count_width(count, attnum - 1);
}

/* For a view: all that is known, table by table. */
void
temp_statistics_each(TempStatisticsRow row, void *arg)
{
	followed_iterator iterator;
	FollowedEntry *entry;

	if (temp_statistics_tables == 0)
		return;
	followed_start_iterate(tables, &iterator);
	while ((entry = followed_iterate(tables, &iterator)) != NULL)
	{
		const TempCount *count = entry->table->count;

		for (int i = 0; count != NULL && i < count->ncolumns; i++)
			row(arg, entry->table->relid, i + 1, count->rows,
				temp_count_null_frac(count, i), temp_count_width(count, i),
				temp_count_distinct(count, i));
	}
}
