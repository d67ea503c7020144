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

static int	compare_frozen(const pairingheap_node *a, const pairingheap_node *b, void *arg);
static int	compare_multi(const pairingheap_node *a, const pairingheap_node *b, void *arg);

/* The horizons of our rows of pg_class, the oldest first. */
static pairingheap frozen = {.ph_compare = compare_frozen};
static pairingheap multi = {.ph_compare = compare_multi};

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
	pg_memory_barrier();
	session->pid = MyProcPid;
}

static TransactionId
age_of(const pairingheap_node *node)
{
	return pairingheap_const_container(MemAge, node, node)->id;
}

static int
compare_frozen(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	if (age_of(a) == age_of(b))
		return 0;
	return TransactionIdPrecedes(age_of(a), age_of(b)) ? 1 : -1;
}

static int
compare_multi(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	if (age_of(a) == age_of(b))
		return 0;
	return MultiXactIdPrecedes(age_of(a), age_of(b)) ? 1 : -1;
}

/*
 * A row of pg_class enters the store.  It may hold the horizon back further: a
 * frozen table's is newer than what a new table begins with, for VACUUM of a
 * temporary table need not care for transactions of other sessions.
 *
 * Nothing is allocated here, so this may be called in a critical section.
 */
void
memcat_shared_class_enters(MemRow *row)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(&row->tuple);
	MemHorizon *horizon = memcat_row_horizon(row);
	MemSession *session = my_session();

	horizon->frozen.id = form->relfrozenxid;
	horizon->multi.id = form->relminmxid;
	if (TransactionIdIsNormal(form->relfrozenxid))
	{
		pairingheap_add(&frozen, &horizon->frozen.node);
		if (TransactionIdPrecedes(form->relfrozenxid, session->frozenXid))
			session->frozenXid = form->relfrozenxid;
	}
	if (MultiXactIdIsValid(form->relminmxid))
	{
		pairingheap_add(&multi, &horizon->multi.node);
		if (MultiXactIdPrecedes(form->relminmxid, session->minMulti))
			session->minMulti = form->relminmxid;
	}
}

/* A row of pg_class leaves the store, or is about to be overwritten. */
void
memcat_shared_class_leaves(MemRow *row)
{
	MemHorizon *horizon = memcat_row_horizon(row);

	if (TransactionIdIsNormal(horizon->frozen.id))
		pairingheap_remove(&frozen, &horizon->frozen.node);
	if (MultiXactIdIsValid(horizon->multi.id))
		pairingheap_remove(&multi, &horizon->multi.node);
}

/*
 * What the session has in memory, at the end of a transaction.  Tables that held
 * the horizon back may have been frozen or dropped by now.
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
		return;
	}
	if (!pairingheap_is_empty(&frozen))
		session->frozenXid = age_of(pairingheap_first(&frozen));
	if (!pairingheap_is_empty(&multi))
		session->minMulti = age_of(pairingheap_first(&multi));
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

/* The oldest ids that its tables may hold; they are in use, so nothing passes them. */
void
memcat_session_horizon(int index, TransactionId *frozenXid, MultiXactId *minMulti)
{
	*frozenXid = sessions[index].frozenXid;
	*minMulti = sessions[index].minMulti;
}
