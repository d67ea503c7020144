/*-------------------------------------------------------------------------
 *
 * dbcopies_decoding.c
 *	  Output plugin of logical decoding: changes as lines of text.
 *
 *	  B 742							a transaction begins; only one that changes something
 *	  I reference12 1 'name' null	a row is inserted: its values in the order of the columns
 *	  U reference12 1 'other' null	a row is updated: its new values
 *	  D reference12 1				a row is deleted: what its replica identity holds, without nulls
 *	  T reference12, reference13	tables are truncated
 *	  C 742							the transaction is committed
 *
 * A table stands with its bare name.  A value that an update has not changed and
 * that lies in the TOAST table is not in the log: unchanged-toast-datum.
 *
 * Life cycle.  A server process loads the library when a client starts to decode a
 * slot that was made with it.  It keeps the memory of one change and of one slice
 * of a record, whatever the size of the transaction.  It takes no lock: logical
 * decoding has opened the tables, as they were at that time.
 *
 * extensions/dbcopies_decoding/dbcopies_decoding.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "dbcopies_decoding.h"
#include "fmgr.h"
#include "replication/output_plugin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "dbcopies_decoding", .version = "1.0");
#else
PG_MODULE_MAGIC;
#endif

extern PGDLLEXPORT void _PG_output_plugin_init(OutputPluginCallbacks *cb);

static CopiesState *
state_of(LogicalDecodingContext *ctx)
{
	return (CopiesState *) ctx->output_plugin_private;
}

static void
put_string(LogicalDecodingContext *ctx, const char *text)
{
	copies_put(ctx, text, strlen(text));
}

static void
put_column(LogicalDecodingContext *ctx, Form_pg_attribute column, Datum value)
{
	put_string(ctx, " ");
	if (column->attlen == -1 && VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
		put_string(ctx, "unchanged-toast-datum");
	else
		copies_put_value(ctx, column->atttypid,
						 column->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)) : value);
}

/* A column that is computed when it is read has no value in the log. */
static bool
is_stored(Form_pg_attribute column)
{
#if PG_VERSION_NUM >= 180000
	if (column->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
		return false;
#endif
	return !column->attisdropped;
}

static void
put_row(LogicalDecodingContext *ctx, TupleDesc columns, HeapTuple row, bool with_nulls)
{
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		bool		isnull;
		Datum		value;

		if (!is_stored(column))
			continue;
		value = heap_getattr(row, i + 1, columns, &isnull);
		if (!isnull)
			put_column(ctx, column, value);
		else if (with_nulls)
			put_string(ctx, " null");
	}
}

/* B or C, with the transaction's ID if the client wants it. */
static void
write_boundary(LogicalDecodingContext *ctx, const char *kind, TransactionId xid, bool last)
{
	copies_begin_record(ctx);
	put_string(ctx, kind);
	if (state_of(ctx)->include_xids)
		put_string(ctx, psprintf(" %u", xid));
	copies_end_record(ctx, last);
}

static void
begin_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	if (!state_of(ctx)->began)
		write_boundary(ctx, "B", txn->xid, false);
	state_of(ctx)->began = true;
	copies_begin_record(ctx);
}

#if PG_VERSION_NUM >= 170000
#define ROW_OF(row) (row)
#else
#define ROW_OF(row) ((row) == NULL ? NULL : &(row)->tuple)
#endif

/* What a change says of itself: its letter, and the row that tells the most. */
static HeapTuple
row_of(ReorderBufferChange *change, const char **kind)
{
	switch (change->action)
	{
		case REORDER_BUFFER_CHANGE_INSERT:
			*kind = "I ";
			return ROW_OF(change->data.tp.newtuple);
		case REORDER_BUFFER_CHANGE_UPDATE:
			*kind = "U ";
			return ROW_OF(change->data.tp.newtuple);
		case REORDER_BUFFER_CHANGE_DELETE:
			*kind = "D ";
			return ROW_OF(change->data.tp.oldtuple);
		default:
			elog(ERROR, "unexpected change %d", change->action);
	}
}

static void
write_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation table, ReorderBufferChange *change)
{
	const char *kind = NULL;
	HeapTuple	row = row_of(change, &kind);

	begin_change(ctx, txn);
	put_string(ctx, kind);
	put_string(ctx, RelationGetRelationName(table));
	if (row == NULL)
		put_string(ctx, " (no-tuple-data)");
	else
		put_row(ctx, RelationGetDescr(table), row, change->action != REORDER_BUFFER_CHANGE_DELETE);
	copies_end_record(ctx, true);
}

static void
on_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation table, ReorderBufferChange *change)
{
	CopiesState *state = state_of(ctx);
	MemoryContext caller;

	if (state->skip_change)
		return;
	caller = MemoryContextSwitchTo(state->memory);
	write_change(ctx, txn, table, change);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(state->memory);
}

static void
on_truncate(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, int count, Relation tables[],
			ReorderBufferChange *change)
{
	if (state_of(ctx)->skip_change)
		return;
	begin_change(ctx, txn);
	put_string(ctx, "T ");
	for (int i = 0; i < count; i++)
	{
		put_string(ctx, i == 0 ? "" : ", ");
		put_string(ctx, RelationGetRelationName(tables[i]));
	}
	copies_end_record(ctx, true);
}

static void
on_begin(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	state_of(ctx)->began = false;
}

static void
on_commit(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr commit_lsn)
{
	if (state_of(ctx)->began)
		write_boundary(ctx, "C", txn->xid, true);
}

/* A client that only wants to pass over changes has none of them decoded. */
static bool
on_filter(LogicalDecodingContext *ctx, RepOriginId origin)
{
	return state_of(ctx)->skip_change;
}

/* All memory is the decoding context's, and goes with it. */
static void
on_startup(LogicalDecodingContext *ctx, OutputPluginOptions *options, bool is_init)
{
	CopiesState *state = palloc0(sizeof(CopiesState));

	copies_read_options(state, ctx->output_plugin_options);
	initStringInfo(&state->record);
	state->memory = AllocSetContextCreate(ctx->context, "change of dbcopies_decoding", ALLOCSET_DEFAULT_SIZES);
	ctx->output_plugin_private = state;
	options->output_type = OUTPUT_PLUGIN_TEXTUAL_OUTPUT;
	options->receive_rewrites = false;
}

void
_PG_output_plugin_init(OutputPluginCallbacks *cb)
{
	cb->startup_cb = on_startup;
	cb->begin_cb = on_begin;
	cb->change_cb = on_change;
	cb->truncate_cb = on_truncate;
	cb->commit_cb = on_commit;
	cb->filter_by_origin_cb = on_filter;
}
