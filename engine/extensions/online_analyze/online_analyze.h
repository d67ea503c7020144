/*-------------------------------------------------------------------------
 *
 * online_analyze.h
 *	  What the files of this extension share.
 *
 *	  online_analyze.c	the hooks: which statement changed which tables
 *	  changes.c			did a table change enough?
 *	  history.c			what this session knows of each table
 *	  analyze.c			ANALYZE of those that did
 *	  settings.c		the settings
 *
 * extensions/online_analyze/online_analyze.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef ONLINE_ANALYZE_H
#define ONLINE_ANALYZE_H

#include "datatype/timestamp.h"
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* settings.c */
extern bool oa_enable;
extern bool oa_verbose;
extern bool oa_local_tracking;
extern double oa_scale_factor;
extern int	oa_threshold;
extern double oa_min_interval;
extern int	oa_lower_limit;
extern int	oa_capacity_threshold;

extern void oa_define_settings(void);
extern bool oa_is_wanted(Relation table);

/* What a session knows of a table. */
typedef struct TableHistory
{
	Oid			relid;			/* hash key */
	Oid			storage;		/* another one holds none of the rows we know of */
	LocalTransactionId transaction; /* that the counts belong to; permanent tables only */
	bool		analyzed;		/* are there statistics, of what it holds now? */
	double		rows;			/* now, by our own count */
	double		analyzed_rows;	/* when it was analyzed */
	double		changes;		/* since then, by this session */
	double		reported;		/* since then, by the server's statistics; permanent tables only */
	double		settled;		/* part of those that was analyzed in this transaction */
	TimestampTz when;			/* it was analyzed; 0 if that does not bar the next time */
} TableHistory;

/* history.c */
extern TableHistory *oa_history(Oid relid, bool *found);
extern void oa_history_analyzed(Oid relid, double rows);
extern void oa_history_forget(Oid relid);
extern void oa_history_forget_all(void);
extern void oa_history_start(void);

/* changes.c */
extern bool oa_changed(Relation table, CmdType command, double rows);

/* analyze.c */
extern bool oa_may_analyze(void);
extern void oa_analyze(List *relids);
extern void oa_bar(void);
extern void oa_unbar(void);

#endif							/* ONLINE_ANALYZE_H */
