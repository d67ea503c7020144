/*-------------------------------------------------------------------------
 *
 * memcat_parallel.c
 *	  Parallel workers see the memory catalog of their leader.
 *
 * Whatever runs in a worker may look into the catalogs: the permissions of all
 * tables of the query, a row type, the output of a regclass, SQL in a function.
 * So the leader lays out all row versions in a segment of dynamic shared memory,
 * with a hash table for each hash key.  Which of them a snapshot sees is decided
 * by command ids, in the worker as in the leader.  The segment lives on until the
 * rows change, so that the next query has it at no cost.
 *
 * A worker attaches to the segment and takes the rows from there one search at a
 * time: those that share the hash value that the search asks for, or all rows of
 * the catalog if it asks for no hash key.  Most workers look for permanent objects
 * alone, and take none.  What is taken are the headers of rows; the tuples stay in
 * the segment, which is mapped until the worker ends.
 *
 * While there are workers nobody changes the catalogs: PostgreSQL forbids it in
 * the leader as well as in them.
 *
 * src/backend/plimsoll/memcat_parallel.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/plannodes.h"
#include "plimsoll/memcat_int.h"
#include "port/pg_bitutils.h"

/* With more than this in memory plans run without workers. */
#define MAX_SHIPMENT	((Size) 64 * 1024 * 1024)

typedef struct ShippedRow
{
	uint32		id;
	uint32		len;
	Size		tuple;			/* offset of its header */
	CommandId	ins_cid;
	CommandId	del_cid;
	bool		open;
	bool		deleted;
	uint32		next[MEMCAT_MAX_KEYS];	/* in the bucket: index + 1, or 0 */
} ShippedRow;

/* The rows of one catalog. */
typedef struct ShippedCatalog
{
	Size		rows;			/* offset of the first ShippedRow */
	uint32		nrows;
	uint32		nbuckets;		/* of each key, a power of two */
	Size		buckets;		/* offset of the first key's: index + 1, or 0 */
} ShippedCatalog;

typedef struct Shipment
{
	Size		size;
	uint32		nids;
	bool		names_outside;
	ShippedCatalog catalogs[FLEXIBLE_ARRAY_MEMBER];
} Shipment;

/* In the leader: what was laid out last, and of which state of the store. */
static dsm_segment *segment = NULL;
static uint64 segment_version;

/* In a worker: what the leader sent. */
static Shipment *received = NULL;

bool		memcat_in_worker = false;

static inline void *
at(Shipment *shipment, Size offset)
{
	return (char *) shipment + offset;
}

static inline uint32 *
bucket_of(Shipment *shipment, ShippedCatalog *shipped, int keyno, uint32 hash)
{
	uint32	   *buckets = at(shipment, shipped->buckets);

	return &buckets[(Size) keyno * shipped->nbuckets + (hash & (shipped->nbuckets - 1))];
}

/*
 * Leader
 */

/* Says where each catalog's rows will be; returns the place after the last. */
static Size
plan_layout(Shipment *plan)
{
	int			ncatalogs;
	MemCatalog *catalogs = memcat_key_catalogs(&ncatalogs);
	Size		size = MAXALIGN(offsetof(Shipment, catalogs) +
								ncatalogs * sizeof(ShippedCatalog));

	for (int i = 0; i < ncatalogs; i++)
	{
		ShippedCatalog *shipped = &plan->catalogs[i];

		shipped->nrows = catalogs[i].nrows;
		shipped->nbuckets = shipped->nrows > 0 ? pg_nextpower2_32(shipped->nrows) : 0;
		shipped->rows = size;
		size += MAXALIGN(shipped->nrows * sizeof(ShippedRow));
		shipped->buckets = size;
		size += MAXALIGN((Size) shipped->nbuckets * catalogs[i].nkeys * sizeof(uint32));
	}
	return size;
}

static Size
size_of_tuples(void)
{
	int			ncatalogs;
	MemCatalog *catalogs = memcat_key_catalogs(&ncatalogs);
	Size		size = 0;

	for (int i = 0; i < ncatalogs; i++)
	{
		dlist_iter	iter;

		dlist_foreach(iter, &catalogs[i].rows)
			size += MAXALIGN(dlist_container(MemRow, catnode, iter.cur)->tuple.t_len);
	}
	return size;
}

static void
lay_out_row(Shipment *shipment, ShippedCatalog *shipped, uint32 index,
			const MemRow *row, Size tuple)
{
	ShippedRow *to = (ShippedRow *) at(shipment, shipped->rows) + index;

	to->id = row->id;
	to->len = row->tuple.t_len;
	to->tuple = tuple;
	to->ins_cid = row->ins_cid;
	to->del_cid = row->del_cid;
	to->open = row->open;
	to->deleted = row->deleted;
	memcpy(at(shipment, tuple), row->tuple.t_data, row->tuple.t_len);
	for (int k = 0; k < row->cat->nkeys; k++)
	{
		uint32	   *bucket;

		if (row->links[k].key == NULL)
			continue;			/* memory ran out while it was entered */
		bucket = bucket_of(shipment, shipped, k, row->links[k].key->hash);
		to->next[k] = *bucket;
		*bucket = index + 1;
	}
}

