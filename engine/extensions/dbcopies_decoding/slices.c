/*-------------------------------------------------------------------------
 *
 * slices.c
 *	  Writes a record, in slices where it becomes too long.
 *
 * A value may have hundreds of megabytes, more than a client wants to take at
 * once, and twice as many when written as text.  So a record is cut: each slice
 * but the last ends with '!', which no whole record does.  Who reads takes the
 * marks away and puts the slices together.
 *
 * A slice is kept here until it is known whether another one follows, for only
 * the last may carry the position that the client will confirm.
 *
 * extensions/dbcopies_decoding/slices.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "dbcopies_decoding.h"
#include "mb/pg_wchar.h"
#include "replication/output_plugin.h"

#define CONTINUES '!'

static CopiesState *
state_of(LogicalDecodingContext *ctx)
{
	return (CopiesState *) ctx->output_plugin_private;
}

void
copies_begin_record(LogicalDecodingContext *ctx)
{
	resetStringInfo(&state_of(ctx)->record);
}

static void
write_slice(LogicalDecodingContext *ctx, bool last)
{
	CopiesState *state = state_of(ctx);

	OutputPluginPrepareWrite(ctx, last);
	state->header = ctx->out->len;
	appendBinaryStringInfo(ctx->out, state->record.data, state->record.len);
	OutputPluginWrite(ctx, last);
	resetStringInfo(&state->record);
}

/* Bytes that the slice still takes before its mark. */
static int
room(CopiesState *state)
{
	return state->slice_size - state->header - state->record.len - 1;
}

static void
begin_slice(LogicalDecodingContext *ctx)
{
	appendStringInfoChar(&state_of(ctx)->record, CONTINUES);
	write_slice(ctx, false);
}

/* Adds text that may be cut between two characters. */
void
copies_put_text(LogicalDecodingContext *ctx, const char *text, int length)
{
	CopiesState *state = state_of(ctx);

	while (length > room(state))
	{
		int			part = pg_mbcliplen(text, length, Max(room(state), 0));

		appendBinaryStringInfo(&state->record, text, part);
		begin_slice(ctx);
		text += part;
		length -= part;
	}
	appendBinaryStringInfo(&state->record, text, length);
}

/* Adds what is not to be cut, unless it is longer than a slice. */
void
copies_put(LogicalDecodingContext *ctx, const char *text, int length)
{
	CopiesState *state = state_of(ctx);

	if (length > room(state) && state->record.len > 0)
		begin_slice(ctx);
	copies_put_text(ctx, text, length);
}

/* Is it the last record that the position of the log belongs to? */
void
copies_end_record(LogicalDecodingContext *ctx, bool last)
{
	write_slice(ctx, last);
}
