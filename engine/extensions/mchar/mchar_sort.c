/*-------------------------------------------------------------------------
 *
 * mchar_sort.c
 *	  Sorting: comparisons without the function manager, and abbreviated
 *	  keys of the first bytes of ICU's sort key.
 *
 * Abbreviation is given up when the keys turn out to be few, as for text:
 * values with a long common beginning.
 *
 * extensions/mchar/mchar_sort.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

#include <unicode/uiter.h>

#include "common/hashfn.h"
#include "lib/hyperloglog.h"
#include "port/pg_bswap.h"
#include "utils/sortsupport.h"

PG_FUNCTION_INFO_V1(mchar_icase_sortsupport);
PG_FUNCTION_INFO_V1(mvarchar_icase_sortsupport);
PG_FUNCTION_INFO_V1(mchar_case_sortsupport);
PG_FUNCTION_INFO_V1(mvarchar_case_sortsupport);

/* Before so many values nothing is known about their keys. */
#define JUDGED_FROM		100

/* One key among so many values does not pay. */
#define VALUES_A_KEY	20

typedef struct SortState
{
	MCharType	type;
	MCharCase	which;
	hyperLogLogState keys;
} SortState;

static int
compare_values(Datum x, Datum y, SortSupport support)
{
	SortState  *state = support->ssup_extra;
	MView		a;
	MView		b;
	int			result;

	mchar_view(x, state->type, &a);
	mchar_view(y, state->type, &b);
	result = mchar_compare(&a, &b, state->which);
	mchar_release(&a);
	mchar_release(&b);
	return result;
}

static Datum
abbreviate(Datum original, SortSupport support)
{
	SortState  *state = support->ssup_extra;
	MView		view;
	UCharIterator iterator;
	uint32		position[2] = {0, 0};
	union
	{
		uint8		bytes[sizeof(Datum)];
		Datum		datum;
	}			key = {.datum = 0};
	UErrorCode	status = U_ZERO_ERROR;

	mchar_view(original, state->type, &view);
	uiter_setString(&iterator, view.units, mchar_trimmed(view.units, view.length));
	ucol_nextSortKeyPart(mchar_collator(state->which), &iterator, position,
						 key.bytes, sizeof(key.bytes), &status);
	if (U_FAILURE(status))
		mchar_icu_failed("make a sort key", status);
	mchar_release(&view);
	addHyperLogLog(&state->keys, DatumGetUInt32(hash_any(key.bytes, sizeof(key.bytes))));
	return DatumBigEndianToNative(key.datum);
}

static bool
give_up(int count, SortSupport support)
{
	SortState  *state = support->ssup_extra;

	return count >= JUDGED_FROM &&
		estimateHyperLogLog(&state->keys) * VALUES_A_KEY < count;
}

static Datum
sortsupport(FunctionCallInfo fcinfo, MCharType type, MCharCase which)
{
	SortSupport support = (SortSupport) PG_GETARG_POINTER(0);
	MemoryContext outer = MemoryContextSwitchTo(support->ssup_cxt);
	SortState  *state = palloc0(sizeof(SortState));

	mchar_check_version(fcinfo->flinfo);
	state->type = type;
	state->which = which;
	support->ssup_extra = state;
	support->comparator = compare_values;
#if SIZEOF_DATUM >= 8
	if (support->abbreviate)
	{
		initHyperLogLog(&state->keys, 10);
		support->abbrev_full_comparator = compare_values;
		support->comparator = ssup_datum_unsigned_cmp;
		support->abbrev_converter = abbreviate;
		support->abbrev_abort = give_up;
	}
#endif
	MemoryContextSwitchTo(outer);
	PG_RETURN_VOID();
}

Datum
mchar_icase_sortsupport(PG_FUNCTION_ARGS)
{
	return sortsupport(fcinfo, TYPE_MCHAR, CASE_IGNORED);
}

Datum
mvarchar_icase_sortsupport(PG_FUNCTION_ARGS)
{
	return sortsupport(fcinfo, TYPE_MVARCHAR, CASE_IGNORED);
}

Datum
mchar_case_sortsupport(PG_FUNCTION_ARGS)
{
	return sortsupport(fcinfo, TYPE_MCHAR, CASE_HEEDED);
}

Datum
mvarchar_case_sortsupport(PG_FUNCTION_ARGS)
{
	return sortsupport(fcinfo, TYPE_MVARCHAR, CASE_HEEDED);
}
