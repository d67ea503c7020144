/*-------------------------------------------------------------------------
 *
 * mchar_regex.c
 *	  Regular expressions, ~ and !~, and the patterns of SIMILAR TO.
 *
 * PostgreSQL's own engine matches, in the server's encoding and ignoring
 * case by the rules of Unicode, not of the database's locale: a database of
 * locale C would know no letters but those of ASCII.
 *
 * extensions/mchar/mchar_regex.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar_like.h"

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "nodes/value.h"
#include "regex/regex.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(mchar_similar_escape);
PG_FUNCTION_INFO_V1(mvarchar_similar_escape);

/* The collation of Unicode's root, or the database's where initdb made none. */
static Oid
unicode_collation(void)
{
	static Oid	collation = InvalidOid;

	if (!OidIsValid(collation))
		collation = get_collation_oid(list_make2(makeString("pg_catalog"),
												 makeString("und-x-icu")), true);
	return OidIsValid(collation) ? collation : DEFAULT_COLLATION_OID;
}

static text *
read_as_text(Datum value, MCharType type)
{
	MView		view;
	text	   *result;

	mchar_view(value, type, &view);
	result = mchar_to_text_value(view.units, view.length, 0);
	mchar_release(&view);
	return result;
}

static bool
matches(Datum value, MCharType type, text *pattern)
{
	text	   *string = read_as_text(value, type);
	bool		result = RE_compile_and_execute(pattern, VARDATA(string), VARSIZE(string) - VARHDRSZ,
												REG_ADVANCED | REG_ICASE | REG_NOSUB,
												unicode_collation(), 0, NULL);

	pfree(string);
	return result;
}

/* ~ and !~ of a type; the pattern is what read makes of the argument. */
#define MATCH(prefix, type, read) \
	PG_FUNCTION_INFO_V1(prefix##_regexeq); \
	Datum \
	prefix##_regexeq(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(matches(PG_GETARG_DATUM(0), type, read)); \
	} \
	PG_FUNCTION_INFO_V1(prefix##_regexne); \
	Datum \
	prefix##_regexne(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(!matches(PG_GETARG_DATUM(0), type, read)); \
	} \
	extern Datum prefix##_regexne(PG_FUNCTION_ARGS)

#define READ(type)	read_as_text(PG_GETARG_DATUM(1), type)

MATCH(mchar, TYPE_MCHAR, READ(TYPE_MCHAR));
MATCH(mc_mv, TYPE_MCHAR, READ(TYPE_MVARCHAR));
MATCH(mchar_text, TYPE_MCHAR, PG_GETARG_TEXT_PP(1));
MATCH(mvarchar, TYPE_MVARCHAR, READ(TYPE_MVARCHAR));
MATCH(mv_mc, TYPE_MVARCHAR, READ(TYPE_MCHAR));
MATCH(mvarchar_text, TYPE_MVARCHAR, PG_GETARG_TEXT_PP(1));

/*
 * PostgreSQL translates; its function takes a missing escape for the
 * backslash and so is not strict.
 */
static Datum
similar_escape_value(FunctionCallInfo fcinfo, MCharType type)
{
	LOCAL_FCINFO(call, 2);
	bool		no_escape = PG_NARGS() < 2 || PG_ARGISNULL(1);
	text	   *regex;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	InitFunctionCallInfoData(*call, NULL, 2, InvalidOid, NULL, NULL);
	call->args[0].value = PointerGetDatum(read_as_text(PG_GETARG_DATUM(0), type));
	call->args[0].isnull = false;
	call->args[1].isnull = no_escape;
	call->args[1].value = no_escape ? (Datum) 0
		: PointerGetDatum(read_as_text(PG_GETARG_DATUM(1), type));
	regex = DatumGetTextPP(similar_escape(call));
	PG_RETURN_POINTER(mchar_from_server(VARDATA_ANY(regex), VARSIZE_ANY_EXHDR(regex), type, -1,
										true, NULL));
}

Datum
mchar_similar_escape(PG_FUNCTION_ARGS)
{
	return similar_escape_value(fcinfo, TYPE_MCHAR);
}

Datum
mvarchar_similar_escape(PG_FUNCTION_ARGS)
{
	return similar_escape_value(fcinfo, TYPE_MVARCHAR);
}
