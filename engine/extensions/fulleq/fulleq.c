/*-------------------------------------------------------------------------
 *
 * fulleq.c
 *	  The operator ==: as =, but two NULLs are equal and one NULL is unequal
 *	  to any value.
 *
 * It answers true or false, never NULL.  A join of it may hash: PostgreSQL
 * keeps rows with NULL for operators that are not strict and gives NULL a hash
 * of its own.
 *
 * extensions/fulleq/fulleq.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "fulleq", .version = FULLEQ_VERSION);
#else
PG_MODULE_MAGIC;
#endif

/* PostgreSQL's functions of types with a collation need that of the caller. */
#define FULLEQ(type, equal, hash) \
	PG_FUNCTION_INFO_V1(isfulleq_##type); \
	Datum \
	isfulleq_##type(PG_FUNCTION_ARGS) \
	{ \
		if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) \
			PG_RETURN_BOOL(PG_ARGISNULL(0) && PG_ARGISNULL(1)); \
		return DirectFunctionCall2Coll(equal, PG_GET_COLLATION(), \
									   PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)); \
	} \
	PG_FUNCTION_INFO_V1(fullhash_##type); \
	Datum \
	fullhash_##type(PG_FUNCTION_ARGS) \
	{ \
		return DirectFunctionCall1Coll(hash, PG_GET_COLLATION(), PG_GETARG_DATUM(0)); \
	}

#include "fulleq_types.h"
