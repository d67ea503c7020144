/*-------------------------------------------------------------------------
 *
 * online_analyze.c
 *	  Statistics of a table right after the statement that changed it.
 *
 * autovacuum does not see temporary tables, and sees a permanent one up to a
 * minute later.  A query that joins what was stored a moment ago is planned
 * blindly.  Here each INSERT, UPDATE, DELETE, MERGE, COPY and CREATE TABLE AS
 * is followed by an ANALYZE of the tables that it changed enough.
 *
 * Life cycle.  LOAD, or one of the settings of libraries to preload, installs
 * hooks for as long as the process lives.  Which tables a plan changed is asked
 * before the executor shuts down, as it knows then; they are analyzed after it.
 * So triggers have fired, and nothing of the statement is open any more.
 *
 * Statements inside of functions, prepared or not, pass the same hooks.
 *
 * extensions/online_analyze/online_analyze.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "online_analyze.h"
#include "tcop/utility.h"
#include "utils/rel.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "online_analyze", .version = "1.0");
#else
PG_MODULE_MAGIC;
#endif

extern PGDLLEXPORT void _PG_init(void);

static ExecutorEnd_hook_type previous_executor_end = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

static bool
changes_rows(const QueryDesc *query)
{
	return (query->operation == CMD_INSERT || query->operation == CMD_UPDATE || query->operation == CMD_DELETE ||
			query->operation == CMD_MERGE) && query->estate != NULL && query->estate->es_processed > 0;
}

/* Adds the tables among those that are to be analyzed. */
static List *
add_changed(List *due, List *results, CmdType command, double rows)
{
	ListCell   *cell;

	foreach(cell, results)
	{
		Relation	table = ((ResultRelInfo *) lfirst(cell))->ri_RelationDesc;

		if (oa_changed(table, command, rows))
			due = list_append_unique_oid(due, RelationGetRelid(table));
	}
	return due;
}

/*
 * The tables of a plan.  How the rows fall to several partitions is not counted
 * by the executor: each gets its share.
 */
static List *
changed_by(const QueryDesc *query)
{
	List	   *opened = query->estate->es_opened_result_relations;
	List	   *routed = query->estate->es_tuple_routing_result_relations;
	int			tables = routed != NIL ? list_length(routed) : Max(list_length(opened), 1);
	double		rows = Max((double) query->estate->es_processed / tables, 1);

	return add_changed(add_changed(NIL, opened, query->operation, rows), routed, query->operation, rows);
}

static void
executor_end(QueryDesc *query)
{
	List	   *due = NIL;

	if (changes_rows(query) && oa_may_analyze())
		due = changed_by(query);
	if (previous_executor_end)
		previous_executor_end(query);
	else
		standard_ExecutorEnd(query);
	oa_analyze(due);
}

/* The table that a utility command fills, if it does. */
static RangeVar *
filled_table(const Node *statement)
{
	if (IsA(statement, CopyStmt))
		return ((const CopyStmt *) statement)->is_from ? ((const CopyStmt *) statement)->relation : NULL;
	if (IsA(statement, CreateTableAsStmt) && ((const CreateTableAsStmt *) statement)->objtype == OBJECT_TABLE)
		return ((const CreateTableAsStmt *) statement)->into->rel;
	return NULL;
}

static void
after_fill(const RangeVar *name, uint64 rows)
{
	Relation	table = relation_openrv_extended(name, AccessShareLock, true);
	List	   *due = NIL;

	if (table == NULL)
		return;
	if (oa_changed(table, CMD_INSERT, rows))
		due = list_make1_oid(RelationGetRelid(table));
	relation_close(table, NoLock);
	oa_analyze(due);
}

static bool
analyzes(const VacuumStmt *statement)
{
	ListCell   *cell;

	if (!statement->is_vacuumcmd)
		return true;
	foreach(cell, statement->options)
	{
		DefElem    *option = (DefElem *) lfirst(cell);

		if (strcmp(option->defname, "analyze") == 0)
			return defGetBoolean(option);
	}
	return false;
}

/* What the user has analyzed needs no second time. A table that somebody has locked was skipped, or is his by now. */
static void
after_analyze(const VacuumStmt *statement)
{
	ListCell   *cell;

	if (!analyzes(statement) || !IsTransactionState())
		return;
	if (statement->rels == NIL)
		oa_history_forget_all();
	foreach(cell, statement->rels)
	{
		VacuumRelation *named = (VacuumRelation *) lfirst(cell);
		Relation	table;
		Oid			relid = named->relation == NULL ? InvalidOid :
			RangeVarGetRelidExtended(named->relation, AccessShareLock, RVR_MISSING_OK | RVR_SKIP_LOCKED, NULL, NULL);

		if (!OidIsValid(relid))
			continue;
		table = relation_open(relid, NoLock);
		if (named->va_cols == NIL)
			oa_history_analyzed(RelationGetRelid(table), Max(table->rd_rel->reltuples, 0));
		relation_close(table, AccessShareLock);
	}
}

static void
call_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
			 ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	if (previous_utility)
		previous_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

/* VACUUM and ANALYZE, with nothing analyzed by us meanwhile. */
static void
call_vacuum(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
			ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	oa_bar();
	PG_TRY();
	{
		call_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	}
	PG_FINALLY();
	{
		oa_unbar();
	}
	PG_END_TRY();
}

static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	Node	   *statement = pstmt->utilityStmt;
	RangeVar   *filled;
	QueryCompletion own;

	if (IsA(statement, VacuumStmt))
	{
		call_vacuum(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
		after_analyze((VacuumStmt *) statement);
		return;
	}
	filled = filled_table(statement);
	if (filled != NULL && !oa_may_analyze())
		filled = NULL;
	if (filled != NULL)
	{
		filled = copyObject(filled);
		InitializeQueryCompletion(&own);
		if (qc == NULL)
			qc = &own;
	}
	call_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	if (filled != NULL && (qc->commandTag == CMDTAG_COPY || qc->commandTag == CMDTAG_SELECT))
		after_fill(filled, qc->nprocessed);
}

void
_PG_init(void)
{
	oa_define_settings();
	oa_history_start();
	previous_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = executor_end;
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
