/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Which indexes the planner may use, by the session's settings.
 *
 *	  only_index				only these, whatever the others say
 *	  disable_index				not these
 *	  forbid_index				its former name: not these, either
 *	  enable_index				these, although they are disabled
 *
 * A name is looked up when a query is planned (names.h), so that a list may name
 * an index that is not there: it is passed over.  Who sets a list is told of
 * such a name.  A list of only_index none of which exists is not in force, as
 * otherwise one DROP INDEX would leave every query without any index; the
 * session is told so once.
 *
 * Plans that are cached were made under the former settings; a change has them
 * made anew.
 *
 * extensions/plantuner/settings.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "names.h"
#include "plantuner.h"
#include "utils/plancache.h"

bool		plantuner_fix_empty_table = false;

static NameList *disabled = NULL;
static NameList *forbidden = NULL;
static NameList *enabled = NULL;
static NameList *only = NULL;

/* Has the session been told that none of only_index exists? */
static bool told_of_none = false;

static const char *
what_is_wrong(Oid relid)
{
	char		kind;

	if (!OidIsValid(relid))
		return "does not exist";
	kind = get_rel_relkind(relid);
	return kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX ? NULL : "is not an index";
}

/* ALTER ROLE and ALTER DATABASE may be meant for another database. */
static void
tell_of_names(const NameList *list, GucSource source)
{
	NameCursor	cursor = names_begin(list);

	while (names_next(&cursor))
	{
		const char *wrong = what_is_wrong(names_lookup(&cursor));

		if (wrong != NULL)
			ereport(source == PGC_S_TEST ? NOTICE : WARNING,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("\"%s%s%s\" %s", cursor.schema, cursor.schema[0] == '\0' ? "" : ".", cursor.name, wrong),
					 errdetail("The setting keeps the name, and heeds it once there is such an index.")));
	}
}

static bool
check_names(char **newval, void **extra, GucSource source)
{
	if (!names_check(*newval, extra))
		return false;
	if (names_asked(source))
		tell_of_names((NameList *) *extra, source);
	return true;
}

static void
assign(NameList **list, void *extra)
{
	if (*list == NULL && extra == NULL)
		return;
	*list = (NameList *) extra;
	told_of_none = false;
	ResetPlanCache();
}

static void
assign_disabled(const char *newval, void *extra)
{
	assign(&disabled, extra);
}

static void
assign_forbidden(const char *newval, void *extra)
{
	assign(&forbidden, extra);
}

static void
assign_enabled(const char *newval, void *extra)
{
	assign(&enabled, extra);
}

static void
assign_only(const char *newval, void *extra)
{
	assign(&only, extra);
}

static void
assign_fix_empty_table(bool newval, void *extra)
{
	if (newval != plantuner_fix_empty_table)
		ResetPlanCache();
}

static bool
exists_any(const NameList *list)
{
	NameCursor	cursor = names_begin(list);

	while (names_next(&cursor))
		if (what_is_wrong(names_lookup(&cursor)) == NULL)
			return true;
	return false;
}

/* Is only_index in force? */
static bool
only_holds(void)
{
	if (only == NULL)
		return false;
	if (exists_any(only))
		return true;
	if (!told_of_none)
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("none of the indexes of \"plantuner.only_index\" exists"),
				 errdetail("The setting is ignored, for it would forbid every index.")));
	told_of_none = true;
	return false;
}

bool
plantuner_hides_any(void)
{
	return only != NULL || disabled != NULL || forbidden != NULL;
}

bool
plantuner_hides(Oid index)
{
	if (only_holds())
		return !names_has(only, index);
	return (names_has(disabled, index) || names_has(forbidden, index)) && !names_has(enabled, index);
}

static void
define_names(const char *name, const char *description, char **value, GucStringAssignHook assign_hook)
{
	DefineCustomStringVariable(name, description, "Names, separated by commas; a name may have a schema.",
							   value, "", PGC_USERSET, 0, check_names, assign_hook, NULL);
}

void
plantuner_define_settings(void)
{
	static char *value[4];

	define_names("plantuner.disable_index", "Indexes that no plan uses.", &value[0], assign_disabled);
	define_names("plantuner.forbid_index", "Indexes that no plan uses: the former name of plantuner.disable_index.",
				 &value[1], assign_forbidden);
	define_names("plantuner.enable_index", "Indexes that plans may use although plantuner.disable_index names them.",
				 &value[2], assign_enabled);
	define_names("plantuner.only_index", "The only indexes that plans use.", &value[3], assign_only);
	DefineCustomBoolVariable("plantuner.fix_empty_table",
							 "Plans for a table without a page as for one without rows.",
							 "PostgreSQL takes a table that was never analyzed for one of ten full pages.",
							 &plantuner_fix_empty_table, false, PGC_USERSET, 0, NULL, assign_fix_empty_table, NULL);
	MarkGUCPrefixReserved("plantuner");
}
