/*-------------------------------------------------------------------------
 *
 * memcat_owner.c
 *	  Who owns what in the memory catalog.
 *
 * Rows are routed by data: a row goes to memory when the object it describes
 * belongs to a unit (a temporary table served from memory), whichever code
 * writes it.  Who owns what is on record in temp_relation.c; a relation there
 * leads to its unit.  A table becomes a unit when DefineRelation asks for an
 * OID here before it writes the first row; its toast table, its indexes and
 * the transient table of a rewrite join it the same way.  The setting is
 * looked at nowhere else, so changing it never splits a table.
 *
 * OIDs come from the same counter and pass the same test for uniqueness as
 * everybody else's, so a spilled unit keeps its OIDs.
 *
 * src/backend/plimsoll/memcat_owner.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_description.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_init_privs.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_publication_rel.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_sequence.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_subscription_rel.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "plimsoll/temp_relation.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"

bool		MemCatNamesOutside = false;

static int64 nunits = 0;

/* The unit loses a row or a relation. */
void
MemUnitRelease(MemUnit *unit)
{
	Assert(unit->refs > 0);
	if (--unit->refs > 0)
		return;
	if (!unit->gone)
		nunits--;
	pfree(unit);
}

/* The unit has moved to the real catalogs for good; its relations live on. */
void
MemUnitGone(MemUnit *unit)
{
	unit->gone = true;
	nunits--;
}

/* The unit in memory that this relation of ours belongs to, or NULL. */
static MemUnit *
unit_of(TempRelation *rel)
{
	return rel != NULL && rel->unit != NULL && !rel->unit->spilled ?
		rel->unit : NULL;
}

/* The unit that serves this object from memory, or NULL. */
MemUnit *
MemOwnerUnit(Oid classId, Oid objectId)
{
	return unit_of(temp_relation_holding(classId, objectId));
}

int64
MemOwnerUnits(void)
{
	return nunits;
}

bool
MemCatHasRows(void)
{
	return MemCatActive;
}

static Oid
new_relid(Oid tablespaceId)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	Oid			relid = GetNewRelFileNumber(tablespaceId, pg_class,
											RELPERSISTENCE_TEMP);

	table_close(pg_class, RowExclusiveLock);
	return relid;
}

/* A relation of this unit is about to be created. */
static void
enter(Oid relid, MemUnit *unit)
{
	temp_relation_enter(relid)->unit = unit;
	unit->refs++;
}

/*
 * Kinds of tables that memory serves.  The others go to the real catalogs
 * from the start.
 */
static bool
serves(const CreateStmt *stmt, char relkind, Oid accessMethodId)
{
	if (relkind != RELKIND_RELATION ||
		stmt->relation->relpersistence != RELPERSISTENCE_TEMP ||
		stmt->inhRelations != NIL || stmt->partbound != NULL ||
		stmt->partspec != NULL || stmt->ofTypename != NULL)
		return false;
	if (accessMethodId != HEAP_TABLE_AM_OID)
		return false;
	if (creating_extension || IsBinaryUpgrade || IsInParallelMode())
		return false;
	foreach_node(ColumnDef, column, stmt->tableElts)
	{
		/* its sequence lives in the real catalogs and refers to the table */
		if (column->identity || column->identitySequence)
			return false;
	}
	return true;
}

/*
 * An OID for a new temporary table that will be served from memory, or
 * InvalidOid if it will not.
 */
Oid
MemCatNewTable(const CreateStmt *stmt, char relkind, Oid accessMethodId,
			   Oid tablespaceId)
{
	MemUnit    *unit;
	Oid			relid;

	if (!enable_temp_memory_catalog || !serves(stmt, relkind, accessMethodId))
		return InvalidOid;

	MemSharedHorizon();
	relid = new_relid(tablespaceId);
	unit = MemoryContextAllocZero(MemStoreContext(), sizeof(MemUnit));
	unit->relid = relid;
	dlist_init(&unit->rows);
	enter(relid, unit);
	nunits++;
	MemCatActive = true;
	return relid;
}

/*
 * An OID for a relation that belongs to an existing table (toast table, index,
 * transient table of a rewrite), or InvalidOid if that is not in memory.
 */
Oid
MemCatNewMember(Oid tableId, Oid tablespaceId)
{
	MemUnit    *unit = MemOwnerUnit(RelationRelationId, tableId);
	Oid			relid;

	if (unit == NULL)
		return InvalidOid;
	relid = new_relid(tablespaceId);
	enter(relid, unit);
	return relid;
}

