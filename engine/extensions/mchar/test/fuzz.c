/*-------------------------------------------------------------------------
 *
 * fuzz.c
 *	  Input, output and LIKE of mchar without a server, under the compiler's
 *	  sanitizers.
 *
 * Usage: fuzz SEED SECONDS.  Random values and patterns; the substring search
 * and the generic matcher must agree with each other and with a third one
 * that tries everything, and an escape rewritten must match what it matched.
 * Random bytes become a value or an error, and a value the same bytes again.
 * Each buffer has its exact size, so that a read behind it is seen.
 *
 * extensions/mchar/test/fuzz.c
 *
 *-------------------------------------------------------------------------
 */
#include "../mchar_pattern.c"
#include "../mchar_search.c"
#include "../mchar_value.c"

#include <unicode/utf8.h>

#include <setjmp.h>
#include <stdio.h>
#include <time.h>

jmp_buf		fuzz_error;

#define BLOCKS_MAX	100

static void *blocks[BLOCKS_MAX];
static int	block_count;

void *
fuzz_palloc(Size size)
{
	void	   *result = malloc(size);

	if (result == NULL || block_count == BLOCKS_MAX)
		abort();
	return blocks[block_count++] = result;
}

void
fuzz_pfree(void *pointer)
{
	int			i = block_count - 1;

	while (blocks[i] != pointer)
		i--;
	blocks[i] = blocks[--block_count];
	free(pointer);
}

static void
fuzz_reset(void)
{
	while (block_count > 0)
		free(blocks[--block_count]);
}

static uint64 state;

static uint32
any(uint32 below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32) (state >> 33) % below;
}

/* Characters that have something to do with one another, and now and then any other. */
static UChar32
any_character(void)
{
	static const UChar32 often[] = {
		'a', 'A', 'b', 'B', ' ', ' ', 's', 'S', 0x17F, 'k', 'K', 0x212A, '%', '_', '\\', '#',
		0x430, 0x410, 0x451, 0x401, 0x442, 0x422, 0x1C84, 0x1C85, 0x3B8, 0x398, 0x3F4, 0x3D1,
		0xDF, 0x1E9E, 0x130, 0x131, 0x345, 0x3B9, 0x1FBE, 0x306, 0x1F600, 0x1F601, 0x10400, 0x10428,
		0x13A0, 0xAB70, 0x1E922, 0x1E900
	};
	UChar32		c;

	if (any(8) != 0)
		return often[any(lengthof(often))];
	do
		c = any(4) != 0 ? any(0xFFFF) : any(0x110000);
	while (c == 0 || U_IS_SURROGATE(c) || (c & 0xFFFF) == 0xFFFF);
	return c;
}

typedef struct Units
{
	UChar	   *units;			/* of exactly this length */
	int32		length;
} Units;

static Units
exactly(const UChar *units, int32 length)
{
	Units		result = {palloc(length * sizeof(UChar)), length};

	memcpy(result.units, units, length * sizeof(UChar));
	return result;
}

#define CHARACTERS_MAX	80

static Units
any_units(int32 characters, bool few)
{
	UChar		units[CHARACTERS_MAX * 2];
	UChar32		two[2] = {any_character(), any_character()};
	int32		length = 0;

	for (int32 i = 0; i < characters; i++)
	{
		UChar32		c = few ? two[any(2)] : any_character();

		U16_APPEND_UNSAFE(units, length, c);
	}
	return exactly(units, length);
}

/* Changes the case of characters. */
static UChar32
other_case(UChar32 c)
{
	switch (any(4))
	{
		case 0:
			return u_toupper(c);
		case 1:
			return u_tolower(c);
		case 2:
			return mchar_fold_character(c);
		default:
			return c;
	}
}

/* A pattern that often matches: a part of the value between %. */
static Units
part_of(Units value)
{
	UChar		units[CHARACTERS_MAX * 4 + 2];
	int32		at = value.length > 0 ? any(value.length) : 0;
	int32		end = at + any(value.length - at + 1);
	int32		length = 0;

	U16_SET_CP_START(value.units, 0, at);
	if (any(4) != 0)
		units[length++] = '%';
	while (at < end)
	{
		UChar32		c;

		U16_NEXT(value.units, at, value.length, c);
		if (c == '%' || c == '_' || c == '\\')
			units[length++] = '\\';
		else if (any(30) == 0)
			c = any(2) ? '%' : '_';
		else
			c = other_case(c);
		U16_APPEND_UNSAFE(units, length, c);
	}
	if (any(4) != 0)
		units[length++] = '%';
	return exactly(units, length);
}

