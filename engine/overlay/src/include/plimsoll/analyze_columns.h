/*-------------------------------------------------------------------------
 *
 * analyze_columns.h
 *	  The columns of ANALYZE's sample, each row deformed once.
 *
 * src/include/plimsoll/analyze_columns.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_ANALYZE_COLUMNS_H
#define PLIMSOLL_ANALYZE_COLUMNS_H

#include "commands/vacuum.h"

typedef struct AnalyzeColumns AnalyzeColumns;

extern AnalyzeColumns *analyze_columns_begin(TupleDesc tupdesc,
											 HeapTuple *rows, int numrows,
											 VacAttrStats **stats, int numstats);
extern void analyze_columns_load(AnalyzeColumns *columns, int which);
extern void analyze_columns_end(AnalyzeColumns *columns);

#endif							/* PLIMSOLL_ANALYZE_COLUMNS_H */