/* The unit a new row belongs to, or NULL if it goes to the real catalog. */
MemUnit *
MemOwnerRoute(Oid catalogId, HeapTuple tup)
{
	Oid			memberId;

	if (MemKeyCatalog(catalogId) == NULL)
		return NULL;
	return unit_of(temp_relation_of_row(catalogId, tup, &memberId));
}

/*
 * A transaction has ended, and so did, in the record of temporary relations,
 * what it dropped or did not come to create.
 */
void
AtEOXact_MemCat(void)
{
	if (!MemCatActive)
		return;
	MemCatActive = MemStoreRows() > 0 || nunits > 0;
	MemSharedReport();
}

/*
 * Columns that name the object a row hangs on.  Two uses:
 *
 * - reading: all rows about an owned object are in memory, so a scan for them
 *   need not look into the real catalog;
 * - writing: a row that goes to the real catalog but hangs on an owned object
 *   makes the unit spill (column marked "anchor").
 */
typedef struct MemAnchor
{
	Oid			catalogId;
	AttrNumber	attno;
	Oid			classId;		/* class of the object, or InvalidOid: see … */
	AttrNumber	classattno;		/* … the value of this column */
	bool		anchor;
} MemAnchor;

static const MemAnchor anchors[] = {
	{RelationRelationId, Anum_pg_class_oid, RelationRelationId, 0, false},
	{AttributeRelationId, Anum_pg_attribute_attrelid, RelationRelationId, 0, false},
	{TypeRelationId, Anum_pg_type_oid, TypeRelationId, 0, false},
	{IndexRelationId, Anum_pg_index_indexrelid, RelationRelationId, 0, false},
	{IndexRelationId, Anum_pg_index_indrelid, RelationRelationId, 0, false},
	{DependRelationId, Anum_pg_depend_objid, InvalidOid, Anum_pg_depend_classid, false},
	{DependRelationId, Anum_pg_depend_refobjid, InvalidOid, Anum_pg_depend_refclassid, true},
	{SharedDependRelationId, Anum_pg_shdepend_objid, InvalidOid, Anum_pg_shdepend_classid, false},
	{AttrDefaultRelationId, Anum_pg_attrdef_oid, AttrDefaultRelationId, 0, false},
	{AttrDefaultRelationId, Anum_pg_attrdef_adrelid, RelationRelationId, 0, false},
	{ConstraintRelationId, Anum_pg_constraint_oid, ConstraintRelationId, 0, false},
	{ConstraintRelationId, Anum_pg_constraint_conrelid, RelationRelationId, 0, false},
	{ConstraintRelationId, Anum_pg_constraint_confrelid, RelationRelationId, 0, true},
	{ConstraintRelationId, Anum_pg_constraint_contypid, TypeRelationId, 0, true},
	{ConstraintRelationId, Anum_pg_constraint_conparentid, ConstraintRelationId, 0, true},
	{StatisticRelationId, Anum_pg_statistic_starelid, RelationRelationId, 0, false},
	{DescriptionRelationId, Anum_pg_description_objoid, InvalidOid, Anum_pg_description_classoid, false},
	{InheritsRelationId, Anum_pg_inherits_inhrelid, RelationRelationId, 0, true},
	{InheritsRelationId, Anum_pg_inherits_inhparent, RelationRelationId, 0, true},
	{TriggerRelationId, Anum_pg_trigger_tgrelid, RelationRelationId, 0, true},
	{TriggerRelationId, Anum_pg_trigger_tgconstrrelid, RelationRelationId, 0, true},
	{TriggerRelationId, Anum_pg_trigger_tgconstraint, ConstraintRelationId, 0, true},
	{RewriteRelationId, Anum_pg_rewrite_ev_class, RelationRelationId, 0, true},
	{PolicyRelationId, Anum_pg_policy_polrelid, RelationRelationId, 0, true},
	{StatisticExtRelationId, Anum_pg_statistic_ext_stxrelid, RelationRelationId, 0, true},
	{PublicationRelRelationId, Anum_pg_publication_rel_prrelid, RelationRelationId, 0, true},
	{SubscriptionRelRelationId, Anum_pg_subscription_rel_srrelid, RelationRelationId, 0, true},
	{PartitionedRelationId, Anum_pg_partitioned_table_partrelid, RelationRelationId, 0, true},
	{ForeignTableRelationId, Anum_pg_foreign_table_ftrelid, RelationRelationId, 0, true},
	{SequenceRelationId, Anum_pg_sequence_seqrelid, RelationRelationId, 0, true},
	{SecLabelRelationId, Anum_pg_seclabel_objoid, InvalidOid, Anum_pg_seclabel_classoid, true},
	{InitPrivsRelationId, Anum_pg_init_privs_objoid, InvalidOid, Anum_pg_init_privs_classoid, true},
};

