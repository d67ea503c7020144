/*-------------------------------------------------------------------------
 *
 * temp_invalidation.c
 *	  Cache invalidation of temporary relations without the shared queue.
 *
 * In stock PostgreSQL each catalog row of a temporary table makes every other
 * session of the server read one to three invalidation messages when it is
 * inserted and as many when it is deleted, although none of them has any use
 * for that row.  With temp_local_invalidation = on a session keeps the messages
 * about relations of its own (see temp_relation.c) to itself: inval.c
 * files them apart, executes them at the same points as ever (command end,
 * subtransaction and transaction abort), and leaves them out of the shared
 * queue, the commit record, the inplace-update record, and logical WAL.
 *
 * Other sessions may still look at such rows: psql's \d, a scan of pg_class with
 * a function over it, DROP OWNED, DROP TYPE ... CASCADE, or a superuser with
 * ALTER TABLE pg_temp_3.t.  Nobody tells them when their cached copy goes stale.
 * Therefore a session that loads something about another session's temporary
 * relation into its catcache or relcache files an invalidation message to
 * itself.  The message is executed at its next AcceptInvalidationMessages(), as
 * though the owner had changed the row just then.  That is where stock PostgreSQL
 * would learn of a change, so no caller sees anything new.  The same applies to
 * negative entries that a temporary relation may turn positive.  The cost falls
 * on sessions that look at other sessions' temporary tables.
 *
 * Catalog snapshots can be stale, too.  A session that is about to act on what
 * pg_depend or pg_shdepend say (DROP TYPE, DROP ROLE) takes a lock first, and
 * lmgr.c discards the catalog snapshot then.
 *
 * These precautions are in force from the moment a session announces that it
 * keeps messages to itself until the server stops, and always during recovery,
 * because the primary's WAL lacks those messages.  The first announcement makes
 * every session drop what it cached before.
 *
 * IDENTIFICATION
 *	  src/backend/plimsoll/temp_invalidation.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_sequence.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_statistic_ext_data.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plimsoll/temp_invalidation.h"
#include "plimsoll/temp_row.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Catalogs of which a session may have cached rows of temporary relations. */
static const Oid cached_catalogs[] = {
	RelationRelationId,
	AttributeRelationId,
	TypeRelationId,
	IndexRelationId,
	ConstraintRelationId,
	StatisticRelationId,
	StatisticExtRelationId,
	StatisticExtDataRelationId,
	RewriteRelationId,
	SequenceRelationId,
	PartitionedRelationId,
};

typedef struct TempInvalidationShared
{
	/* Some session keeps messages to itself, and everyone has been told. */
	pg_atomic_uint32 announced;
} TempInvalidationShared;

bool		temp_local_invalidation = false;

static TempInvalidationShared *shared = NULL;

/*
 * Messages to ourselves that are still to be executed: the deferred ones from
 * first_deferred on.  Their number is public for a cheap test.
 */
int			temp_invalidations_deferred = 0;
static SharedInvalidationMessage first_messages[64];
static SharedInvalidationMessage *deferred = first_messages;
static int	first_deferred = 0;
static int	maxdeferred = lengthof(first_messages);

/* There was no memory for a message: all that is cached may be stale. */
static bool overflowed = false;

/* How many have been executed since the session began. */
static uint64 executed = 0;

static void announce(void);
static bool precautions_in_force(void);
static bool tuple_is_foreign(Oid catalog, HeapTuple tuple);
static bool key_may_become_foreign(CatCache *cache, Datum *keys);
static bool relation_is_foreign(Oid relid);
static bool statistics_are_foreign(Oid stxoid);
static bool namespace_is_foreign(Oid nspoid);

const TempRelationListener temp_invalidation_listener = {
	.setting = &temp_local_invalidation,
	/* before anyone can miss a change that we keep to ourselves */
	.recording = announce,
};

Size
temp_invalidation_shmem_size(void)
{
	return sizeof(TempInvalidationShared);
}

void
temp_invalidation_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("Plimsoll temp invalidation",
							 temp_invalidation_shmem_size(), &found);
	if (!found)
		pg_atomic_init_u32(&shared->announced, 0);
}

/*
 * Tells the server that it will not hear of some changes from now on.  Must come
 * before the first such change commits.
 */
