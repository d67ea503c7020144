/*-------------------------------------------------------------------------
 *
 * memcat_shared.c
 *	  What other backends must know about this session's memory catalog.
 *
 * - Figures for monitoring: tables, rows, bytes.
 * - The oldest transaction id and multixact id that its tables may hold, so
 *   that no database's frozen horizon passes them: pg_class does not show
 *   these tables to whoever computes it.
 * - The objects outside of memory that its tables depend on (data types of
 *   extensions, functions, collations, roles).  Who drops such an object holds
 *   its lock and asks here; who creates the dependency holds the lock as well,
 *   until its transaction ends, so neither can miss the other.  When the table
 *   of references is full, a unit is spilled instead.
 *
 * src/backend/plimsoll/memcat_shared.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/multixact.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/snapmgr.h"

#define MEMCAT_MAX_REFERENCES	16384

/* how far, in transactions, a session lets its published horizon lag */
#define MEMCAT_HORIZON_STEP		1000000

typedef struct MemSession
{
	int			pid;			/* 0: this slot has nothing to say */
	Oid			database;
	TransactionId frozenXid;
	MultiXactId minMulti;
	int64		tables;
	int64		rows;
	int64		bytes;
} MemSession;

typedef struct MemShared
{
	int			tranche;
	LWLock		lock;			/* guards the table of references */
	int			nreferences;
	MemSession	sessions[FLEXIBLE_ARRAY_MEMBER];
} MemShared;

typedef struct MemReferenceKey
{
	Oid			database;		/* InvalidOid for shared objects */
	Oid			classId;
	Oid			objectId;
} MemReferenceKey;

/* both in shared memory (count of sessions) and in ours (count of rows) */
typedef struct MemReference
{
	MemReferenceKey key;		/* must be first */
	int			count;
} MemReference;

static MemShared *shared = NULL;
static HTAB *shared_references = NULL;
static HTAB *own_references = NULL;
static bool exit_registered = false;

Size
MemCatShmemSize(void)
{
	Size		size = offsetof(MemShared, sessions);

	size = add_size(size, mul_size(MaxBackends, sizeof(MemSession)));
	return add_size(size, hash_estimate_size(MEMCAT_MAX_REFERENCES,
											 sizeof(MemReference)));
}

void
MemCatShmemInit(void)
{
	HASHCTL		ctl;
	bool		found;

	shared = ShmemInitStruct("memory catalog",
							 offsetof(MemShared, sessions) +
							 mul_size(MaxBackends, sizeof(MemSession)), &found);
	if (!found)
	{
		memset(shared, 0, offsetof(MemShared, sessions) +
			   MaxBackends * sizeof(MemSession));
		shared->tranche = LWLockNewTrancheId();
		LWLockInitialize(&shared->lock, shared->tranche);
	}
	LWLockRegisterTranche(shared->tranche, "MemoryCatalog");

	ctl.keysize = sizeof(MemReferenceKey);
	ctl.entrysize = sizeof(MemReference);
	shared_references = ShmemInitHash("memory catalog references", 256,
									  MEMCAT_MAX_REFERENCES, &ctl,
									  HASH_ELEM | HASH_BLOBS);
}

static MemSession *
my_session(void)
{
	return &shared->sessions[MyProcNumber];
}

/* Adds to the count of sessions that refer to an object; false if full. */
static bool
count_shared(const MemReferenceKey *key, int delta)
{
	MemReference *ref;
	bool		found;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	ref = hash_search(shared_references, key,
					  delta > 0 ? HASH_ENTER_NULL : HASH_FIND, &found);
	if (ref != NULL)
	{
		if (!found)
		{
			ref->count = 0;
			shared->nreferences++;
		}
		ref->count += delta;
		if (ref->count <= 0)
		{
			hash_search(shared_references, key, HASH_REMOVE, NULL);
			shared->nreferences--;
		}
	}
	LWLockRelease(&shared->lock);
	return ref != NULL;
}

/* The session ends: whatever it referred to is free, its slot is empty. */
static void
session_end(int code, Datum arg)
{
	if (own_references)
	{
		HASH_SEQ_STATUS status;
		MemReference *ref;

		hash_seq_init(&status, own_references);
		while ((ref = hash_seq_search(&status)) != NULL)
			count_shared(&ref->key, -1);
		hash_destroy(own_references);
		own_references = NULL;
	}
	memset(my_session(), 0, sizeof(MemSession));
}

