/*-------------------------------------------------------------------------
 *
 * analyze.c
 *	  ANALYZE of tables inside of the transaction that changed them.
 *
 * Locking.  ANALYZE takes ShareUpdateExclusiveLock and keeps it until the end of
 * the transaction.  If another session has it, the table is passed over: two
 * sessions that insert into one table must not wait for each other on our
 * account.  Sampling needs no snapshot and sees the rows of this transaction.
 *
 * An error in it (an index's expression that fails) ends the statement, as it
 * ends an ANALYZE.  Nothing else is left of it but a bar that is raised again.
 *
 * Nothing is analyzed while ANALYZE runs already, be it ours or a command: the
 * functions that it calls may change tables.
 *
 * extensions/online_analyze/analyze.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "online_analyze.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

static int	bars = 0;

void
oa_bar(void)
{
	bars++;
}

void
oa_unbar(void)
{
	bars--;
}

/* May this process analyze something at all, and now? */
bool
oa_may_analyze(void)
{
	return oa_enable && bars == 0 && IsTransactionState() && !IsInParallelMode() && !IsParallelWorker() &&
		!RecoveryInProgress();
}

/* Who may not is told so by ANALYZE; the user did not ask for one here. */
static bool
is_permitted(Oid relid)
{
#if PG_VERSION_NUM >= 170000
	return object_ownercheck(DatabaseRelationId, MyDatabaseId, GetUserId()) ||
		pg_class_aclcheck(relid, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK;
#elif PG_VERSION_NUM >= 160000
	return object_ownercheck(DatabaseRelationId, MyDatabaseId, GetUserId()) ||
		object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_database_ownercheck(MyDatabaseId, GetUserId()) || pg_class_ownercheck(relid, GetUserId());
#endif
}

/* The next command of this transaction sees what was stored. */
static void
analyze_table(Oid relid)
{
	VacuumParams params;

	memset(&params, 0, sizeof(params));
	params.options = VACOPT_ANALYZE | (oa_verbose ? VACOPT_VERBOSE : 0);
	params.freeze_min_age = params.freeze_table_age = -1;
	params.multixact_freeze_min_age = params.multixact_freeze_table_age = -1;
	params.log_min_duration = -1;
	analyze_rel(relid, NULL, &params, NIL, true, GetAccessStrategy(BAS_VACUUM));
	CommandCounterIncrement();
}

/* The functions of an index may want a snapshot. */
static void
analyze_with_snapshot(Oid relid)
{
	if (ActiveSnapshotSet())
	{
		analyze_table(relid);
		return;
	}
	PushActiveSnapshot(GetTransactionSnapshot());
	analyze_table(relid);
	PopActiveSnapshot();
}

/* The lock that ANALYZE took is still there. */
static double
rows_of(Oid relid)
{
	Relation	table = relation_open(relid, NoLock);
	double		rows = Max(table->rd_rel->reltuples, 0);

	relation_close(table, NoLock);
	return rows;
}

static void
analyze_if_free(Oid relid)
{
	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return;
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) || !is_permitted(relid))
	{
		UnlockRelationOid(relid, ShareUpdateExclusiveLock);
		return;
	}
	analyze_with_snapshot(relid);
	oa_history_analyzed(relid, rows_of(relid));
}

/* The tables are those that oa_changed() found. */
void
oa_analyze(List *relids)
{
	MemoryContext caller;
	MemoryContext working;

	if (relids == NIL)
		return;
	working = AllocSetContextCreate(CurrentMemoryContext, "online_analyze at work", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(working);
	oa_bar();
	PG_TRY();
	{
		ListCell   *cell;

		foreach(cell, relids)
			analyze_if_free(lfirst_oid(cell));
	}
	PG_FINALLY();
	{
		oa_unbar();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(working);
}
