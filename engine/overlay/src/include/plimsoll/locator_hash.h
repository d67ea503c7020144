/*-------------------------------------------------------------------------
 *
 * locator_hash.h
 *	  A hash table of what a session knows about relations by their storage.
 *
 * Define SH_PREFIX and SH_ELEMENT_TYPE, a struct with members
 * "RelFileLocator locator" (the key) and "char status", and include this in
 * place of lib/simplehash.h; as often as there are tables.
 *
 * The database is not hashed: a session's temporary relations are all in one.
 *
 * src/include/plimsoll/locator_hash.h
 *
 *-------------------------------------------------------------------------
 */
#include "common/hashfn.h"
#include "storage/relfilelocator.h"

#define SH_KEY_TYPE RelFileLocator
#define SH_KEY locator
#define SH_HASH_KEY(tb, key) \
	hash_combine(murmurhash32((key).relNumber), murmurhash32((key).spcOid))
#define SH_EQUAL(tb, a, b) RelFileLocatorEquals(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"
