/*-------------------------------------------------------------------------
 *
 * mchar.h
 *	  The types mchar and mvarchar: how values are stored and read.
 *
 * A value is a varlena of UTF-16 code units in the machine's byte order.
 * mvarchar has nothing else; mchar has its declared length before the units,
 * or -1, because it is padded when it is read and the value's type modifier
 * is not at hand then.  What is stored has no trailing blanks in mchar and
 * has them in mvarchar.  A blank is U+0020 alone.
 *
 * Stored units are always well-formed UTF-16 without U+0000 and U+FFFF
 * (mchar_check_units), so that whoever reads them need not look again.
 *
 * extensions/mchar/mchar.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef MCHAR_H
#define MCHAR_H

#include "postgres.h"

#ifndef USE_ICU
#error "mchar needs PostgreSQL built with ICU (configure --with-icu)"
#endif

#include <unicode/utypes.h>
#include <unicode/ucol.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "fmgr.h"
#include "utils/memutils.h"

/* Errors that an input function may return rather than throw, since 16. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#else
#define ereturn(context, dummy_value, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

typedef enum MCharType
{
	TYPE_MCHAR,
	TYPE_MVARCHAR
} MCharType;

#define MCHAR_BLANK			((UChar) 0x0020)

/* Above every character in every collation of ICU: the end of a range. */
#define MCHAR_HIGHEST		((UChar) 0xFFFF)

/* The longest n of mchar(n) and mvarchar(n), that of varchar(n). */
#define MCHAR_LENGTH_MAX	10485760

/* A function of SQL for each of the two types; the result may ask which, as "type". */
#define MCHAR_FUNCTIONS(name, result) \
	MCHAR_FUNCTION(mchar_##name, TYPE_MCHAR, result); \
	MCHAR_FUNCTION(mvarchar_##name, TYPE_MVARCHAR, result)

#define MCHAR_FUNCTION(function, its_type, result) \
	PG_FUNCTION_INFO_V1(function); \
	Datum \
	function(PG_FUNCTION_ARGS) \
	{ \
		const MCharType type = its_type; \
		\
		return (result); \
	} \
	extern Datum function(PG_FUNCTION_ARGS)

#define MCHAR_HEADER(type) \
	(VARHDRSZ + ((type) == TYPE_MCHAR ? sizeof(int32) : 0))

/* The most code units that fit into a value. */
#define MCHAR_UNITS_MAX \
	((int64) ((MaxAllocSize - VARHDRSZ - sizeof(int32)) / sizeof(UChar)))

/*
 * A value while it is read.  Values with a short header lie at any address:
 * they are copied to an aligned place.
 */
#define MCHAR_LOCAL_UNITS	64

typedef struct MView
{
	const UChar *units;
	int32		length;			/* in units, as stored */
	int32		typmod;			/* of mchar(n), else -1 */
	void	   *detoasted;		/* what mchar_release frees, or NULL */
	UChar		local[MCHAR_LOCAL_UNITS];
} MView;

/* mchar_value.c */
extern void mchar_view(Datum value, MCharType type, MView *view);
extern void mchar_release(MView *view);
extern int32 mchar_padding(const MView *view);
extern struct varlena *mchar_alloc(MCharType type, int32 typmod, int64 length,
								   UChar **units);
extern struct varlena *mchar_build(MCharType type, int32 typmod,
								   const UChar *units, int32 length);
extern struct varlena *mchar_finish(struct varlena *value, MCharType type,
									int32 length);
extern int32 mchar_fit(MCharType type, int32 typmod, bool explicit,
					   const UChar *units, int32 length, Node *escontext);
extern int32 mchar_cut(const UChar *units, int32 length, int32 characters);
extern bool mchar_check_units(const UChar *units, int32 length, Node *escontext);
extern struct varlena *mchar_from_server(const char *string, int32 bytes,
										 MCharType type, int32 typmod,
										 bool explicit, Node *escontext);
extern char *mchar_to_server(const UChar *units, int32 length, int32 padding,
							 Size reserve, Size *bytes);
extern text *mchar_to_text_value(const UChar *units, int32 length, int32 padding);
extern void mchar_icu_failed(const char *what, UErrorCode status) __attribute__((noreturn));

/* mchar_collate.c */
typedef enum MCharCase
{
	CASE_IGNORED,
	CASE_HEEDED
} MCharCase;

extern UCollator *mchar_collator(MCharCase which);
extern const char *mchar_locale(void);
extern void mchar_check_version(FmgrInfo *caller);

/* mchar_cmp.c */
extern int	mchar_compare(const MView *a, const MView *b, MCharCase which);

/* Length without trailing blanks. */
static inline int32
mchar_trimmed(const UChar *units, int32 length)
{
	while (length > 0 && units[length - 1] == MCHAR_BLANK)
		length--;
	return length;
}

#endif							/* MCHAR_H */
