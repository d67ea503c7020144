/*-------------------------------------------------------------------------
 *
 * memcat_reference.c
 *	  The objects that temporary tables in memory depend on.
 *
 * A table may use a data type of an extension, a function, a collation, a role.
 * pg_depend and pg_shdepend do not show that to other sessions if the table's
 * rows are in memory.  So a table in shared memory says which sessions refer to
 * which object: one entry an object, one bit in it a session.
 *
 * A session that drops such an object, or changes what its values may be, holds its
 * lock and asks here; a session that creates the dependency holds the lock as well
 * (dependencyLockAndCheckObject()) until its transaction ends, so neither can miss
 * the other.  When the table is full, a unit moves to the real catalogs instead.
 *
 * src/backend/plimsoll/memcat_reference.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define MAX_OBJECTS		16384

/* how many sessions an error message names */
#define MAX_NAMED		10

typedef struct MemShared
{
	int			tranche;
	LWLock		lock;			/* guards the table */
	int			nobjects;
} MemShared;

typedef struct MemReferenceKey
{
	Oid			database;		/* InvalidOid for shared objects */
	Oid			classId;
	Oid			objectId;
} MemReferenceKey;

/* in shared memory: who refers to an object */
typedef struct MemReferred
{
	MemReferenceKey key;		/* must be first */
	uint64		sessions[FLEXIBLE_ARRAY_MEMBER];	/* a bit for each
													 * ProcNumber */
} MemReferred;

/* in our own memory: how many of our rows refer to it */
typedef struct MemReference
{
	MemReferenceKey key;		/* must be first */
	int			rows;
} MemReference;

static MemShared *shared = NULL;
static HTAB *referred = NULL;

static MemoryContext own_context = NULL;
static HTAB *own_references = NULL;

static int
session_words(void)
{
	return (MaxBackends + 63) / 64;
}

static Size
referred_size(void)
{
	return offsetof(MemReferred, sessions) + session_words() * sizeof(uint64);
}

Size
memcat_reference_shmem_size(void)
{
	return add_size(sizeof(MemShared),
					hash_estimate_size(MAX_OBJECTS, referred_size()));
}

void
memcat_reference_shmem_init(void)
{
	HASHCTL		ctl;
	bool		found;

	shared = ShmemInitStruct("memory catalog", sizeof(MemShared), &found);
	if (!found)
	{
		shared->nobjects = 0;
		shared->tranche = LWLockNewTrancheId();
		LWLockInitialize(&shared->lock, shared->tranche);
	}
	LWLockRegisterTranche(shared->tranche, "MemoryCatalog");

	ctl.keysize = sizeof(MemReferenceKey);
	ctl.entrysize = referred_size();
	referred = ShmemInitHash("memory catalog references", 256, MAX_OBJECTS,
							 &ctl, HASH_ELEM | HASH_BLOBS);
}

static bool
refers(const MemReferred *object, int session)
{
	return (object->sessions[session / 64] >> (session % 64)) & 1;
}

/* This session refers to the object now.  False: the table is full. */
static bool
enter_shared(const MemReferenceKey *key)
{
	MemReferred *object;
	bool		found;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);

	/*
	 * The hash table itself would go on, with shared memory that is meant for
	 * others, heavyweight locks among them.
	 */
	object = hash_search(referred, key,
						 shared->nobjects < MAX_OBJECTS ? HASH_ENTER_NULL : HASH_FIND,
						 &found);
	if (object != NULL)
	{
		if (!found)
		{
			memset(object->sessions, 0, session_words() * sizeof(uint64));
			shared->nobjects++;
		}
		object->sessions[MyProcNumber / 64] |= UINT64CONST(1) << (MyProcNumber % 64);
	}
	LWLockRelease(&shared->lock);
	return object != NULL;
}

/* This session refers to the object no longer. */
static void
remove_shared(const MemReferenceKey *key)
{
	MemReferred *object;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	object = hash_search(referred, key, HASH_FIND, NULL);
	if (object != NULL)
	{
		uint64		others = 0;

		object->sessions[MyProcNumber / 64] &= ~(UINT64CONST(1) << (MyProcNumber % 64));
		for (int i = 0; i < session_words(); i++)
			others |= object->sessions[i];
		if (others == 0)
		{
			hash_search(referred, key, HASH_REMOVE, NULL);
			shared->nobjects--;
		}
	}
	LWLockRelease(&shared->lock);
}

/* The session ends: whatever it referred to is free. */
static void
session_end(int code, Datum arg)
{
	HASH_SEQ_STATUS status;
	MemReference *ref;

	hash_seq_init(&status, own_references);
	while ((ref = hash_seq_search(&status)) != NULL)
		remove_shared(&ref->key);
	hash_destroy(own_references);
	own_references = NULL;
}

