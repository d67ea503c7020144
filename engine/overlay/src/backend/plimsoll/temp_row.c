/*-------------------------------------------------------------------------
 *
 * temp_row.c
 *	  Catalog rows by the relation that they are about.
 *
 * This is the only place that knows which rows of which catalog make up a
 * relation.  Invalidation, commit, locks and the memory catalog use it.
 *
 * src/backend/plimsoll/temp_row.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_description.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_sequence.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_statistic_ext_data.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plimsoll/temp_row.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

static TempRelation *relation_of_reference(Oid catalogid, HeapTuple tuple);
static TempRelation *relation_of_type(Form_pg_type type);

/*
 * The relation that a catalog row names as its own, or InvalidOid if rows of
 * this catalog name none; *memberid is the OID of the catalog object that the row
 * stands for, if it is not the relation.
 */
Oid
temp_row_relation(Oid catalogid, HeapTuple tuple, Oid *memberid)
{
	void	   *row = GETSTRUCT(tuple);

	*memberid = InvalidOid;
	switch (catalogid)
	{
		case RelationRelationId:
			return ((Form_pg_class) row)->oid;
		case AttributeRelationId:
			return ((Form_pg_attribute) row)->attrelid;
		case IndexRelationId:
			return ((Form_pg_index) row)->indexrelid;
		case StatisticRelationId:
			return ((Form_pg_statistic) row)->starelid;
		case SequenceRelationId:
			return ((Form_pg_sequence) row)->seqrelid;
		case PartitionedRelationId:
			return ((Form_pg_partitioned_table) row)->partrelid;
		case InheritsRelationId:
			return ((Form_pg_inherits) row)->inhrelid;
		case AttrDefaultRelationId:
			*memberid = ((Form_pg_attrdef) row)->oid;
			return ((Form_pg_attrdef) row)->adrelid;
		case ConstraintRelationId:
			*memberid = ((Form_pg_constraint) row)->oid;
			return ((Form_pg_constraint) row)->conrelid;
		case TriggerRelationId:
			*memberid = ((Form_pg_trigger) row)->oid;
			return ((Form_pg_trigger) row)->tgrelid;
		case RewriteRelationId:
			*memberid = ((Form_pg_rewrite) row)->oid;
			return ((Form_pg_rewrite) row)->ev_class;
		case PolicyRelationId:
			*memberid = ((Form_pg_policy) row)->oid;
			return ((Form_pg_policy) row)->polrelid;
		case StatisticExtRelationId:
			*memberid = ((Form_pg_statistic_ext) row)->oid;
			return ((Form_pg_statistic_ext) row)->stxrelid;
		default:
			return InvalidOid;
	}
}

/*
 * The temporary relation of ours to which a catalog row belongs, exposed or
 * not, or NULL, judged by the row itself; *memberid as above.
 */
TempRelation *
temp_row_owner(Oid catalogid, HeapTuple tuple, Oid *memberid)
{
	Oid			relid = temp_row_relation(catalogid, tuple, memberid);

	if (OidIsValid(relid))
		return temp_relation_find(relid);
	if (catalogid == TypeRelationId)
	{
		*memberid = ((Form_pg_type) GETSTRUCT(tuple))->oid;
		return relation_of_type((Form_pg_type) GETSTRUCT(tuple));
	}
	return relation_of_reference(catalogid, tuple);
}

/* Is this catalog row about a temporary relation of ours that is not exposed? */
bool
temp_row_is_ours(Relation catalog, HeapTuple tuple)
{
	Oid			memberid;
	TempRelation *rel;

	if (temp_relation_count == 0)
		return false;
	rel = temp_row_owner(RelationGetRelid(catalog), tuple, &memberid);
	return rel != NULL && !rel->exposed;
}

/*
 * Row types, and the array types over them.  Types that a user made in our
 * temporary schema are no part of a relation; neither are types over ours in
 * other schemas.
 */
static TempRelation *
relation_of_type(Form_pg_type type)
{
	if (!isTempNamespace(type->typnamespace))
		return NULL;
	if (OidIsValid(type->typrelid))
		return temp_relation_find(type->typrelid);
	if (type->typsubscript == F_ARRAY_SUBSCRIPT_HANDLER)
		return temp_relation_holding(TypeRelationId, type->typelem);
	return NULL;
}

/* Rows that tell something about an object of any kind. */
static TempRelation *
relation_of_reference(Oid catalogid, HeapTuple tuple)
{
	void	   *row = GETSTRUCT(tuple);

	switch (catalogid)
	{
		case StatisticExtDataRelationId:
			return temp_relation_holding(StatisticExtRelationId,
										 ((Form_pg_statistic_ext_data) row)->stxoid);
		case DependRelationId:
			return temp_relation_holding(((Form_pg_depend) row)->classid,
										 ((Form_pg_depend) row)->objid);
		case SharedDependRelationId:
			if (((Form_pg_shdepend) row)->dbid != MyDatabaseId)
				return NULL;
			return temp_relation_holding(((Form_pg_shdepend) row)->classid,
										 ((Form_pg_shdepend) row)->objid);
		case DescriptionRelationId:
			return temp_relation_holding(((Form_pg_description) row)->classoid,
										 ((Form_pg_description) row)->objoid);
		case SecLabelRelationId:
			return temp_relation_holding(((FormData_pg_seclabel *) row)->classoid,
										 ((FormData_pg_seclabel *) row)->objoid);
		default:
			return NULL;
	}
}
