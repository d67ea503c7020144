/*-------------------------------------------------------------------------
 *
 * mchar_like.h
 *	  Patterns of LIKE as SQL passes them.
 *
 * extensions/mchar/mchar_like.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef MCHAR_LIKE_H
#define MCHAR_LIKE_H

#include "mchar_pattern.h"

typedef enum PatternType
{
	PATTERN_MVARCHAR,
	PATTERN_TEXT
} PatternType;

extern LikeTokens *mchar_read_pattern(Datum pattern, PatternType type);

#endif							/* MCHAR_LIKE_H */
