/*-------------------------------------------------------------------------
 *
 * mchar_like.c
 *	  LIKE, NOT LIKE and LIKE … ESCAPE.
 *
 * The pattern is mvarchar or text.  It is read once and kept with the call
 * site as long as it stays the same; a constant does.
 *
 * PostgreSQL's grammar asks for pg_catalog.like_escape(), so that ours are
 * there; that of text gives a text, which is why patterns may be text.
 *
 * extensions/mchar/mchar_like.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar_like.h"

#include "nodes/primnodes.h"
#include "utils/guc.h"

extern PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(like_escape_mvarchar);

static bool substring_search = true;

/* A pattern as it was read last. */
typedef struct LikePattern
{
	char	   *source;			/* the bytes of the argument */
	Size		bytes;
	bool		constant;		/* at this call site */
	bool		searched;		/* substring_search was on */
	LikeTokens *tokens;
	LikeSearch *search;			/* or NULL */
} LikePattern;

void
_PG_init(void)
{
	DefineCustomBoolVariable("mchar.substring_search",
							 "Matches LIKE patterns without _ by searching for their parts.",
							 "Off, the generic matcher matches them all: to compare the two.",
							 &substring_search, true, PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("mchar");
}

LikeTokens *
mchar_read_pattern(Datum pattern, PatternType type)
{
	LikeTokens *tokens;
	MView		view;

	if (type == PATTERN_TEXT)
	{
		text	   *string = DatumGetTextPP(pattern);

		pattern = PointerGetDatum(mchar_from_server(VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string),
													TYPE_MVARCHAR, -1, true, NULL));
	}
	mchar_view(pattern, TYPE_MVARCHAR, &view);
	tokens = mchar_parse_pattern(view.units, view.length);
	mchar_release(&view);
	return tokens;
}

static void
forget_pattern(LikePattern *pattern)
{
	if (pattern->source == NULL)
		return;
	pfree(pattern->source);
	pattern->source = NULL;
	pfree(pattern->tokens);
	mchar_free_search(pattern->search);
}

/*
 * An error leaves no source behind, so that what was kept is not used again.
 * A pattern in the call site's memory stays until the query ends.
 */
static void
remember_pattern(LikePattern *pattern, Datum datum, PatternType type,
				 const char *data, Size bytes, MemoryContext context)
{
	LikeTokens *tokens = mchar_read_pattern(datum, type);
	MemoryContext outer = MemoryContextSwitchTo(context);
	Size		size = offsetof(LikeTokens, token) + (Size) tokens->count * sizeof(int32);

	forget_pattern(pattern);
	pattern->tokens = palloc_extended(size, MCXT_ALLOC_HUGE);
	memcpy(pattern->tokens, tokens, size);
	pfree(tokens);
	pattern->searched = substring_search;
	pattern->search = substring_search ? mchar_plan_search(pattern->tokens) : NULL;
	pattern->bytes = bytes;
	pattern->source = palloc(Max(bytes, 1));
	memcpy(pattern->source, data, bytes);
	MemoryContextSwitchTo(outer);
}

/* Parameters are no constants: PL/pgSQL keeps a call site from one value to the next. */
static bool
pattern_is_constant(Node *call)
{
	List	   *arguments = call == NULL ? NIL
		: IsA(call, OpExpr) ? ((OpExpr *) call)->args
		: IsA(call, FuncExpr) ? ((FuncExpr *) call)->args : NIL;

	return list_length(arguments) == 2 && IsA(lsecond(arguments), Const);
}

static const LikePattern *
find_pattern(FunctionCallInfo fcinfo, Datum datum, PatternType type)
{
	LikePattern *pattern = fcinfo->flinfo->fn_extra;
	struct varlena *source;
	const char *data;
	Size		bytes;

	if (pattern != NULL && pattern->constant && pattern->source != NULL &&
		pattern->searched == substring_search)
		return pattern;
	source = PG_DETOAST_DATUM_PACKED(datum);
	data = VARDATA_ANY(source);
	bytes = VARSIZE_ANY_EXHDR(source);
	if (pattern == NULL)
	{
		mchar_check_version(fcinfo->flinfo);
		pattern = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(LikePattern));
		pattern->constant = pattern_is_constant(fcinfo->flinfo->fn_expr);
		fcinfo->flinfo->fn_extra = pattern;
	}
	if (pattern->source == NULL || pattern->bytes != bytes ||
		pattern->searched != substring_search || memcmp(pattern->source, data, bytes) != 0)
		remember_pattern(pattern, PointerGetDatum(source), type, data, bytes,
						 fcinfo->flinfo->fn_mcxt);
	if ((Pointer) source != DatumGetPointer(datum))
		pfree(source);
	return pattern;
}

static bool
like(FunctionCallInfo fcinfo, MCharType type, PatternType pattern_type)
{
	const LikePattern *pattern = find_pattern(fcinfo, PG_GETARG_DATUM(1), pattern_type);
	MView		view;
	bool		result;

	mchar_view(PG_GETARG_DATUM(0), type, &view);
	result = pattern->search != NULL
		? mchar_search(pattern->search, view.units, view.length)
		: mchar_match(pattern->tokens, view.units, view.length);
	mchar_release(&view);
	return result;
}

MCHAR_FUNCTIONS(like, BoolGetDatum(like(fcinfo, type, PATTERN_MVARCHAR)));
MCHAR_FUNCTIONS(notlike, BoolGetDatum(!like(fcinfo, type, PATTERN_MVARCHAR)));
MCHAR_FUNCTIONS(text_like, BoolGetDatum(like(fcinfo, type, PATTERN_TEXT)));
MCHAR_FUNCTIONS(text_notlike, BoolGetDatum(!like(fcinfo, type, PATTERN_TEXT)));

Datum
like_escape_mvarchar(PG_FUNCTION_ARGS)
{
	MView		pattern;
	MView		escape;
	UChar	   *units;
	struct varlena *result;
	int32		length;

	mchar_view(PG_GETARG_DATUM(0), TYPE_MVARCHAR, &pattern);
	mchar_view(PG_GETARG_DATUM(1), TYPE_MVARCHAR, &escape);
	result = mchar_alloc(TYPE_MVARCHAR, -1, (int64) pattern.length * 2, &units);
	length = mchar_like_escape(pattern.units, pattern.length, escape.units, escape.length, units);
	mchar_release(&pattern);
	mchar_release(&escape);
	PG_RETURN_POINTER(mchar_finish(result, TYPE_MVARCHAR, length));
}
