/*-------------------------------------------------------------------------
 *
 * mchar_value.c
 *	  Reading and making values, and their way from and to the encoding of
 *	  the server.
 *
 * extensions/mchar/mchar_value.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

#include "mb/pg_wchar.h"

/*
 * UTF-8 up to this many bytes is decoded into a value that has room for the
 * worst case; longer text is measured first.
 */
#define MEASURED_FROM	8192

/* mchar_view reads a value; mchar_release must follow. */
void
mchar_view(Datum value, MCharType type, MView *view)
{
	struct varlena *datum = PG_DETOAST_DATUM_PACKED(value);
	const char *data = VARDATA_ANY(datum);
	Size		bytes = VARSIZE_ANY_EXHDR(datum);

	view->detoasted = (Pointer) datum == DatumGetPointer(value) ? NULL : datum;
	view->typmod = -1;
	if (type == TYPE_MCHAR)
	{
		memcpy(&view->typmod, data, sizeof(int32));
		data += sizeof(int32);
		bytes -= sizeof(int32);
	}
	view->length = bytes / sizeof(UChar);
	if (VARATT_IS_SHORT(datum))
	{
		memcpy(view->local, data, bytes);
		view->units = view->local;
	}
	else
		view->units = (const UChar *) data;
}

void
mchar_release(MView *view)
{
	if (view->detoasted != NULL)
		pfree(view->detoasted);
}

/* Blanks that a value of mchar(n) has at its end when it is read. */
int32
mchar_padding(const MView *view)
{
	int32		characters;

	if (view->typmod < 0)
		return 0;
	characters = u_countChar32(view->units, view->length);
	return characters < view->typmod ? view->typmod - characters : 0;
}

/* mchar_alloc makes a value with room for so many units. */
struct varlena *
mchar_alloc(MCharType type, int32 typmod, int64 length, UChar **units)
{
	Size		bytes;
	struct varlena *value;

	if (length > MCHAR_UNITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too long for type %s",
						type == TYPE_MCHAR ? "mchar" : "mvarchar"),
				 errdetail("It has %lld UTF-16 code units; at most %lld fit.",
						   (long long) length, (long long) MCHAR_UNITS_MAX)));
	bytes = MCHAR_HEADER(type) + length * sizeof(UChar);
	value = (struct varlena *) palloc(bytes);
	SET_VARSIZE(value, bytes);
	if (type == TYPE_MCHAR)
		memcpy(VARDATA(value), &typmod, sizeof(int32));
	*units = (UChar *) ((char *) value + MCHAR_HEADER(type));
	return value;
}

/* mchar_finish sets the length that a value has in the end: no more than it was made for. */
struct varlena *
mchar_finish(struct varlena *value, MCharType type, int32 length)
{
	SET_VARSIZE(value, MCHAR_HEADER(type) + length * sizeof(UChar));
	return value;
}

/* mchar_build makes a value of units; mchar loses its trailing blanks. */
struct varlena *
mchar_build(MCharType type, int32 typmod, const UChar *units, int32 length)
{
	UChar	   *to;
	struct varlena *value;

	if (type == TYPE_MCHAR)
		length = mchar_trimmed(units, length);
	value = mchar_alloc(type, typmod, length, &to);
	memcpy(to, units, length * sizeof(UChar));
	return value;
}

/* mchar_cut returns where the first so many characters end. */
int32
mchar_cut(const UChar *units, int32 length, int32 characters)
{
	int32		at = 0;

	if (characters >= length)
		return length;
	U16_FWD_N(units, at, length, characters);
	return at;
}

/*
 * mchar_fit returns how much of the units a value of mchar(typmod) or
 * mvarchar(typmod) keeps.  mchar cuts what is too long; mvarchar cuts blanks,
 * and the rest when the cast is explicit.  -1 is an error in escontext.
 */
int32
mchar_fit(MCharType type, int32 typmod, bool explicit,
		  const UChar *units, int32 length, Node *escontext)
{
	int32		cut = typmod < 0 ? length : mchar_cut(units, length, typmod);

	if (type == TYPE_MCHAR)
		return mchar_trimmed(units, cut);
	if (!explicit && cut < length && mchar_trimmed(units, length) > cut)
		ereturn(escontext, -1,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("value too long for type mvarchar(%d)", typmod)));
	return cut;
}

