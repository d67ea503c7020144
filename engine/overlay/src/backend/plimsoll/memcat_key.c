/*-------------------------------------------------------------------------
 *
 * memcat_key.c
 *	  The catalogs that the memory catalog serves, and the hash keys by which
 *	  their rows are found.
 *
 * Each catalog has a few hash keys, chosen from its real indexes.  A hash key
 * leads to the list of the rows that share its value; lists are doubly linked,
 * so removing one of thousands of rows that refer to the temporary schema
 * costs the same as removing the only row of a table.
 *
 * src/backend/plimsoll/memcat_key.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_description.h"
#include "catalog/pg_index.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"

#define COL(catalog, column, type) \
	{Anum_##catalog##_##column, offsetof(FormData_##catalog, column), type}
#define OIDCOL(catalog, column) COL(catalog, column, MEMCOL_OID)
#define NAMECOL(catalog, column) COL(catalog, column, MEMCOL_NAME)
#define INT2COL(catalog, column) COL(catalog, column, MEMCOL_INT2)

static MemCatalog catalogs[] = {
	{RelationRelationId, 2, {
			{true, 1, {OIDCOL(pg_class, oid)}},
			{true, 2, {OIDCOL(pg_class, relnamespace), NAMECOL(pg_class, relname)}},
	}},
	{AttributeRelationId, 3, {
			{true, 2, {OIDCOL(pg_attribute, attrelid), INT2COL(pg_attribute, attnum)}},
			{true, 2, {OIDCOL(pg_attribute, attrelid), NAMECOL(pg_attribute, attname)}},
			{false, 1, {OIDCOL(pg_attribute, attrelid)}},
	}},
	{TypeRelationId, 2, {
			{true, 1, {OIDCOL(pg_type, oid)}},
			{true, 2, {OIDCOL(pg_type, typnamespace), NAMECOL(pg_type, typname)}},
	}},
	{IndexRelationId, 2, {
			{true, 1, {OIDCOL(pg_index, indexrelid)}},
			{false, 1, {OIDCOL(pg_index, indrelid)}},
	}},
	{DependRelationId, 2, {
			{false, 2, {OIDCOL(pg_depend, classid), OIDCOL(pg_depend, objid)}},
			{false, 2, {OIDCOL(pg_depend, refclassid), OIDCOL(pg_depend, refobjid)}},
	}},
	{SharedDependRelationId, 2, {
			{false, 3, {OIDCOL(pg_shdepend, dbid), OIDCOL(pg_shdepend, classid), OIDCOL(pg_shdepend, objid)}},
			{false, 2, {OIDCOL(pg_shdepend, refclassid), OIDCOL(pg_shdepend, refobjid)}},
	}},
	{AttrDefaultRelationId, 3, {
			{true, 2, {OIDCOL(pg_attrdef, adrelid), INT2COL(pg_attrdef, adnum)}},
			{true, 1, {OIDCOL(pg_attrdef, oid)}},
			{false, 1, {OIDCOL(pg_attrdef, adrelid)}},
	}},
	{ConstraintRelationId, 3, {
			{true, 1, {OIDCOL(pg_constraint, oid)}},
			{false, 2, {OIDCOL(pg_constraint, connamespace), NAMECOL(pg_constraint, conname)}},
			{false, 1, {OIDCOL(pg_constraint, conrelid)}},
	}},
	{StatisticRelationId, 2, {
			{false, 2, {OIDCOL(pg_statistic, starelid), INT2COL(pg_statistic, staattnum)}},
			{false, 1, {OIDCOL(pg_statistic, starelid)}},
	}},
	{DescriptionRelationId, 1, {
			{false, 2, {OIDCOL(pg_description, objoid), OIDCOL(pg_description, classoid)}},
	}},
};

static void
hash_init(MemHash *hash)
{
	hash->nbuckets = 16;
	hash->nkeys = 0;
	hash->buckets = memcat_alloc0(hash->nbuckets * sizeof(MemKey *));
}

/* Makes all catalogs empty. */
void
memcat_key_init(void)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		dlist_init(&catalogs[i].rows);
		for (int k = 0; k < catalogs[i].nkeys; k++)
			hash_init(&catalogs[i].hash[k]);
	}
}

/* All catalogs that memory serves. */
MemCatalog *
memcat_key_catalogs(int *ncatalogs)
{
	*ncatalogs = lengthof(catalogs);
	return catalogs;
}

/* The catalog, if memory serves it, or NULL. */
MemCatalog *
memcat_key_catalog(Oid relid)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		if (catalogs[i].relid == relid)
			return &catalogs[i];
	}
	return NULL;
}

/* Where the values of a hash key come from: a row, or what a search asks for. */
typedef struct KeySource
{
	const char *row;
	const Datum *datums;		/* NULL: the row */
} KeySource;

#define FROM_ROW(data) ((KeySource) {.row = (data)})
#define FROM_DATUMS(values) ((KeySource) {.datums = (values)})

/* A value of a key column: a name, or a number. */
typedef struct KeyValue
{
	const char *name;			/* NULL: the number */
	uint32		number;
} KeyValue;

