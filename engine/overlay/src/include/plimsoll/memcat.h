/*-------------------------------------------------------------------------
 *
 * memcat.h
 *	  The memory catalog: catalog rows of this session's own temporary
 *	  tables live in backend memory instead of the shared catalogs.
 *
 * This header is what core sees: every hook in an existing file calls one of
 * these.  While the session owns no memory row memcat_active is false and each
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
#include "nodes/plannodes.h"
#include "storage/dsm.h"
#include "storage/itemptr.h"
#include "tcop/dest.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* settings */
extern PGDLLIMPORT bool enable_temp_memory_catalog;
extern PGDLLIMPORT int temp_memory_catalog_limit;

/* true while this session has a table in memory, or rows of one */
extern PGDLLIMPORT bool memcat_active;

/* true once the real pg_class has had a row in our temporary schemas */
extern PGDLLIMPORT bool memcat_names_outside;

/* true while some table must move to the real catalogs at command end */
extern PGDLLIMPORT bool memcat_spill_pending;

/*
 * Memory rows carry virtual TIDs: block numbers no catalog will ever reach.
 * A user table could, hence the test of the catalog's OID.
 */
#define MEMCAT_FIRST_BLOCK	((BlockNumber) 0xE0000000)

static inline bool
memcat_tid_is_virtual(Oid relid, const ItemPointerData *tid)
{
	return relid < FirstUnpinnedObjectId &&
		ItemPointerGetBlockNumberNoCheck(tid) >= MEMCAT_FIRST_BLOCK &&
		ItemPointerGetBlockNumberNoCheck(tid) != InvalidBlockNumber;
}

/* ownership: which relations are served from memory (memcat_owner.c) */
extern Oid	memcat_new_table(const CreateStmt *stmt, char relkind,
							 Oid accessMethodId, Oid tablespaceId);
extern Oid	memcat_new_member(Oid tableId, Oid tablespaceId);
extern bool memcat_serves(Oid relid);
extern bool memcat_may_have(Oid catalogId, const ObjectAddress *object);

struct FormExtraData_pg_attribute;

/* writes (memcat_write.c); true means the row was dealt with in memory */
extern bool memcat_insert(Relation catalog, HeapTuple tup);
extern bool memcat_insert_columns(Relation catalog, TupleDesc columns, Oid relid,
								  const struct FormExtraData_pg_attribute *extra);
extern bool memcat_update(Relation catalog, ItemPointer *otid, HeapTuple tup);
extern bool memcat_delete(Relation catalog, ItemPointer *tid);
extern void memcat_update_inplace(Relation catalog, HeapTuple tup);
extern void memcat_written_by_sql(Relation catalog, HeapTuple tup);

/* moves to the real catalogs (memcat_spill.c) */
extern void memcat_spill(void);

/* catalog scans through systable_*, and the catcache's (memcat_scan.c) */
typedef struct MemCatScan MemCatScan;

extern bool memcat_lookup(Oid catalogId, TupleDesc tupdesc, int nkeys,
						  ScanKey keys, HeapTuple *tuple);
extern HeapTuple memcat_scan_next(MemCatScan *scan);
extern bool memcat_scan_exhausted(MemCatScan *scan);

/* single rows by virtual TID */
extern bool memcat_tid_fetch(Oid catalogId, ItemPointer tid, Snapshot snapshot,
							 TupleTableSlot *slot);
extern bool memcat_tid_visible(Oid catalogId, ItemPointer tid, Snapshot snapshot);
extern bool memcat_tid_deleted(Oid catalogId, ItemPointer tid, CommandId *cmax);
extern bool memcat_tid_latest(Oid catalogId, ItemPointer tid, Snapshot snapshot,
							  ItemPointer moved);

/* scans of the executor and of COPY (memcat_exec.c) */
struct TableScanDescData;
struct IndexScanDescData;
struct BitmapHeapScanState;
typedef struct MemCatTableScan MemCatTableScan;
typedef struct MemCatIndexScan MemCatIndexScan;

