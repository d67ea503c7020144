/*-------------------------------------------------------------------------
 *
 * memcat_oid.c
 *	  Keeps the OIDs of rows in memory from being given to other rows.
 *
 * A new OID is taken from the common counter and looked for in the catalog's
 * index.  Rows in another session's memory are in no index.  That does not matter
 * until the counter, which has 32 bits, wraps around: before that it gives no
 * number twice, and rows in memory are no older than the server.  Afterwards a
 * permanent table could get the OID of another session's temporary table, and
 * that session would find its own table under the permanent table's name.
 *
 * So the OIDs of all rows in memory are counted in an array in shared memory, one
 * slot for many OIDs.  Once the counter has wrapped around, an OID whose slot is
 * not empty is skipped.  Neighbouring OIDs share a slot, since a table's OIDs are
 * neighbours.  Slots of consecutive OIDs are far apart in memory, since different
 * sessions write to them at the same time.
 *
 * A row is counted from when it enters the store until it leaves it: at the end
 * of the transaction that deletes it or moves it to the real catalog, at the end
 * of the rolled-back (sub)transaction that made it, or with the session.  A row
 * that moves is in both places meanwhile.  Between drawing an OID and storing its
 * row nobody knows of it.  That does harm only if other sessions draw 2^32 OIDs
 * in that time; GetNewOidWithIndex() takes the same chance for rows of the real
 * catalogs.  No lock is needed: drawing an OID takes OidGenLock, which orders one
 * session's count before the other's check.
 *
 * src/backend/plimsoll/memcat_oid.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "port/atomics.h"
#include "storage/shmem.h"

#define OIDS_PER_SLOT		32	/* about three tables */
#define SLOT_BITS			20
#define NSLOTS				(1 << SLOT_BITS)

/* so many consecutive OIDs cover every slot */
#define MAX_TRIES			(2 * NSLOTS * OIDS_PER_SLOT)

typedef struct MemOids
{
	bool		wrapped_around; /* by the counter; under OidGenLock */
	pg_atomic_uint32 rows[NSLOTS];
} MemOids;

static MemOids *oids = NULL;

/* The catalogs in memory whose rows have an OID: it is their first column. */
static const Oid catalogs[] = {
	RelationRelationId, TypeRelationId, ConstraintRelationId, AttrDefaultRelationId,
};

Size
memcat_oid_shmem_size(void)
{
	return sizeof(MemOids);
}

void
memcat_oid_shmem_init(void)
{
	bool		found;

	oids = ShmemInitStruct("memory catalog OIDs", sizeof(MemOids), &found);
	if (found)
		return;
	oids->wrapped_around = false;
	for (int i = 0; i < NSLOTS; i++)
		pg_atomic_init_u32(&oids->rows[i], 0);
}

static bool
has_oid(Oid catalogId)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		if (catalogs[i] == catalogId)
			return true;
	}
	return false;
}

/* Multiplication by 2^32 divided by the golden ratio spreads neighbours. */
static pg_atomic_uint32 *
slot_of(Oid oid)
{
	return &oids->rows[(oid / OIDS_PER_SLOT * 2654435769U) >> (32 - SLOT_BITS)];
}

static void
count_row(const MemRow *row, int32 delta)
{
	uint32		before;

	before = pg_atomic_fetch_add_u32(slot_of(*(Oid *) GETSTRUCT(&row->tuple)), delta);
	Assert(delta > 0 || before > 0);
	(void) before;
}

/* The row enters the store. */
void
memcat_oid_hold(const MemRow *row)
{
	if (has_oid(row->cat->relid))
		count_row(row, 1);
}

/* The row leaves the store. */
void
memcat_oid_release(const MemRow *row)
{
	if (has_oid(row->cat->relid))
		count_row(row, -1);
}

/* The session ends, and the store with it. */
void
memcat_oid_release_all(void)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		dlist_iter	iter;

		dlist_foreach(iter, &memcat_key_catalog(catalogs[i])->rows)
			count_row(dlist_container(MemRow, catnode, iter.cur), -1);
	}
}

/* The counter wraps around; the caller holds OidGenLock. */
void
memcat_oid_wrapped_around(void)
{
	oids->wrapped_around = true;
}

/* An OID for a row of this catalog, which no row in memory has. */
Oid
memcat_oid_new(Oid catalogId)
{
	Oid			oid = GetNewObjectId();

	/* A session that drew an OID after the wraparound sees the flag. */
	if (likely(!oids->wrapped_around) || !has_oid(catalogId))
		return oid;
	for (int tries = 0; pg_atomic_read_u32(slot_of(oid)) > 0; tries++)
	{
		if (tries == MAX_TRIES)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("temporary tables in the memory of sessions leave no OID to be used"),
					 errhint("Drop temporary tables that are no longer needed, or end sessions.")));
		CHECK_FOR_INTERRUPTS();
		oid = GetNewObjectId();
	}
	return oid;
}

/* How many rows of all sessions are counted. */
int64
memcat_oid_held(void)
{
	int64		sum = 0;

	for (int i = 0; i < NSLOTS; i++)
		sum += pg_atomic_read_u32(&oids->rows[i]);
	return sum;
}
