/*-------------------------------------------------------------------------
 *
 * memcat_int.h
 *	  Data structures shared by the files of the memory catalog.
 *
 * A *unit* is a temporary table with everything that belongs to it: toast
 * table, indexes, row types, constraints, defaults, statistics, dependencies,
 * comments.  A unit is served from memory as a whole or not at all: when
 * something refers to it that memory does not serve, the unit is *spilled*,
 * that is, its rows move to the real catalogs in the same transaction.
 *
 * src/include/plimsoll/memcat_int.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_MEMCAT_INT_H
#define PLIMSOLL_MEMCAT_INT_H

#include "access/htup_details.h"
#include "catalog/pg_class_d.h"
#include "lib/ilist.h"
#include "lib/pairingheap.h"
#include "plimsoll/memcat.h"
#include "plimsoll/temp_relation.h"

#define MEMCAT_MAX_KEYS		4	/* hash keys of one catalog */
#define MEMCAT_KEY_COLS		3	/* columns of one hash key */

/* the hash key of pg_depend that leads to what depends on an object */
#define MEMCAT_DEPEND_REFERENCED	1

typedef enum MemColType
{
	MEMCOL_OID,
	MEMCOL_INT2,
	MEMCOL_INT4,
	MEMCOL_NAME,
} MemColType;

/* a key column: all of them sit at a fixed offset and are never null */
typedef struct MemCol
{
	AttrNumber	attno;
	uint16		offset;
	MemColType	type;
} MemCol;

typedef struct MemKeyDef
{
	bool		unique;
	int			ncols;
	MemCol		cols[MEMCAT_KEY_COLS];
} MemKeyDef;

/* all rows that share one value of a hash key */
typedef struct MemKey
{
	struct MemKey *next;		/* in the bucket */
	uint32		hash;
	dlist_head	rows;
} MemKey;

typedef struct MemHash
{
	uint32		nbuckets;		/* power of two */
	uint32		nkeys;
	MemKey	  **buckets;
} MemHash;

/* a catalog that memory serves */
typedef struct MemCatalog
{
	Oid			relid;
	int			nkeys;
	MemKeyDef	keys[MEMCAT_MAX_KEYS];	/* the most specific first */

	/* state */
	MemHash		hash[MEMCAT_MAX_KEYS];
	dlist_head	rows;			/* in the order of insertion */
	int64		nrows;
} MemCatalog;

typedef struct MemUnit
{
	Oid			relid;			/* of the table */
	bool		pending;		/* rows will move at the end of the command */
	bool		spilled;		/* rows moved to the real catalogs */
	bool		gone;			/* ... and the move is committed */
	int			refs;			/* rows + relations (temp_relation.c) */
	dlist_head	rows;
} MemUnit;

typedef struct MemLink
{
	dlist_node	node;
	MemKey	   *key;
} MemLink;

/* one version of a row */
typedef struct MemRow
{
	HeapTupleData tuple;
	MemCatalog *cat;
	MemUnit    *unit;
	uint32		id;				/* what the virtual TID encodes */
	CommandId	ins_cid;
	CommandId	del_cid;
	bool		open;			/* inserted by the current transaction */
	bool		deleted;		/* deleted by the current transaction */
	bool		published;		/* holds a reference in shared memory */
	ItemPointerData moved;		/* where a spill put it */
	struct MemRow *newer;		/* the version that an update made of it */
	dlist_node	catnode;
	dlist_node	unitnode;
	MemLink		links[FLEXIBLE_ARRAY_MEMBER];	/* and a MemHorizon in pg_class */
} MemRow;

/* a horizon of a row of pg_class: the oldest id that its table may hold */
typedef struct MemAge
{
	pairingheap_node node;
	TransactionId id;			/* or multixact id */
} MemAge;

typedef struct MemHorizon
{
	MemAge		frozen;
	MemAge		multi;
} MemHorizon;

static inline MemHorizon *
memcat_row_horizon(MemRow *row)
{
	Assert(row->cat->relid == RelationRelationId);
	return (MemHorizon *) &row->links[row->cat->nkeys];
}

/* what a scan sees */
typedef enum MemView
{
	MEMVIEW_CID,				/* MVCC: by command id */
	MEMVIEW_SELF,				/* everything not deleted */
	MEMVIEW_ANY,
	MEMVIEW_NONE,
} MemView;

typedef struct MemSnap
{
	MemView		view;
	CommandId	curcid;
} MemSnap;

static inline bool
memcat_row_visible(const MemRow *row, const MemSnap *snap)
{
	switch (snap->view)
	{
		case MEMVIEW_CID:
			return (!row->open || row->ins_cid < snap->curcid) &&
				(!row->deleted || row->del_cid >= snap->curcid);
		case MEMVIEW_SELF:
			return !row->deleted;
		case MEMVIEW_ANY:
			return true;
		case MEMVIEW_NONE:
			break;
	}
	return false;
}

/*
 * Was this version made before the snapshot?  If it is the newest of those with
 * its unique key, older ones were gone by then.
 */
static inline bool
memcat_row_known(const MemRow *row, const MemSnap *snap)
{
	return snap->view != MEMVIEW_CID || !row->open || row->ins_cid < snap->curcid;
}

