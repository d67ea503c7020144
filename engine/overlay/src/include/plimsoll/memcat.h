/*-------------------------------------------------------------------------
 *
 * memcat.h
 *	  The memory catalog: catalog rows of this session's own temporary
 *	  tables live in backend memory instead of the shared catalogs.
 *
 * This header is what core sees: every hook in an existing file calls one of
 * these.  While the session owns no memory row MemCatActive is false and each
 * hook costs one predictable branch.
 *
 * src/include/plimsoll/memcat.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_MEMCAT_H
#define PLIMSOLL_MEMCAT_H

#include "access/htup.h"
#include "access/sdir.h"
#include "access/skey.h"
#include "access/transam.h"
#include "catalog/objectaddress.h"
#include "executor/tuptable.h"
#include "nodes/parsenodes.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* settings */
extern PGDLLIMPORT bool enable_temp_memory_catalog;
extern PGDLLIMPORT int temp_memory_catalog_limit;

/* true while this session has a table in memory, or rows of one */
extern PGDLLIMPORT bool MemCatActive;

/* true once the real pg_class has had a row in our temporary schemas */
extern PGDLLIMPORT bool MemCatNamesOutside;

/* true while some table must move to the real catalogs at command end */
extern PGDLLIMPORT bool MemCatSpillPending;

/*
 * Memory rows carry virtual TIDs: block numbers no catalog will ever reach.
 * A user table could, hence the test of the catalog's OID.
 */
#define MEMCAT_FIRST_BLOCK	((BlockNumber) 0xE0000000)

static inline bool
MemCatIsTid(Oid relid, const ItemPointerData *tid)
{
	return relid < FirstUnpinnedObjectId &&
		ItemPointerGetBlockNumberNoCheck(tid) >= MEMCAT_FIRST_BLOCK &&
		ItemPointerGetBlockNumberNoCheck(tid) != InvalidBlockNumber;
}

/* ownership: which relations are served from memory (memcat_owner.c) */
extern Oid	MemCatNewTable(const CreateStmt *stmt, char relkind,
						   Oid accessMethodId, Oid tablespaceId);
extern Oid	MemCatNewMember(Oid tableId, Oid tablespaceId);
extern bool MemCatHasRows(void);
extern bool MemCatServes(Oid relid);
extern bool MemCatMayHave(Oid catalogId, const ObjectAddress *object);
struct MemUnit;
extern void MemUnitRelease(struct MemUnit *unit);
extern void AtEOXact_MemCat(void);

/* writes (memcat_write.c); true means the row was dealt with in memory */
extern bool MemCatInsert(Relation catalog, HeapTuple tup);
extern bool MemCatUpdate(Relation catalog, ItemPointer *otid, HeapTuple tup);
extern bool MemCatDelete(Relation catalog, ItemPointer *tid);
extern void MemCatInplaceUpdate(Relation catalog, HeapTuple tup);
extern void MemCatWrittenBySql(Relation catalog, HeapTuple tup);
extern void MemCatSpill(void);

/* catalog scans through systable_*, and the catcache's (memcat_scan.c) */
typedef struct MemCatScan MemCatScan;

extern bool MemCatLookup(Oid catalogId, TupleDesc tupdesc, int nkeys,
						 ScanKey keys, HeapTuple *tuple);
extern MemCatScan *MemCatBeginScan(Relation catalog, Snapshot snapshot,
								   int nkeys, ScanKey key,
								   bool *memory_only);
extern HeapTuple MemCatScanNext(MemCatScan *scan);
extern bool MemCatScanExhausted(MemCatScan *scan);
extern void MemCatEndScan(MemCatScan *scan);

/* single rows by virtual TID */
extern bool MemCatFetch(Oid catalogId, ItemPointer tid, Snapshot snapshot,
						TupleTableSlot *slot);
extern bool MemCatTidVisible(Oid catalogId, ItemPointer tid, Snapshot snapshot);
extern bool MemCatTidDeleted(Oid catalogId, ItemPointer tid, CommandId *cmax);
extern bool MemCatLatestTid(Oid catalogId, ItemPointer tid, Snapshot snapshot,
							ItemPointer moved);

/* scans of the executor and of COPY (memcat_exec.c) */
struct TableScanDescData;
struct IndexScanDescData;
typedef struct MemCatTableScan MemCatTableScan;
typedef struct MemCatIndexScan MemCatIndexScan;

extern void MemCatStoreSlot(HeapTuple tup, TupleTableSlot *slot);
extern bool MemCatStoreNext(HeapTuple tup, TupleTableSlot *slot);
extern void MemCatAttachTable(struct TableScanDescData *scan);
extern void MemCatAttachTidRange(struct TableScanDescData *scan,
								 ItemPointer mintid, ItemPointer maxtid);
extern bool MemCatTableBefore(struct TableScanDescData *scan,
							  ScanDirection direction, bool inited,
							  HeapTuple *tup);
extern HeapTuple MemCatTableAfter(struct TableScanDescData *scan);
extern void MemCatTableRescan(struct TableScanDescData *scan);
extern void MemCatTableEnd(struct TableScanDescData *scan);
extern void MemCatAttachIndex(struct IndexScanDescData *scan);
extern void MemCatIndexRescan(struct IndexScanDescData *scan,
							  ScanKey keys, int nkeys);
extern bool MemCatIndexMerging(struct IndexScanDescData *scan);
extern bool MemCatIndexNextSlot(struct IndexScanDescData *scan,
								ScanDirection direction, TupleTableSlot *slot);
extern ItemPointer MemCatIndexNextTid(struct IndexScanDescData *scan,
									  ScanDirection direction);
extern void MemCatIndexMark(struct IndexScanDescData *scan);
extern void MemCatIndexRestore(struct IndexScanDescData *scan);
extern void MemCatIndexEnd(struct IndexScanDescData *scan);

/* the end of a session (memcat_end.c) */
extern void MemCatEndSession(void);
extern void MemCatDropTables(int flags);

/* what other backends must know (memcat_shared.c) */
extern Size MemCatShmemSize(void);
extern void MemCatShmemInit(void);
extern void MemCatClampFrozen(Oid dbid, TransactionId *frozenXid,
							  MultiXactId *minMulti);
extern bool MemCatReferencedElsewhere(Oid dbid, Oid classId, Oid objectId);
extern void MemCatForbidDrop(const ObjectAddress *object);
extern void MemCatForbidAlterType(Oid typeOid);

/* OIDs that rows in memory have (memcat_oid.c) */
extern Oid	MemCatNewOid(Oid catalogId);
extern void MemCatOidsComeAgain(void);
extern PGDLLEXPORT int64 MemCatOidsHeld(void);

extern PGDLLEXPORT bool MemCatSession(int index, int *pid, Oid *database,
									  int64 *tables, int64 *rows, int64 *bytes);

#endif							/* PLIMSOLL_MEMCAT_H */
