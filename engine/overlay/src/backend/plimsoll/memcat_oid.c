/*-------------------------------------------------------------------------
 *
 * memcat_oid.c
 *	  OIDs of rows in memory are nobody else's.
 *
 * Whoever needs an OID takes one from the common counter and looks into the
 * catalog's index whether it is in use there.  Rows in another session's memory
 * are in no index.  That does not matter until the counter, which has 32 bits,
 * has been around: before that it gives no number twice, and rows in memory are
 * no older than the server.  Afterwards a permanent table could get the OID of
 * somebody's temporary table, who would then find his own under its name.
 *
 * So the OIDs of all rows in memory are counted in an array in shared memory, a
 * slot for many OIDs, and once the counter has been around, an OID whose slot
 * is not empty is passed over.  OIDs that are neighbours share a slot, since a
 * table's are; slots that are neighbours in time are not so in memory, since
 * other sessions write to them at the same time.
 *
 * A row is counted from when it enters the store until it leaves it: at the end
 * of the transaction that deletes it or moves it to the real catalog, at the
 * end of the (sub)transaction that made it and is rolled back, or with the
 * session.  In between a row that moves is in both places.  From the drawing of
 * an OID to the row's arrival nobody knows of it, which harms only if another
 * session draws 2^32 OIDs meanwhile; GetNewOidWithIndex() takes that chance for
 * rows of the real catalogs, too.  No lock is needed: the draws themselves, and
 * what lies between two of the same number, put the one's count before the
 * other's look.
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

/* after so many OIDs in a row every slot has been looked at */
#define MAX_TRIES			(2 * NSLOTS * OIDS_PER_SLOT)

typedef struct MemOids
{
	bool		come_again;		/* the counter has been around; OidGenLock */
	pg_atomic_uint32 rows[NSLOTS];
} MemOids;

static MemOids *oids = NULL;

/* The catalogs in memory whose rows have an OID: it is their first column. */
static const Oid catalogs[] = {
	RelationRelationId, TypeRelationId, ConstraintRelationId, AttrDefaultRelationId,
};

Size
MemOidShmemSize(void)
{
	return sizeof(MemOids);
}

void
MemOidShmemInit(void)
{
	bool		found;

	oids = ShmemInitStruct("memory catalog OIDs", sizeof(MemOids), &found);
	if (found)
		return;
	oids->come_again = false;
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

/* The row is in the store from now on. */
void
MemOidHold(const MemRow *row)
{
	if (has_oid(row->cat->relid))
		count_row(row, 1);
}

/* It is no more. */
void
MemOidRelease(const MemRow *row)
{
	if (has_oid(row->cat->relid))
		count_row(row, -1);
}

/* The session ends, and the store with it. */
void
MemOidReleaseAll(void)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		dlist_iter	iter;

		dlist_foreach(iter, &MemKeyCatalog(catalogs[i])->rows)
			count_row(dlist_container(MemRow, catnode, iter.cur), -1);
	}
}

/* The counter begins again; the caller holds OidGenLock. */
void
MemCatOidsComeAgain(void)
{
	oids->come_again = true;
}

/* An OID for a row of this catalog, which no row in memory has. */
Oid
MemCatNewOid(Oid catalogId)
{
	Oid			oid = GetNewObjectId();

	/* Who drew an OID after the counter began again sees that it did. */
	if (likely(!oids->come_again) || !has_oid(catalogId))
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
MemCatOidsHeld(void)
{
	int64		sum = 0;

	for (int i = 0; i < NSLOTS; i++)
		sum += pg_atomic_read_u32(&oids->rows[i]);
	return sum;
}
