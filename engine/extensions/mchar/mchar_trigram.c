/*-------------------------------------------------------------------------
 *
 * mchar_trigram.c
 *	  GIN indexes for LIKE '%text%': the operator classes mchar_trigram_ops
 *	  and mvarchar_trigram_ops.
 *
 * A key is three successive folded code units of a value, packed into an
 * int8.  A value that matches a pattern has all the keys of the pattern's
 * literal parts, whatever is between them; LIKE itself is checked again.
 * A pattern without a part of three units reads the whole index.
 *
 * extensions/mchar/mchar_trigram.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar_like.h"

#include "access/gin.h"
#include "access/stratnum.h"

PG_FUNCTION_INFO_V1(mchar_trigrams);
PG_FUNCTION_INFO_V1(mvarchar_trigrams);
PG_FUNCTION_INFO_V1(mchar_trigram_query);
PG_FUNCTION_INFO_V1(mchar_trigram_consistent);
PG_FUNCTION_INFO_V1(mchar_trigram_triconsistent);

/* Operators of the classes: the type of the pattern. */
#define STRATEGY_MVARCHAR	1
#define STRATEGY_TEXT		2

/* Folded units, and the trigrams that have been made of them. */
typedef struct Trigrams
{
	int64	   *keys;
	int32		count;
	uint64		last;			/* the last units, in 48 bits */
	int32		units;			/* since the last break */
} Trigrams;

static void
add_unit(Trigrams *trigrams, UChar unit)
{
	trigrams->last = (trigrams->last << 16 | unit) & UINT64CONST(0xFFFFFFFFFFFF);
	if (++trigrams->units >= 3)
		trigrams->keys[trigrams->count++] = (int64) trigrams->last;
}

static void
add_character(Trigrams *trigrams, UChar32 c)
{
	if (c > 0xFFFF)
	{
		add_unit(trigrams, U16_LEAD(c));
		add_unit(trigrams, U16_TRAIL(c));
	}
	else
		add_unit(trigrams, (UChar) c);
}

static int
compare_keys(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

static Datum *
distinct(Trigrams *trigrams, int32 *count)
{
	Datum	   *result;

	*count = 0;
	if (trigrams->count == 0)
		return NULL;
	qsort(trigrams->keys, trigrams->count, sizeof(int64), compare_keys);
	result = palloc_extended((Size) trigrams->count * sizeof(Datum), MCXT_ALLOC_HUGE);
	for (int32 i = 0; i < trigrams->count; i++)
		if (i == 0 || trigrams->keys[i] != trigrams->keys[i - 1])
			result[(*count)++] = Int64GetDatum(trigrams->keys[i]);
	return result;
}

static void
begin(Trigrams *trigrams, int64 units)
{
	memset(trigrams, 0, sizeof(*trigrams));
	trigrams->keys = palloc_extended((Size) Max(units, 1) * sizeof(int64), MCXT_ALLOC_HUGE);
}

static Datum
of_value(FunctionCallInfo fcinfo, MCharType type)
{
	int32	   *count = (int32 *) PG_GETARG_POINTER(1);
	Trigrams	trigrams;
	MView		view;
	int32		at = 0;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	begin(&trigrams, view.length);
	while (at < view.length)
	{
		UChar32		c;

		U16_NEXT(view.units, at, view.length, c);
		add_character(&trigrams, mchar_fold_character(c));
	}
	mchar_release(&view);
	PG_RETURN_POINTER(distinct(&trigrams, count));
}

Datum
mchar_trigrams(PG_FUNCTION_ARGS)
{
	return of_value(fcinfo, TYPE_MCHAR);
}

Datum
mvarchar_trigrams(PG_FUNCTION_ARGS)
{
	return of_value(fcinfo, TYPE_MVARCHAR);
}

Datum
mchar_trigram_query(PG_FUNCTION_ARGS)
{
	int32	   *count = (int32 *) PG_GETARG_POINTER(1);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	int32	   *search_mode = (int32 *) PG_GETARG_POINTER(6);
	LikeTokens *tokens = mchar_read_pattern(PG_GETARG_DATUM(0),
											strategy == STRATEGY_TEXT ? PATTERN_TEXT : PATTERN_MVARCHAR);
	Trigrams	trigrams;
	Datum	   *keys;

	begin(&trigrams, (int64) tokens->count * U16_MAX_LENGTH);
	for (int32 i = 0; i < tokens->count; i++)
	{
		if (tokens->token[i] < 0)
			trigrams.units = 0;
		else
			add_character(&trigrams, tokens->token[i]);
	}
	keys = distinct(&trigrams, count);
	if (*count == 0)
		*search_mode = GIN_SEARCH_MODE_ALL;
	PG_RETURN_POINTER(keys);
}

static bool
has_all(const GinTernaryValue *check, int32 count)
{
	for (int32 i = 0; i < count; i++)
		if (check[i] == GIN_FALSE)
			return false;
	return true;
}

Datum
mchar_trigram_consistent(PG_FUNCTION_ARGS)
{
	bool	   *check = (bool *) PG_GETARG_POINTER(0);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(5);

	*recheck = true;
	PG_RETURN_BOOL(has_all((GinTernaryValue *) check, PG_GETARG_INT32(3)));
}

Datum
mchar_trigram_triconsistent(PG_FUNCTION_ARGS)
{
	GinTernaryValue *check = (GinTernaryValue *) PG_GETARG_POINTER(0);

	PG_RETURN_GIN_TERNARY_VALUE(has_all(check, PG_GETARG_INT32(3)) ? GIN_MAYBE : GIN_FALSE);
}
