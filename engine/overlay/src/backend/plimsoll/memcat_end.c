/*-------------------------------------------------------------------------
 *
 * memcat_end.c
 *	  The end of a session that has tables in the memory catalog, and DISCARD.
 *
 * The rows end with the process; only the files and the statistics entries must
 * be removed.  That needs no lock, no catalog access and no message to others, so
 * a session with 10,000 tables cannot run out of locks while it ends, which would
 * leave files behind that no catalog row points to.
 *
 * DISCARD TEMP may be rolled back, so it drops the tables as DROP TABLE does, one
 * by one: dropping all in one list takes time quadratic in their number.
 *
 * src/backend/plimsoll/memcat_end.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "plimsoll/memcat_int.h"
#include "plimsoll/temp_storage.h"
#include "storage/proc.h"
#include "utils/pgstat_internal.h"
#include "utils/syscache.h"

/*
 * Called in the transaction in which an ending session removes its temporary
 * tables, before it looks for those in the real catalogs.
 */
void
memcat_end_session(void)
{
	dlist_iter	iter;
	bool		all_gone = true;

	if (!memcat_active)
		return;

	/* from here on nobody finds a row in memory */
	memcat_active = false;

	dlist_foreach(iter, &memcat_key_catalog(RelationRelationId)->rows)
	{
		MemRow	   *row = dlist_container(MemRow, catnode, iter.cur);
		Form_pg_class form = (Form_pg_class) GETSTRUCT(&row->tuple);
		RelFileLocatorBackend file;

		file.locator.spcOid = OidIsValid(form->reltablespace) ?
			form->reltablespace : MyDatabaseTableSpace;
		file.locator.dbOid = MyDatabaseId;
		file.locator.relNumber = form->relfilenode;
		file.backend = MyProcNumber;
		temp_storage_unlink(file, InvalidForkNumber, false);

		if (!pgstat_drop_entry(PGSTAT_KIND_RELATION, MyDatabaseId, form->oid))
			all_gone = false;
		remove_on_commit_action(form->oid);
	}
	if (!all_gone)
		pgstat_request_entry_refs_gc();
}

/* Drops the tables in memory; the temporary schema's other contents stay. */
void
memcat_drop_tables(int flags)
{
	List	   *tables = NIL;
	dlist_iter	iter;

	dlist_foreach(iter, &memcat_key_catalog(RelationRelationId)->rows)
	{
		MemRow	   *row = dlist_container(MemRow, catnode, iter.cur);

		if (!row->deleted && !row->unit->spilled &&
			((Form_pg_class) GETSTRUCT(&row->tuple))->oid == row->unit->relid)
			tables = lappend_oid(tables, row->unit->relid);
	}
	foreach_oid(relid, tables)
	{
		ObjectAddress table = {RelationRelationId, relid, 0};

		/* another one's drop may have taken it along, or moved it */
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
			performDeletion(&table, DROP_CASCADE, flags);
		CommandCounterIncrement();
	}
	list_free(tables);
}