static void
register_exit(void)
{
	if (!exit_registered)
	{
		on_shmem_exit(session_end, (Datum) 0);
		exit_registered = true;
	}
}

static bool
reference_of(const MemRow *row, MemReferenceKey *key)
{
	if (row->cat->relid == DependRelationId)
	{
		Form_pg_depend dep = (Form_pg_depend) GETSTRUCT(&row->tuple);

		/* our temporary schema outlives all that is in it */
		if (dep->refclassid == NamespaceRelationId &&
			isTempOrTempToastNamespace(dep->refobjid))
			return false;
		key->database = MyDatabaseId;
		key->classId = dep->refclassid;
		key->objectId = dep->refobjid;
		return true;
	}
	if (row->cat->relid == SharedDependRelationId)
	{
		Form_pg_shdepend dep = (Form_pg_shdepend) GETSTRUCT(&row->tuple);

		key->database = InvalidOid;
		key->classId = dep->refclassid;
		key->objectId = dep->refobjid;
		return true;
	}
	return false;
}

/*
 * Makes a dependency on an object outside of memory known to others.  False:
 * there is no room to do so.
 */
bool
MemSharedPublish(MemRow *row)
{
	MemReferenceKey key;
	MemReference *ref;
	bool		found;

	if (!reference_of(row, &key) || MemOwnerUnit(key.classId, key.objectId))
		return true;
	register_exit();
	if (own_references == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(MemReferenceKey);
		ctl.entrysize = sizeof(MemReference);
		ctl.hcxt = MemStoreContext();
		own_references = hash_create("memory catalog references", 64, &ctl,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	ref = hash_search(own_references, &key, HASH_ENTER, &found);
	if (!found)
	{
		ref->count = 0;
		if (!count_shared(&key, 1))
		{
			hash_search(own_references, &key, HASH_REMOVE, NULL);
			return false;
		}
	}
	ref->count++;
	row->published = true;
	return true;
}

/*
 * The row is about to move to the real catalog.  Who drops the object looks
 * there first and here afterwards, and would miss it on its way but for this.
 */
void
MemSharedLockObject(const MemRow *row)
{
	MemReferenceKey key;

	if (!row->published || !reference_of(row, &key))
		return;
	if (!OidIsValid(key.database))
		LockSharedObject(key.classId, key.objectId, 0, AccessShareLock);
	else if (key.classId == RelationRelationId)
		LockRelationOid(key.objectId, AccessShareLock);
	else
		LockDatabaseObject(key.classId, key.objectId, 0, AccessShareLock);
}

void
MemSharedWithdraw(MemRow *row)
{
	MemReferenceKey key;
	MemReference *ref;

	if (!row->published || !reference_of(row, &key))
		return;
	row->published = false;
	ref = hash_search(own_references, &key, HASH_FIND, NULL);
	if (ref != NULL && --ref->count == 0)
	{
		hash_search(own_references, &key, HASH_REMOVE, NULL);
		count_shared(&key, -1);
	}
}

/*
 * Do temporary tables of other sessions, served from their memory, depend on
 * this object?
 */
bool
MemCatReferencedElsewhere(Oid dbid, Oid classId, Oid objectId)
{
	MemReferenceKey key = {dbid, classId, objectId};
	MemReference *ref;
	int			count = 0;

	/*
	 * The object's lock, which the caller and whoever made the dependency
	 * hold, orders this read.
	 */
	if (shared == NULL || shared->nreferences == 0)
		return false;
	LWLockAcquire(&shared->lock, LW_SHARED);
	ref = hash_search(shared_references, &key, HASH_FIND, NULL);
	if (ref)
		count = ref->count;
	LWLockRelease(&shared->lock);
	if (own_references && hash_search(own_references, &key, HASH_FIND, NULL))
		count--;
	return count > 0;
}

void
MemCatForbidDrop(const ObjectAddress *object)
{
	if (MemCatReferencedElsewhere(MyDatabaseId, object->classId, object->objectId))
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop %s because other objects depend on it",
						getObjectDescription(object, false)),
				 errdetail("Temporary tables of other sessions depend on it."),
				 errhint("Retry when those sessions have dropped the tables or have ended.")));
}

