/*-------------------------------------------------------------------------
 *
 * temp_relation.c
 *	  The temporary relations that this session made and therefore owns.
 *
 * Everything that makes temporary tables cheap rests on one fact: nobody but
 * their owner reads or writes them.  Ownership is therefore a matter of record,
 * not of persistence: a relation is ours if this session created it, in its
 * own temporary namespace.  Leftovers of a crashed predecessor with the same
 * proc number, which RemoveTempRelations() cleans up while an autovacuum
 * worker may be at it too, are not ours; nor are, in a parallel worker, the
 * relations of the leader.
 *
 * The catalog objects that belong to a relation (its row type, constraints,
 * defaults, rules ...) are remembered as its members, so that rows about them
 * in pg_depend and its like can be told from everybody else's.  A relation whose
 * rows the memory catalog keeps leads to its unit there.
 *
 * The record follows (sub)transactions by a stack of events: what a rolled-back
 * subtransaction created is forgotten, what it dropped is ours still.  Only the
 * events of the ending (sub)transaction are visited, so that ten thousand live
 * tables cost nothing there.
 *
 * A relation that other sessions come across in ordinary work, because it
 * inherits from a permanent table, is "exposed": it stays in the record, and is
 * treated as any temporary relation is in stock PostgreSQL.
 *
 * IDENTIFICATION
 *	  src/backend/plimsoll/temp_relation.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "common/hashfn.h"
#include "plimsoll/memcat.h"
#include "plimsoll/temp_commit.h"
#include "plimsoll/temp_invalidation.h"
#include "plimsoll/temp_lock.h"
#include "plimsoll/temp_relation.h"
#include "plimsoll/temp_toast.h"
#include "utils/memutils.h"

/* The record itself: relations by OID. */
typedef struct RelationEntry
{
	Oid			relid;			/* hash key */
	TempRelation *rel;
	char		status;
} RelationEntry;

#define SH_PREFIX relations
#define SH_ELEMENT_TYPE RelationEntry
#define SH_KEY_TYPE Oid
#define SH_KEY relid
#define SH_HASH_KEY(tb, key) murmurhash32(key)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A catalog object that belongs to a relation. */
typedef struct TempRelationMember
{
	TempObjectKey key;
	TempRelation *rel;
	dlist_node	sibling;		/* in rel->members */
} TempRelationMember;

typedef struct MemberEntry
{
	TempObjectKey key;
	TempRelationMember *member;
	char		status;
} MemberEntry;

#define SH_PREFIX members
#define SH_ELEMENT_TYPE MemberEntry
#define SH_KEY_TYPE TempObjectKey
#define SH_KEY key
#define SH_HASH_KEY(tb, key) TEMP_OBJECT_HASH(key)
#define SH_EQUAL(tb, a, b) TEMP_OBJECT_EQUAL(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * What happened in the current transaction, oldest first.  Events name their
 * object by key, so one whose object is gone already does no harm.
 */
typedef enum EventKind
{
	RELATION_CREATED,
	RELATION_DROPPED,
	MEMBER_ADDED,
	MEMBER_DROPPED,
} EventKind;

typedef struct Event
{
	EventKind	kind;
	SubTransactionId subid;
	TempObjectKey object;
} Event;

/* Number of relations in the record; zero short-cuts every test of ownership. */
int			temp_relation_count = 0;

static MemoryContext temp_relation_context = NULL;
static relations_hash *relations = NULL;
static members_hash *members = NULL;

static Event *events = NULL;
static int	nevents = 0;
static int	maxevents = 0;

static void create_record(void);
static void push_event(EventKind kind, Oid classid, Oid objid);
static bool is_drop(const Event *event);
static void forget_object(TempObjectKey key);
static void forget_relation(TempRelation *rel);
static void forget_member(TempRelationMember *member);

TempRelation *
temp_relation_find(Oid relid)
{
	RelationEntry *entry;

	if (relations == NULL)
		return NULL;
	entry = relations_lookup(relations, relid);
	return entry ? entry->rel : NULL;
}

/*
 * A relation with this OID is about to be created, or has just been: it is
 * ours if it goes to our temporary namespace.  Repeating the call is harmless.
 */
void
temp_relation_created(Oid relid, Oid relnamespace, char relpersistence)
{
	if (isTempOrTempToastNamespace(relnamespace) && !MemCatServes(relid))
		MemCatNamesOutside = true;
	if (relpersistence != RELPERSISTENCE_TEMP ||
		!(temp_local_invalidation || temp_skip_locks || temp_async_commit) ||
		IsParallelWorker() ||
		!isTempOrTempToastNamespace(relnamespace) ||
		temp_relation_find(relid) != NULL)
		return;

	temp_relation_enter(relid);
}

/* Our record of a relation that is about to be created in our schema. */
TempRelation *
temp_relation_enter(Oid relid)
{
	TempRelation *rel;
	bool		found;

	/* Before anyone can miss a change that we keep to ourselves. */
	if (temp_local_invalidation)
		temp_invalidation_announce();

	create_record();
	rel = MemoryContextAllocZero(temp_relation_context, sizeof(TempRelation));
	rel->relid = relid;
	dlist_init(&rel->members);
	push_event(RELATION_CREATED, RelationRelationId, relid);
	relations_insert(relations, relid, &found)->rel = rel;
	Assert(!found);
	temp_relation_count++;
	return rel;
}

/* The relation has been dropped by the current subtransaction. */
void
temp_relation_dropped(Oid relid)
{
	if (temp_relation_count > 0 && temp_relation_find(relid) != NULL)
		push_event(RELATION_DROPPED, RelationRelationId, relid);
}