/* Tries all that a % may take, and all blanks that may be left over. */
static bool
try_all(const int32 *token, const int32 *end, const UChar *units, int32 at, int32 length)
{
	UChar32		c;

	if (token == end)
		return mchar_trimmed(units + at, length - at) == 0;
	if (*token == ANY_STRING)
	{
		for (;;)
		{
			if (try_all(token + 1, end, units, at, length))
				return true;
			if (at == length)
				return false;
			U16_FWD_1(units, at, length);
		}
	}
	if (at == length)
		return false;
	U16_NEXT(units, at, length, c);
	return (*token == ANY_CHARACTER || *token == mchar_fold_character(c)) &&
		try_all(token + 1, end, units, at, length);
}

static void
print_units(const char *name, Units units)
{
	fprintf(stderr, "%s:", name);
	for (int32 i = 0; i < units.length; i++)
		fprintf(stderr, " %04X", units.units[i]);
	fprintf(stderr, "\n");
}

static void
disagree(const char *what, Units value, Units pattern)
{
	fprintf(stderr, "%s\n", what);
	print_units("value", value);
	print_units("pattern", pattern);
	exit(1);
}

/* try_all takes exponential time in the number of %. */
static int
percents(const LikeTokens *tokens)
{
	int			count = 0;

	for (int32 i = 0; i < tokens->count; i++)
		count += tokens->token[i] == ANY_STRING;
	return count;
}

static long searched,
			matched,
			refused;

static void
play(Units value, Units pattern)
{
	LikeTokens *tokens;
	LikeSearch *search;
	bool		generic;

	if (setjmp(fuzz_error) != 0)
	{
		/* The one error there is: an escape that escapes nothing. */
		if (pattern.units[pattern.length - 1] != '\\')
			disagree("an error without a reason", value, pattern);
		refused++;
		return;
	}
	tokens = mchar_parse_pattern(pattern.units, pattern.length);
	generic = mchar_match(tokens, value.units, value.length);
	search = mchar_plan_search(tokens);
	if (search != NULL && mchar_search(search, value.units, value.length) != generic)
		disagree("search and matcher disagree", value, pattern);
	if (percents(tokens) <= 4 &&
		generic != try_all(tokens->token, tokens->token + tokens->count, value.units, 0, value.length))
		disagree("the matcher is wrong", value, pattern);
	searched += search != NULL;
	matched += generic;
	mchar_free_search(search);
	pfree(tokens);
}

/* A pattern with # for the backslash is that pattern. */
static void
play_escape(Units value, Units pattern)
{
	UChar		hash = '#';
	Units		rewritten = {palloc(pattern.length * 2 * sizeof(UChar)), 0};
	Units		again;
	UChar		swapped[CHARACTERS_MAX * 4 + 2];

	if (setjmp(fuzz_error) != 0)
	{
		if (pattern.units[pattern.length - 1] != '#')
			disagree("an error of an escape without a reason", value, pattern);
		return;
	}
	rewritten.length = mchar_like_escape(pattern.units, pattern.length, &hash, 1, rewritten.units);
	again = exactly(rewritten.units, rewritten.length);
	play(value, again);
	if (setjmp(fuzz_error) != 0)
		disagree("a rewritten pattern is refused", value, pattern);

	/* With the two exchanged in pattern and value, the plain parser must say the same. */
	if (pattern.length <= (int32) lengthof(swapped))
	{
		UChar		other[CHARACTERS_MAX * 2];
		LikeTokens *a = mchar_parse_pattern(again.units, again.length);
		LikeTokens *b;

		for (int32 i = 0; i < pattern.length; i++)
			swapped[i] = pattern.units[i] == '#' ? '\\' : pattern.units[i] == '\\' ? '#' : pattern.units[i];
		for (int32 i = 0; i < value.length; i++)
			other[i] = value.units[i] == '#' ? '\\' : value.units[i] == '\\' ? '#' : value.units[i];
		b = mchar_parse_pattern(swapped, pattern.length);
		if (mchar_match(a, value.units, value.length) != mchar_match(b, other, value.length))
			disagree("an escape changes the pattern", value, pattern);
		pfree(a);
		pfree(b);
	}
	pfree(again.units);
	pfree(rewritten.units);
}

/* Bytes that are often UTF-8. */
static int32
any_bytes(char *bytes, int32 characters)
{
	int32		length = 0;

	for (int32 i = 0; i < characters; i++)
	{
		UChar32		c = any_character();

		if (any(50) == 0)
			bytes[length++] = (char) any(256);
		else
			U8_APPEND_UNSAFE(bytes, length, c);
	}
	return length;
}

