/*-------------------------------------------------------------------------
 *
 * mchar_prefix.c
 *	  Index conditions of LIKE 'text%': planner support functions.
 *
 * A pattern with a literal beginning P gives P <= column <= P || U+FFFF for a
 * btree index that ignores case; U+FFFF sorts behind every character in every
 * collation of ICU and is in no value.  LIKE itself is checked again for each
 * row, so the range may hold too much but nothing may be missing from it.
 * P therefore ends
 *
 * - before a character whose other cases ICU does not take for equal (LIKE
 *   folds single characters, the collation has rules of its own),
 * - before a combining character, and before one that makes a unit of sorting
 *   with the one in front of it (Danish aa; i and a breve, which is a letter
 *   of its own in Russian),
 * - and, as characters may follow it in the value, not with one that can
 *   begin such a unit,
 * - before a digit, if the locale sorts numbers.
 *
 * extensions/mchar/mchar_prefix.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar_like.h"

#include <unicode/uchar.h>
#include <unicode/uset.h>

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(mchar_like_support);
PG_FUNCTION_INFO_V1(mvarchar_like_support);

/* A longer beginning narrows no index any further. */
#define PREFIX_MAX	64

/* Characters that begin units of sorting of several, and those that go on with one. */
static USet *unit_beginnings;
static USet *unit_continuations;

/* A locale may sort digits by the number that they make. */
static bool digits_are_units;

static void
add_unit(const UChar *units, int32 length)
{
	int32		at = 0;
	UChar32		c;

	U16_NEXT(units, at, length, c);
	uset_add(unit_beginnings, c);
	while (at < length)
	{
		U16_NEXT(units, at, length, c);
		uset_add(unit_continuations, c);
	}
}

static void
find_units(void)
{
	UErrorCode	status = U_ZERO_ERROR;
	USet	   *contractions;
	int32		count;

	if (unit_continuations != NULL)
		return;
	contractions = uset_openEmpty();
	ucol_getContractionsAndExpansions(mchar_collator(CASE_IGNORED), contractions, NULL,
									  false, &status);
	if (U_FAILURE(status))
	{
		uset_close(contractions);
		mchar_icu_failed("list contractions", status);
	}
	unit_beginnings = uset_openEmpty();
	unit_continuations = uset_openEmpty();
	count = uset_getItemCount(contractions);
	for (int32 i = 0; i < count; i++)
	{
		UChar		units[64];
		UChar32		start;
		UChar32		end;
		int32		length = uset_getItem(contractions, i, &start, &end, units, lengthof(units), &status);

		/* Ranges of single characters have no length. */
		if (U_SUCCESS(status) && length > 0)
			add_unit(units, length);
		status = U_ZERO_ERROR;
	}
	uset_close(contractions);
	digits_are_units = ucol_getAttribute(mchar_collator(CASE_IGNORED), UCOL_NUMERIC_COLLATION,
										 &status) == UCOL_ON;
}

typedef struct Character
{
	bool		plain;			/* equal to all its other cases in the collation */
	bool		combines;		/* these three: it or another case of it */
	bool		begins;
	bool		goes_on;
} Character;

static bool
collate_equal(UChar32 a, UChar32 b)
{
	UChar		a_units[U16_MAX_LENGTH];
	UChar		b_units[U16_MAX_LENGTH];
	int32		a_length = 0;
	int32		b_length = 0;

	U16_APPEND_UNSAFE(a_units, a_length, a);
	U16_APPEND_UNSAFE(b_units, b_length, b);
	return ucol_equal(mchar_collator(CASE_IGNORED), a_units, a_length, b_units, b_length);
}

static Character
inspect(UChar32 c)
{
	Character	result = {.plain = true};
	USet	   *cases = uset_open(c, c);
	int32		ranges;

	uset_closeOver(cases, USET_CASE_INSENSITIVE);
	ranges = uset_getRangeCount(cases);
	for (int32 i = 0; i < ranges; i++)
	{
		UErrorCode	status = U_ZERO_ERROR;
		UChar32		start;
		UChar32		end;

		uset_getItem(cases, i, &start, &end, NULL, 0, &status);
		for (UChar32 other = start; other <= end; other++)
		{
			if (mchar_fold_character(other) != mchar_fold_character(c))
				continue;
			result.plain = result.plain && collate_equal(c, other);
			result.begins = result.begins || uset_contains(unit_beginnings, other);
			result.goes_on = result.goes_on || uset_contains(unit_continuations, other);
			result.combines = result.combines || u_getCombiningClass(other) != 0;
		}
	}
	uset_close(cases);
	return result;
}

