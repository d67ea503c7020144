/*-------------------------------------------------------------------------
 *
 * dbcopies_decoding.h
 *	  What the files of this plugin share.
 *
 *	  dbcopies_decoding.c	the callbacks, and the records they write
 *	  options.c				what a client may ask for
 *	  values.c				a value as text
 *	  slices.c				a record, cut where it becomes too long
 *
 * extensions/dbcopies_decoding/dbcopies_decoding.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef DBCOPIES_DECODING_H
#define DBCOPIES_DECODING_H

#include "access/tupdesc.h"
#include "lib/stringinfo.h"
#include "replication/logical.h"

typedef struct CopiesState
{
	/* options */
	bool		include_xids;
	bool		skip_change;
	int			slice_size;

	bool		began;			/* has the transaction's first record been written? */
	int			header;			/* bytes that the protocol puts before each record */
	StringInfoData record;		/* what there is of the record, or of its last slice */
	MemoryContext memory;		/* for one change */
} CopiesState;

/* options.c */
extern void copies_read_options(CopiesState *state, List *options);

/* slices.c */
extern void copies_begin_record(LogicalDecodingContext *ctx);
extern void copies_put(LogicalDecodingContext *ctx, const char *text, int length);
extern void copies_put_text(LogicalDecodingContext *ctx, const char *text, int length);
extern void copies_end_record(LogicalDecodingContext *ctx, bool last);

/* values.c */
extern void copies_put_value(LogicalDecodingContext *ctx, Oid type, Datum value);

#endif							/* DBCOPIES_DECODING_H */
