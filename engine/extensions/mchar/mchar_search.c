/*-------------------------------------------------------------------------
 *
 * mchar_search.c
 *	  LIKE '%text%' as a search for a substring.
 *
 * A pattern without _ is a row of literals: the first may be bound to the
 * beginning of the value and the last to its end, and those between are found
 * one after the other, each at its first occurrence.  The literals are folded
 * when the pattern is read; the units of the value are folded by a table
 * while they are compared.  Only units of the basic plane have case here: a
 * pattern with letters beyond it (Deseret, Osage …) is left to the generic
 * matcher.  Others beyond it, as emoji, are compared as they are.  Because
 * UTF-16 synchronizes itself, a literal never matches half of a pair.
 *
 * On x86-64 eight positions are tried at once: where the first and the last
 * unit of the literal may be, in any case.  Most letters have two forms, a
 * few have up to four.  Literals whose ends have more, and other machines,
 * take one position at a time.
 *
 * extensions/mchar/mchar_search.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar_pattern.h"

#include <unicode/uchar.h>

#include "miscadmin.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Units that fold to one and the same, itself included. */
#define FORMS_MAX	4
#define FORMS_USUAL	2

/* Positions that are tried at once; a form is kept as many times. */
#define AT_ONCE		8

typedef UChar Forms[FORMS_MAX][AT_ONCE];

typedef struct Literal
{
	int32		length;
	int32		blanks;			/* at its end */
	int			forms;			/* 0: more than FORMS_MAX */
	Forms		first;
	Forms		last;
	UChar	   *units;			/* folded */
} Literal;

struct LikeSearch
{
	bool		from_start;
	bool		to_end;
	int			count;
	Literal    *literals;
	UChar	   *units;			/* of all literals */
};

/*
 * What folding adds to a unit, by the page of 256 that it is in.  Page 0 of
 * the pages adds nothing; Unicode 15 needs some twenty others.
 */
#define PAGES_MAX	48
#define PAIRS_MAX	3000

static enum
{
	TABLE_MISSING,
	TABLE_READY,
	TABLE_TOO_SMALL				/* some future Unicode: the generic matcher does it all */
}			table_state;
static uint8 page_of[256];
static UChar added[PAGES_MAX][256];

/* Units that folding changes, in order of what they become. */
static struct
{
	UChar		folded;
	UChar		unit;
}			pairs[PAIRS_MAX];
static int	pair_count;

static inline UChar
fold_unit(UChar unit)
{
	return (UChar) (unit + added[page_of[unit >> 8]][unit & 0xff]);
}

static int
compare_pairs(const void *a, const void *b)
{
	return (int) *(const UChar *) a - (int) *(const UChar *) b;
}

static bool
make_table(void)
{
	int			pages = 1;

	for (int32 unit = 0; unit <= 0xFFFF; unit++)
	{
		UChar32		folded = U16_IS_SURROGATE(unit) ? unit : mchar_fold_character(unit);

		if (folded == unit)
			continue;
		if (page_of[unit >> 8] == 0)
		{
			if (pages == PAGES_MAX)
				return false;
			page_of[unit >> 8] = pages++;
		}
		if (pair_count == PAIRS_MAX || folded > 0xFFFF)
			return false;
		added[page_of[unit >> 8]][unit & 0xff] = (UChar) (folded - unit);
		pairs[pair_count].folded = (UChar) folded;
		pairs[pair_count++].unit = (UChar) unit;
	}
	qsort(pairs, pair_count, sizeof(pairs[0]), compare_pairs);
	return true;
}

static bool
table_ready(void)
{
	if (table_state == TABLE_MISSING)
		table_state = make_table() ? TABLE_READY : TABLE_TOO_SMALL;
	return table_state == TABLE_READY;
}

/*
 * Fills the array with the units that fold to this one, repeating the last.
 * Returns how many there are, or 0 if there are too many.
 */
static int
list_forms(UChar folded, Forms forms)
{
	UChar		unit = folded;
	int			count = 0;
	int			low = 0;
	int			high = pair_count;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (pairs[middle].folded < folded)
			low = middle + 1;
		else
			high = middle;
	}
	for (int form = 0; form < FORMS_MAX; form++)
	{
		if (form > 0 && low < pair_count && pairs[low].folded == folded)
			unit = pairs[low++].unit;
		else if (form > 0 && count == 0)
			count = form;
		for (int i = 0; i < AT_ONCE; i++)
			forms[form][i] = unit;
	}
	if (low < pair_count && pairs[low].folded == folded)
		return 0;
	return count > 0 ? count : FORMS_MAX;
}

static void
finish_literal(Literal *literal)
{
	int			first = list_forms(literal->units[0], literal->first);
	int			last = list_forms(literal->units[literal->length - 1], literal->last);

	literal->blanks = literal->length - mchar_trimmed(literal->units, literal->length);
	literal->forms = first == 0 || last == 0 ? 0 : Max(first, last);
}

/* Characters beyond the basic plane are compared as they are. */
static bool
searchable(int32 token)
{
	return token == ANY_STRING ||
		(token >= 0 &&
		 (token <= 0xFFFF ||
		  (u_tolower(token) == token && u_toupper(token) == token)));
}

