/*-------------------------------------------------------------------------
 *
 * mchar_string.c
 *	  || length upper lower substr
 *
 * Characters are code points.  length() does not count trailing blanks, of
 * either type.
 *
 * extensions/mchar/mchar_string.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

#include "common/int.h"

PG_FUNCTION_INFO_V1(mchar_concat);
PG_FUNCTION_INFO_V1(mvarchar_concat);
PG_FUNCTION_INFO_V1(mchar_mvarchar_concat);
PG_FUNCTION_INFO_V1(mvarchar_mchar_concat);

static Datum
count_characters(FunctionCallInfo fcinfo, MCharType type)
{
	MView		view;
	int32		result;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	result = u_countChar32(view.units, mchar_trimmed(view.units, view.length));
	mchar_release(&view);
	PG_RETURN_INT32(result);
}

MCHAR_FUNCTIONS(length, count_characters(fcinfo, type));

typedef int32_t (*CaseMap) (UChar *to, int32_t capacity, const UChar *from, int32_t length,
							const char *locale, UErrorCode *status);

/* Some characters become two or three; what mchar(n) has no room for then is cut. */
static Datum
map_case(FunctionCallInfo fcinfo, MCharType type, CaseMap map)
{
	MView		view;
	struct varlena *result;
	UChar	   *units;
	int32		length;
	UErrorCode	status = U_ZERO_ERROR;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	result = mchar_alloc(type, view.typmod, view.length, &units);
	length = map(units, view.length, view.units, view.length, mchar_locale(), &status);
	if (status == U_BUFFER_OVERFLOW_ERROR)
	{
		pfree(result);
		status = U_ZERO_ERROR;
		result = mchar_alloc(type, view.typmod, length, &units);
		length = map(units, length, view.units, view.length, mchar_locale(), &status);
	}
	if (U_FAILURE(status))
		mchar_icu_failed("change case", status);
	length = mchar_fit(type, view.typmod, true, units, length, NULL);
	mchar_release(&view);
	PG_RETURN_POINTER(mchar_finish(result, type, length));
}

MCHAR_FUNCTIONS(upper, map_case(fcinfo, type, u_strToUpper));
MCHAR_FUNCTIONS(lower, map_case(fcinfo, type, u_strToLower));

/* As substr() of text: positions before the first are there and empty. */
static Datum
substring(FunctionCallInfo fcinfo, MCharType type, bool to_end)
{
	int32		start = PG_GETARG_INT32(1);
	int32		count = to_end ? 0 : PG_GETARG_INT32(2);
	int32		end;
	int32		from;
	int32		to;
	MView		view;
	struct varlena *result;

	if (count < 0)
		ereport(ERROR,
				(errcode(ERRCODE_SUBSTRING_ERROR),
				 errmsg("negative substring length not allowed")));
	if (to_end || pg_add_s32_overflow(start, count, &end))
		end = PG_INT32_MAX;
	start = Max(start, 1);
	end = Max(end, start);

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	from = mchar_cut(view.units, view.length, start - 1);
	to = from + mchar_cut(view.units + from, view.length - from, end - start);
	result = mchar_build(type, -1, view.units + from, to - from);
	mchar_release(&view);
	PG_RETURN_POINTER(result);
}

MCHAR_FUNCTIONS(substr, substring(fcinfo, type, false));
MCHAR_FUNCTIONS(substr_no_length, substring(fcinfo, type, true));

/* append writes a value, padded, and returns where it ends. */
static UChar *
append(UChar *to, const MView *view, int32 padding)
{
	memcpy(to, view->units, view->length * sizeof(UChar));
	to += view->length;
	while (padding-- > 0)
		*to++ = MCHAR_BLANK;
	return to;
}

/* Two of mchar make a mchar, all others a mvarchar. */
static Datum
concatenate(FunctionCallInfo fcinfo, MCharType left, MCharType right)
{
	MCharType	type = left == TYPE_MCHAR && right == TYPE_MCHAR ? TYPE_MCHAR : TYPE_MVARCHAR;
	MView		a;
	MView		b;
	int32		a_padding;
	int32		b_padding;
	UChar	   *units;
	UChar	   *end;
	struct varlena *result;

	mchar_view(PG_GETARG_DATUM(0), left, &a);
	mchar_view(PG_GETARG_DATUM(1), right, &b);
	a_padding = mchar_padding(&a);
	b_padding = type == TYPE_MCHAR ? 0 : mchar_padding(&b);
	result = mchar_alloc(type, -1, (int64) a.length + a_padding + b.length + b_padding, &units);
	end = append(append(units, &a, a_padding), &b, b_padding);
	mchar_release(&a);
	mchar_release(&b);
	if (type == TYPE_MCHAR)
		mchar_finish(result, type, mchar_trimmed(units, end - units));
	PG_RETURN_POINTER(result);
}

Datum
mchar_concat(PG_FUNCTION_ARGS)
{
	return concatenate(fcinfo, TYPE_MCHAR, TYPE_MCHAR);
}

Datum
mvarchar_concat(PG_FUNCTION_ARGS)
{
	return concatenate(fcinfo, TYPE_MVARCHAR, TYPE_MVARCHAR);
}

Datum
mchar_mvarchar_concat(PG_FUNCTION_ARGS)
{
	return concatenate(fcinfo, TYPE_MCHAR, TYPE_MVARCHAR);
}

Datum
mvarchar_mchar_concat(PG_FUNCTION_ARGS)
{
	return concatenate(fcinfo, TYPE_MVARCHAR, TYPE_MCHAR);
}
