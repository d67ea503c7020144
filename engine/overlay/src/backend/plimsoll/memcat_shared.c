/*-------------------------------------------------------------------------
 *
 * memcat_shared.c
 *	  What other backends must know about this session's memory catalog.
 *
 * - Figures for monitoring: tables, rows, bytes.
 * - The oldest transaction id and multixact id that its tables may hold, so
 *   that no database's frozen horizon passes them: pg_class does not show
 *   these tables to whoever computes it.
 * - Its temporary schema, so that no other session gives a name there that a
 *   table in memory has.
 *
 * Each is in the session's slot.  Beside the slots there are the objects that its
 * tables depend on (memcat_reference.c) and the OIDs of its rows (memcat_oid.c).
 *
 * src/backend/plimsoll/memcat_shared.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/snapmgr.h"

typedef struct MemSession
{
	int			pid;			/* 0: no tables in memory */
	Oid			database;
	Oid			tempNamespace;	/* from its first table in memory on */
	TransactionId frozenXid;
	MultiXactId minMulti;
	int64		tables;
	int64		rows;
	int64		bytes;
} MemSession;

static MemSession *sessions = NULL;

/* How many of our rows of pg_class have exactly the horizon that is published. */
static int64 at_frozen = 0;
static int64 at_multi = 0;

Size
memcat_shmem_size(void)
{
	Size		size = mul_size(MaxBackends, sizeof(MemSession));

	size = add_size(size, memcat_oid_shmem_size());
	return add_size(size, memcat_reference_shmem_size());
}

void
memcat_shmem_init(void)
{
	bool		found;

	sessions = ShmemInitStruct("memory catalog sessions",
							   mul_size(MaxBackends, sizeof(MemSession)), &found);
	if (!found)
		memset(sessions, 0, MaxBackends * sizeof(MemSession));
	memcat_reference_shmem_init();
	memcat_oid_shmem_init();
}

static MemSession *
my_session(void)
{
	return &sessions[MyProcNumber];
}

/* The session ends: its slot is empty. */
static void
session_end(int code, Datum arg)
{
	memcat_oid_release_all();
	memset(my_session(), 0, sizeof(MemSession));
}

/*
 * From now on other sessions give no names in our temporary schema.  Whoever
 * is about to commit one holds a lock that we wait for here, so we see it.
 */
static void
publish_namespace(void)
{
	Oid			namespaceId;
	Oid			toastNamespaceId;

	GetTempNamespaceState(&namespaceId, &toastNamespaceId);
	LockDatabaseObject(NamespaceRelationId, namespaceId, 0, ShareLock);
	my_session()->database = MyDatabaseId;
	my_session()->tempNamespace = namespaceId;
	UnlockDatabaseObject(NamespaceRelationId, namespaceId, 0, ShareLock);
}

/*
 * A type gets a name in this schema, or a relation a new one.  If the schema
 * belongs to another session with tables in memory, we do not see all names in
 * it, and the unique indexes would refuse such a table when it moves to the real
 * catalogs.  (Relations cannot be created there at all.)
 */
void
memcat_forbid_name(Oid namespaceId)
{
	/* schemas of PostgreSQL's own cannot even be looked up during bootstrap */
	if (namespaceId < FirstNormalObjectId || !isOtherTempNamespace(namespaceId))
		return;
	LockDatabaseObject(NamespaceRelationId, namespaceId, 0, RowExclusiveLock);
	for (int i = 0; i < MaxBackends; i++)
	{
		if (sessions[i].database == MyDatabaseId &&
			sessions[i].tempNamespace == namespaceId)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot create or rename objects in temporary schemas of other sessions"),
					 errdetail("The session with process ID %d keeps names of that schema in its memory.",
							   GetPGProcByNumber(i)->pid)));
	}
}

/*
 * Called before a session's table is created: nothing older than what a
 * snapshot of now considers running will ever be in it.
 */
void
memcat_shared_begin(void)
{
	MemSession *session = my_session();

	if (TransactionIdIsValid(session->frozenXid))
		return;
	if (!OidIsValid(session->tempNamespace))
	{
		publish_namespace();
		on_shmem_exit(session_end, (Datum) 0);
	}
	if (!TransactionIdIsNormal(RecentXmin))
		(void) GetTransactionSnapshot();
	session->minMulti = GetOldestMultiXactId();
	session->frozenXid = RecentXmin;
	at_frozen = at_multi = 0;
	pg_memory_barrier();
	session->pid = MyProcPid;
}

/*
 * A row of pg_class enters the store.  It may hold the horizon back further: a
 * frozen table's is newer than what a new table begins with, for VACUUM of a
 * temporary table need not care for transactions of other sessions.
 */
