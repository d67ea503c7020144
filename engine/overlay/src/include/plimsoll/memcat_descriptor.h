/*-------------------------------------------------------------------------
 *
 * memcat_descriptor.h
 *	  Where the descriptor of a scan keeps its rows in memory.
 *
 * Extensions that were compiled for stock PostgreSQL look into these
 * descriptors, so PostgreSQL's headers declare them as stock does.  The pointer
 * is behind the part that others know.  That is safe because a descriptor is
 * made at one place, which makes room for it: heap_beginscan(), which serves the
 * catalogs; RelationGetIndexScan(), which each index access method has to call;
 * systable_beginscan().
 *
 * src/include/plimsoll/memcat_descriptor.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_MEMCAT_DESCRIPTOR_H
#define PLIMSOLL_MEMCAT_DESCRIPTOR_H

#include "access/heapam.h"
#include "access/relscan.h"
#include "plimsoll/memcat.h"

/* in rs_flags: the pointer is set */
#define SO_MEMCAT	((uint32) 1 << 31)

typedef struct MemCatHeapScanDescData
{
	union
	{
		HeapScanDescData heap;
		BitmapHeapScanDescData bitmap;
	}			stock;
	MemCatTableScan *memcat;	/* undefined without SO_MEMCAT */
} MemCatHeapScanDescData;

typedef struct MemCatIndexScanDescData
{
	IndexScanDescData stock;
	MemCatIndexScan *memcat;	/* NULL: not attached */
} MemCatIndexScanDescData;

typedef struct MemCatSysScanDescData
{
	SysScanDescData stock;
	MemCatScan *memcat;			/* NULL: the real catalog alone */
} MemCatSysScanDescData;

extern void memcat_sys_scan_attach(SysScanDesc scan, Relation catalog,
								   Snapshot snapshot, int nkeys, ScanKey key);
extern bool memcat_sys_scan_detach(SysScanDesc scan);
extern bool memcat_inplace_begin(SysScanDesc scan, HeapTuple tuple);
extern bool memcat_inplace_finish(SysScanDesc scan, HeapTuple tuple);
extern bool memcat_inplace_cancel(SysScanDesc scan);

#define memcat_of_table_scan(scan) (((MemCatHeapScanDescData *) (scan))->memcat)
#define memcat_of_index_scan(scan) (((MemCatIndexScanDescData *) (scan))->memcat)
#define memcat_of_sys_scan(scan) (((MemCatSysScanDescData *) (scan))->memcat)

static inline bool
memcat_table_attached(TableScanDesc scan)
{
	return unlikely((scan->rs_flags & SO_MEMCAT) != 0);
}

static inline bool
memcat_index_attached(IndexScanDesc scan)
{
	return unlikely(memcat_of_index_scan(scan) != NULL);
}

static inline IndexScanDesc
memcat_index_scan_alloc(void)
{
	MemCatIndexScanDescData *scan = palloc(sizeof(MemCatIndexScanDescData));

	scan->memcat = NULL;
	return &scan->stock;
}

/* Is the scan fed from the merged list rather than from the index? */
static inline bool
memcat_index_merging(IndexScanDesc scan)
{
	return memcat_index_attached(scan) && memcat_index_has_rows(scan);
}

/* Scans of catalogs: the rows in memory come first. */

static inline SysScanDesc
memcat_sys_scan_alloc(void)
{
	MemCatSysScanDescData *scan = palloc(sizeof(MemCatSysScanDescData));

	scan->memcat = NULL;
	return &scan->stock;
}

static inline SysScanDesc
memcat_sys_scan_begin(Relation catalog, Snapshot snapshot, int nkeys, ScanKey key)
{
	SysScanDesc scan = memcat_sys_scan_alloc();

	if (memcat_active)
		memcat_sys_scan_attach(scan, catalog, snapshot, nkeys, key);
	return scan;
}

/* Has the real catalog nothing to add? */
static inline bool
memcat_sys_scan_exhausted(SysScanDesc scan)
{
	return unlikely(memcat_of_sys_scan(scan) != NULL) &&
		memcat_scan_exhausted(memcat_of_sys_scan(scan));
}

/* True: *tuple is the answer; NULL is the end of the scan. */
static inline bool
memcat_sys_scan_next(SysScanDesc scan, HeapTuple *tuple)
{
	if (likely(memcat_of_sys_scan(scan) == NULL))
		return false;
	*tuple = memcat_scan_next(memcat_of_sys_scan(scan));
	return *tuple != NULL || memcat_scan_exhausted(memcat_of_sys_scan(scan));
}

/* True: there is nothing else to close. */
static inline bool
memcat_sys_scan_end(SysScanDesc scan)
{
	return unlikely(memcat_of_sys_scan(scan) != NULL) && memcat_sys_scan_detach(scan);
}

#endif							/* PLIMSOLL_MEMCAT_DESCRIPTOR_H */
