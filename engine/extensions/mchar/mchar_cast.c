/*-------------------------------------------------------------------------
 *
 * mchar_cast.c
 *	  Casts of length, between mchar and mvarchar, and from and to text.
 *
 * Wherever a value of mchar(n) is read as a string it is padded, as output
 * is: in casts, in || and in binary.
 *
 * extensions/mchar/mchar_cast.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

PG_FUNCTION_INFO_V1(mchar);
PG_FUNCTION_INFO_V1(mvarchar);
PG_FUNCTION_INFO_V1(mvarchar_mchar);
PG_FUNCTION_INFO_V1(mchar_mvarchar);
PG_FUNCTION_INFO_V1(mchar_from_text);
PG_FUNCTION_INFO_V1(mvarchar_from_text);
PG_FUNCTION_INFO_V1(mchar_from_bpchar);
PG_FUNCTION_INFO_V1(mvarchar_from_bpchar);
PG_FUNCTION_INFO_V1(mchar_to_text);
PG_FUNCTION_INFO_V1(mvarchar_to_text);

/* The arguments are those of every cast of length: value, modifier, explicit. */
static Datum
cast(FunctionCallInfo fcinfo, MCharType from, MCharType to)
{
	int32		typmod = PG_GETARG_INT32(1);
	bool		explicit = PG_GETARG_BOOL(2);
	MView		view;
	int32		length;
	int32		padding = 0;
	struct varlena *value;
	UChar	   *units;

	mchar_view(PG_GETARG_DATUM(0), from, &view);
	length = mchar_fit(to, typmod, explicit, view.units, view.length, NULL);
	if (to == TYPE_MVARCHAR && length == view.length)
		padding = mchar_padding(&view);
	if (padding > 0 && typmod >= 0)
		padding = Min(padding, typmod - u_countChar32(view.units, length));
	value = mchar_alloc(to, typmod, (int64) length + padding, &units);
	memcpy(units, view.units, length * sizeof(UChar));
	for (int32 i = 0; i < padding; i++)
		units[length + i] = MCHAR_BLANK;
	mchar_release(&view);
	PG_RETURN_POINTER(value);
}

Datum
mchar(PG_FUNCTION_ARGS)
{
	return cast(fcinfo, TYPE_MCHAR, TYPE_MCHAR);
}

Datum
mvarchar(PG_FUNCTION_ARGS)
{
	return cast(fcinfo, TYPE_MVARCHAR, TYPE_MVARCHAR);
}

Datum
mvarchar_mchar(PG_FUNCTION_ARGS)
{
	return cast(fcinfo, TYPE_MVARCHAR, TYPE_MCHAR);
}

Datum
mchar_mvarchar(PG_FUNCTION_ARGS)
{
	return cast(fcinfo, TYPE_MCHAR, TYPE_MVARCHAR);
}

static Datum
from_text(FunctionCallInfo fcinfo, MCharType type, bool strip)
{
	text	   *string = PG_GETARG_TEXT_PP(0);
	const char *data = VARDATA_ANY(string);
	int32		bytes = VARSIZE_ANY_EXHDR(string);

	mchar_check_version(fcinfo->flinfo);
	while (strip && bytes > 0 && data[bytes - 1] == ' ')
		bytes--;
	PG_RETURN_POINTER(mchar_from_server(data, bytes, type, PG_GETARG_INT32(1),
										PG_GETARG_BOOL(2), NULL));
}

Datum
mchar_from_text(PG_FUNCTION_ARGS)
{
	return from_text(fcinfo, TYPE_MCHAR, false);
}

Datum
mvarchar_from_text(PG_FUNCTION_ARGS)
{
	return from_text(fcinfo, TYPE_MVARCHAR, false);
}

/* The trailing blanks of bpchar mean nothing; a cast to text drops them, too. */
Datum
mchar_from_bpchar(PG_FUNCTION_ARGS)
{
	return from_text(fcinfo, TYPE_MCHAR, true);
}

Datum
mvarchar_from_bpchar(PG_FUNCTION_ARGS)
{
	return from_text(fcinfo, TYPE_MVARCHAR, true);
}

static Datum
to_text(FunctionCallInfo fcinfo, MCharType type)
{
	MView		view;
	text	   *result;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	result = mchar_to_text_value(view.units, view.length, mchar_padding(&view));
	mchar_release(&view);
	PG_RETURN_TEXT_P(result);
}

Datum
mchar_to_text(PG_FUNCTION_ARGS)
{
	return to_text(fcinfo, TYPE_MCHAR);
}

Datum
mvarchar_to_text(PG_FUNCTION_ARGS)
{
	return to_text(fcinfo, TYPE_MVARCHAR);
}
