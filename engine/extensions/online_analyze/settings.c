/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The settings, and which tables they choose.
 *
 *	  table_type		temporary tables, the permanent ones, both, none
 *	  exclude_tables	not these
 *	  include_tables	these, whatever the other two say
 *
 * extensions/online_analyze/settings.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <limits.h>

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "names.h"
#include "online_analyze.h"
#include "utils/rel.h"

#define TYPE_NONE 0
#define TYPE_PERSISTENT 1
#define TYPE_TEMPORARY 2
#define TYPE_ALL (TYPE_PERSISTENT | TYPE_TEMPORARY)

bool		oa_enable = true;
bool		oa_verbose = false;
bool		oa_local_tracking = false;
double		oa_scale_factor = 0.1;
int			oa_threshold = 50;
double		oa_min_interval = 10000;
int			oa_lower_limit = 0;
int			oa_capacity_threshold = 100000;

static int	table_type = TYPE_ALL;
static NameList *excluded = NULL;
static NameList *included = NULL;

static const struct config_enum_entry table_types[] = {
	{"all", TYPE_ALL, false},
	{"persistent", TYPE_PERSISTENT, false},
	{"temporary", TYPE_TEMPORARY, false},
	{"none", TYPE_NONE, false},
	{NULL, 0, false}
};

static bool
check_names(char **newval, void **extra, GucSource source)
{
	return names_check(*newval, extra);
}

static void
assign_excluded(const char *newval, void *extra)
{
	excluded = (NameList *) extra;
}

static void
assign_included(const char *newval, void *extra)
{
	included = (NameList *) extra;
}

/* Is it a table that the session's settings choose? */
bool
oa_is_wanted(Relation table)
{
	Oid			relid = RelationGetRelid(table);
	int			type = RelationUsesLocalBuffers(table) ? TYPE_TEMPORARY : TYPE_PERSISTENT;

	if (table->rd_rel->relkind != RELKIND_RELATION || relid < FirstNormalObjectId)
		return false;
	if ((table_type & type) != 0 && !names_has(excluded, relid))
		return true;
	return names_has(included, relid);
}

static void
define_bool(const char *name, const char *description, bool *value)
{
	DefineCustomBoolVariable(name, description, NULL, value, *value, PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
define_int(const char *name, const char *description, int *value)
{
	DefineCustomIntVariable(name, description, NULL, value, *value, 0, INT_MAX, PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
define_real(const char *name, const char *description, double *value, double max)
{
	DefineCustomRealVariable(name, description, NULL, value, *value, 0, max, PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
define_names(const char *name, const char *description, char **value, GucStringAssignHook assign_hook)
{
	DefineCustomStringVariable(name, description, "Names, separated by commas; a name may have a schema.",
							   value, "", PGC_USERSET, 0, check_names, assign_hook, NULL);
}

void
oa_define_settings(void)
{
	static char *value[2];

	define_bool("online_analyze.enable", "Analyzes tables right after the statement that changed them.", &oa_enable);
	define_bool("online_analyze.verbose", "Reports each analysis as ANALYZE VERBOSE does.", &oa_verbose);
	define_bool("online_analyze.local_tracking",
				"Counts the changes of temporary tables from what the session itself knows.", &oa_local_tracking);
	define_real("online_analyze.scale_factor", "Part of a table's rows that must have changed.", &oa_scale_factor, 1.0);
	define_int("online_analyze.threshold", "Rows that must have changed besides.", &oa_threshold);
	define_real("online_analyze.min_interval", "Milliseconds that must have passed since a table was analyzed.",
				&oa_min_interval, DBL_MAX);
	define_int("online_analyze.lower_limit", "Rows that a table must have.", &oa_lower_limit);
	define_int("online_analyze.capacity_threshold", "Tables that a session remembers.", &oa_capacity_threshold);
	DefineCustomEnumVariable("online_analyze.table_type", "Which tables are analyzed.", NULL, &table_type, TYPE_ALL,
							 table_types, PGC_USERSET, 0, NULL, NULL, NULL);
	define_names("online_analyze.exclude_tables", "Tables that are not analyzed.", &value[0], assign_excluded);
	define_names("online_analyze.include_tables", "Tables that are analyzed in any case.", &value[1], assign_included);
	MarkGUCPrefixReserved("online_analyze");
}
