/*-------------------------------------------------------------------------
 *
 * temp_statistics.c
 *	  plimsoll_temp_statistics(): what was counted of this session's temporary
 *	  tables.
 *
 * As in temp_catalog.c, the answer comes from a function of the patched server,
 * and a stock server has none.
 *
 * extensions/plimsoll/temp_statistics.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

extern void temp_statistics_each(void (*row) (void *arg, Oid relid, int attnum, int64 rows,
											  float4 null_frac, int32 width, float4 distinct),
								 void *arg) __attribute__((weak));

PG_FUNCTION_INFO_V1(plimsoll_temp_statistics);

static void
put_row(void *arg, Oid relid, int attnum, int64 rows, float4 null_frac, int32 width, float4 distinct)
{
	ReturnSetInfo *result = arg;
	Datum		values[6];
	bool		nulls[6] = {false};

	values[0] = ObjectIdGetDatum(relid);
	values[1] = Int32GetDatum(attnum);
	values[2] = Int64GetDatum(rows);
	values[3] = Float4GetDatum(null_frac);
	values[4] = Int32GetDatum(width);
	values[5] = Float4GetDatum(distinct);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* One row for each column that is counted. */
Datum
plimsoll_temp_statistics(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	if (temp_statistics_each != NULL)
		temp_statistics_each(put_row, fcinfo->resultinfo);
	return (Datum) 0;
}