static void
announce(void)
{
	SharedInvalidationMessage msgs[lengthof(cached_catalogs) + 1];
	int			n = 0;

	if (!temp_local_invalidation ||
		pg_atomic_read_u32(&shared->announced) == 2)
		return;

	/* Whoever loads a row from here on takes the precautions ... */
	pg_atomic_write_u32(&shared->announced, 1);
	pg_memory_barrier();

	/* ... and whoever has loaded one before drops it, in all databases. */
	memset(msgs, 0, sizeof(msgs));
	for (int i = 0; i < lengthof(cached_catalogs); i++)
	{
		msgs[n].cat.id = SHAREDINVALCATALOG_ID;
		msgs[n].cat.dbId = InvalidOid;
		msgs[n].cat.catId = cached_catalogs[i];
		n++;
	}
	msgs[n].rc.id = SHAREDINVALRELCACHE_ID;
	msgs[n].rc.dbId = InvalidOid;
	msgs[n].rc.relId = InvalidOid;
	n++;
	SendSharedInvalidMessages(msgs, n);

	pg_atomic_write_u32(&shared->announced, 2);
}

/*
 * Takes note of a catalog row that is about to be changed: if it stands for a
 * catalog object that belongs to a temporary relation of ours, the object becomes
 * a member of the relation.  Returns whether the row is about such a relation, so
 * that no other session needs to hear of it.
 */
bool
temp_invalidation_record_row(Relation catalog, HeapTuple tuple)
{
	Oid			memberid;
	TempRelation *rel;

	if (temp_relation_count == 0)
		return false;
	rel = temp_row_owner(RelationGetRelid(catalog), tuple, &memberid);
	if (rel == NULL)
		return false;
	if (OidIsValid(memberid))
		temp_relation_add_member(rel, RelationGetRelid(catalog), memberid);
	return temp_local_invalidation && !rel->exposed;
}

/*
 * Is the row about such a relation?  Nothing is recorded, so this may be called
 * in a critical section.
 */
bool
temp_invalidation_is_silent(Relation catalog, HeapTuple tuple)
{
	return temp_local_invalidation && temp_row_is_ours(catalog, tuple);
}

/*
 * A catcache entry has been made: from this tuple, or, if tuple is NULL, a
 * negative one for these keys.  If it is about a temporary relation of another
 * session, file a message that will discard it.
 */
void
temp_invalidation_catcache_loaded(CatCache *cache, uint32 hashValue,
								  HeapTuple tuple, Datum *keys)
{
	SharedInvalidationMessage msg;
	volatile bool foreign = true;

	if (!precautions_in_force())
		return;

	memset(&msg, 0, sizeof(msg));
	msg.cc.id = (int8) cache->id;
	msg.cc.dbId = MyDatabaseId;
	msg.cc.hashValue = hashValue;

	/* The entry stays in the cache, whatever fails here. */
	PG_TRY();
	{
		foreign = tuple ? tuple_is_foreign(cache->cc_reloid, tuple) :
			key_may_become_foreign(cache, keys);
	}
	PG_FINALLY();
	{
		if (foreign)
			temp_invalidation_defer(&msg);
	}
	PG_END_TRY();
}

/*
 * The same for a relcache entry.  With debug_discard_caches the server discards
 * it at every opportunity anyway, even while it is being rebuilt; a message that
 * declares the entry outdated would make the rebuild start over forever.
 */
void
temp_invalidation_relcache_loaded(Relation relation)
{
	SharedInvalidationMessage msg;

	if (debug_discard_caches > 0 ||
		relation->rd_rel->relpersistence != RELPERSISTENCE_TEMP ||
		relation->rd_islocaltemp ||
		!precautions_in_force())
		return;

	memset(&msg, 0, sizeof(msg));
	msg.rc.id = SHAREDINVALRELCACHE_ID;
	msg.rc.dbId = MyDatabaseId;
	msg.rc.relId = RelationGetRelid(relation);
	temp_invalidation_defer(&msg);
}

/*
 * We have got an exclusive lock and are going to act on what the catalogs say
 * now, for example about dependencies.  In stock PostgreSQL an invalidation
 * message would have discarded an older catalog snapshot.
 */
void
temp_invalidation_exclusive_lock_taken(void)
{
	if (precautions_in_force())
		InvalidateCatalogSnapshot();
}