/* mchar_plan_search returns NULL for a pattern that the generic matcher has to match. */
LikeSearch *
mchar_plan_search(const LikeTokens *tokens)
{
	LikeSearch *search;
	Literal    *literal = NULL;
	UChar	   *to;
	int32		literals = 0;

	if (!table_ready())
		return NULL;
	for (int32 i = 0; i < tokens->count; i++)
	{
		if (!searchable(tokens->token[i]))
			return NULL;
		literals += i == 0 || tokens->token[i] == ANY_STRING;
	}
	search = palloc(sizeof(LikeSearch));
	search->from_start = tokens->count == 0 || tokens->token[0] != ANY_STRING;
	search->to_end = tokens->count == 0 || tokens->token[tokens->count - 1] != ANY_STRING;
	search->count = 0;
	search->literals = palloc(Max(literals, 1) * sizeof(Literal));
	to = search->units = palloc_extended((Size) Max(tokens->count, 1) * 2 * sizeof(UChar),
										 MCXT_ALLOC_HUGE);
	for (int32 i = 0; i < tokens->count; i++)
	{
		int32		token = tokens->token[i];

		if (token == ANY_STRING)
		{
			literal = NULL;
			continue;
		}
		if (literal == NULL)
		{
			literal = &search->literals[search->count++];
			literal->units = to;
			literal->length = 0;
		}
		U16_APPEND_UNSAFE(literal->units, literal->length, token);
		to = literal->units + literal->length;
	}
	for (int i = 0; i < search->count; i++)
		finish_literal(&search->literals[i]);
	return search;
}

void
mchar_free_search(LikeSearch *search)
{
	if (search == NULL)
		return;
	pfree(search->literals);
	pfree(search->units);
	pfree(search);
}

/* Is the literal at these units?  There are enough of them. */
static bool
is_at(const Literal *literal, const UChar *units)
{
	CHECK_FOR_INTERRUPTS();
	for (int32 i = 0; i < literal->length; i++)
		if (fold_unit(units[i]) != literal->units[i])
			return false;
	return true;
}

/* The first position from `at` to `end` where the literal is, or -1. */
static int32
find_slowly(const Literal *literal, const UChar *units, int32 at, int32 end)
{
	UChar		first = literal->units[0];

	for (; at <= end; at++)
		if (fold_unit(units[at]) == first && is_at(literal, units + at))
			return at;
	return -1;
}

#ifdef __SSE2__

/* A bit pair for each of eight units that is one of the forms. */
static inline __m128i
any_form(const UChar *units, const __m128i *form, int forms)
{
	__m128i		eight = _mm_loadu_si128((const __m128i *) units);
	__m128i		equal = _mm_or_si128(_mm_cmpeq_epi16(eight, form[0]),
									 _mm_cmpeq_epi16(eight, form[1]));

	if (forms > FORMS_USUAL)
		equal = _mm_or_si128(equal, _mm_or_si128(_mm_cmpeq_epi16(eight, form[2]),
												 _mm_cmpeq_epi16(eight, form[3])));
	return equal;
}

/* The compiler makes one of these for each number of forms. */
static pg_attribute_always_inline int32
find_by_eight(const Literal *literal, const UChar *units, int32 end, int forms)
{
	__m128i		first[FORMS_MAX];
	__m128i		last[FORMS_MAX];
	int32		at = 0;

	for (int i = 0; i < forms; i++)
	{
		first[i] = _mm_loadu_si128((const __m128i *) literal->first[i]);
		last[i] = _mm_loadu_si128((const __m128i *) literal->last[i]);
	}
	for (;;)
	{
		unsigned	hits = _mm_movemask_epi8(_mm_and_si128(any_form(units + at, first, forms),
														   any_form(units + at + literal->length - 1, last, forms)));

		while (hits != 0)
		{
			int			bit = __builtin_ctz(hits);

			if (is_at(literal, units + at + bit / 2))
				return at + bit / 2;
			hits &= ~(3U << bit);
		}
		if (at == end - (AT_ONCE - 1))
			return -1;
		/* The last eight overlap those before. */
		at = Min(at + AT_ONCE, end - (AT_ONCE - 1));
	}
}

#endif							/* __SSE2__ */

/* Where the literal is in the units, or -1. */
static int32
find(const Literal *literal, const UChar *units, int32 length)
{
	int32		end = length - literal->length;

#ifdef __SSE2__
	if (end >= AT_ONCE - 1 && literal->forms > 0)
		return literal->forms <= FORMS_USUAL
			? find_by_eight(literal, units, end, FORMS_USUAL)
			: find_by_eight(literal, units, end, FORMS_MAX);
#endif
	return find_slowly(literal, units, 0, end);
}

/*
 * The last literal ends where the value does, but for blanks: as many of the
 * value's as it has itself belong to it, and the others are left over.
 * Returns where it begins, or -1.
 */
static int32
find_at_end(const Literal *literal, const UChar *units, int32 length)
{
	int32		trimmed = mchar_trimmed(units, length);
	int32		at = trimmed + literal->blanks - literal->length;

	if (at < 0 || length - trimmed < literal->blanks || !is_at(literal, units + at))
		return -1;
	return at;
}

bool
mchar_search(const LikeSearch *search, const UChar *units, int32 length)
{
	int			first = 0;
	int			behind = search->count;
	int32		from = 0;

	if (search->count == 0)
		return !search->from_start || mchar_trimmed(units, length) == 0;
	if (search->to_end)
	{
		const Literal *literal = &search->literals[--behind];
		int32		at = find_at_end(literal, units, length);

		if (at < 0)
			return false;
		if (search->from_start && behind == 0)
			return at == 0;
		/* Blanks alone may be any of those at the end; the last leave most room to the others. */
		length = literal->blanks == literal->length ? length - literal->length : at;
	}
	if (search->from_start)
	{
		const Literal *literal = &search->literals[first++];

		if (literal->length > length || !is_at(literal, units))
			return false;
		from = literal->length;
	}
	for (; first < behind; first++)
	{
		const Literal *literal = &search->literals[first];
		int32		at = find(literal, units + from, length - from);

		if (at < 0)
			return false;
		from += at + literal->length;
	}
	return true;
}
