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
#include "miscadmin.h"
#include "plimsoll/memcat.h"
#include "plimsoll/temp_invalidation.h"
#include "storage/lwlock.h"
#include "storage/sinvaladt.h"
#include "utils/inval.h"
#include "utils/memutils.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(plimsoll_temp_shared_invalidations);
PG_FUNCTION_INFO_V1(plimsoll_temp_set_next_oid);
PG_FUNCTION_INFO_V1(plimsoll_temp_held_oids);
PG_FUNCTION_INFO_V1(plimsoll_temp_deferred_after_error);

/* What plimsoll_temp_deferred_after_error() waits for. */
static Oid	failing_relation = InvalidOid;
static Oid	awaited_relation = InvalidOid;
static int	awaited_seen = 0;

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
	PG_RETURN_INT64(memcat_oid_held());
}

static void
relation_invalidated(Datum arg, Oid relid)
{
	if (OidIsValid(relid) && relid == failing_relation)
	{
		failing_relation = InvalidOid;
		elog(ERROR, "a callback failed");
	}
	if (OidIsValid(relid) && relid == awaited_relation)
		awaited_seen++;
}

/*
 * A session defers three messages to itself, about the two relations in turn, and
 * executing the first one fails.  How many of the other two are executed when it
 * looks for messages again?
 */
Datum
plimsoll_temp_deferred_after_error(PG_FUNCTION_ARGS)
{
	static bool registered = false;
	MemoryContext context = CurrentMemoryContext;
	SharedInvalidationMessage msg = {0};
	bool		failed = false;

	if (!registered)
		CacheRegisterRelcacheCallback(relation_invalidated, (Datum) 0);
	registered = true;
	AcceptInvalidationMessages();

	msg.rc.id = SHAREDINVALRELCACHE_ID;
	msg.rc.dbId = MyDatabaseId;
	for (int i = 0; i < 3; i++)
	{
		msg.rc.relId = PG_GETARG_OID(i == 0 ? 0 : 1);
		temp_invalidation_defer(&msg, 1);
	}
	failing_relation = PG_GETARG_OID(0);
	awaited_relation = PG_GETARG_OID(1);
	awaited_seen = 0;
	PG_TRY();
	{
		AcceptInvalidationMessages();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		failed = true;
	}
	PG_END_TRY();
	if (!failed)
		elog(ERROR, "the first message did not fail");
	AcceptInvalidationMessages();
	awaited_relation = InvalidOid;
	PG_RETURN_INT32(awaited_seen);
}
