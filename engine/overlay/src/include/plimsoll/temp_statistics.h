/*-------------------------------------------------------------------------
 *
 * temp_statistics.h
 *	  Statistics of temporary tables, counted while they are filled.
 *
 * The heap's table access method says what happens to a table; the planner asks.
 *
 * src/include/plimsoll/temp_statistics.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_STATISTICS_H
#define PLIMSOLL_TEMP_STATISTICS_H

#include "access/tableam.h"
#include "catalog/pg_class_d.h"
#include "executor/tuptable.h"
#include "storage/block.h"
#include "storage/smgr.h"
#include "utils/rel.h"

/* GUC */
extern PGDLLIMPORT bool temp_live_statistics;

/* Number of tables that are followed, or were while the setting was on. */
extern PGDLLIMPORT int temp_statistics_tables;

extern void temp_statistics_init(void);

/* See the inline functions below */
extern void temp_statistics_count_inserted(Relation table, TupleTableSlot **slots,
										   int nslots);
extern void temp_statistics_count_updated(Relation table, TupleTableSlot *slot);
extern void temp_statistics_count_deleted(Relation table);
extern void temp_statistics_count_emptied(Relation table);
extern void temp_statistics_count_analyzed(Relation table);
extern void temp_statistics_forget(const SMgrRelation *files, int nfiles);
extern void temp_statistics_tell_size(Relation table, BlockNumber *pages,
									  double *tuples);

/* For a view: what is known of each column, as pg_statistic has it. */
typedef void (*TempStatisticsRow) (void *arg, Oid relid, int attnum, int64 rows,
								   float4 null_frac, int32 width, float4 distinct);

extern PGDLLEXPORT void temp_statistics_each(TempStatisticsRow row, void *arg);

static inline bool
temp_statistics_follows(Relation table)
{
	return unlikely(temp_live_statistics || temp_statistics_tables > 0) &&
		table->rd_islocaltemp &&
		table->rd_rel->relkind == RELKIND_RELATION;
}

/* Rows are about to be inserted. */
static inline void
temp_statistics_inserted(Relation table, TupleTableSlot **slots, int nslots)
{
	if (temp_statistics_follows(table))
		temp_statistics_count_inserted(table, slots, nslots);
}

/* A row that may conflict was inserted after all, or not. */
static inline void
temp_statistics_completed(Relation table, bool succeeded)
{
	if (!succeeded && temp_statistics_follows(table))
		temp_statistics_count_deleted(table);
}

/* A row was changed to this one, if the command succeeded. */
static inline void
temp_statistics_updated(Relation table, TupleTableSlot *slot, TM_Result result)
{
	if (result == TM_Ok && temp_statistics_follows(table))
		temp_statistics_count_updated(table, slot);
}

/* A row was deleted, if the command succeeded, which is passed on. */
static inline TM_Result
temp_statistics_deleted(Relation table, TM_Result result)
{
	if (result == TM_Ok && temp_statistics_follows(table))
		temp_statistics_count_deleted(table);
	return result;
}

/* All rows were cut off, and no rollback brings them back. */
static inline void
temp_statistics_emptied(Relation table)
{
	if (temp_statistics_follows(table))
		temp_statistics_count_emptied(table);
}

/* ANALYZE has stored statistics of the table. */
static inline void
temp_statistics_analyzed(Relation table)
{
	if (temp_statistics_follows(table))
		temp_statistics_count_analyzed(table);
}

/* These files are about to be removed. */
static inline void
temp_statistics_unlinked(const SMgrRelation *files, int nfiles)
{
	if (unlikely(temp_statistics_tables > 0))
		temp_statistics_forget(files, nfiles);
}

/* The planner asks for the size of a table; the answer so far is stock's. */
static inline void
temp_statistics_size(Relation table, BlockNumber *pages, double *tuples)
{
	if (temp_statistics_follows(table))
		temp_statistics_tell_size(table, pages, tuples);
}

#endif							/* PLIMSOLL_TEMP_STATISTICS_H */
