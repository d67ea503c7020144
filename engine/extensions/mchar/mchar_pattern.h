/*-------------------------------------------------------------------------
 *
 * mchar_pattern.h
 *	  Patterns of LIKE: the generic matcher and the substring search.
 *
 * Needs ICU, palloc and ereport, and no server: test/fuzz.c compiles the two
 * files with stand-ins for those.
 *
 * extensions/mchar/mchar_pattern.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef MCHAR_PATTERN_H
#define MCHAR_PATTERN_H

#include "mchar.h"

/* A token is a folded character or one of these. */
#define ANY_STRING		(-1)
#define ANY_CHARACTER	(-2)

typedef struct LikeTokens
{
	int32		count;
	int32		token[FLEXIBLE_ARRAY_MEMBER];
} LikeTokens;

/* Case is ignored by simple folding: one character for one, in all locales. */
static inline UChar32
mchar_fold_character(UChar32 c)
{
	return u_foldCase(c, U_FOLD_CASE_DEFAULT);
}

/* mchar_pattern.c */
extern LikeTokens *mchar_parse_pattern(const UChar *pattern, int32 length);
extern bool mchar_match(const LikeTokens *tokens, const UChar *units, int32 length);
extern int32 mchar_like_escape(const UChar *pattern, int32 length,
							   const UChar *escape, int32 escape_length, UChar *to);

/* mchar_search.c */
typedef struct LikeSearch LikeSearch;

extern LikeSearch *mchar_plan_search(const LikeTokens *tokens);
extern void mchar_free_search(LikeSearch *search);
extern bool mchar_search(const LikeSearch *search, const UChar *units, int32 length);

#endif							/* MCHAR_PATTERN_H */
