/*-------------------------------------------------------------------------
 *
 * temp_catalog.c
 *	  plimsoll_temp_sessions(): what sessions keep in their memory catalogs.
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

#include "access/multixact.h"
#include "access/transam.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

extern bool memcat_session(int index, int *pid, Oid *database, int64 *tables,
						  int64 *rows, int64 *bytes) __attribute__((weak));
extern void memcat_session_horizon(int index, TransactionId *frozenXid,
								  MultiXactId *minMulti) __attribute__((weak));

PG_FUNCTION_INFO_V1(plimsoll_temp_catalog);

/* Patchsets before 14 do not tell. */
static void
horizon(int index, TransactionId *frozenXid, MultiXactId *minMulti)
{
	*frozenXid = InvalidTransactionId;
	*minMulti = InvalidMultiXactId;
	if (memcat_session_horizon != NULL)
		memcat_session_horizon(index, frozenXid, minMulti);
}

/* One row for each session that has such tables.  Before 0.4 it had five columns. */
Datum
plimsoll_temp_catalog(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			pid;
	Oid			database;
	int64		tables;
	int64		rows;
	int64		bytes;
	TransactionId frozenXid;
	MultiXactId minMulti;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; memcat_session != NULL &&
		 memcat_session(i, &pid, &database, &tables, &rows, &bytes); i++)
	{
		Datum		values[7];
		bool		nulls[7] = {false};

		if (pid == 0)
			continue;
		values[0] = Int32GetDatum(pid);
		values[1] = ObjectIdGetDatum(database);
		values[2] = Int64GetDatum(tables);
		values[3] = Int64GetDatum(rows);
		values[4] = Int64GetDatum(bytes);
		horizon(i, &frozenXid, &minMulti);
		nulls[5] = !TransactionIdIsNormal(frozenXid);
		nulls[6] = !MultiXactIdIsValid(minMulti);
		values[5] = TransactionIdGetDatum(frozenXid);
		values[6] = TransactionIdGetDatum(minMulti);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