/* Makes room for a message; false: there is no memory. */
static bool
make_room(void)
{
	int			end = first_deferred + temp_invalidations_deferred;
	Size		newmax;
	SharedInvalidationMessage *messages;

	/* if half of the list has been executed, use that space again */
	if (end == maxdeferred && first_deferred > temp_invalidations_deferred)
	{
		memmove(deferred, deferred + first_deferred,
				temp_invalidations_deferred * sizeof(SharedInvalidationMessage));
		first_deferred = 0;
		end = temp_invalidations_deferred;
	}
	if (end < maxdeferred)
		return true;

	newmax = 2 * (Size) maxdeferred;
	messages = MemoryContextAllocExtended(TopMemoryContext,
										  newmax * sizeof(SharedInvalidationMessage),
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (messages == NULL)
		return false;
	memcpy(messages, deferred, end * sizeof(SharedInvalidationMessage));
	if (deferred != first_messages)
		pfree(deferred);
	deferred = messages;
	maxdeferred = newmax;
	return true;
}

/*
 * Have this message executed at the next AcceptInvalidationMessages().  This does
 * not fail: what it is about is cached already.  If the list is full, so that there
 * is something to execute, all that is cached goes with it.
 */
void
temp_invalidation_defer(SharedInvalidationMessage *msg)
{
	if (!make_room())
	{
		Assert(temp_invalidations_deferred > 0);
		overflowed = true;
		return;
	}
	deferred[first_deferred + temp_invalidations_deferred] = *msg;
	temp_invalidations_deferred++;
}

/*
 * Execute those that are there now.  Rebuilding an open relation may file new
 * ones, and may call this again: then the inner call executes what is left.  It
 * may also fail.  As in ReceiveSharedInvalidMessages(), a message counts as
 * executed before it is, and the others remain for the next call.
 */
void
temp_invalidation_run_deferred(void)
{
	uint64		end = executed + temp_invalidations_deferred;

	if (overflowed)
	{
		overflowed = false;
		executed = end;
		first_deferred = temp_invalidations_deferred = 0;
		SharedInvalidMessageCounter++;
		InvalidateSystemCaches();
		return;
	}
	while (executed < end)
	{
		SharedInvalidationMessage msg = deferred[first_deferred];

		executed++;
		first_deferred++;
		if (--temp_invalidations_deferred == 0)
			first_deferred = 0;
		SharedInvalidMessageCounter++;
		LocalExecuteInvalidationMessage(&msg);
	}
}

static bool
precautions_in_force(void)
{
	return pg_atomic_read_u32(&shared->announced) != 0 || RecoveryInProgress();
}

/* Is this catalog row about a temporary relation of another session? */
static bool
tuple_is_foreign(Oid catalog, HeapTuple tuple)
{
	Oid			memberid;

	switch (catalog)
	{
		case RelationRelationId:
			{
				Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);

				return class->relpersistence == RELPERSISTENCE_TEMP &&
					namespace_is_foreign(class->relnamespace);
			}
		case TypeRelationId:
			return namespace_is_foreign(((Form_pg_type) GETSTRUCT(tuple))->typnamespace);
		case StatisticExtDataRelationId:
			return statistics_are_foreign(((Form_pg_statistic_ext_data) GETSTRUCT(tuple))->stxoid);
		default:
			return relation_is_foreign(temp_row_relation(catalog, tuple, &memberid));
	}
}

/*
 * There is no such row now.  Might another session's temporary relation create
 * one?  A new relation may get an OID that is free now.
 */
static bool
key_may_become_foreign(CatCache *cache, Datum *keys)
{
	switch (cache->id)
	{
		case RELOID:
		case TYPEOID:
		case CONSTROID:
		case STATEXTOID:
			return DatumGetObjectId(keys[0]) >= FirstNormalObjectId;
		case RELNAMENSP:
		case TYPENAMENSP:
			return namespace_is_foreign(DatumGetObjectId(keys[1]));
		case STATEXTNAMENSP:
			return DatumGetObjectId(keys[1]) >= FirstNormalObjectId;
		case ATTNAME:
		case ATTNUM:
		case INDEXRELID:
		case STATRELATTINH:
		case RULERELNAME:
		case SEQRELID:
		case PARTRELID:
			return relation_is_foreign(DatumGetObjectId(keys[0]));
		case STATEXTDATASTXOID:
			return statistics_are_foreign(DatumGetObjectId(keys[0]));
		default:
			return false;
	}
}

/* Is, or may become, this OID that of another session's temporary relation? */
static bool
relation_is_foreign(Oid relid)
{
	Relation	cached;
	HeapTuple	tuple;
	bool		foreign;

	if (relid < FirstNormalObjectId || temp_relation_owned(relid) != NULL)
		return false;

	/* A caller that asks about a relation's rows usually has it open. */
	cached = RelationIdGetCached(relid);
	if (cached != NULL)
		return cached->rd_rel->relpersistence == RELPERSISTENCE_TEMP &&
			!cached->rd_islocaltemp;

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return true;
	foreign = tuple_is_foreign(RelationRelationId, tuple);
	ReleaseSysCache(tuple);
	return foreign;
}

static bool
statistics_are_foreign(Oid stxoid)
{
	HeapTuple	tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(stxoid));
	bool		foreign;

	if (!HeapTupleIsValid(tuple))
		return true;
	foreign = relation_is_foreign(((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxrelid);
	ReleaseSysCache(tuple);
	return foreign;
}

static bool
namespace_is_foreign(Oid nspoid)
{
	return nspoid >= FirstNormalObjectId && isOtherTempNamespace(nspoid);
}
