/*-------------------------------------------------------------------------
 *
 * mchar_collate.c
 *	  The collators of a session, and whether ICU still sorts as it did when
 *	  the database's indexes were made.
 *
 * The locale is the database's: its ICU locale if that is its provider, else
 * the language of LC_COLLATE.  It never changes, so functions that compare
 * are immutable.
 *
 * What changes is ICU.  CREATE EXTENSION records the version in the table
 * mchar_collation.  The first use of the types in a session compares it with
 * today's and warns if they differ.  mchar_refresh_collation() records
 * today's when the indexes have been rebuilt.  The table is no
 * configuration table: a restored dump, whose indexes are new, records its
 * own version, and pg_upgrade keeps the old one with the indexes.
 *
 * extensions/mchar/mchar_collate.c
 *
 *-------------------------------------------------------------------------
 */
#include "mchar.h"

#include <unicode/uchar.h>
#include <unicode/uloc.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(mchar_collation_version);

static UCollator *collators[2];
static char locale[ULOC_FULLNAME_CAPACITY];
static bool locale_known;

/* set_icu_locale takes a language tag, or a name as ICU has them. */
static void
set_icu_locale(const char *tag)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32		parsed = 0;

	uloc_forLanguageTag(tag, locale, sizeof(locale), &parsed, &status);
	if (U_FAILURE(status) || parsed < (int32) strlen(tag))
		strlcpy(locale, tag, sizeof(locale));
}

/* set_libc_locale takes ru_RU of ru_RU.UTF-8, and ICU's root for C. */
static void
set_libc_locale(const char *name)
{
	strlcpy(locale, name, sizeof(locale));
	locale[strcspn(locale, ".@")] = '\0';
	if (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0)
		locale[0] = '\0';
}

/* mchar_locale returns the database's locale as ICU names it; "" is the root. */
const char *
mchar_locale(void)
{
	HeapTuple	tuple;
	bool		by_icu;
	bool		isnull;
	Datum		name;
	char	   *string;

	if (locale_known)
		return locale;
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	by_icu = ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider == COLLPROVIDER_ICU;
	name = SysCacheGetAttr(DATABASEOID, tuple,
						   !by_icu ? Anum_pg_database_datcollate :
#if PG_VERSION_NUM >= 170000
						   Anum_pg_database_datlocale,
#else
						   Anum_pg_database_daticulocale,
#endif
						   &isnull);
	string = isnull ? pstrdup("") : TextDatumGetCString(name);
	ReleaseSysCache(tuple);
	if (by_icu)
		set_icu_locale(string);
	else
		set_libc_locale(string);
	pfree(string);
	locale_known = true;
	return locale;
}

/*
 * mchar_collator returns the collator for comparisons that ignore or heed
 * case.  Both tell accented letters apart.
 */
UCollator *
mchar_collator(MCharCase which)
{
	UErrorCode	status = U_ZERO_ERROR;
	UCollator  *collator;

	if (likely(collators[which] != NULL))
		return collators[which];
	collator = ucol_open(mchar_locale(), &status);
	if (U_FAILURE(status))
		mchar_icu_failed(psprintf("open the collator of locale \"%s\"", locale), status);
	ucol_setStrength(collator, which == CASE_IGNORED ? UCOL_SECONDARY : UCOL_TERTIARY);
	/* A locale may ask for a level of case of its own. */
	ucol_setAttribute(collator, UCOL_CASE_LEVEL, UCOL_OFF, &status);
	return collators[which] = collator;
}

/* Everything that the order of values and the folding of case depend on. */
static char *
version(void)
{
	UVersionInfo collation;
	UVersionInfo unicode;
	char		collation_text[U_MAX_VERSION_STRING_LENGTH];
	char		unicode_text[U_MAX_VERSION_STRING_LENGTH];

	ucol_getVersion(mchar_collator(CASE_IGNORED), collation);
	u_versionToString(collation, collation_text);
	u_getUnicodeVersion(unicode);
	u_versionToString(unicode, unicode_text);
	return psprintf("%s %s, Unicode %s", locale[0] == '\0' ? "root" : locale,
					collation_text, unicode_text);
}

Datum
mchar_collation_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(version()));
}

/*
 * recorded returns what the table says, or NULL.  Nobody waits for a lock of
 * it: the check can be left out once.
 */
static char *
recorded(Oid namespace)
{
	Oid			relid = get_relname_relid("mchar_collation", namespace);
	Relation	relation;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *result = NULL;

	if (!OidIsValid(relid) || !ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	relation = try_table_open(relid, NoLock);
	if (relation == NULL)
		return NULL;
	scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, 1, RelationGetDescr(relation), &isnull);

		if (!isnull)
			result = TextDatumGetCString(value);
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return result;
}

/*
 * mchar_check_version warns once in a session if ICU is not what it was.
 * caller is a function of the extension: its schema is the table's.
 *
 * Functions that read or write a value as a string and those that plan and
 * sort call this.  Comparisons do not: they run while a page of an index is
 * locked.
 */
void
mchar_check_version(FmgrInfo *caller)
{
	static bool checked = false;
	char	   *then;
	char	   *now;

	if (likely(checked) || caller == NULL || !OidIsValid(caller->fn_oid))
		return;
	checked = true;
	if (MyBackendType != B_BACKEND)
		return;
	then = recorded(get_func_namespace(caller->fn_oid));
	if (then == NULL)
		return;
	now = version();
	if (strcmp(then, now) != 0)
		ereport(WARNING,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("mchar: ICU has changed since the indexes of this database were made"),
				 errdetail("They were made with %s; this server has %s.", then, now),
				 errhint("Rebuild what mchar_indexes() lists with REINDEX, then SELECT mchar_refresh_collation().")));
	pfree(then);
	pfree(now);
}
