/*-------------------------------------------------------------------------
 *
 * temp_catalog.c
 *	  plimsoll_temp_catalog(): what sessions keep in their memory catalogs.
 *
 * The figures come from a function of the patched server.  It is a weak
 * reference, so that the extension loads into a stock server as well, where
 * the view is empty.
 *
 * extensions/plimsoll/temp_catalog.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

extern bool memcat_session(int index, int *pid, Oid *database, int64 *tables,
						  int64 *rows, int64 *bytes) __attribute__((weak));

PG_FUNCTION_INFO_V1(plimsoll_temp_catalog);

/* One row for each session that has such tables. */
Datum
plimsoll_temp_catalog(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			pid;
	Oid			database;
	int64		tables;
	int64		rows;
	int64		bytes;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; memcat_session != NULL &&
		 memcat_session(i, &pid, &database, &tables, &rows, &bytes); i++)
	{
		Datum		values[5];
		bool		nulls[5] = {false};

		if (pid == 0)
			continue;
		values[0] = Int32GetDatum(pid);
		values[1] = ObjectIdGetDatum(database);
		values[2] = Int64GetDatum(tables);
		values[3] = Int64GetDatum(rows);
		values[4] = Int64GetDatum(bytes);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