static void
make_own_references(void)
{
	HASHCTL		ctl;

	if (own_references != NULL)
		return;
	if (own_context == NULL)
		own_context = AllocSetContextCreate(memcat_context(),
											"memory catalog references of this session",
											ALLOCSET_SMALL_SIZES);
	ctl.keysize = sizeof(MemReferenceKey);
	ctl.entrysize = sizeof(MemReference);
	ctl.hcxt = own_context;
	own_references = hash_create("memory catalog references", 64, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	on_shmem_exit(session_end, (Datum) 0);
}

/* The memory of our own table of references. */
int64
memcat_reference_bytes(void)
{
	return own_context == NULL ? 0 : MemoryContextMemAllocated(own_context, true);
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
memcat_reference_publish(MemRow *row)
{
	MemReferenceKey key;
	MemReference *ref;
	bool		found;

	if (!reference_of(row, &key) || memcat_unit_of(key.classId, key.objectId))
		return true;
	make_own_references();
	ref = hash_search(own_references, &key, HASH_ENTER, &found);
	if (!found)
	{
		ref->rows = 0;
		if (!enter_shared(&key))
		{
			hash_search(own_references, &key, HASH_REMOVE, NULL);
			return false;
		}
	}
	ref->rows++;
	row->published = true;
	return true;
}

/*
 * The row is about to move to the real catalog.  A session that drops the object
 * looks there first and here afterwards, and would miss the row on its way if
 * the lock did not make it wait.
 */
void
memcat_reference_lock(const MemRow *row)
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
memcat_reference_withdraw(MemRow *row)
{
	MemReferenceKey key;
	MemReference *ref;

	if (!row->published || !reference_of(row, &key))
		return;
	row->published = false;
	ref = hash_search(own_references, &key, HASH_FIND, NULL);
	if (ref != NULL && --ref->rows == 0)
	{
		hash_search(own_references, &key, HASH_REMOVE, NULL);
		remove_shared(&key);
	}
}

/* The sessions, without ours, that refer to this object; *pids is palloc'd. */
static int
sessions_elsewhere(Oid dbid, Oid classId, Oid objectId, int **pids)
{
	MemReferenceKey key = {dbid, classId, objectId};
	MemReferred *object;
	int			n = 0;

	/*
	 * No lock for this test: the caller has locked the object, and so has
	 * whoever made a dependency on it.  Whichever got the lock second sees
	 * what the first did.
	 */
	if (shared == NULL || shared->nobjects == 0)
		return 0;
	*pids = palloc(MaxBackends * sizeof(int));
	LWLockAcquire(&shared->lock, LW_SHARED);
	object = hash_search(referred, &key, HASH_FIND, NULL);
	for (int i = 0; object != NULL && i < MaxBackends; i++)
	{
		if (i != MyProcNumber && refers(object, i))
			(*pids)[n++] = GetPGProcByNumber(i)->pid;
	}
	LWLockRelease(&shared->lock);
	if (n == 0)
		pfree(*pids);
	return n;
}

/*
 * Do temporary tables of other sessions, served from their memory, depend on
 * this object?  Then the process IDs of those sessions, for a message: "17, 4".
 * NULL if none does.
 */
char *
memcat_referenced_elsewhere(Oid dbid, Oid classId, Oid objectId)
{
	StringInfoData list;
	int		   *pids;
	int			n = sessions_elsewhere(dbid, classId, objectId, &pids);

	if (n == 0)
		return NULL;
	initStringInfo(&list);
	for (int i = 0; i < n && i < MAX_NAMED; i++)
		appendStringInfo(&list, "%s%d", i > 0 ? ", " : "", pids[i]);
	if (n > MAX_NAMED)
		appendStringInfo(&list, _(" and %d more"), n - MAX_NAMED);
	pfree(pids);
	return list.data;
}

void
memcat_forbid_drop(const ObjectAddress *object)
{
	char	   *pids = memcat_referenced_elsewhere(MyDatabaseId, object->classId,
												   object->objectId);

	if (pids != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop %s because other objects depend on it",
						getObjectDescription(object, false)),
				 errdetail("Temporary tables of other sessions depend on it (process ID %s).", pids),
				 errhint("Retry when those sessions have dropped the tables or have ended.")));
}

static void
forbid_use_elsewhere(Oid typeOid)
{
	char	   *pids = memcat_referenced_elsewhere(MyDatabaseId, TypeRelationId,
												   typeOid);

	if (pids != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot alter type \"%s\" because temporary tables of other sessions use it",
						format_type_be(typeOid)),
				 errdetail("They belong to the sessions with process ID %s.", pids),
				 errhint("Retry when those sessions have dropped the tables or have ended.")));
}

/*
 * The layout of the type's values is about to change, or a domain's constraint is
 * validated.  An error if tables of other sessions, which cannot be rewritten or
 * read from here, may hold some; until our transaction ends there will be none.
 */
void
memcat_forbid_alter_type(Oid typeOid)
{
	if (memcat_unit_of(TypeRelationId, typeOid))
		return;					/* a row type of our own */

	/* at once, rather than after the transaction that has just used it */
	forbid_use_elsewhere(typeOid);
	LockDatabaseObject(TypeRelationId, typeOid, 0, AccessExclusiveLock);
	forbid_use_elsewhere(typeOid);
}

/*
 * Calls back for each object and each session that refers to it; database is
 * InvalidOid for shared objects.
 */
void
memcat_each_reference(void (*found) (void *arg, int pid, Oid database,
									 Oid classId, Oid objectId),
					  void *arg)
{
	Size		size = referred_size();
	char	   *copies;
	HASH_SEQ_STATUS status;
	MemReferred *object;
	int			n = 0;

	/* found() may fail, so it is not called with the lock held */
	LWLockAcquire(&shared->lock, LW_SHARED);
	copies = MemoryContextAllocHuge(CurrentMemoryContext,
									(hash_get_num_entries(referred) + 1) * size);
	hash_seq_init(&status, referred);
	while ((object = hash_seq_search(&status)) != NULL)
		memcpy(copies + n++ * size, object, size);
	LWLockRelease(&shared->lock);

	for (int i = 0; i < n; i++)
	{
		object = (MemReferred *) (copies + i * size);
		for (int session = 0; session < MaxBackends; session++)
		{
			int			pid = refers(object, session) ? GetPGProcByNumber(session)->pid : 0;

			if (pid != 0)		/* 0: it has ended meanwhile */
				found(arg, pid, object->key.database, object->key.classId,
					  object->key.objectId);
		}
	}
	pfree(copies);
}