void
memcat_shared_class_enters(const MemRow *row)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(&row->tuple);
	MemSession *session = my_session();

	if (TransactionIdIsNormal(form->relfrozenxid))
	{
		if (TransactionIdPrecedes(form->relfrozenxid, session->frozenXid))
		{
			session->frozenXid = form->relfrozenxid;
			at_frozen = 0;
		}
		if (form->relfrozenxid == session->frozenXid)
			at_frozen++;
	}
	if (MultiXactIdIsValid(form->relminmxid))
	{
		if (MultiXactIdPrecedes(form->relminmxid, session->minMulti))
		{
			session->minMulti = form->relminmxid;
			at_multi = 0;
		}
		if (form->relminmxid == session->minMulti)
			at_multi++;
	}
}

/* A row of pg_class leaves the store, or is about to be overwritten. */
void
memcat_shared_class_leaves(const MemRow *row)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(&row->tuple);
	MemSession *session = my_session();

	if (TransactionIdIsNormal(form->relfrozenxid) &&
		form->relfrozenxid == session->frozenXid)
		at_frozen--;
	if (MultiXactIdIsValid(form->relminmxid) &&
		form->relminmxid == session->minMulti)
		at_multi--;
}

/* Publishes the oldest horizon of the tables that are there. */
static void
find_horizon(MemSession *session)
{
	TransactionId frozenXid = InvalidTransactionId;
	MultiXactId minMulti = InvalidMultiXactId;
	dlist_iter	iter;

	at_frozen = at_multi = 0;
	dlist_foreach(iter, &memcat_key_catalog(RelationRelationId)->rows)
	{
		MemRow	   *row = dlist_container(MemRow, catnode, iter.cur);
		Form_pg_class form = (Form_pg_class) GETSTRUCT(&row->tuple);

		if (TransactionIdIsNormal(form->relfrozenxid))
		{
			if (!TransactionIdIsValid(frozenXid) ||
				TransactionIdPrecedes(form->relfrozenxid, frozenXid))
			{
				frozenXid = form->relfrozenxid;
				at_frozen = 0;
			}
			if (form->relfrozenxid == frozenXid)
				at_frozen++;
		}
		if (MultiXactIdIsValid(form->relminmxid))
		{
			if (!MultiXactIdIsValid(minMulti) ||
				MultiXactIdPrecedes(form->relminmxid, minMulti))
			{
				minMulti = form->relminmxid;
				at_multi = 0;
			}
			if (form->relminmxid == minMulti)
				at_multi++;
		}
	}
	if (TransactionIdIsValid(frozenXid))
		session->frozenXid = frozenXid;
	if (MultiXactIdIsValid(minMulti))
		session->minMulti = minMulti;
}

/*
 * What the session has in memory, at the end of a transaction.  The horizon is
 * looked for again when the last table that held it back is frozen or gone.
 */
void
memcat_shared_report(int64 tables, int64 rows, int64 bytes)
{
	MemSession *session = my_session();

	session->tables = tables;
	session->rows = rows;
	session->bytes = bytes;
	if (session->tables == 0)
	{
		session->pid = 0;
		session->frozenXid = InvalidTransactionId;
		session->minMulti = InvalidMultiXactId;
	}
	else if (TransactionIdIsNormal(session->frozenXid) &&
			 (at_frozen == 0 || at_multi == 0))
		find_horizon(session);
}

/* Lowers a database's new horizon to what sessions' memory tables need. */
void
memcat_clamp_frozen(Oid dbid, TransactionId *frozenXid, MultiXactId *minMulti)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		MemSession *session = &sessions[i];
		TransactionId xid;
		MultiXactId multi;

		if (session->pid == 0 || session->database != dbid)
			continue;
		pg_read_barrier();
		xid = session->frozenXid;
		multi = session->minMulti;
		if (TransactionIdIsNormal(xid) && TransactionIdPrecedes(xid, *frozenXid))
			*frozenXid = xid;
		if (MultiXactIdIsValid(multi) && MultiXactIdPrecedes(multi, *minMulti))
			*minMulti = multi;
	}
}

/*
 * Figures of one session; *pid is 0 if it has no tables in memory.  False: no
 * such session, nor any after it.
 */
bool
memcat_session(int index, int *pid, Oid *database, int64 *tables, int64 *rows,
			   int64 *bytes)
{
	MemSession *session;

	if (index < 0 || index >= MaxBackends)
		return false;
	session = &sessions[index];
	*pid = session->pid;
	*database = session->database;
	*tables = session->tables;
	*rows = session->rows;
	*bytes = session->bytes;
	return true;
}