/* The newest first, so that the oldest comes first in its bucket. */
static void
lay_out(Shipment *shipment, Size tuple)
{
	int			ncatalogs;
	MemCatalog *catalogs = memcat_key_catalogs(&ncatalogs);

	for (int i = 0; i < ncatalogs; i++)
	{
		uint32		index = shipment->catalogs[i].nrows;
		dlist_iter	iter;

		dlist_reverse_foreach(iter, &catalogs[i].rows)
		{
			MemRow	   *row = dlist_container(MemRow, catnode, iter.cur);

			lay_out_row(shipment, &shipment->catalogs[i], --index, row, tuple);
			tuple += MAXALIGN(row->tuple.t_len);
		}
		Assert(index == 0);
	}
	Assert(tuple <= shipment->size);
}

/* The rows have changed, or are all gone: the segment is of no more use. */
void
memcat_parallel_forget(void)
{
	if (segment == NULL)
		return;
	memcat_count(-(int64) dsm_segment_map_length(segment));
	dsm_detach(segment);
	segment = NULL;
}

static bool
make_segment(void)
{
	int			ncatalogs;
	Shipment   *plan;
	Shipment   *shipment;
	Size		tuples;

	(void) memcat_key_catalogs(&ncatalogs);
	plan = palloc0(offsetof(Shipment, catalogs) + ncatalogs * sizeof(ShippedCatalog));
	tuples = plan_layout(plan);
	plan->size = tuples + size_of_tuples();
	plan->nids = memcat_store_ids();
	if (plan->size <= MAX_SHIPMENT && memcat_store_has_room(plan->size))
		segment = dsm_create(plan->size, DSM_CREATE_NULL_IF_MAXSEGMENTS |
							 DSM_CREATE_NULL_IF_NO_SPACE);
	if (segment != NULL)
	{
		dsm_pin_mapping(segment);
		memcat_count(dsm_segment_map_length(segment));
		memcat_store_reclaim = memcat_parallel_forget;
		segment_version = memcat_store_version;
		shipment = dsm_segment_address(segment);
		memset(shipment, 0, tuples);
		memcpy(shipment, plan, offsetof(Shipment, catalogs) +
			   ncatalogs * sizeof(ShippedCatalog));
		lay_out(shipment, tuples);
	}
	pfree(plan);
	return segment != NULL;
}

/*
 * What workers about to be launched need: the handle goes to memcat_receive() in
 * each.  False: there can be no workers.
 */
bool
memcat_ship(dsm_handle *handle)
{
	*handle = DSM_HANDLE_INVALID;
	if (!memcat_active)
		return true;
	if (segment != NULL && segment_version != memcat_store_version)
		memcat_parallel_forget();
	if (segment == NULL && !make_segment())
		return false;
	((Shipment *) dsm_segment_address(segment))->names_outside = memcat_names_outside;
	*handle = dsm_segment_handle(segment);
	return true;
}

/*
 * May a plan run with workers?  Not if it scans a catalog that has rows in
 * memory: those who share such a scan share the pages of the heap, and no one of
 * them would return the rows in memory.
 */
bool
memcat_allows_workers(const PlannedStmt *plan)
{
	if (!memcat_active)
		return true;
	foreach_node(RangeTblEntry, rte, plan->rtable)
	{
		if (rte->rtekind == RTE_RELATION && rte->relid < FirstUnpinnedObjectId &&
			memcat_key_catalog(rte->relid) != NULL)
			return false;
	}
	return true;
}

/*
 * Worker
 */

void
memcat_receive(dsm_handle handle)
{
	int			ncatalogs;
	MemCatalog *catalogs = memcat_key_catalogs(&ncatalogs);
	dsm_segment *seg;

	if (handle == DSM_HANDLE_INVALID)
		return;
	seg = dsm_attach(handle);
	if (seg == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	dsm_pin_mapping(seg);
	received = dsm_segment_address(seg);
	memcat_key_init();
	memcat_store_reserve(received->nids);
	for (int i = 0; i < ncatalogs; i++)
		catalogs[i].nrows = received->catalogs[i].nrows;
	memcat_names_outside = received->names_outside;
	memcat_in_worker = true;
	memcat_active = true;
}

static void
take_row(MemCatalog *cat, const ShippedRow *from)
{
	MemRow		row = {0};

	if (memcat_store_has(from->id))
		return;
	row.id = from->id;
	row.tuple.t_len = from->len;
	row.tuple.t_data = at(received, from->tuple);
	row.ins_cid = from->ins_cid;
	row.del_cid = from->del_cid;
	row.open = from->open;
	row.deleted = from->deleted;
	memcat_store_adopt(cat, &row);
}

static ShippedCatalog *
shipped_of(MemCatalog *cat)
{
	int			ncatalogs;

	return &received->catalogs[cat - memcat_key_catalogs(&ncatalogs)];
}

/* A search for these values of a hash key follows. */
void
memcat_parallel_take_key(MemCatalog *cat, int keyno, const Datum *values)
{
	ShippedCatalog *shipped = shipped_of(cat);
	ShippedRow *rows = at(received, shipped->rows);
	uint32		next;

	if (shipped->nrows == 0)
		return;
	next = *bucket_of(received, shipped, keyno, memcat_key_hash(cat, keyno, values));
	while (next > 0)
	{
		ShippedRow *row = &rows[next - 1];

		take_row(cat, row);
		next = row->next[keyno];
	}
}

/* A search of the whole catalog follows. */
void
memcat_parallel_take_all(MemCatalog *cat)
{
	ShippedCatalog *shipped = shipped_of(cat);
	ShippedRow *rows = at(received, shipped->rows);

	for (uint32 i = 0; i < shipped->nrows; i++)
		take_row(cat, &rows[i]);
}
