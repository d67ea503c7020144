/*-------------------------------------------------------------------------
 *
 * temp_lock.c
 *	  Temporary relations without heavyweight locks.
 *
 * Locks on a temporary relation have one purpose: to keep its owner apart from
 * another session that drops or alters it (a superuser, DROP OWNED, DROP TYPE ...
 * CASCADE).  That is rare, and the owner's use is frequent.  So with
 * temp_skip_locks = on the owner takes no locks and the other sessions pay.
 *
 * Owner.  At the first lock of a transaction that could be skipped, the owner
 * publishes in its slot of shared memory which (virtual) transaction is active on
 * its temporary relations, and then checks whether another session is
 * interested in them.  If not, the owner skips all locks on them, on what belongs
 * to them (see temp_relation.c) and on the temporary schema for the rest of the
 * transaction.  If so, the owner takes real locks in this transaction, exactly as
 * in stock PostgreSQL.
 *
 * Others.  A session that has got a lock of at least ShareUpdateExclusive mode on
 * a relation checks whether it is a temporary one of a living session.  If so, it
 * registers its interest in the owner's slot until the end of its own
 * transaction, and then checks whether a transaction is active there.  If there is
 * one, it waits for that transaction by its virtual transaction ID, which
 * the deadlock detector, lock_timeout and log_lock_waits understand.  Whatever
 * the owner starts later sees the interest, and then the lock.
 *
 *		owner:	active = lxid;		barrier;	read interest
 *		other:	interest++;			barrier;	read active
 *
 * At least one of the two sees the other.  If both do, that is only slower.
 *
 * Unlike in stock, the other session waits for the owner's whole transaction if
 * that has touched any temporary relation, not only this one.  Weak locks (such
 * as AccessShare of pg_relation_size()) do not keep the owner out: a relation may
 * vanish while another session looks at it, and is then reported as missing.
 *
 * Skipped locks are recorded, so that releases are symmetric and the question
 * whether a lock is held gets the right answer.  A subtransaction's rollback
 * leaves the record as it is: a lock held for too long disturbs nobody.
 *
 * IDENTIFICATION
 *	  src/backend/plimsoll/temp_lock.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "plimsoll/temp_lock.h"
#include "plimsoll/temp_row.h"
#include "port/atomics.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

/* What the owner, by proc number, and the others tell each other. */
typedef union TempLockSlot
{
	struct
	{
		pg_atomic_uint32 active;	/* local transaction ID, or 0 */
		pg_atomic_uint32 interest;	/* number of other sessions */
	};
	char		pad[PG_CACHE_LINE_SIZE];
} TempLockSlot;

typedef struct TempLockShared
{
	/* Has any session skipped a lock since the server started? */
	pg_atomic_uint32 in_use;
	TempLockSlot slots[FLEXIBLE_ARRAY_MEMBER];
} TempLockShared;

#define NUM_SLOTS (MaxBackends + NUM_AUXILIARY_PROCS)

/* The record of skipped locks. */
typedef struct SkippedLock
{
	TempObjectKey key;
	int			count[MaxLockMode + 1];
	char		status;
} SkippedLock;

#define SH_PREFIX skipped
#define SH_ELEMENT_TYPE SkippedLock
#define SH_KEY_TYPE TempObjectKey
#define SH_KEY key
#define SH_HASH_KEY(tb, key) TEMP_OBJECT_HASH(key)
#define SH_EQUAL(tb, a, b) TEMP_OBJECT_EQUAL(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * The record is cleared as a whole at the end of each transaction, so it begins
 * with room for what a usual one skips, and is given back when it has grown.
 */
#define SKIPPED_LOCKS_BEGIN 8
#define SKIPPED_LOCKS_KEPT 64

bool		temp_skip_locks = false;

/* Number of objects in the record; zero short-cuts all questions. */
int			temp_locks_skipped = 0;

static TempLockShared *shared = NULL;
static skipped_hash *skipped = NULL;

/* The owner's decision for the current transaction. */
static enum
{
	UNDECIDED,
	SKIP_LOCKS,
	TAKE_LOCKS,
}			decision = UNDECIDED;

/* Relations whose session locks (VACUUM) we skipped. */
static List *session_skipped = NIL;

/* Owners, by proc number, whom we shut out until the transaction ends. */
static List *shut_out = NIL;

static void make_real(Oid relid);
static bool object_is_ours(Oid classid, Oid objid);
static void decide(void);
static bool owner_of(Oid classid, Oid objid, ProcNumber *owner);
static Oid	namespace_of(Oid classid, Oid objid);
static Oid	relation_of(Oid classid, Oid objid);
static Oid	relation_of_scanned(Oid classid, Oid indexid,
								AttrNumber oidcol, Oid objid);

const TempRelationListener temp_lock_listener = {
	.setting = &temp_skip_locks,
	.exposed = make_real,
};

