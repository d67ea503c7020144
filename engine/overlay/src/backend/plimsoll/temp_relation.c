/*-------------------------------------------------------------------------
 *
 * temp_relation.c
 *	  The temporary relations that this session made and therefore owns.
 *
 * Temporary tables can be made cheap because only their owner reads or writes
 * them.  We do not infer ownership from relpersistence but record it: a relation
 * is ours if this session created it in its own temporary namespace.  Not ours
 * are the relations that a crashed predecessor with the same proc number left
 * behind (RemoveTempRelations() and an autovacuum worker may both be removing
 * them) and, in a parallel worker, the relations of the leader.
 *
 * The catalog objects that belong to a relation (its row type, constraints,
 * defaults, rules ...) are remembered as its members, so that rows about them
 * in pg_depend and its like can be told from everybody else's.  A relation whose
 * rows the memory catalog keeps points to its unit there.
 *
 * This file knows nothing of the parts that rely on the record (invalidation,
 * locks, commit, the memory catalog).  They register a listener and are called
 * when the record changes.
 *
 * A stack of events makes the record transactional: what a rolled-back
 * subtransaction created is forgotten, what it dropped remains ours.  The end of
 * a (sub)transaction visits only its own events, so live tables cost nothing
 * there.
 *
 * A relation that other sessions meet in ordinary work, because it inherits from
 * a permanent table, is "exposed": it stays in the record but is treated as in
 * stock PostgreSQL.
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
#include "plimsoll/temp_relation.h"
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

/*
 * Number of relations in the record; zero short-cuts every test of ownership.
 */
int			temp_relation_count = 0;

#define MAX_LISTENERS 8

static const TempRelationListener *listeners[MAX_LISTENERS];
static int	nlisteners = 0;

#define foreach_listener(listener) \
	for (const TempRelationListener **place = listeners, *listener; \
		 place < listeners + nlisteners && (listener = *place); place++)

static MemoryContext temp_relation_context = NULL;
static relations_hash *relations = NULL;
static members_hash *members = NULL;

#define FIRST_EVENTS 64

static Event *events = NULL;
static int	nevents = 0;
static int	maxevents = 0;

static bool is_wanted(void);
static void create_record(void);
static void push_event(EventKind kind, Oid classid, Oid objid);
static bool is_drop(const Event *event);
static void forget_object(TempObjectKey key);
static void forget_relation(TempRelation *rel);
static void forget_member(TempRelationMember *member);

/* Repeating the call, as the restart after a crash does, is harmless. */
void
temp_relation_listen(const TempRelationListener *listener)
{
	for (int i = 0; i < nlisteners; i++)
		if (listeners[i] == listener)
			return;
	Assert(nlisteners < MAX_LISTENERS);
	listeners[nlisteners++] = listener;
}

TempRelation *
temp_relation_find(Oid relid)
{
	RelationEntry *entry;

	if (temp_relation_context == NULL)
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
	if (!isTempOrTempToastNamespace(relnamespace))
		return;
	foreach_listener(listener)
	{
		if (listener->created)
			listener->created(relid);
	}

	if (relpersistence != RELPERSISTENCE_TEMP ||
		!is_wanted() ||
		IsParallelWorker() ||
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

	foreach_listener(listener)
	{
		if (listener->recording)
			listener->recording();
	}

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
 * every session that plans a query on it opens the child and its children.
 * A relation stays exposed even after a rollback: the stock behaviour is always
 * correct.
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
			foreach_listener(listener)
			{
				if (listener->exposed)
					listener->exposed(childid);
			}
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
 * The current subtransaction has dropped the object.  Another object may get its
 * OID later while the relation still exists.
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

/* The same, but NULL if the relation is exposed. */
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
	foreach_listener(listener)
	{
		if (listener->xact_ended)
			listener->xact_ended();
	}
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

/* The memory that the record takes, but for what the allocator rounds up. */
int64
temp_relation_bytes(void)
{
	if (temp_relation_context == NULL)
		return 0;
	return relations->size * sizeof(RelationEntry) +
		relations->members * sizeof(TempRelation) +
		members->size * sizeof(MemberEntry) +
		members->members * sizeof(TempRelationMember) +
		maxevents * sizeof(Event);
}

/* Does any part need the record with the session's settings? */
static bool
is_wanted(void)
{
	foreach_listener(listener)
	{
		if (listener->setting && *listener->setting)
			return true;
	}
	return false;
}

static void
create_record(void)
{
	MemoryContext context;

	if (temp_relation_context != NULL)
		return;
	/* it is there as a whole, also if memory runs out on the way */
	context = AllocSetContextCreate(CurrentMemoryContext,
									"Plimsoll temp relations",
									ALLOCSET_DEFAULT_SIZES);
	members = members_create(context, 64, NULL);
	events = MemoryContextAlloc(context, FIRST_EVENTS * sizeof(Event));
	maxevents = FIRST_EVENTS;
	relations = relations_create(context, 64, NULL);
	MemoryContextSetParent(context, TopMemoryContext);
	temp_relation_context = context;
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
	foreach_listener(listener)
	{
		if (listener->forgotten)
			listener->forgotten(rel);
	}
	pfree(rel);
}

static void
forget_member(TempRelationMember *member)
{
	members_delete(members, member->key);
	dlist_delete(&member->sibling);
	pfree(member);
}
