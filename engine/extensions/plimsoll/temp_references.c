/*-------------------------------------------------------------------------
 *
 * temp_references.c
 *	  plimsoll_temp_references(): which session bars the drop of which object.
 *
 * As in temp_catalog.c, the answer comes from a function of the patched server,
 * and a stock server has none.
 *
 * extensions/plimsoll/temp_references.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

extern void memcat_each_reference(void (*found) (void *arg, int pid, Oid database,
												 Oid classId, Oid objectId),
								  void *arg) __attribute__((weak));

PG_FUNCTION_INFO_V1(plimsoll_temp_references);

static void
put_row(void *arg, int pid, Oid database, Oid classId, Oid objectId)
{
	ReturnSetInfo *result = arg;
	Datum		values[4];
	bool		nulls[4] = {false};

	values[0] = Int32GetDatum(pid);
	values[1] = ObjectIdGetDatum(database);
	values[2] = ObjectIdGetDatum(classId);
	values[3] = ObjectIdGetDatum(objectId);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* One row for each object and each session that refers to it. */
Datum
plimsoll_temp_references(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	if (memcat_each_reference != NULL)
		memcat_each_reference(put_row, fcinfo->resultinfo);
	return (Datum) 0;
}