/* mchar_check_units refuses what no value may hold; false is an error in escontext. */
bool
mchar_check_units(const UChar *units, int32 length, Node *escontext)
{
	for (int32 i = 0; i < length; i++)
	{
		UChar		unit = units[i];

		if (likely(unit != 0 && unit != MCHAR_HIGHEST && !U16_IS_SURROGATE(unit)))
			continue;
		if (unit == 0 || unit == MCHAR_HIGHEST)
			ereturn(escontext, false,
					(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
					 errmsg("character U+%04X is not allowed in mchar and mvarchar", unit)));
		if (!U16_IS_SURROGATE_LEAD(unit) || i + 1 == length || !U16_IS_TRAIL(units[i + 1]))
			ereturn(escontext, false,
					(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
					 errmsg("invalid UTF-16: unpaired surrogate U+%04X", unit)));
		i++;
	}
	return true;
}

/* How many units UTF-8 text takes, or -1 if it is not UTF-8. */
static int64
measure(const char *utf8, int32 bytes)
{
	int32		length;
	UErrorCode	status = U_ZERO_ERROR;

	if (bytes < MEASURED_FROM)
		return bytes;
	u_strFromUTF8(NULL, 0, &length, utf8, bytes, &status);
	return status == U_BUFFER_OVERFLOW_ERROR || U_SUCCESS(status) ? length : -1;
}

/*
 * mchar_from_server makes a value of a string in the server's encoding.
 * NULL is an error in escontext.
 */
struct varlena *
mchar_from_server(const char *string, int32 bytes, MCharType type, int32 typmod,
				  bool explicit, Node *escontext)
{
	char	   *utf8 = pg_server_to_any(string, bytes, PG_UTF8);
	int32		utf8_bytes = utf8 == string ? bytes : strlen(utf8);
	int64		most = measure(utf8, utf8_bytes);
	UErrorCode	status = U_ZERO_ERROR;
	struct varlena *value = NULL;
	UChar	   *units;
	int32		length = 0;

	if (most >= 0)
	{
		value = mchar_alloc(type, typmod, most, &units);
		u_strFromUTF8(units, most, &length, utf8, utf8_bytes, &status);
	}
	if (most < 0 || U_FAILURE(status))
		ereturn(escontext, NULL,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("string is not valid UTF-8: it cannot become mchar or mvarchar")));
	if (utf8 != string)
		pfree(utf8);
	if (!mchar_check_units(units, length, escontext))
		return NULL;
	length = mchar_fit(type, typmod, explicit, units, length, escontext);
	return length < 0 ? NULL : mchar_finish(value, type, length);
}

/*
 * mchar_to_server returns units and so many blanks in the server's encoding,
 * ended by a zero byte and preceded by reserved bytes, which are the
 * caller's.
 */
char *
mchar_to_server(const UChar *units, int32 length, int32 padding, Size reserve, Size *bytes)
{
	int64		most = (int64) length * 3;
	UErrorCode	status = U_ZERO_ERROR;
	char	   *string;
	char	   *converted;
	int32		utf8_bytes;

	if (most > MEASURED_FROM)
	{
		u_strToUTF8(NULL, 0, &utf8_bytes, units, length, &status);
		if (U_FAILURE(status) && status != U_BUFFER_OVERFLOW_ERROR)
			mchar_icu_failed("measure UTF-8", status);
		most = utf8_bytes;
		status = U_ZERO_ERROR;
	}
	if (most + padding + reserve >= MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too long to be read as a string"),
				 errdetail("It takes more than %lld bytes in UTF-8.",
						   (long long) MaxAllocSize)));
	string = palloc(reserve + most + padding + 1);
	u_strToUTF8(string + reserve, most, &utf8_bytes, units, length, &status);
	if (U_FAILURE(status))
		mchar_icu_failed("write UTF-8", status);
	memset(string + reserve + utf8_bytes, ' ', padding);
	*bytes = utf8_bytes + padding;
	string[reserve + *bytes] = '\0';
	if (GetDatabaseEncoding() == PG_UTF8)
		return string;

	converted = pg_any_to_server(string + reserve, *bytes, PG_UTF8);
	if (converted == string + reserve)
		return string;
	pfree(string);
	*bytes = strlen(converted);
	string = palloc(reserve + *bytes + 1);
	memcpy(string + reserve, converted, *bytes + 1);
	pfree(converted);
	return string;
}

text *
mchar_to_text_value(const UChar *units, int32 length, int32 padding)
{
	Size		bytes;
	text	   *result = (text *) mchar_to_server(units, length, padding, VARHDRSZ, &bytes);

	SET_VARSIZE(result, VARHDRSZ + bytes);
	return result;
}

void
mchar_icu_failed(const char *what, UErrorCode status)
{
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("ICU could not %s: %s", what, u_errorName(status))));
}