/*
 * A relation has been made a child of another one.  If the parent is not ours,
 * whoever plans a query on it will come across the child and its children,
 * if only to pass them by.  There is no way back, not even by rollback: being
 * treated as stock is always right.
 */
void
temp_relation_inherits(Oid relid, Oid parentid)
{
	if (temp_relation_owned(relid) == NULL || temp_relation_owned(parentid) != NULL)
		return;

	foreach_oid(childid, find_all_inheritors(relid, NoLock, NULL))
	{
		TempRelation *rel = temp_relation_owned(childid);

		if (rel != NULL)
		{
			rel->exposed = true;
			temp_lock_make_real(childid);
		}
	}
}

/* The catalog object is a part of the relation: it comes and goes with it. */
void
temp_relation_add_member(TempRelation *rel, Oid classid, Oid objid)
{
	TempObjectKey key = {classid, objid};
	MemberEntry *entry = members_lookup(members, key);
	TempRelationMember *member;
	bool		found;

	if (entry != NULL)
	{
		if (entry->member->rel == rel)
			return;
		forget_member(entry->member);	/* the OID has come round again */
	}

	member = MemoryContextAlloc(temp_relation_context,
								sizeof(TempRelationMember));
	member->key = key;
	member->rel = rel;
	push_event(MEMBER_ADDED, classid, objid);
	members_insert(members, key, &found)->member = member;
	dlist_push_head(&rel->members, &member->sibling);
}

/*
 * The object has been dropped by the current subtransaction.  Its OID may be
 * a stranger's in the next, while the relation lives.
 */
void
temp_relation_member_dropped(Oid classid, Oid objid)
{
	TempObjectKey key = {classid, objid};

	if (temp_relation_count > 0 && members_lookup(members, key) != NULL)
		push_event(MEMBER_DROPPED, classid, objid);
}

/* Our relation that a catalog object belongs to, exposed or not, or NULL. */
TempRelation *
temp_relation_holding(Oid classid, Oid objid)
{
	TempObjectKey key = {classid, objid};
	MemberEntry *entry;

	if (temp_relation_count == 0)
		return NULL;
	if (classid == RelationRelationId)
		return temp_relation_find(objid);
	entry = members_lookup(members, key);
	return entry ? entry->member->rel : NULL;
}

/* The same if it is nobody else's business. */
TempRelation *
temp_relation_of_object(Oid classid, Oid objid)
{
	TempRelation *rel = temp_relation_holding(classid, objid);

	return rel != NULL && !rel->exposed ? rel : NULL;
}

/* Keep or undo what the ending transaction did to the record. */
void
AtEOXact_TempRelation(bool isCommit)
{
	while (nevents > 0)
	{
		Event	   *event = &events[--nevents];

		if (is_drop(event) == isCommit)
			forget_object(event->object);
	}
	AtEOXact_MemCat();
	AtEOXact_TempToast();
}

/*
 * The same for a subtransaction: hand its events to the parent, or undo them.
 * They are on top of the stack, those of its children having come to it.
 */
void
AtEOSubXact_TempRelation(bool isCommit, SubTransactionId mySubid,
						 SubTransactionId parentSubid)
{
	if (isCommit)
	{
		for (int i = nevents - 1; i >= 0 && events[i].subid >= mySubid; i--)
			events[i].subid = parentSubid;
		return;
	}

	while (nevents > 0 && events[nevents - 1].subid >= mySubid)
	{
		Event	   *event = &events[--nevents];

		if (!is_drop(event))
			forget_object(event->object);
	}
}

static void
create_record(void)
{
	if (temp_relation_context != NULL)
		return;
	temp_relation_context = AllocSetContextCreate(TopMemoryContext,
												  "Plimsoll temp relations",
												  ALLOCSET_DEFAULT_SIZES);
	relations = relations_create(temp_relation_context, 64, NULL);
	members = members_create(temp_relation_context, 256, NULL);
	maxevents = 64;
	events = MemoryContextAlloc(temp_relation_context,
								maxevents * sizeof(Event));
}

static void
push_event(EventKind kind, Oid classid, Oid objid)
{
	if (nevents == maxevents)
	{
		events = repalloc_array(events, Event, maxevents * 2);
		maxevents *= 2;
	}
	events[nevents].kind = kind;
	events[nevents].subid = GetCurrentSubTransactionId();
	events[nevents].object.classid = classid;
	events[nevents].object.objid = objid;
	nevents++;
}

static bool
is_drop(const Event *event)
{
	return event->kind == RELATION_DROPPED || event->kind == MEMBER_DROPPED;
}

static void
forget_object(TempObjectKey key)
{
	if (key.classid == RelationRelationId)
	{
		TempRelation *rel = temp_relation_find(key.objid);

		if (rel != NULL)
			forget_relation(rel);
	}
	else
	{
		MemberEntry *entry = members_lookup(members, key);

		if (entry != NULL)
			forget_member(entry->member);
	}
}

static void
forget_relation(TempRelation *rel)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &rel->members)
		forget_member(dlist_container(TempRelationMember, sibling, iter.cur));
	relations_delete(relations, rel->relid);
	temp_relation_count--;
	if (rel->unit != NULL)
		MemUnitRelease(rel->unit);
	pfree(rel);
}

static void
forget_member(TempRelationMember *member)
{
	members_delete(members, member->key);
	dlist_delete(&member->sibling);
	pfree(member);
}
