/*-------------------------------------------------------------------------
 *
 * memcat_owner.c
 *	  Who owns what in the memory catalog.
 *
 * Rows are routed by data: a row goes to memory when the object it describes
 * belongs to a unit (a temporary table served from memory), whichever code
 * writes it.  temp_relation.c records who owns what; a relation there points to
 * its unit.  A table becomes a unit when DefineRelation asks for an OID here
 * before it writes the first row.  Its toast table, its indexes and the
 * transient table of a rewrite join it the same way.  The setting is read only
 * here, so changing it never splits a table.
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
#include "plimsoll/temp_row.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"

static Oid
new_relid(Oid tablespaceId)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	Oid			relid = GetNewRelFileNumber(tablespaceId, pg_class,
											RELPERSISTENCE_TEMP);

	table_close(pg_class, RowExclusiveLock);
	return relid;
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
memcat_new_table(const CreateStmt *stmt, char relkind, Oid accessMethodId,
				 Oid tablespaceId)
{
	Oid			relid;

	if (!enable_temp_memory_catalog || !serves(stmt, relkind, accessMethodId))
		return InvalidOid;

	memcat_store_init();
	memcat_shared_begin();
	relid = new_relid(tablespaceId);
	memcat_unit_new(relid);
	memcat_active = true;
	return relid;
}

/*
 * An OID for a relation that belongs to an existing table (toast table, index,
 * transient table of a rewrite), or InvalidOid if that is not in memory.
 */
Oid
memcat_new_member(Oid tableId, Oid tablespaceId)
{
	MemUnit    *unit = memcat_unit_of(RelationRelationId, tableId);
	Oid			relid;

	if (unit == NULL)
		return InvalidOid;
	relid = new_relid(tablespaceId);
	memcat_unit_enter(unit, relid);
	return relid;
}

/* The unit a new row belongs to, or NULL if it goes to the real catalog. */
MemUnit *
memcat_owner_route(Oid catalogId, HeapTuple tup)
{
	Oid			memberId;

	if (memcat_key_catalog(catalogId) == NULL)
		return NULL;
	return memcat_unit_of_relation(temp_row_owner(catalogId, tup, &memberId));
}

/* A relation that memory does not serve gets a name in our temporary schema. */
static void
relation_created(Oid relid)
{
	if (!memcat_serves(relid))
		memcat_names_outside = true;
}

static void
relation_forgotten(TempRelation *rel)
{
	if (rel->unit != NULL)
		memcat_unit_release(rel->unit);
}

static void
xact_ended(void)
{
	if (!memcat_active || memcat_in_worker)
		return;
	memcat_active = memcat_store_rows() > 0 || memcat_unit_count() > 0;
	if (!memcat_active)
		memcat_parallel_forget();
	memcat_shared_report(memcat_unit_count(), memcat_store_rows(),
						 memcat_store_bytes());
}

const TempRelationListener memcat_listener = {
	.created = relation_created,
	.forgotten = relation_forgotten,
	.xact_ended = xact_ended,
};

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
	Oid			classId;		/* catalog of the object that is named, or */
	AttrNumber	classattno;		/* the column that names the catalog */
	bool		anchor;			/* also for writing */
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
memcat_owner_spill_anchors(Relation catalog, HeapTuple tup)
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
		unit = memcat_unit_of(classId, oid);
		if (unit)
			memcat_spill_unit(unit);
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

	return catalogId == RelationRelationId && !memcat_names_outside &&
		key_oid(nkeys, keys, Anum_pg_class_relnamespace, &nspoid) &&
		isTempOrTempToastNamespace(nspoid);
}

/*
 * Do these scan keys ask for rows about an owned object, or for a name that only
 * such an object can have?  Then the real catalog has none.
 */
bool
memcat_owner_keys_owned(Oid catalogId, int nkeys, ScanKey keys)
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
		if (memcat_unit_of(classId, oid))
			return true;
	}
	return name_is_ours(catalogId, nkeys, keys);
}

/* Are all rows about this relation in memory? */
bool
memcat_serves(Oid relid)
{
	MemUnit    *unit = memcat_unit_of(RelationRelationId, relid);

	return unit != NULL && !unit->pending;
}

/*
 * May this catalog have rows about the object, one of those that describe
 * objects of any kind?  No is an answer only for what memory owns: then
 * the catalog need not even be opened.
 */
bool
memcat_may_have(Oid catalogId, const ObjectAddress *object)
{
	MemUnit    *unit = memcat_unit_of(object->classId, object->objectId);
	MemCatalog *cat = memcat_key_catalog(catalogId);
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
	return memcat_key_find(cat, 0, values) != NULL;
}
