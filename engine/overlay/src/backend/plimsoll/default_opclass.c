/*-------------------------------------------------------------------------
 *
 * default_opclass.c
 *	  Default operator classes of built-in types, found once.
 *
 * CREATE INDEX without an operator class reads all classes of the access method,
 * some fifty for btree, and checks for each whether the column's type could be
 * coerced to its own.  That is a good part of the command on an empty temporary
 * table.
 *
 * We remember only what cannot change: the one default class of exactly this
 * type, if class and type are pinned.  Nobody can drop it or make another
 * default for the same type and access method.  If somebody changes pg_opclass by
 * hand, we forget everything.
 *
 * src/backend/plimsoll/default_opclass.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "common/hashfn.h"
#include "plimsoll/default_opclass.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#define REMEMBERED 32			/* a power of two */

typedef struct DefaultOpclass
{
	Oid			type_id;
	Oid			am_id;
	Oid			opclass_id;		/* InvalidOid: nothing here */
} DefaultOpclass;

static DefaultOpclass remembered[REMEMBERED];
static bool callback_registered = false;

static DefaultOpclass *
place_of(Oid type_id, Oid am_id)
{
	return &remembered[hash_combine(murmurhash32(type_id), murmurhash32(am_id)) &
					   (REMEMBERED - 1)];
}

static void
forget_all(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(remembered, 0, sizeof(remembered));
}

/* The default operator class, or InvalidOid if it has to be looked for. */
Oid
default_opclass_known(Oid type_id, Oid am_id)
{
	DefaultOpclass *place = place_of(type_id, am_id);

	return place->type_id == type_id && place->am_id == am_id ?
		place->opclass_id : InvalidOid;
}

/* This is the one default operator class of exactly this type. */
void
default_opclass_found(Oid type_id, Oid am_id, Oid opclass_id)
{
	DefaultOpclass *place = place_of(type_id, am_id);

	if (type_id >= FirstUnpinnedObjectId || am_id >= FirstUnpinnedObjectId ||
		opclass_id >= FirstUnpinnedObjectId)
		return;
	if (!callback_registered)
	{
		CacheRegisterSyscacheCallback(CLAOID, forget_all, (Datum) 0);
		callback_registered = true;
	}
	place->type_id = type_id;
	place->am_id = am_id;
	place->opclass_id = opclass_id;
}
