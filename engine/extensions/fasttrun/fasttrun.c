/*-------------------------------------------------------------------------
 *
 * fasttrun.c
 *	  fasttruncate(text): empties a temporary table of this session.
 *
 * TRUNCATE gives a table new storage, which a rollback can undo, and that costs
 * new rows of pg_class for the table, its TOAST table and every index of both.
 * An application that keeps a pool of temporary tables and truncates one before
 * each use does not need the rollback.  fasttruncate() cuts the files it has to
 * nothing, at once and for good, as the end of a transaction does with a table
 * that is ON COMMIT DELETE ROWS.
 *
 * Locking.  A table without a page is left alone, under the lock that the
 * INSERT which most likely follows will take anyway.  Else the lock is
 * ExclusiveLock.  Nobody but this session reads or writes the table, so that
 * only a DROP of its must be kept away; AccessExclusiveLock would do no more,
 * but assigns a transaction ID and is written to WAL for the standbys.
 *
 * What makes the truncation unsafe is found before anything is changed: rows
 * that an open scan of this session still reads, events of deferred triggers,
 * foreign keys of other tables.
 *
 * An error while an index is built anew (a full disk) leaves a table without
 * rows and an index without its first page.  Such a table is remembered in
 * "unfinished" and never taken for one that needs nothing.  The memory of this
 * session is the right place: its temporary tables end with it.
 *
 * extensions/fasttrun/fasttrun.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "commands/tablecmds.h"
#include "fasttrun.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "fasttrun", .version = "2.0");
#else
PG_MODULE_MAGIC;
#endif

PG_FUNCTION_INFO_V1(fasttruncate);

/* Tables, by OID, whose last truncation ended with an error. */
static List *unfinished = NIL;

static void
check_kind(const char *name, Oid relid)
{
	switch (get_rel_relkind(relid))
	{
		case RELKIND_RELATION:
			return;
		case RELKIND_PARTITIONED_TABLE:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot fasttruncate \"%s\"", name),
					 errdetail("It is a partitioned table, which stores no rows itself."),
					 errhint("Name its partitions one by one.")));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a table", name)));
	}
}

/* Is it a temporary table of ours? */
static void
check_temporary(const char *name, Oid relid)
{
	Oid			schema = get_rel_namespace(relid);

	if (isTempNamespace(schema))
		return;
	if (isOtherTempNamespace(schema))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot fasttruncate \"%s\"", name),
				 errdetail("It is a temporary table of another session.")));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("cannot fasttruncate \"%s\"", name),
			 errdetail("It is not a temporary table, and fasttruncate() cannot be rolled back."),
			 errhint("Use TRUNCATE.")));
}

/* Called with each table that the name may mean, before that is locked. */
static void
check_table(const RangeVar *name, Oid relid, Oid oldRelId, void *arg)
{
	AclResult	allowed;

	/* a name that means nothing is reported by the caller */
	if (!OidIsValid(relid))
		return;
	check_kind(name->relname, relid);
	check_temporary(name->relname, relid);
	allowed = pg_class_aclcheck(relid, GetUserId(), ACL_TRUNCATE);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_TABLE, name->relname);
}

static void
set_unfinished(Oid relid)
{
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

	unfinished = list_append_unique_oid(unfinished, relid);
	MemoryContextSwitchTo(caller);
}

static void
truncate_table(Relation table)
{
	Oid			relid = RelationGetRelid(table);

	LockRelationOid(relid, ExclusiveLock);
	CheckTableNotInUse(table, "fasttruncate");
	heap_truncate_check_FKs(list_make1(table), false);

	set_unfinished(relid);
	fasttrun_empty(table);
	unfinished = list_delete_oid(unfinished, relid);

	pgstat_count_truncate(table);
}

Datum
fasttruncate(PG_FUNCTION_ARGS)
{
	RangeVar   *name = makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0)));
	Oid			relid = RangeVarGetRelidExtended(name, RowExclusiveLock, 0, check_table, NULL);
	Relation	table = table_open(relid, NoLock);

	if (RelationGetNumberOfBlocks(table) > 0 || list_member_oid(unfinished, relid))
		truncate_table(table);

	/* the locks stay until the end of the transaction */
	table_close(table, NoLock);
	PG_RETURN_VOID();
}
