/*-------------------------------------------------------------------------
 *
 * temp_toast.h
 *	  Toast tables of temporary tables in memory, made when a value needs one.
 *
 * IDENTIFICATION
 *	  src/include/plimsoll/temp_toast.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_TOAST_H
#define PLIMSOLL_TEMP_TOAST_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* setting */
extern PGDLLIMPORT bool temp_lazy_toast;

/*
 * True while the rollback of a subtransaction may remove a toast table into which
 * a variable still points.
 */
extern PGDLLIMPORT bool temp_toast_volatile;

extern bool temp_toast_defers(Relation rel, Datum reloptions, Oid oldToast);
extern bool temp_toast_is_deferred(Relation rel);
extern void temp_toast_refresh(Relation rel);
extern void temp_toast_make(Relation rel);
extern void temp_toast_take_options(Relation rel, List *options);
extern bool temp_toast_may_vanish(void);

#endif							/* PLIMSOLL_TEMP_TOAST_H */
