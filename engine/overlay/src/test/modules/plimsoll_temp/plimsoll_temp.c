/*-------------------------------------------------------------------------
 *
 * plimsoll_temp.c
 *	  Looks at the traces that temporary tables leave in shared places.
 *
 * src/test/modules/plimsoll_temp/plimsoll_temp.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "plimsoll/memcat.h"
#include "storage/lwlock.h"
#include "storage/sinvaladt.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(plimsoll_temp_shared_invalidations);
PG_FUNCTION_INFO_V1(plimsoll_temp_set_next_oid);
PG_FUNCTION_INFO_V1(plimsoll_temp_held_oids);

/* How many invalidation messages the sessions of this server have sent. */
Datum
plimsoll_temp_shared_invalidations(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) SharedInvalMessagesSent());
}

/* Sets the counter of OIDs, as if as many had been drawn. */
Datum
plimsoll_temp_set_next_oid(PG_FUNCTION_ARGS)
{
	LWLockAcquire(OidGenLock, LW_EXCLUSIVE);
	TransamVariables->nextOid = PG_GETARG_OID(0);
	TransamVariables->oidCount = 0;
	LWLockRelease(OidGenLock);
	PG_RETURN_VOID();
}

/* How many rows in the memory of sessions keep their OIDs from others. */
Datum
plimsoll_temp_held_oids(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(MemCatOidsHeld());
}