Size
temp_lock_shmem_size(void)
{
	return add_size(offsetof(TempLockShared, slots),
					mul_size(sizeof(TempLockSlot), NUM_SLOTS));
}

void
temp_lock_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("Plimsoll temp locks", temp_lock_shmem_size(), &found);
	if (found)
		return;
	pg_atomic_init_u32(&shared->in_use, 0);
	for (int i = 0; i < NUM_SLOTS; i++)
	{
		pg_atomic_init_u32(&shared->slots[i].active, 0);
		pg_atomic_init_u32(&shared->slots[i].interest, 0);
	}
}

/* Body of temp_lock_skip(). */
bool
temp_lock_skip_own(Oid classid, Oid objid, LOCKMODE mode)
{
	TempObjectKey key = {classid, objid};
	SkippedLock *lock;
	bool		found;

	if (!object_is_ours(classid, objid))
		return false;
	if (decision == UNDECIDED)
		decide();
	if (decision == TAKE_LOCKS)
		return false;

	if (skipped == NULL)
		skipped = skipped_create(TopMemoryContext, SKIPPED_LOCKS_BEGIN, NULL);
	lock = skipped_insert(skipped, key, &found);
	if (!found)
	{
		memset(lock->count, 0, sizeof(lock->count));
		temp_locks_skipped++;
	}

	/*
	 * A real lock reads these messages, too: others may have changed the
	 * relation.
	 */
	if (lock->count[mode]++ == 0)
		AcceptInvalidationMessages();
	return true;
}

/* Body of temp_lock_unskip(). */
bool
temp_lock_forget(Oid classid, Oid objid, LOCKMODE mode)
{
	TempObjectKey key = {classid, objid};
	SkippedLock *lock = skipped_lookup(skipped, key);

	if (lock == NULL || lock->count[mode] == 0)
		return false;
	lock->count[mode]--;
	return true;
}

/* Body of temp_lock_held(). */
bool
temp_lock_recorded(Oid classid, Oid objid, LOCKMODE mode)
{
	TempObjectKey key = {classid, objid};
	SkippedLock *lock = skipped_lookup(skipped, key);

	return lock != NULL && lock->count[mode] > 0;
}

/*
 * The relation is exposed now: take the locks that we are supposed to hold.
 *
 * We do not record which subtransaction skipped them, so the top transaction gets
 * them: if they went with a rollback of this subtransaction, the outer ones would
 * lack them.  The record stays for the releases to come.
 */
static void
make_real(Oid relid)
{
	TempObjectKey key = {RelationRelationId, relid};
	SkippedLock *lock = skipped ? skipped_lookup(skipped, key) : NULL;
	ResourceOwner owner = CurrentResourceOwner;

	Assert(temp_relation_owned(relid) == NULL);
	if (lock == NULL)
		return;

	for (LOCKMODE mode = 1; mode <= MaxLockMode; mode++)
	{
		if (lock->count[mode] == 0)
			continue;
		CurrentResourceOwner = TopTransactionResourceOwner;
		LockRelationOid(relid, mode);
		CurrentResourceOwner = owner;

		/* taking a lock may have read catalogs and moved the record */
		lock = skipped_lookup(skipped, key);
	}
}

/*
 * About to lock a relation across transactions: is it ours?  VACUUM, which does
 * so, copes with a relation that is gone in its next transaction.
 */
bool
temp_lock_skip_session(Oid relid)
{
	MemoryContext oldcontext;

	if (!temp_skip_locks || temp_relation_owned(relid) == NULL)
		return false;
	oldcontext = MemoryContextSwitchTo(TopMemoryContext);
	session_skipped = lappend_oid(session_skipped, relid);
	MemoryContextSwitchTo(oldcontext);
	return true;
}

/* About to release such a lock: was it skipped? */
bool
temp_lock_unskip_session(Oid relid)
{
	if (!list_member_oid(session_skipped, relid))
		return false;
	session_skipped = list_delete_oid(session_skipped, relid);
	return true;
}

/*
 * Keep the owner of a temporary relation, or of something that belongs to one,
 * out of it until our transaction ends.  Returns false if that cannot be done
 * without waiting and the caller does not want to wait.
 */
bool
temp_lock_shut_out_owner(Oid classid, Oid objid, bool dontWait)
{
	ProcNumber	owner;
	TempLockSlot *slot;
	VirtualTransactionId vxid;

	if (objid < FirstNormalObjectId ||
		pg_atomic_read_u32(&shared->in_use) == 0 ||
		!owner_of(classid, objid, &owner))
		return true;

	slot = &shared->slots[owner];
	if (!list_member_int(shut_out, owner))
	{
		MemoryContext oldcontext = MemoryContextSwitchTo(TopMemoryContext);

		shut_out = lappend_int(shut_out, owner);
		MemoryContextSwitchTo(oldcontext);
		pg_atomic_fetch_add_u32(&slot->interest, 1);
	}
	pg_memory_barrier();

	vxid.procNumber = owner;
	vxid.localTransactionId = pg_atomic_read_u32(&slot->active);
	if (LocalTransactionIdIsValid(vxid.localTransactionId))
	{
		if (!VirtualXactLock(vxid, !dontWait))
			return false;

		/* Learn what the owner did while we waited. */
		AcceptInvalidationMessages();
	}
	return true;
}

