/*-------------------------------------------------------------------------
 *
 * temp_relation.h
 *	  The temporary relations that this session made and therefore owns.
 *
 * IDENTIFICATION
 *	  src/include/plimsoll/temp_relation.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_RELATION_H
#define PLIMSOLL_TEMP_RELATION_H

#include "access/htup.h"
#include "lib/ilist.h"

/*
 * One temporary relation (table, index, toast table, sequence, view) that
 * this session created in its own temporary namespace.
 */
typedef struct TempRelation
{
	Oid			relid;
	bool		exposed;		/* other sessions open it in ordinary work */
	struct MemUnit *unit;		/* the memory catalog's, or NULL */
	dlist_head	members;		/* catalog objects that belong to it */
} TempRelation;

/*
 * A part of the server that relies on the record and wants to hear of changes.
 * Each part registers once, when the server starts; any callback may be NULL.
 */
typedef struct TempRelationListener
{
	/* the setting with which the part needs the record, or NULL */
	const bool *setting;

	/* a relation is being created in our temporary schema, recorded or not */
	void		(*created) (Oid relid);
	/* a relation is about to be recorded */
	void		(*recording) (void);
	/* a relation has just become exposed */
	void		(*exposed) (Oid relid);
	/* a relation is leaving the record */
	void		(*forgotten) (TempRelation *rel);
	/* a transaction has ended and the record is up to date */
	void		(*xact_ended) (void);
} TempRelationListener;

extern PGDLLIMPORT int temp_relation_count;

extern void temp_relation_listen(const TempRelationListener *listener);

/* A catalog object as a key of a hash table (lib/simplehash.h). */
typedef struct TempObjectKey
{
	Oid			classid;
	Oid			objid;
} TempObjectKey;

#define TEMP_OBJECT_HASH(key) \
	hash_combine(murmurhash32((key).classid), murmurhash32((key).objid))
#define TEMP_OBJECT_EQUAL(a, b) \
	((a).classid == (b).classid && (a).objid == (b).objid)

extern TempRelation *temp_relation_find(Oid relid);
extern TempRelation *temp_relation_enter(Oid relid);
extern void temp_relation_created(Oid relid, Oid relnamespace,
								  char relpersistence);
extern void temp_relation_dropped(Oid relid);
extern void temp_relation_inherits(Oid relid, Oid parentid);

extern void temp_relation_add_member(TempRelation *rel, Oid classid, Oid objid);
extern void temp_relation_member_dropped(Oid classid, Oid objid);
extern TempRelation *temp_relation_holding(Oid classid, Oid objid);
extern TempRelation *temp_relation_of_object(Oid classid, Oid objid);

extern int64 temp_relation_bytes(void);
extern void AtEOXact_TempRelation(bool isCommit);
extern void AtEOSubXact_TempRelation(bool isCommit, SubTransactionId mySubid,
									 SubTransactionId parentSubid);

/*
 * Our record of the relation, if it is ours and not exposed, else NULL.  The
 * first test is all that a session without temporary relations pays.
 */
static inline TempRelation *
temp_relation_owned(Oid relid)
{
	TempRelation *rel;

	if (likely(temp_relation_count == 0))
		return NULL;
	rel = temp_relation_find(relid);
	return rel != NULL && !rel->exposed ? rel : NULL;
}

#endif							/* PLIMSOLL_TEMP_RELATION_H */
