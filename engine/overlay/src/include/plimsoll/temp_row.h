/*-------------------------------------------------------------------------
 *
 * temp_row.h
 *	  Catalog rows by the relation that they are about.
 *
 * src/include/plimsoll/temp_row.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_ROW_H
#define PLIMSOLL_TEMP_ROW_H

#include "plimsoll/temp_relation.h"
#include "utils/relcache.h"

extern Oid	temp_row_relation(Oid catalogid, HeapTuple tuple, Oid *memberid);
extern TempRelation *temp_row_owner(Oid catalogid, HeapTuple tuple,
									Oid *memberid);
extern bool temp_row_is_ours(Relation catalog, HeapTuple tuple);

#endif							/* PLIMSOLL_TEMP_ROW_H */