/* Transaction end: nothing is held, nobody is shut out any more. */
void
AtEOXact_TempLock(bool isCommit)
{
	if (decision != UNDECIDED)
	{
		pg_atomic_write_u32(&shared->slots[MyProcNumber].active, 0);
		decision = UNDECIDED;
	}

	if (temp_locks_skipped > SKIPPED_LOCKS_KEPT)
	{
		skipped_destroy(skipped);
		skipped = NULL;
	}
	else if (temp_locks_skipped > 0)
		skipped_reset(skipped);
	temp_locks_skipped = 0;

	foreach_int(owner, shut_out)
		pg_atomic_fetch_sub_u32(&shared->slots[owner].interest, 1);
	list_free(shut_out);
	shut_out = NIL;

	if (!isCommit)
	{
		list_free(session_skipped);
		session_skipped = NIL;
	}
}

static bool
object_is_ours(Oid classid, Oid objid)
{
	if (classid == NamespaceRelationId)
		return isTempOrTempToastNamespace(objid);
	return temp_relation_of_object(classid, objid) != NULL;
}

/* The owner's half of the handshake, once a transaction. */
static void
decide(void)
{
	TempLockSlot *slot = &shared->slots[MyProcNumber];

	pg_atomic_write_u32(&shared->in_use, 1);
	pg_atomic_write_u32(&slot->active, MyProc->vxid.lxid);
	pg_memory_barrier();
	if (pg_atomic_read_u32(&slot->interest) == 0)
		decision = SKIP_LOCKS;
	else
	{
		pg_atomic_write_u32(&slot->active, 0);
		decision = TAKE_LOCKS;
	}
}

/*
 * The session that owns an object by way of its temporary schema, if that
 * session lives and is not ours.
 */
static bool
owner_of(Oid classid, Oid objid, ProcNumber *owner)
{
	Oid			nspoid = namespace_of(classid, objid);

	if (nspoid < FirstNormalObjectId || !isOtherTempNamespace(nspoid))
		return false;

	/*
	 * The schema of a toast table is never the one that its owner announces,
	 * but nobody locks a toast table without its table.
	 */
	if (checkTempNamespaceStatus(nspoid) != TEMP_NAMESPACE_IN_USE)
		return false;
	*owner = GetTempNamespaceProcNumber(nspoid);
	return *owner >= 0 && *owner < NUM_SLOTS;
}

/* The schema of a relation, or of the relation that an object belongs to. */
static Oid
namespace_of(Oid classid, Oid objid)
{
	HeapTuple	tuple;
	Oid			relid;
	Oid			nspoid = InvalidOid;

	if (classid == NamespaceRelationId)
		return objid;

	if (classid == TypeRelationId)
	{
		tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(objid));
		if (HeapTupleIsValid(tuple))
		{
			nspoid = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
			ReleaseSysCache(tuple);
		}
		return nspoid;
	}

	relid = classid == RelationRelationId ? objid : relation_of(classid, objid);
	if (relid < FirstNormalObjectId)
		return InvalidOid;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);

		if (class->relpersistence == RELPERSISTENCE_TEMP)
			nspoid = class->relnamespace;
		ReleaseSysCache(tuple);
	}
	return nspoid;
}

static Oid
relation_of(Oid classid, Oid objid)
{
	switch (classid)
	{
		case AttrDefaultRelationId:
			return GetAttrDefaultColumnAddress(objid).objectId;
		case ConstraintRelationId:
			return relation_of_scanned(classid, ConstraintOidIndexId,
									   Anum_pg_constraint_oid, objid);
		case TriggerRelationId:
			return relation_of_scanned(classid, TriggerOidIndexId,
									   Anum_pg_trigger_oid, objid);
		case RewriteRelationId:
			return relation_of_scanned(classid, RewriteOidIndexId,
									   Anum_pg_rewrite_oid, objid);
		case PolicyRelationId:
			return relation_of_scanned(classid, PolicyOidIndexId,
									   Anum_pg_policy_oid, objid);
		case StatisticExtRelationId:
			return relation_of_scanned(classid, StatisticExtOidIndexId,
									   Anum_pg_statistic_ext_oid, objid);
		default:
			return InvalidOid;
	}
}

static Oid
relation_of_scanned(Oid classid, Oid indexid, AttrNumber oidcol, Oid objid)
{
	Relation	catalog = table_open(classid, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			memberid;
	Oid			relid = InvalidOid;

	ScanKeyInit(&key, oidcol, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(objid));
	scan = systable_beginscan(catalog, indexid, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		relid = temp_row_relation(classid, tuple, &memberid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return relid;
}
