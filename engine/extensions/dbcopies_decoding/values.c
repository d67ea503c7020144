/*-------------------------------------------------------------------------
 *
 * values.c
 *	  A value as text, in the form that readers of this plugin expect.
 *
 *	  numbers				as they are: 1 -2.50
 *	  money					as a number
 *	  boolean				true false
 *	  date					20260131
 *	  timestamp (UTC)		20260131235959
 *	  time					00000000235959
 *	  bit strings			B'0101'
 *	  bytea					'\x00ff'
 *	  everything else		'it''s', quotes doubled
 *
 * Fractions of a second are cut off.  A date that these forms cannot hold, before
 * our era, after the year 9999 or infinite, is written as PostgreSQL writes it, in
 * quotes.
 *
 * extensions/dbcopies_decoding/values.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "dbcopies_decoding.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Bytes of a bytea that become text at once. */
#define HEX_PART 4096

static void
put_string(LogicalDecodingContext *ctx, const char *text)
{
	copies_put(ctx, text, strlen(text));
}

/* The two quotes that stand for one are never parted. */
static void
put_quoted(LogicalDecodingContext *ctx, const char *text, int length)
{
	const char *end = text + length;

	put_string(ctx, "'");
	while (text < end)
	{
		const char *quote = memchr(text, '\'', end - text);

		copies_put_text(ctx, text, (quote == NULL ? end : quote) - text);
		if (quote == NULL)
			break;
		put_string(ctx, "''");
		text = quote + 1;
	}
	put_string(ctx, "'");
}

static char *
output(Oid type, Datum value)
{
	Oid			function;
	bool		varlena;

	getTypeOutputInfo(type, &function, &varlena);
	return OidOutputFunctionCall(function, value);
}

static void
put_ordinary(LogicalDecodingContext *ctx, Oid type, Datum value)
{
	char	   *text = output(type, value);

	put_quoted(ctx, text, strlen(text));
}

static void
put_bits(LogicalDecodingContext *ctx, Oid type, Datum value)
{
	char	   *text = output(type, value);

	put_string(ctx, "B'");
	copies_put_text(ctx, text, strlen(text));
	put_string(ctx, "'");
}

static void
put_bytes(LogicalDecodingContext *ctx, Datum value)
{
	const char *bytes = VARDATA_ANY(DatumGetPointer(value));
	int			left = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	char		text[2 * HEX_PART];

	put_string(ctx, "'\\x");
	while (left > 0)
	{
		int			part = Min(left, HEX_PART);

		copies_put_text(ctx, text, hex_encode(bytes, part, text));
		bytes += part;
		left -= part;
	}
	put_string(ctx, "'");
}

static void
put_moment(LogicalDecodingContext *ctx, int year, int month, int day, int hour, int minute, int second)
{
	put_string(ctx, psprintf("%04d%02d%02d%02d%02d%02d", year, month, day, hour, minute, second));
}

/* Has the year four digits? */
static bool
is_plain_year(int year)
{
	return year >= 1 && year <= 9999;
}

static void
put_timestamp(LogicalDecodingContext *ctx, Oid type, Datum value)
{
	Timestamp	timestamp = DatumGetTimestamp(value);
	struct pg_tm tm;
	fsec_t		fraction;

	if (TIMESTAMP_NOT_FINITE(timestamp) || timestamp2tm(timestamp, NULL, &tm, &fraction, NULL, NULL) != 0 ||
		!is_plain_year(tm.tm_year))
		put_ordinary(ctx, type, value);
	else
		put_moment(ctx, tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void
put_date(LogicalDecodingContext *ctx, Datum value)
{
	DateADT		date = DatumGetDateADT(value);
	int			year;
	int			month;
	int			day;

	if (!DATE_NOT_FINITE(date))
		j2date(date + POSTGRES_EPOCH_JDATE, &year, &month, &day);
	if (DATE_NOT_FINITE(date) || !is_plain_year(year))
		put_ordinary(ctx, DATEOID, value);
	else
		put_string(ctx, psprintf("%04d%02d%02d", year, month, day));
}

static void
put_time(LogicalDecodingContext *ctx, Datum value)
{
	struct pg_tm tm;
	fsec_t		fraction;

	time2tm(DatumGetTimeADT(value), &tm, &fraction);
	put_moment(ctx, 0, 0, 0, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void
copies_put_value(LogicalDecodingContext *ctx, Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			put_string(ctx, output(type, value));
			break;
		case CASHOID:
			put_string(ctx, output(NUMERICOID, DirectFunctionCall1(cash_numeric, value)));
			break;
		case BOOLOID:
			put_string(ctx, DatumGetBool(value) ? "true" : "false");
			break;
		case DATEOID:
			put_date(ctx, value);
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			put_timestamp(ctx, type, value);
			break;
		case TIMEOID:
			put_time(ctx, value);
			break;
		case BITOID:
		case VARBITOID:
			put_bits(ctx, type, value);
			break;
		case BYTEAOID:
			put_bytes(ctx, value);
			break;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			put_quoted(ctx, VARDATA_ANY(DatumGetPointer(value)), VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
			break;
		default:
			put_ordinary(ctx, type, value);
			break;
	}
}
