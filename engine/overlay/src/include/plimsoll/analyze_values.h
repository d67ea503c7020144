/*-------------------------------------------------------------------------
 *
 * analyze_values.h
 *	  Sorting the values of a column of ANALYZE's sample.
 *
 * src/include/plimsoll/analyze_values.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_ANALYZE_VALUES_H
#define PLIMSOLL_ANALYZE_VALUES_H

#include "statistics/extended_stats_internal.h"

extern bool analyze_values_sort(ScalarItem *values, int nvalues, int *tupnoLink,
								bool typbyval, int typlen,
								qsort_arg_comparator compare, void *arg);

#endif							/* PLIMSOLL_ANALYZE_VALUES_H */
