/*-------------------------------------------------------------------------
 *
 * memcat_unit.c
 *	  The units of the memory catalog: temporary tables served from memory.
 *
 * A unit lives as long as a row or a relation refers to it.  Which relation
 * belongs to which unit is on record in temp_relation.c.
 *
 * src/backend/plimsoll/memcat_unit.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"

bool		memcat_names_outside = false;

static int64 nunits = 0;

/* A relation of this unit is about to be created. */
void
memcat_unit_enter(MemUnit *unit, Oid relid)
{
	temp_relation_enter(relid)->unit = unit;
	unit->refs++;
}

/* The unit of a table that is about to be created. */
MemUnit *
memcat_unit_new(Oid relid)
{
	TempRelation *rel = temp_relation_enter(relid);
	MemUnit    *unit = memcat_alloc0(sizeof(MemUnit));

	unit->relid = relid;
	dlist_init(&unit->rows);
	unit->refs = 1;
	rel->unit = unit;
	nunits++;
	return unit;
}

/* The unit loses a row or a relation. */
void
memcat_unit_release(MemUnit *unit)
{
	Assert(unit->refs > 0);
	if (--unit->refs > 0)
		return;
	if (!unit->gone)
		nunits--;
	memcat_free(unit);
}

/* The unit has moved to the real catalogs for good; its relations live on. */
void
memcat_unit_gone(MemUnit *unit)
{
	unit->gone = true;
	nunits--;
}

/* The unit in memory that this relation of ours belongs to, or NULL. */
MemUnit *
memcat_unit_of_relation(const TempRelation *rel)
{
	return rel != NULL && rel->unit != NULL && !rel->unit->spilled ?
		rel->unit : NULL;
}

/* The unit that serves this object from memory, or NULL. */
MemUnit *
memcat_unit_of(Oid classId, Oid objectId)
{
	return memcat_unit_of_relation(temp_relation_holding(classId, objectId));
}

int64
memcat_unit_count(void)
{
	return nunits;
}
