/*-------------------------------------------------------------------------
 *
 * mchar_pattern.c
 *	  Patterns of LIKE: parser and generic matcher.
 *
 * % is any string, _ any character, and a backslash takes the next character
 * for itself.  Case is ignored.  Blanks that are left over at the end of the
 * value are ignored; those of the pattern count.
 *
 * The matcher goes back to the last % alone: an earlier one could give the
 * later ones nothing that they do not have already.  It needs no memory and
 * no recursion, whatever the pattern.
 *
 * extensions/mchar/mchar_pattern.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar_pattern.h"

#include <unicode/uchar.h>

#include "miscadmin.h"

#define ESCAPE	((UChar32) '\\')

/* A % after a % says nothing more. */
static void
add_token(LikeTokens *tokens, int32 token)
{
	if (token != ANY_STRING || tokens->count == 0 ||
		tokens->token[tokens->count - 1] != ANY_STRING)
		tokens->token[tokens->count++] = token;
}

LikeTokens *
mchar_parse_pattern(const UChar *pattern, int32 length)
{
	LikeTokens *tokens = palloc_extended(offsetof(LikeTokens, token) + (Size) length * sizeof(int32),
										 MCXT_ALLOC_HUGE);
	int32		at = 0;

	tokens->count = 0;
	while (at < length)
	{
		UChar32		c;

		U16_NEXT(pattern, at, length, c);
		if (c == '%')
			add_token(tokens, ANY_STRING);
		else if (c == '_')
			add_token(tokens, ANY_CHARACTER);
		else
		{
			if (c == ESCAPE)
			{
				if (at == length)
					ereport(ERROR,
							(errcode(ERRCODE_INVALID_ESCAPE_SEQUENCE),
							 errmsg("LIKE pattern must not end with escape character")));
				U16_NEXT(pattern, at, length, c);
			}
			add_token(tokens, mchar_fold_character(c));
		}
	}
	return tokens;
}

/* Does the token stand for the character at *at?  If so *at is behind it. */
static bool
takes(int32 token, const UChar *units, int32 length, int32 *at)
{
	int32		next = *at;
	UChar32		c;

	if (next >= length)
		return false;
	U16_NEXT(units, next, length, c);
	if (token != ANY_CHARACTER && token != c && token != mchar_fold_character(c))
		return false;
	*at = next;
	return true;
}

bool
mchar_match(const LikeTokens *tokens, const UChar *units, int32 length)
{
	int32		trimmed = mchar_trimmed(units, length);
	int32		token = 0;
	int32		at = 0;
	int32		after_percent = -1;
	int32		retry = 0;

	for (;;)
	{
		if (token == tokens->count)
		{
			if (at >= trimmed)
				return true;
		}
		else if (tokens->token[token] == ANY_STRING)
		{
			after_percent = ++token;
			if (token == tokens->count)
				return true;
			retry = at;
			continue;
		}
		else if (takes(tokens->token[token], units, length, &at))
		{
			token++;
			continue;
		}
		/* The last % takes one character more. */
		if (after_percent < 0 || retry >= length)
			return false;
		CHECK_FOR_INTERRUPTS();
		U16_FWD_1(units, retry, length);
		at = retry;
		token = after_percent;
	}
}

/*
 * mchar_like_escape rewrites a pattern with an escape character of its own to
 * one with the backslash, which has up to twice as many units.  An empty
 * escape is none.
 */
int32
mchar_like_escape(const UChar *pattern, int32 length,
				  const UChar *escape, int32 escape_length, UChar *to)
{
	UChar32		own = -1;
	int32		at = 0;
	int32		written = 0;

	if (escape_length > 0)
	{
		U16_NEXT(escape, at, escape_length, own);
		if (at < escape_length)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_ESCAPE_SEQUENCE),
					 errmsg("invalid escape string"),
					 errhint("Escape string must be empty or one character.")));
	}
	at = 0;
	while (at < length)
	{
		int32		start = at;
		UChar32		c;
		bool		escaped = false;

		U16_NEXT(pattern, at, length, c);
		if (c == own)
		{
			if (at == length)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_ESCAPE_SEQUENCE),
						 errmsg("LIKE pattern must not end with escape character")));
			escaped = true;
			start = at;
			U16_NEXT(pattern, at, length, c);
		}
		if (escaped || c == ESCAPE)
			to[written++] = (UChar) ESCAPE;
		while (start < at)
			to[written++] = pattern[start++];
	}
	return written;
}