/* How many characters of the pattern's beginning bound the values, and whether they are all of it. */
static int32
usable_prefix(const LikeTokens *tokens, bool *whole)
{
	bool		begins[PREFIX_MAX];
	int32		count;

	*whole = tokens->count == 0;
	if (*whole || tokens->token[0] < 0)
		return 0;
	find_units();
	for (count = 0; count < Min(tokens->count, PREFIX_MAX) && tokens->token[count] >= 0; count++)
	{
		Character	c = inspect(tokens->token[count]);
		bool		inside = c.goes_on && count > 0 && begins[count - 1];
		bool		number = digits_are_units && u_isdigit(tokens->token[count]);

		if (!c.plain || c.combines || inside || number)
			break;
		begins[count] = c.begins;
	}
	*whole = count == tokens->count;
	while (!*whole && count > 0 && begins[count - 1])
		count--;
	return count;
}

static Const *
make_bound(MCharType type, Oid type_oid, const LikeTokens *tokens, int32 count, bool upper)
{
	UChar		units[PREFIX_MAX * U16_MAX_LENGTH + 1];
	int32		length = 0;

	for (int32 i = 0; i < count; i++)
		U16_APPEND_UNSAFE(units, length, tokens->token[i]);
	if (upper)
		units[length++] = MCHAR_HIGHEST;
	return makeConst(type_oid, -1, InvalidOid, -1,
					 PointerGetDatum(mchar_build(type, -1, units, length)), false, false);
}

/* The operator of an index that ignores case, or InvalidOid. */
static Oid
index_operator(SupportRequestIndexCondition *request, Oid type, int16 strategy, const char *name)
{
	Oid			operator = get_opfamily_member(request->opfamily, type, type, strategy);

	if (!OidIsValid(operator) || strcmp(get_opname(operator), name) != 0)
		return InvalidOid;
	return operator;
}

static Expr *
condition(Oid operator, Node *column, Const *bound)
{
	return make_opclause(operator, BOOLOID, false, (Expr *) copyObject(column), (Expr *) bound,
						 InvalidOid, InvalidOid);
}

static List *
index_conditions(SupportRequestIndexCondition *request, MCharType type)
{
	List	   *args = IsA(request->node, OpExpr) ? ((OpExpr *) request->node)->args :
		IsA(request->node, FuncExpr) ? ((FuncExpr *) request->node)->args : NIL;
	Node	   *column;
	Const	   *pattern;
	Oid			type_oid;
	Oid			from;
	Oid			to;
	Oid			equal;
	LikeTokens *tokens;
	bool		whole;
	int32		count;

	if (list_length(args) != 2 || request->indexarg != 0 ||
		request->index->relam != BTREE_AM_OID || !IsA(lsecond(args), Const))
		return NIL;
	column = linitial(args);
	pattern = lsecond_node(Const, args);
	type_oid = exprType(column);
	from = index_operator(request, type_oid, BTGreaterEqualStrategyNumber, ">=");
	to = index_operator(request, type_oid, BTLessEqualStrategyNumber, "<=");
	equal = index_operator(request, type_oid, BTEqualStrategyNumber, "=");
	if (pattern->constisnull || !OidIsValid(from) || !OidIsValid(to) || !OidIsValid(equal))
		return NIL;

	tokens = mchar_read_pattern(pattern->constvalue,
								pattern->consttype == TEXTOID ? PATTERN_TEXT : PATTERN_MVARCHAR);
	count = usable_prefix(tokens, &whole);
	if (whole)
		return list_make1(condition(equal, column, make_bound(type, type_oid, tokens, count, false)));
	if (count == 0)
		return NIL;
	return list_make2(condition(from, column, make_bound(type, type_oid, tokens, count, false)),
					  condition(to, column, make_bound(type, type_oid, tokens, count, true)));
}

static Datum
support(FunctionCallInfo fcinfo, MCharType type)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(NULL);
	mchar_check_version(fcinfo->flinfo);
	PG_RETURN_POINTER(index_conditions((SupportRequestIndexCondition *) request, type));
}

Datum
mchar_like_support(PG_FUNCTION_ARGS)
{
	return support(fcinfo, TYPE_MCHAR);
}

Datum
mvarchar_like_support(PG_FUNCTION_ARGS)
{
	return support(fcinfo, TYPE_MVARCHAR);
}
