/*-------------------------------------------------------------------------
 *
 * wait_for.h
 *	  The command WAIT FOR LSN.
 *
 * src/include/plimsoll/wait_for.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_WAIT_FOR_H
#define PLIMSOLL_WAIT_FOR_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "tcop/dest.h"

extern void wait_for_execute(ParseState *pstate, WaitStmt *stmt,
							 bool isTopLevel, DestReceiver *dest);
extern TupleDesc wait_for_result_desc(void);

#endif							/* PLIMSOLL_WAIT_FOR_H */
