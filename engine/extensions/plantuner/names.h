/*-------------------------------------------------------------------------
 *
 * names.h
 *	  A setting that holds a list of relations' names.
 *
 * The names are kept as they were written and compared when a relation is at
 * hand.  So the setting may stand in postgresql.conf, where there is no
 * catalog to look at, may name what does not exist yet, and holds for a relation
 * that was dropped and made again; and nothing has to be told when one goes.
 *
 * A name without a schema means the relation that this name finds on the search
 * path; pg_temp is the temporary schema of the session.
 *
 * Both extensions that have such settings have this file, by a link.  All of it
 * is static: two libraries of one server must not share symbols.
 *
 * extensions/plantuner/names.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef NAMES_H
#define NAMES_H

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* For each name its schema, which may be empty, and the name; both end with a zero byte. */
typedef struct NameList
{
	int			count;
	char		text[FLEXIBLE_ARRAY_MEMBER];
} NameList;

typedef struct NameCursor
{
	int			left;
	const char *next;
	const char *schema;
	const char *name;
} NameCursor;

static inline NameCursor
names_begin(const NameList *list)
{
	NameCursor	cursor = {0};

	if (list != NULL)
	{
		cursor.left = list->count;
		cursor.next = list->text;
	}
	return cursor;
}

static inline bool
names_next(NameCursor *cursor)
{
	if (cursor->left-- <= 0)
		return false;
	cursor->schema = cursor->next;
	cursor->name = cursor->schema + strlen(cursor->schema) + 1;
	cursor->next = cursor->name + strlen(cursor->name) + 1;
	return true;
}

/* The schema's OID, or none; no privilege is needed to name it. */
static inline Oid
names_schema(const char *schema)
{
	if (strcmp(schema, "pg_temp") == 0)
		return LookupExplicitNamespace(schema, true);
	return get_namespace_oid(schema, true);
}

/* The relation that the cursor's name means now, or none. */
static inline Oid
names_lookup(const NameCursor *cursor)
{
	Oid			schema;

	if (cursor->schema[0] == '\0')
		return RelnameGetRelid(cursor->name);
	schema = names_schema(cursor->schema);
	return OidIsValid(schema) ? get_relname_relid(cursor->name, schema) : InvalidOid;
}

/* Does the list name the relation? */
static inline bool
names_has(const NameList *list, Oid relid)
{
	NameCursor	cursor = names_begin(list);
	char	   *name = NULL;

	while (names_next(&cursor))
	{
		if (name == NULL)
			name = get_rel_name(relid);
		if (name == NULL)
			return false;
		if (strcmp(name, cursor.name) == 0 && names_lookup(&cursor) == relid)
			return true;
	}
	return false;
}

/* Cuts the first name off, at a comma outside quotes; NULL when there is no other. */
static inline char *
names_cut(char *text)
{
	bool		quoted = false;

	for (; *text != '\0'; text++)
	{
		if (*text == '"')
			quoted = !quoted;
		if (*text == ',' && !quoted)
		{
			*text = '\0';
			return text + 1;
		}
	}
	return NULL;
}

static inline bool
names_add(NameList *list, char **end, char *text)
{
	List	   *parts;
	int			count;

	if (!SplitIdentifierString(text, '.', &parts))
		return false;
	count = list_length(parts);
	if (count < 1 || count > 2)
		return false;
	*end = stpcpy(*end, count == 2 ? (char *) linitial(parts) : "") + 1;
	*end = stpcpy(*end, (char *) llast(parts)) + 1;
	list->count++;
	return true;
}

/* What a check hook hands to its assign hook lives where the server wants it. */
static inline NameList *
names_allocate(Size size)
{
#if PG_VERSION_NUM >= 160000
	return (NameList *) guc_malloc(LOG, size);
#else
	return (NameList *) malloc(size);
#endif
}

static inline void
names_free(NameList *list)
{
#if PG_VERSION_NUM >= 160000
	guc_free(list);
#else
	free(list);
#endif
}

static inline bool
names_blank(const char *value)
{
	return value[strspn(value, " \t\n\r\f\v")] == '\0';
}

/*
 * The check hook's work: *extra becomes the list, or NULL for an empty one.  A
 * name without its schema needs two bytes more than it has here, one of which is
 * the comma's.
 */
static inline bool
names_check(const char *value, void **extra)
{
	NameList   *list;
	char	   *text;
	char	   *rest;
	char	   *end;

	*extra = NULL;
	if (value == NULL || names_blank(value))
		return true;
	list = names_allocate(offsetof(NameList, text) + 2 * strlen(value) + 4);
	if (list == NULL)
		return false;
	list->count = 0;
	end = list->text;
	for (text = pstrdup(value); text != NULL; text = rest)
	{
		rest = names_cut(text);
		if (!names_add(list, &end, text))
		{
			names_free(list);
			GUC_check_errdetail("List syntax is invalid.");
			GUC_check_errhint("Separate names by commas; a name may have a schema, and quotes: public.a, \"B\".");
			return false;
		}
	}
	*extra = list;
	return true;
}

/* May somebody who sets this be told what is wrong with the names? */
static inline bool
names_asked(GucSource source)
{
	return source >= PGC_S_INTERACTIVE && IsTransactionState() && !InitializingParallelWorker;
}

#endif							/* NAMES_H */