/* The one place that knows the types of key columns. */
static pg_attribute_always_inline KeyValue
key_value(const MemKeyDef *def, int i, KeySource from)
{
	const char *column = from.datums ? NULL : from.row + def->cols[i].offset;
	KeyValue	value = {NULL, 0};

	switch (def->cols[i].type)
	{
		case MEMCOL_OID:
		case MEMCOL_INT4:
			value.number = from.datums ? DatumGetUInt32(from.datums[i]) :
				*(const uint32 *) column;
			break;
		case MEMCOL_INT2:
			value.number = (uint32) (from.datums ? DatumGetInt16(from.datums[i]) :
									 *(const int16 *) column);
			break;
		case MEMCOL_NAME:
			value.name = from.datums ? DatumGetCString(from.datums[i]) : column;
			break;
	}
	return value;
}

static pg_attribute_always_inline uint32
hash_key(const MemKeyDef *def, KeySource from)
{
	uint32		hash = 0;

	for (int i = 0; i < def->ncols; i++)
	{
		KeyValue	value = key_value(def, i, from);

		hash = hash_combine(hash, value.name ?
							hash_bytes((const unsigned char *) value.name,
									   strnlen(value.name, NAMEDATALEN)) :
							murmurhash32(value.number));
	}
	return hash;
}

/* Does this row have the values of that source? */
static pg_attribute_always_inline bool
same_key(const MemKeyDef *def, const char *row, KeySource from)
{
	for (int i = 0; i < def->ncols; i++)
	{
		KeyValue	x = key_value(def, i, FROM_ROW(row));
		KeyValue	y = key_value(def, i, from);

		if (x.name ? strncmp(x.name, y.name, NAMEDATALEN) != 0 : x.number != y.number)
			return false;
	}
	return true;
}

static inline MemRow *
key_first_row(int keyno, MemKey *key)
{
	return memcat_row_of_link(keyno, dlist_head_node(&key->rows));
}

uint32
memcat_key_hash(MemCatalog *cat, int keyno, const Datum *values)
{
	return hash_key(&cat->keys[keyno], FROM_DATUMS(values));
}

/* The rows with these values of a hash key, or NULL. */
dlist_head *
memcat_key_find(MemCatalog *cat, int keyno, const Datum *values)
{
	MemKeyDef  *def = &cat->keys[keyno];
	MemHash    *hash = &cat->hash[keyno];
	uint32		h = hash_key(def, FROM_DATUMS(values));
	MemKey	   *key;

	for (key = hash->buckets[h & (hash->nbuckets - 1)]; key; key = key->next)
	{
		if (key->hash == h &&
			same_key(def, GETSTRUCT(&key_first_row(keyno, key)->tuple), FROM_DATUMS(values)))
			return &key->rows;
	}
	return NULL;
}

static void
hash_grow(MemHash *hash)
{
	uint32		nbuckets = hash->nbuckets * 2;
	MemKey	  **buckets = memcat_alloc0(nbuckets * sizeof(MemKey *));

	for (uint32 i = 0; i < hash->nbuckets; i++)
	{
		MemKey	   *key = hash->buckets[i];

		while (key)
		{
			MemKey	   *next = key->next;
			MemKey	  **bucket = &buckets[key->hash & (nbuckets - 1)];

			key->next = *bucket;
			*bucket = key;
			key = next;
		}
	}
	memcat_free(hash->buckets);
	hash->buckets = buckets;
	hash->nbuckets = nbuckets;
}

/* The entry for the value that this row has, made if there is none. */
static MemKey *
key_of_row(MemCatalog *cat, int keyno, const MemRow *row)
{
	const char *data = GETSTRUCT(&row->tuple);
	MemKeyDef  *def = &cat->keys[keyno];
	MemHash    *hash = &cat->hash[keyno];
	uint32		h = hash_key(def, FROM_ROW(data));
	MemKey	   *key;
	MemKey	  **bucket;

	for (key = hash->buckets[h & (hash->nbuckets - 1)]; key; key = key->next)
	{
		if (key->hash == h &&
			same_key(def, GETSTRUCT(&key_first_row(keyno, key)->tuple), FROM_ROW(data)))
			return key;
	}
	if (hash->nkeys >= hash->nbuckets)
		hash_grow(hash);
	key = memcat_alloc(sizeof(MemKey));
	key->hash = h;
	dlist_init(&key->rows);
	bucket = &hash->buckets[h & (hash->nbuckets - 1)];
	key->next = *bucket;
	*bucket = key;
	hash->nkeys++;
	return key;
}

/*
 * Enters a row under all its hash keys.  Where one row at most can be visible,
 * the newest version comes first, and a search ends there: a transaction that
 * makes a table of the same name a thousand times would step over all the
 * dead ones again and again.
 */
void
memcat_key_link(MemCatalog *cat, MemRow *row)
{
	for (int k = 0; k < cat->nkeys; k++)
	{
		MemKey	   *key = key_of_row(cat, k, row);

		if (cat->keys[k].unique)
			dlist_push_head(&key->rows, &row->links[k].node);
		else
			dlist_push_tail(&key->rows, &row->links[k].node);
		row->links[k].key = key;
	}
}

void
memcat_key_unlink(MemCatalog *cat, MemRow *row)
{
	for (int k = 0; k < cat->nkeys; k++)
	{
		MemKey	   *key = row->links[k].key;
		MemHash    *hash = &cat->hash[k];
		MemKey	  **p;

		if (key == NULL)
			continue;			/* memory ran out while it was entered */
		dlist_delete_from(&key->rows, &row->links[k].node);
		if (!dlist_is_empty(&key->rows))
			continue;
		p = &hash->buckets[key->hash & (hash->nbuckets - 1)];
		while (*p != key)
			p = &(*p)->next;
		*p = key->next;
		hash->nkeys--;
		memcat_free(key);
	}
}
