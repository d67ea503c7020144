/*-------------------------------------------------------------------------
 *
 * column_names.h
 *	  Whether the names of a new table's columns all differ.
 *
 * src/include/plimsoll/column_names.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_COLUMN_NAMES_H
#define PLIMSOLL_COLUMN_NAMES_H

#include "access/tupdesc.h"
#include "nodes/pg_list.h"

extern bool column_names_differ(TupleDesc tupdesc);
extern bool column_names_differ_in(List *columns);

#endif							/* PLIMSOLL_COLUMN_NAMES_H */
