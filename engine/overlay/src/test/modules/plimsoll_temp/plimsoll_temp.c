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

#include "fmgr.h"
#include "storage/sinvaladt.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(plimsoll_temp_shared_invalidations);

/* How many invalidation messages the sessions of this server have sent. */
Datum
plimsoll_temp_shared_invalidations(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) SharedInvalMessagesSent());
}
