/*-------------------------------------------------------------------------
 *
 * wait_for.c
 *	  The command WAIT FOR LSN, as PostgreSQL 19 has it.
 *
 *		WAIT FOR LSN '0/306EE20' [ WITH (MODE 'primary_flush',
 *			TIMEOUT '1s', NO_THROW) ]
 *
 * It answers with one row: success, timeout or not in recovery.  The last two
 * are errors unless NO_THROW is given.
 *
 * It runs without a snapshot.  With one, a standby could have to wait for
 * this session before it replays what this session waits for.
 *
 * src/backend/plimsoll/wait_for.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "plimsoll/lsn_wait.h"
#include "plimsoll/wait_for.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/pg_lsn.h"
#include "utils/snapmgr.h"

/* By LsnWaitKind: its name, and how messages speak of it. */
static const struct
{
	const char *mode;
	const char *done;
	const char *position;
}			kinds[] =
{
	{"standby_replay", "replayed", "replay"},
	{"standby_write", "written", "write"},
	{"standby_flush", "flushed", "flush"},
	{"primary_flush", "flushed", "flush"}
};

StaticAssertDecl(lengthof(kinds) == LSN_WAIT_KINDS, "a kind has no name");

typedef struct WaitOptions
{
	LsnWaitKind kind;
	int			timeout_ms;		/* 0: none */
	bool		no_throw;
} WaitOptions;

static LsnWaitKind
parse_mode(ParseState *pstate, DefElem *option)
{
	char	   *mode = defGetString(option);

	for (int kind = 0; kind < LSN_WAIT_KINDS; kind++)
	{
		if (pg_strcasecmp(mode, kinds[kind].mode) == 0)
			return kind;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized value for %s option \"%s\": \"%s\"",
					"WAIT", option->defname, mode),
			 parser_errposition(pstate, option->location)));
}

static int
parse_timeout(DefElem *option)
{
	char	   *text = defGetString(option);
	const char *hint = NULL;
	double		ms;

	if (!parse_real(text, &ms, GUC_UNIT_MS, &hint))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid timeout value: \"%s\"", text),
				 hint ? errhint("%s", _(hint)) : 0));
	ms = rint(ms);
	if (isnan(ms) || !FLOAT8_FITS_IN_INT32(ms))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("timeout value is out of range")));
	if (ms < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("timeout cannot be negative")));
	return (int) ms;
}

/* Options are few: whether one was given before is seen in the list. */
static void
refuse_second(ParseState *pstate, List *options, DefElem *option)
{
	foreach_node(DefElem, earlier, options)
	{
		if (earlier == option)
			return;
		if (strcmp(earlier->defname, option->defname) == 0)
			errorConflictingDefElem(option, pstate);
	}
}

static WaitOptions
parse_options(ParseState *pstate, List *options)
{
	WaitOptions given = {LSN_WAIT_STANDBY_REPLAY, 0, false};

	foreach_node(DefElem, option, options)
	{
		refuse_second(pstate, options, option);
		if (strcmp(option->defname, "mode") == 0)
			given.kind = parse_mode(pstate, option);
		else if (strcmp(option->defname, "timeout") == 0)
			given.timeout_ms = parse_timeout(option);
		else if (strcmp(option->defname, "no_throw") == 0)
			given.no_throw = defGetBoolean(option);
		else
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("option \"%s\" not recognized", option->defname),
					 parser_errposition(pstate, option->location)));
	}
	return given;
}

static void
give_up_snapshots(void)
{
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	InvalidateCatalogSnapshot();
	if (HaveRegisteredOrActiveSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("WAIT FOR must be called without an active or registered snapshot"),
				 errdetail("WAIT FOR cannot be executed within a transaction with an isolation level higher than READ COMMITTED.")));
}

static void
throw_timeout(LsnWaitKind kind, XLogRecPtr lsn)
{
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("timed out while waiting for target LSN %X/%X to be %s; current %s LSN %X/%X",
					LSN_FORMAT_ARGS(lsn), kinds[kind].done, kinds[kind].position,
					LSN_FORMAT_ARGS(lsn_wait_current(kind)))));
}

static void
throw_not_in_recovery(LsnWaitKind kind, XLogRecPtr lsn)
{
	if (PromoteIsTriggered())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is not in progress"),
				 errdetail("Recovery ended before target LSN %X/%X was %s; last %s LSN %X/%X.",
						   LSN_FORMAT_ARGS(lsn), kinds[kind].done,
						   kinds[kind].position,
						   LSN_FORMAT_ARGS(lsn_wait_current(kind)))));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("recovery is not in progress"),
			 errhint("Waiting for the %s LSN can only be executed during recovery.",
					 kinds[kind].position)));
}

/* The result as a word, or an error. */
static const char *
wait_as_told(WaitOptions options, XLogRecPtr lsn)
{
	switch (lsn_wait_for(options.kind, lsn, options.timeout_ms))
	{
		case LSN_WAIT_TIMEOUT:
			if (!options.no_throw)
				throw_timeout(options.kind, lsn);
			return "timeout";
		case LSN_WAIT_NOT_IN_RECOVERY:
			if (!options.no_throw)
				throw_not_in_recovery(options.kind, lsn);
			return "not in recovery";
		default:
			return "success";
	}
}

void
wait_for_execute(ParseState *pstate, WaitStmt *stmt, bool isTopLevel,
				 DestReceiver *dest)
{
	WaitOptions options;
	XLogRecPtr	lsn;
	const char *result;
	TupOutputState *output;

	if (!isTopLevel)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s can only be executed as a top-level statement",
						"WAIT FOR"),
				 errdetail("WAIT FOR cannot be used within a function, procedure, or DO block.")));

	lsn = DatumGetLSN(DirectFunctionCall1(pg_lsn_in,
										  CStringGetDatum(stmt->lsn)));
	options = parse_options(pstate, stmt->options);
	give_up_snapshots();
	if (options.kind == LSN_WAIT_PRIMARY_FLUSH && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is in progress"),
				 errhint("Waiting for primary_flush can only be done on a primary server. Use standby_flush mode on a standby server.")));

	result = wait_as_told(options, lsn);
	output = begin_tup_output_tupdesc(dest, wait_for_result_desc(),
									  &TTSOpsVirtual);
	do_text_output_oneline(output, result);
	end_tup_output(output);
}

/* Without a look into the catalogs, which would take a snapshot. */
TupleDesc
wait_for_result_desc(void)
{
	TupleDesc	desc = CreateTemplateTupleDesc(1);

	TupleDescInitBuiltinEntry(desc, 1, "status", TEXTOID, -1, 0);
	return desc;
}
