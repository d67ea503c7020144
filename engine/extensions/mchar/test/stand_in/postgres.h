/*-------------------------------------------------------------------------
 *
 * postgres.h
 *	  What the files under test/fuzz.c need of PostgreSQL.
 *
 * extensions/mchar/test/stand_in/postgres.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef POSTGRES_H
#define POSTGRES_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define USE_ICU			1
#define PG_VERSION_NUM	150000

typedef int16_t int16;
typedef int32_t int32;
typedef int64_t int64;
typedef uint8_t uint8;
typedef uint16_t uint16;
typedef uint32_t uint32;
typedef uint64_t uint64;
typedef size_t Size;
typedef uintptr_t Datum;
typedef unsigned Oid;
typedef struct Node Node;
typedef struct FmgrInfo FmgrInfo;
typedef struct varlena text;

#define UINT64CONST(x)			UINT64_C(x)
#define VARHDRSZ				4
#define MaxAllocSize			((Size) 0x3fffffff)
#define FLEXIBLE_ARRAY_MEMBER	/* empty */
#define Max(x, y)				((x) > (y) ? (x) : (y))
#define Min(x, y)				((x) < (y) ? (x) : (y))
#define lengthof(array)			(sizeof(array) / sizeof((array)[0]))
#define likely(x)				(x)
#define pg_attribute_always_inline	inline
#define CHECK_FOR_INTERRUPTS()	((void) 0)
#define MCXT_ALLOC_HUGE			0

/* A memory context: fuzz_reset frees what is left. */
extern void *fuzz_palloc(Size size);
extern void fuzz_pfree(void *pointer);

#define palloc(size)					fuzz_palloc(size)
#define palloc_extended(size, flags)	fuzz_palloc(size)
#define pfree(pointer)					fuzz_pfree(pointer)

/* Values have long headers.  Those as short as short ones are copied like them. */
struct varlena
{
	uint32		size;
	char		data[];
};

typedef char *Pointer;

#define DatumGetPointer(datum)			((Pointer) (datum))
#define PG_DETOAST_DATUM_PACKED(datum)	((struct varlena *) (datum))
#define SET_VARSIZE(value, bytes)		(((struct varlena *) (value))->size = (uint32) (bytes))
#define VARDATA(value)					(((struct varlena *) (value))->data)
#define VARDATA_ANY(value)				VARDATA(value)
#define VARSIZE_ANY_EXHDR(value)		(((struct varlena *) (value))->size - VARHDRSZ)
#define VARATT_IS_SHORT(value)			(VARSIZE_ANY_EXHDR(value) <= 126)

/* The server's encoding is UTF-8. */
#define PG_UTF8									6
#define GetDatabaseEncoding()					PG_UTF8
#define pg_server_to_any(string, bytes, to)		((char *) (string))
#define pg_any_to_server(string, bytes, from)	(string)

/* An error goes back to who set this. */
extern jmp_buf fuzz_error;

#define ereport(level, ...)		longjmp(fuzz_error, 1)

#endif							/* POSTGRES_H */