/* The layout of the type's values is to change: is one stored out of our reach? */
void
MemCatForbidAlterType(Oid typeOid)
{
	if (MemCatReferencedElsewhere(MyDatabaseId, TypeRelationId, typeOid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot alter type \"%s\" because temporary tables of other sessions use it",
						format_type_be(typeOid)),
				 errhint("Retry when those sessions have dropped the tables or have ended.")));
}

/*
 * Called before a session's table is created: nothing older than what a
 * snapshot of now considers running will ever be in it.
 */
void
MemSharedHorizon(void)
{
	MemSession *session = my_session();

	if (TransactionIdIsValid(session->frozenXid))
		return;
	register_exit();
	if (!TransactionIdIsNormal(RecentXmin))
		(void) GetTransactionSnapshot();
	session->database = MyDatabaseId;
	session->minMulti = GetOldestMultiXactId();
	session->frozenXid = RecentXmin;
	pg_memory_barrier();
	session->pid = MyProcPid;
}

/* VACUUM or TRUNCATE may have moved the horizon of some table. */
static void
find_horizon(TransactionId *frozenXid, MultiXactId *minMulti)
{
	dlist_iter	iter;

	*frozenXid = InvalidTransactionId;
	*minMulti = InvalidMultiXactId;
	dlist_foreach(iter, &MemKeyCatalog(RelationRelationId)->rows)
	{
		MemRow	   *row = dlist_container(MemRow, catnode, iter.cur);
		Form_pg_class form = (Form_pg_class) GETSTRUCT(&row->tuple);

		if (TransactionIdIsNormal(form->relfrozenxid) &&
			(!TransactionIdIsValid(*frozenXid) ||
			 TransactionIdPrecedes(form->relfrozenxid, *frozenXid)))
			*frozenXid = form->relfrozenxid;
		if (MultiXactIdIsValid(form->relminmxid) &&
			(!MultiXactIdIsValid(*minMulti) ||
			 MultiXactIdPrecedes(form->relminmxid, *minMulti)))
			*minMulti = form->relminmxid;
	}
}

/* A transaction that changed the memory catalog has ended. */
void
MemSharedReport(void)
{
	static TransactionId looked_at = InvalidTransactionId;
	MemSession *session = my_session();

	session->tables = MemOwnerUnits();
	session->rows = MemStoreRows();
	session->bytes = MemStoreBytes();
	if (session->tables == 0)
	{
		session->pid = 0;
		session->frozenXid = InvalidTransactionId;
		session->minMulti = InvalidMultiXactId;
	}
	else if (TransactionIdIsNormal(session->frozenXid) &&
			 TransactionIdIsNormal(RecentXmin) &&
			 RecentXmin - session->frozenXid > MEMCAT_HORIZON_STEP &&
			 (!TransactionIdIsNormal(looked_at) ||
			  RecentXmin - looked_at > MEMCAT_HORIZON_STEP))
	{
		TransactionId frozenXid;
		MultiXactId minMulti;

		looked_at = RecentXmin;
		find_horizon(&frozenXid, &minMulti);
		if (TransactionIdIsValid(frozenXid))
			session->frozenXid = frozenXid;
		if (MultiXactIdIsValid(minMulti))
			session->minMulti = minMulti;
	}
}

/* Lowers a database's new horizon to what sessions' memory tables need. */
void
MemCatClampFrozen(Oid dbid, TransactionId *frozenXid, MultiXactId *minMulti)
{
	for (int i = 0; i < MaxBackends; i++)
	{
		MemSession *session = &shared->sessions[i];
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
MemCatSession(int index, int *pid, Oid *database, int64 *tables, int64 *rows,
			  int64 *bytes)
{
	MemSession *session;

	if (index < 0 || index >= MaxBackends)
		return false;
	session = &shared->sessions[index];
	*pid = session->pid;
	*database = session->database;
	*tables = session->tables;
	*rows = session->rows;
	*bytes = session->bytes;
	return true;
}
