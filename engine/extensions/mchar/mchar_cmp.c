/*-------------------------------------------------------------------------
 *
 * mchar_cmp.c
 *	  Comparison and hashing.
 *
 * Trailing blanks mean nothing.  = <> < <= > >= ignore case and
 * &= &<> &< &<= &> &>= heed it; == is = that takes two NULLs for equal.
 *
 * What is equal hashes alike because the hash is that of ICU's sort key,
 * which is equal exactly if ICU takes the strings for equal.
 *
 * extensions/mchar/mchar_cmp.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

#include "common/hashfn.h"

int
mchar_compare(const MView *a, const MView *b, MCharCase which)
{
	int32		a_length = mchar_trimmed(a->units, a->length);
	int32		b_length = mchar_trimmed(b->units, b->length);

	if (a_length == b_length &&
		memcmp(a->units, b->units, a_length * sizeof(UChar)) == 0)
		return 0;
	/* UCOL_LESS, UCOL_EQUAL and UCOL_GREATER are -1, 0 and 1. */
	return (int) ucol_strcoll(mchar_collator(which), a->units, a_length, b->units, b_length);
}

static int
compare(FunctionCallInfo fcinfo, MCharType left, MCharType right, MCharCase which)
{
	MView		a;
	MView		b;
	int			result;

	mchar_view(PG_GETARG_DATUM(0), left, &a);
	mchar_view(PG_GETARG_DATUM(1), right, &b);
	result = mchar_compare(&a, &b, which);
	mchar_release(&a);
	mchar_release(&b);
	return result;
}

#define COMPARISON(name, left, right, which, result) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		int			order = compare(fcinfo, left, right, which); \
		return result; \
	} \
	extern Datum name(PG_FUNCTION_ARGS)

#define COMPARISONS(prefix, left, right, which) \
	COMPARISON(prefix##_cmp, left, right, which, Int32GetDatum(order)); \
	COMPARISON(prefix##_eq, left, right, which, BoolGetDatum(order == 0)); \
	COMPARISON(prefix##_ne, left, right, which, BoolGetDatum(order != 0)); \
	COMPARISON(prefix##_lt, left, right, which, BoolGetDatum(order < 0)); \
	COMPARISON(prefix##_le, left, right, which, BoolGetDatum(order <= 0)); \
	COMPARISON(prefix##_gt, left, right, which, BoolGetDatum(order > 0)); \
	COMPARISON(prefix##_ge, left, right, which, BoolGetDatum(order >= 0))

COMPARISONS(mchar_icase, TYPE_MCHAR, TYPE_MCHAR, CASE_IGNORED);
COMPARISONS(mchar_case, TYPE_MCHAR, TYPE_MCHAR, CASE_HEEDED);
COMPARISONS(mvarchar_icase, TYPE_MVARCHAR, TYPE_MVARCHAR, CASE_IGNORED);
COMPARISONS(mvarchar_case, TYPE_MVARCHAR, TYPE_MVARCHAR, CASE_HEEDED);
COMPARISONS(mc_mv_icase, TYPE_MCHAR, TYPE_MVARCHAR, CASE_IGNORED);
COMPARISONS(mc_mv_case, TYPE_MCHAR, TYPE_MVARCHAR, CASE_HEEDED);
COMPARISONS(mv_mc_icase, TYPE_MVARCHAR, TYPE_MCHAR, CASE_IGNORED);
COMPARISONS(mv_mc_case, TYPE_MVARCHAR, TYPE_MCHAR, CASE_HEEDED);

PG_FUNCTION_INFO_V1(mchar_larger);
PG_FUNCTION_INFO_V1(mchar_smaller);
PG_FUNCTION_INFO_V1(mvarchar_larger);
PG_FUNCTION_INFO_V1(mvarchar_smaller);
PG_FUNCTION_INFO_V1(mchar_hash);
PG_FUNCTION_INFO_V1(mvarchar_hash);
PG_FUNCTION_INFO_V1(mchar_hash_extended);
PG_FUNCTION_INFO_V1(mvarchar_hash_extended);
PG_FUNCTION_INFO_V1(isfulleq_mchar);
PG_FUNCTION_INFO_V1(isfulleq_mvarchar);

Datum
mchar_larger(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(compare(fcinfo, TYPE_MCHAR, TYPE_MCHAR, CASE_IGNORED) < 0));
}

Datum
mchar_smaller(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(compare(fcinfo, TYPE_MCHAR, TYPE_MCHAR, CASE_IGNORED) > 0));
}

Datum
mvarchar_larger(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(compare(fcinfo, TYPE_MVARCHAR, TYPE_MVARCHAR, CASE_IGNORED) < 0));
}

Datum
mvarchar_smaller(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(compare(fcinfo, TYPE_MVARCHAR, TYPE_MVARCHAR, CASE_IGNORED) > 0));
}

/* Sort keys are bytes; that of a short value takes no memory. */
#define LOCAL_KEY_BYTES	512

static uint64
hash(Datum datum, MCharType type, bool extended, uint64 seed)
{
	UCollator  *collator = mchar_collator(CASE_IGNORED);
	MView		view;
	int32		length;
	uint8		local[LOCAL_KEY_BYTES];
	uint8	   *key = local;
	int32		bytes;
	uint64		result;

	mchar_view(datum, type, &view);
	length = mchar_trimmed(view.units, view.length);
	bytes = ucol_getSortKey(collator, view.units, length, local, sizeof(local));
	if (bytes > (int32) sizeof(local))
	{
		key = palloc(bytes);
		bytes = ucol_getSortKey(collator, view.units, length, key, bytes);
	}
	if (bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too long to be hashed")));
	result = extended ? hash_bytes_extended(key, bytes, seed) : hash_bytes(key, bytes);
	if (key != local)
		pfree(key);
	mchar_release(&view);
	return result;
}

Datum
mchar_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32((uint32) hash(PG_GETARG_DATUM(0), TYPE_MCHAR, false, 0));
}

Datum
mvarchar_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32((uint32) hash(PG_GETARG_DATUM(0), TYPE_MVARCHAR, false, 0));
}

Datum
mchar_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT64(hash(PG_GETARG_DATUM(0), TYPE_MCHAR, true, PG_GETARG_INT64(1)));
}

Datum
mvarchar_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT64(hash(PG_GETARG_DATUM(0), TYPE_MVARCHAR, true, PG_GETARG_INT64(1)));
}

static bool
full_equal(FunctionCallInfo fcinfo, MCharType type)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return PG_ARGISNULL(0) && PG_ARGISNULL(1);
	return compare(fcinfo, type, type, CASE_IGNORED) == 0;
}

Datum
isfulleq_mchar(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(full_equal(fcinfo, TYPE_MCHAR));
}

Datum
isfulleq_mvarchar(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(full_equal(fcinfo, TYPE_MVARCHAR));
}