extern void memcat_slot_set(HeapTuple tup, TupleTableSlot *slot);
extern bool memcat_slot_set_next(HeapTuple tup, TupleTableSlot *slot);
extern void memcat_table_attach_rows(struct TableScanDescData *scan);
extern void memcat_table_attach_tid_range(struct TableScanDescData *scan,
										  ItemPointer mintid, ItemPointer maxtid);
extern bool memcat_table_before(struct TableScanDescData *scan,
								ScanDirection direction, bool inited,
								HeapTuple *tup);
extern HeapTuple memcat_table_after(struct TableScanDescData *scan);
extern bool memcat_table_next_slot(struct TableScanDescData *scan,
								   ScanDirection direction, TupleTableSlot *slot);
extern bool memcat_bitmap_next_slot(struct BitmapHeapScanState *node,
									TupleTableSlot *slot);
extern void memcat_table_rescan(struct TableScanDescData *scan);
extern void memcat_table_end(struct TableScanDescData *scan);
extern void memcat_index_attach_rows(struct IndexScanDescData *scan);
extern void memcat_index_rescan(struct IndexScanDescData *scan,
								ScanKey keys, int nkeys);
extern bool memcat_index_has_rows(struct IndexScanDescData *scan);
extern bool memcat_index_next_slot(struct IndexScanDescData *scan,
								   ScanDirection direction, TupleTableSlot *slot);
extern ItemPointer memcat_index_next_tid(struct IndexScanDescData *scan,
										 ScanDirection direction);
extern void memcat_index_mark(struct IndexScanDescData *scan);
extern void memcat_index_restore(struct IndexScanDescData *scan);
extern void memcat_index_end(struct IndexScanDescData *scan);

/* The scan sees the rows in memory, too, if there are some. */
static inline struct TableScanDescData *
memcat_table_attach(struct TableScanDescData *scan)
{
	if (memcat_active)
		memcat_table_attach_rows(scan);
	return scan;
}

static inline void
memcat_index_attach(struct IndexScanDescData *scan)
{
	if (memcat_active)
		memcat_index_attach_rows(scan);
}

/* parallel workers (memcat_parallel.c) */
extern bool memcat_ship(dsm_handle *handle);
extern void memcat_receive(dsm_handle handle);
extern bool memcat_allows_workers(const PlannedStmt *plan);

/* the end of a session (memcat_end.c) */
extern void memcat_end_session(void);
extern void memcat_drop_tables(int flags);

/* at the start of the server (startup.c) */
struct TempRelationListener;
extern const struct TempRelationListener memcat_listener;
extern Size memcat_shmem_size(void);
extern void memcat_shmem_init(void);

/* what other backends must know (memcat_shared.c) */
extern void memcat_clamp_frozen(Oid dbid, TransactionId *frozenXid,
								MultiXactId *minMulti);
extern void memcat_forbid_name(Oid namespaceId);

/* objects that tables in memory depend on (memcat_reference.c) */
extern char *memcat_referenced_elsewhere(Oid dbid, Oid classId, Oid objectId);
extern void memcat_forbid_drop(const ObjectAddress *object);
extern void memcat_forbid_alter_type(Oid typeOid);
extern PGDLLEXPORT void memcat_each_reference(void (*found) (void *arg, int pid,
															 Oid database,
															 Oid classId,
															 Oid objectId),
											  void *arg);

/* OIDs that rows in memory have (memcat_oid.c) */
extern Oid	memcat_oid_new(Oid catalogId);
extern void memcat_oid_wrapped_around(void);
extern PGDLLEXPORT int64 memcat_oid_held(void);

extern PGDLLEXPORT bool memcat_session(int index, int *pid, Oid *database,
									   int64 *tables, int64 *rows, int64 *bytes);
extern PGDLLEXPORT void memcat_session_horizon(int index, TransactionId *frozenXid,
											   MultiXactId *minMulti);

#endif							/* PLIMSOLL_MEMCAT_H */
