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
#include "lib/ilist.h"
#include "plimsoll/memcat.h"

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
	Size		size;
	CommandId	ins_cid;
	CommandId	del_cid;
	bool		open;			/* inserted by the current transaction */
	bool		deleted;		/* deleted by the current transaction */
	bool		published;		/* holds a reference in shared memory */
	ItemPointerData moved;		/* where a spill put it */
	struct MemRow *newer;		/* the version that an update made of it */
	dlist_node	catnode;
	dlist_node	unitnode;
	MemLink		links[FLEXIBLE_ARRAY_MEMBER];
} MemRow;

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
MemRowVisible(const MemRow *row, const MemSnap *snap)
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
MemRowKnown(const MemRow *row, const MemSnap *snap)
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

/* memcat_key.c */
extern void MemKeyInit(MemoryContext context);
extern MemCatalog *MemKeyCatalog(Oid relid);
extern dlist_head *MemKeyFind(MemCatalog *cat, int keyno, const Datum *values);
extern void MemKeyLink(MemCatalog *cat, MemRow *row);
extern void MemKeyUnlink(MemCatalog *cat, MemRow *row);

static inline MemRow *
MemRowOfLink(int keyno, dlist_node *node)
{
	return (MemRow *) ((char *) node - offsetof(MemRow, links) -
					   keyno * sizeof(MemLink) - offsetof(MemLink, node));
}

/* memcat_store.c */
extern MemRow *MemStoreInsert(MemCatalog *cat, MemUnit *unit, HeapTuple tup);
extern void MemStoreDelete(MemRow *row);
extern void MemStoreFree(MemRow *row);
extern MemRow *MemStoreByTid(Oid relid, const ItemPointerData *tid);
extern MemoryContext MemStoreContext(void);
extern int64 MemStoreRows(void);
extern int64 MemStoreBytes(void);

/* memcat_oid.c */
extern Size MemOidShmemSize(void);
extern void MemOidShmemInit(void);
extern void MemOidHold(const MemRow *row);
extern void MemOidRelease(const MemRow *row);
extern void MemOidReleaseAll(void);

/* memcat_undo.c */
typedef enum MemUndoOp
{
	MEMUNDO_INSERT,
	MEMUNDO_DELETE,
	MEMUNDO_SPILL,				/* a unit is to move */
	MEMUNDO_MOVE,				/* it moved */
} MemUndoOp;

extern void MemUndoInit(void);
extern void MemUndoPrepare(void);
extern void MemUndoPush(MemUndoOp op, void *what);
extern void MemUnitSpill(MemUnit *unit);
extern MemUnit *MemUnitPending(void);
extern void MemUnitMoved(MemUnit *unit);

/* memcat_search.c */
extern MemSnap MemSnapOf(Snapshot snapshot);
extern void MemSearchBegin(MemSearch *search, MemCatalog *cat, MemSnap snap,
						   TupleDesc tupdesc, int nkeys, ScanKey keys);
extern MemRow *MemSearchNext(MemSearch *search);

/* memcat_owner.c */
extern MemUnit *MemOwnerUnit(Oid classId, Oid objectId);
extern MemUnit *MemOwnerRoute(Oid catalogId, HeapTuple tup);
extern void MemOwnerSpillAnchors(Relation catalog, HeapTuple tup);
extern bool MemOwnerKeysOwned(Oid catalogId, int nkeys, ScanKey keys);
extern int64 MemOwnerUnits(void);
extern void MemUnitGone(MemUnit *unit);

/* memcat_shared.c */
extern bool MemSharedPublish(MemRow *row);
extern void MemSharedLockObject(const MemRow *row);
extern void MemSharedWithdraw(MemRow *row);
extern void MemSharedHorizon(void);
extern void MemSharedReport(void);

#endif							/* PLIMSOLL_MEMCAT_INT_H */
