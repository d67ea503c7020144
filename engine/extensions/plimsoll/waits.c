/*-------------------------------------------------------------------------
 *
 * waits.c
 *	  plimsoll_waits(): how often and how long each process has waited.
 *
 * The figures come from a function of the patched server.  It is a weak
 * reference, so that the extension loads into a stock server as well, where
 * the view is empty.
 *
 * As with pg_stat_activity, a role sees its own sessions; who may read all
 * statistics (pg_monitor) sees those of the others, too, and the sum of the
 * processes that have ended.
 *
 * extensions/plimsoll/waits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

typedef void (*WaitRow) (void *state, int pid, Oid role, uint32 event,
						 int64 waits, int64 nanoseconds);

extern void wait_timing_read(WaitRow row, void *state) __attribute__((weak));

PG_FUNCTION_INFO_V1(plimsoll_waits);

static bool
may_see(int pid, Oid role)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		(pid != 0 && OidIsValid(role) && has_privs_of_role(GetUserId(), role));
}

/* What found no place in a table has no name. */
static void
put_row(void *state, int pid, Oid role, uint32 event, int64 waits,
		int64 nanoseconds)
{
	ReturnSetInfo *result = (ReturnSetInfo *) state;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (!may_see(pid, role))
		return;
	nulls[0] = pid == 0;
	nulls[1] = nulls[2] = event == 0;
	values[0] = Int32GetDatum(pid);
	if (event != 0)
	{
		values[1] = CStringGetTextDatum(pgstat_get_wait_event_type(event));
		values[2] = CStringGetTextDatum(pgstat_get_wait_event(event));
	}
	values[3] = Int64GetDatum(waits);
	values[4] = Float8GetDatum(nanoseconds / 1e6);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
plimsoll_waits(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	if (wait_timing_read != NULL)
		wait_timing_read(put_row, fcinfo->resultinfo);
	return (Datum) 0;
}
