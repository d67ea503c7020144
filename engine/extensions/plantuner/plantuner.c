/*-------------------------------------------------------------------------
 *
 * plantuner.c
 *	  What the planner is told of tables and indexes, changed by settings.
 *
 * The planner collects what it knows of a table and its indexes before it looks
 * for plans, and then calls a hook.  Here indexes that the session's settings
 * hide are taken off the list, and a table without a page may get the size of an
 * empty one.
 *
 * Life cycle.  LOAD, or one of the settings of libraries to preload, installs the
 * hook for as long as the process lives.  Nothing is stored between two plans but
 * the settings.  No lock is taken: who plans a query holds one on the table, and
 * so on its indexes.
 *
 * Constraints stay in force: they ask the index itself, not the planner.
 *
 * extensions/plantuner/plantuner.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "optimizer/plancat.h"
#include "plantuner.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "plantuner", .version = "1.0");
#else
PG_MODULE_MAGIC;
#endif

extern PGDLLEXPORT void _PG_init(void);

/* PostgreSQL's guess for a table that was never analyzed; a larger one has pages. */
#define GUESSED_PAGES 10

static get_relation_info_hook_type previous_hook = NULL;

static void
hide_indexes(RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *info = (IndexOptInfo *) lfirst(cell);

		if (plantuner_hides(info->indexoid))
			rel->indexlist = foreach_delete_current(rel->indexlist, cell);
	}
}

static bool
has_no_page(Oid relid)
{
	Relation	table = table_open(relid, NoLock);
	bool		none = table->rd_rel->relkind == RELKIND_RELATION && RelationGetNumberOfBlocks(table) == 0;

	table_close(table, NoLock);
	return none;
}

/* One page, so that reading it has its price, and no row. */
static void
size_as_empty(RelOptInfo *rel)
{
	ListCell   *cell;

	rel->pages = 1;
	rel->tuples = 0;
	foreach(cell, rel->indexlist)
		((IndexOptInfo *) lfirst(cell))->tuples = 0;
}

/* Indexes of the system catalogs are nobody's to hide. */
static void
tune_relation(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (previous_hook)
		previous_hook(root, relid, inhparent, rel);
	if (relid < FirstNormalObjectId)
		return;
	if (rel->indexlist != NIL && plantuner_hides_any())
		hide_indexes(rel);
	if (plantuner_fix_empty_table && !inhparent && rel->pages <= GUESSED_PAGES && has_no_page(relid))
		size_as_empty(rel);
}

void
_PG_init(void)
{
	plantuner_define_settings();
	previous_hook = get_relation_info_hook;
	get_relation_info_hook = tune_relation;
}