/* a search for rows by scan keys */
typedef struct MemSearch
{
	MemCatalog *cat;
	MemSnap		snap;
	int			keyno;			/* hash key in use, or -1: all rows */
	uint64		answered;		/* scan keys that the hash key says all about */
	bool		unique;			/* at most one visible row */
	dlist_head *head;			/* NULL: no rows */
	dlist_node *cur;			/* last one looked at */
	TupleDesc	tupdesc;
	int			nkeys;
	ScanKey		keys;
} MemSearch;

/*
 * What follows is in the order of the layers: a file calls those before it,
 * never those after it.  All of them may call temp_relation.c.
 */

/* memcat_memory.c */
extern MemoryContext memcat_context(void);
extern void *memcat_alloc(Size size);
extern void *memcat_alloc0(Size size);
extern void *memcat_realloc(void *pointer, Size size);
extern void memcat_free(void *pointer);
extern void memcat_count(int64 bytes);
extern int64 memcat_allocated(void);

/* memcat_key.c */
extern void memcat_key_init(void);
extern MemCatalog *memcat_key_catalogs(int *ncatalogs);
extern MemCatalog *memcat_key_catalog(Oid relid);
extern uint32 memcat_key_hash(MemCatalog *cat, int keyno, const Datum *values);
extern dlist_head *memcat_key_find(MemCatalog *cat, int keyno, const Datum *values);
extern void memcat_key_link(MemCatalog *cat, MemRow *row);
extern void memcat_key_unlink(MemCatalog *cat, MemRow *row);

static inline MemRow *
memcat_row_of_link(int keyno, dlist_node *node)
{
	return (MemRow *) ((char *) node - offsetof(MemRow, links) -
					   keyno * sizeof(MemLink) - offsetof(MemLink, node));
}

/* memcat_undo.c */
typedef struct MemUndoAction
{
	void		(*commit) (void *what); /* may be NULL */
	void		(*abort) (void *what);
} MemUndoAction;

extern void memcat_undo_init(void);
extern void memcat_undo_prepare(void);
extern void memcat_undo_push(const MemUndoAction *action, void *what);

/* memcat_oid.c */
extern Size memcat_oid_shmem_size(void);
extern void memcat_oid_shmem_init(void);
extern void memcat_oid_hold(const MemRow *row);
extern void memcat_oid_release(const MemRow *row);
extern void memcat_oid_release_all(void);

/* memcat_unit.c */
extern MemUnit *memcat_unit_new(Oid relid);
extern void memcat_unit_enter(MemUnit *unit, Oid relid);
extern void memcat_unit_release(MemUnit *unit);
extern void memcat_unit_gone(MemUnit *unit);
extern MemUnit *memcat_unit_of_relation(const TempRelation *rel);
extern MemUnit *memcat_unit_of(Oid classId, Oid objectId);
extern int64 memcat_unit_count(void);

/* memcat_reference.c */
extern Size memcat_reference_shmem_size(void);
extern void memcat_reference_shmem_init(void);
extern int64 memcat_reference_bytes(void);
extern bool memcat_reference_publish(MemRow *row);
extern void memcat_reference_lock(const MemRow *row);
extern void memcat_reference_withdraw(MemRow *row);

/* memcat_shared.c */
extern void memcat_shared_begin(void);
extern void memcat_shared_class_enters(MemRow *row);
extern void memcat_shared_class_leaves(MemRow *row);
extern void memcat_shared_report(int64 tables, int64 rows, int64 bytes);

/* memcat_store.c */
extern void memcat_store_init(void);
extern MemRow *memcat_store_insert(MemCatalog *cat, MemUnit *unit, HeapTuple tup);
extern void memcat_store_delete(MemRow *row);
extern MemRow *memcat_store_by_tid(Oid relid, const ItemPointerData *tid);
extern int64 memcat_store_rows(void);
extern int64 memcat_store_bytes(void);
extern bool memcat_store_has_room(Size size);
extern void (*memcat_store_reclaim) (void);
extern uint64 memcat_store_version;
extern uint32 memcat_store_ids(void);
extern void memcat_store_reserve(uint32 n);
extern bool memcat_store_has(uint32 id);
extern void memcat_store_adopt(MemCatalog *cat, const MemRow *from);

/* memcat_parallel.c */
extern bool memcat_in_worker;
extern void memcat_parallel_forget(void);
extern void memcat_parallel_take_key(MemCatalog *cat, int keyno, const Datum *values);
extern void memcat_parallel_take_all(MemCatalog *cat);

/* memcat_search.c */
extern MemSnap memcat_snap_of(Snapshot snapshot);
extern void memcat_search_begin(MemSearch *search, MemCatalog *cat, MemSnap snap,
								TupleDesc tupdesc, int nkeys, ScanKey keys);
extern MemRow *memcat_search_next(MemSearch *search);

/* memcat_match.c */
struct ExprContext;
extern MemRow **memcat_match(Relation catalog, Snapshot snapshot, int nkeys,
							 ScanKey keys, int *nrows, bool *recheck);
extern MemRow **memcat_match_quals(Relation catalog, Snapshot snapshot, List *quals,
								   struct ExprContext *econtext, int *nrows);

/* memcat_spill.c */
extern void memcat_spill_unit(MemUnit *unit);

/* memcat_owner.c */
extern MemUnit *memcat_owner_route(Oid catalogId, HeapTuple tup);
extern void memcat_owner_spill_anchors(Relation catalog, HeapTuple tup);
extern bool memcat_owner_keys_owned(Oid catalogId, int nkeys, ScanKey keys);

#endif							/* PLIMSOLL_MEMCAT_INT_H */