/*
 * Spills the units that a row bound for the real catalog hangs on.
 */
void
MemOwnerSpillAnchors(Relation catalog, HeapTuple tup)
{
	Oid			catalogId = RelationGetRelid(catalog);

	for (int i = 0; i < lengthof(anchors); i++)
	{
		Oid			classId = anchors[i].classId;
		bool		isnull;
		Oid			oid;
		MemUnit    *unit;

		if (anchors[i].catalogId != catalogId || !anchors[i].anchor)
			continue;
		oid = DatumGetObjectId(heap_getattr(tup, anchors[i].attno,
											RelationGetDescr(catalog), &isnull));
		if (isnull || !OidIsValid(oid))
			continue;
		if (anchors[i].classattno)
			classId = DatumGetObjectId(heap_getattr(tup, anchors[i].classattno,
													RelationGetDescr(catalog), &isnull));
		unit = MemOwnerUnit(classId, oid);
		if (unit)
			MemUnitSpill(unit);
	}
}

static bool
key_oid(int nkeys, ScanKey keys, AttrNumber attno, Oid *oid)
{
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].sk_attno == attno &&
			keys[i].sk_strategy == BTEqualStrategyNumber &&
			keys[i].sk_flags == 0 && keys[i].sk_func.fn_oid == F_OIDEQ)
		{
			*oid = DatumGetObjectId(keys[i].sk_argument);
			return true;
		}
	}
	return false;
}

/*
 * A name in one of our temporary schemas.  Nobody else can create relations
 * there, and what a predecessor left was removed before they became ours: as long
 * as all of our own were in memory from the start, the real pg_class has none.
 */
static bool
name_is_ours(Oid catalogId, int nkeys, ScanKey keys)
{
	Oid			nspoid;

	return catalogId == RelationRelationId && !MemCatNamesOutside &&
		key_oid(nkeys, keys, Anum_pg_class_relnamespace, &nspoid) &&
		isTempOrTempToastNamespace(nspoid);
}

/*
 * Do these scan keys ask for rows about an owned object, or for a name that only
 * such an object can have?  Then the real catalog has none.
 */
bool
MemOwnerKeysOwned(Oid catalogId, int nkeys, ScanKey keys)
{
	for (int i = 0; i < lengthof(anchors); i++)
	{
		Oid			classId = anchors[i].classId;
		Oid			oid;

		if (anchors[i].catalogId != catalogId ||
			!key_oid(nkeys, keys, anchors[i].attno, &oid))
			continue;
		if (anchors[i].classattno &&
			!key_oid(nkeys, keys, anchors[i].classattno, &classId))
			continue;
		if (MemOwnerUnit(classId, oid))
			return true;
	}
	return name_is_ours(catalogId, nkeys, keys);
}

/* Are all rows about this relation in memory? */
bool
MemCatServes(Oid relid)
{
	MemUnit    *unit = MemOwnerUnit(RelationRelationId, relid);

	return unit != NULL && !unit->pending;
}

/*
 * May this catalog have rows about the object, one of those that describe
 * objects of any kind?  No is an answer only for what memory owns: then
 * the catalog need not even be opened.
 */
bool
MemCatMayHave(Oid catalogId, const ObjectAddress *object)
{
	MemUnit    *unit = MemOwnerUnit(object->classId, object->objectId);
	MemCatalog *cat = MemKeyCatalog(catalogId);
	Datum		values[MEMCAT_KEY_COLS];

	if (unit == NULL || unit->pending)
		return true;
	switch (catalogId)
	{
		case SharedDependRelationId:
			values[0] = ObjectIdGetDatum(MyDatabaseId);
			values[1] = ObjectIdGetDatum(object->classId);
			values[2] = ObjectIdGetDatum(object->objectId);
			break;
		case DescriptionRelationId:
			values[0] = ObjectIdGetDatum(object->objectId);
			values[1] = ObjectIdGetDatum(object->classId);
			break;
		default:
			return cat != NULL;
	}
	return MemKeyFind(cat, 0, values) != NULL;
}