/* Is this UTF-8 of characters that a value may have? */
static bool
acceptable(const char *bytes, int32 length)
{
	int32		at = 0;

	while (at < length)
	{
		UChar32		c;

		U8_NEXT((const uint8_t *) bytes, at, length, c);
		if (c <= 0 || c == MCHAR_HIGHEST)
			return false;
	}
	return true;
}

static bool
all_blanks(const char *bytes, int32 length)
{
	while (length > 0 && bytes[length - 1] == ' ')
		length--;
	return length == 0;
}

static int32
count_characters(const char *utf8, int32 length)
{
	int32		count = 0;

	for (int32 i = 0; i < length; i++)
		count += !U8_IS_TRAIL((uint8_t) utf8[i]);
	return count;
}

static long read_back;

static void
play_bytes(void)
{
	char		buffer[CHARACTERS_MAX * U8_MAX_LENGTH];
	int32		length = any_bytes(buffer, any(CHARACTERS_MAX));
	char	   *bytes = memcpy(palloc(length), buffer, length);
	MCharType	type = any(2) ? TYPE_MCHAR : TYPE_MVARCHAR;
	int32		typmod = any(2) ? -1 : (int32) any(CHARACTERS_MAX) + 1;
	bool		explicit = any(2);
	struct varlena *value;
	MView		view;
	Size		out;
	char	   *again;
	int32		kept;

	if (setjmp(fuzz_error) != 0)
	{
		if (acceptable(bytes, length) && (typmod < 0 || type == TYPE_MCHAR || explicit))
			disagree("input is refused", (Units) {0}, (Units) {0});
		return;
	}
	value = mchar_from_server(bytes, length, type, typmod, explicit, NULL);
	if (!acceptable(bytes, length))
		disagree("input is not refused", (Units) {0}, (Units) {0});
	mchar_view((Datum) value, type, &view);
	if (typmod >= 0 && u_countChar32(view.units, view.length) > typmod)
		disagree("a value is too long", (Units) {(UChar *) view.units, view.length}, (Units) {0});
	again = mchar_to_server(view.units, view.length, mchar_padding(&view), 0, &out);

	/* The value begins as the input does; what is lost without a limit is blanks of mchar. */
	kept = Min((int32) out - mchar_padding(&view), length);
	if (memcmp(again, bytes, kept) != 0)
		disagree("output differs from input", (Units) {(UChar *) view.units, view.length}, (Units) {0});
	if (typmod < 0 && kept < length && (type == TYPE_MVARCHAR || !all_blanks(bytes + kept, length - kept)))
		disagree("output is too short", (Units) {(UChar *) view.units, view.length}, (Units) {0});
	if (type == TYPE_MCHAR && typmod >= 0 && count_characters(again, out) != typmod)
		disagree("a value is not padded", (Units) {(UChar *) view.units, view.length}, (Units) {0});
	mchar_release(&view);
	read_back++;
}

/* What the search takes for granted of Unicode. */
static void
check_folding(void)
{
	if (!table_ready())
	{
		fprintf(stderr, "the table of folding is too small\n");
		exit(1);
	}
	for (UChar32 c = 0; c <= 0x10FFFF; c++)
	{
		UChar32		folded = mchar_fold_character(c);

		if (folded == c)
			continue;
		if (folded != mchar_fold_character(folded) || (folded > 0xFFFF) != (c > 0xFFFF) ||
			(folded > 0xFFFF && (searchable(folded) || searchable(c))))
		{
			fprintf(stderr, "U+%04X folds to U+%04X\n", (unsigned) c, (unsigned) folded);
			exit(1);
		}
	}
}

int
main(int argc, char **argv)
{
	time_t		end;
	long		rounds = 0;

	if (argc != 3)
	{
		fprintf(stderr, "usage: fuzz SEED SECONDS\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 10) * UINT64CONST(0x9E3779B97F4A7C15) + 1;
	end = time(NULL) + atol(argv[2]);
	check_folding();
	do
	{
		for (int i = 0; i < 1000; i++, rounds++)
		{
			bool		few = any(4) == 0;
			Units		value = any_units(any(CHARACTERS_MAX / (any(4) == 0 ? 1 : 5)), few);
			Units		pattern = any(3) != 0 ? part_of(value) : any_units(any(10), few);

			play(value, pattern);
			play_escape(value, pattern);
			play_bytes();
			fuzz_reset();
		}
	} while (time(NULL) < end);
	printf("%ld values and patterns: %ld searched, %ld matched, %ld refused, %ld read back\n",
		   rounds, searched, matched, refused, read_back);
	return matched > 0 && searched > matched / 2 && refused > 0 && read_back > rounds / 4 ? 0 : 1;
}
