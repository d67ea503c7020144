/*-------------------------------------------------------------------------
 *
 * mchar_io.c
 *	  Input and output of mchar and mvarchar, text and binary, and their
 *	  type modifiers.
 *
 * The modifier is n itself.  In binary, a value is its UTF-16 code units in
 * the server's byte order; mchar(n) is padded, as it is in text.
 *
 * extensions/mchar/mchar_io.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

#include "libpq/pqformat.h"
#include "utils/array.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "mchar", .version = MCHAR_VERSION);
#else
PG_MODULE_MAGIC;
#endif

PG_FUNCTION_INFO_V1(mchartypmod_in);
PG_FUNCTION_INFO_V1(mchartypmod_out);

Datum
mchartypmod_in(PG_FUNCTION_ARGS)
{
	int			count;
	int32	   *modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &count);

	if (count != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mchar and mvarchar take one length")));
	if (modifiers[0] < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("length of mchar and mvarchar must be at least 1")));
	if (modifiers[0] > MCHAR_LENGTH_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("length of mchar and mvarchar cannot exceed %d", MCHAR_LENGTH_MAX)));
	PG_RETURN_INT32(modifiers[0]);
}

Datum
mchartypmod_out(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(0);

	PG_RETURN_CSTRING(typmod < 0 ? pstrdup("") : psprintf("(%d)", typmod));
}

static Datum
input(FunctionCallInfo fcinfo, MCharType type)
{
	const char *string = PG_GETARG_CSTRING(0);
	struct varlena *value;

	mchar_check_version(fcinfo->flinfo);
	value = mchar_from_server(string, strlen(string), type, PG_GETARG_INT32(2), false,
							  fcinfo->context);
	if (value == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(value);
}

MCHAR_FUNCTIONS(in, input(fcinfo, type));

static Datum
output(FunctionCallInfo fcinfo, MCharType type)
{
	MView		view;
	Size		bytes;
	char	   *string;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	string = mchar_to_server(view.units, view.length, mchar_padding(&view), 0, &bytes);
	mchar_release(&view);
	PG_RETURN_CSTRING(string);
}

MCHAR_FUNCTIONS(out, output(fcinfo, type));

static Datum
from_binary(FunctionCallInfo fcinfo, MCharType type)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int32		typmod = PG_GETARG_INT32(2);
	int			bytes = message->len - message->cursor;
	struct varlena *value;
	UChar	   *units;
	int32		length;

	mchar_check_version(fcinfo->flinfo);
	if (bytes % sizeof(UChar) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid UTF-16: odd number of bytes")));
	value = mchar_alloc(type, typmod, bytes / sizeof(UChar), &units);
	pq_copymsgbytes(message, (char *) units, bytes);
	length = bytes / sizeof(UChar);
	mchar_check_units(units, length, NULL);
	length = mchar_fit(type, typmod, false, units, length, NULL);
	PG_RETURN_POINTER(mchar_finish(value, type, length));
}

MCHAR_FUNCTIONS(recv, from_binary(fcinfo, type));

static Datum
to_binary(FunctionCallInfo fcinfo, MCharType type)
{
	MView		view;
	StringInfoData message;
	const UChar blank = MCHAR_BLANK;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	pq_begintypsend(&message);
	pq_sendbytes(&message, (const char *) view.units, view.length * sizeof(UChar));
	for (int32 i = mchar_padding(&view); i > 0; i--)
		pq_sendbytes(&message, (const char *) &blank, sizeof(UChar));
	mchar_release(&view);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

MCHAR_FUNCTIONS(send, to_binary(fcinfo, type));
