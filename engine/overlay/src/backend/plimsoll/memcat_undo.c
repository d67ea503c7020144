/*-------------------------------------------------------------------------
 *
 * memcat_undo.c
 *	  The undo log of the memory catalog, which makes it transactional.
 *
 * The undo log is one stack for all nesting levels.  An entry knows the level
 * it was made at; committing a subtransaction lowers the level of the entries
 * on top of the stack, aborting it pops and reverts them.  Work is therefore
 * proportional to what the subtransaction did, never to what is live.
 *
 * What an entry means is the business of whoever pushes it: an entry carries
 * the functions to call when the top transaction commits, and when the
 * transaction or subtransaction that pushed it aborts.
 *
 * src/backend/plimsoll/memcat_undo.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"

typedef struct MemUndo
{
	const MemUndoAction *action;
	void	   *what;
	int			level;			/* nesting level of its transaction */
} MemUndo;

static MemUndo *undo = NULL;
static int64 nundo = 0;
static int64 maxundo = 0;

/* Makes room, so that the next entry cannot fail. */
void
memcat_undo_prepare(void)
{
	if (nundo == maxundo)
	{
		int64		n = maxundo ? maxundo * 2 : 64;

		undo = memcat_realloc(undo, n * sizeof(MemUndo));
		maxundo = n;
	}
}

void
memcat_undo_push(const MemUndoAction *action, void *what)
{
	Assert(nundo < maxundo);
	undo[nundo].action = action;
	undo[nundo].what = what;
	undo[nundo].level = GetCurrentTransactionNestLevel();
	nundo++;
}

/* The top transaction commits: oldest first. */
static void
undo_commit(void)
{
	for (int64 i = 0; i < nundo; i++)
	{
		if (undo[i].action->commit)
			undo[i].action->commit(undo[i].what);
	}
	nundo = 0;
}

/* A transaction or subtransaction aborts: newest first. */
static void
undo_abort(int level)
{
	while (nundo > 0 && undo[nundo - 1].level >= level)
	{
		MemUndo    *entry = &undo[--nundo];

		entry->action->abort(entry->what);
	}
}

/* A transaction that leaves an unusually large log gives its memory back. */
static void
undo_shrink(void)
{
	if (maxundo > 64 * 1024)
	{
		memcat_free(undo);
		undo = NULL;
		maxundo = 0;
	}
}

static void
undo_xact_end(XactEvent event, void *arg)
{
	if (nundo == 0)
		return;

	switch (event)
	{
		case XACT_EVENT_COMMIT:
			undo_commit();
			break;
		case XACT_EVENT_ABORT:
			undo_abort(0);
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has operated on temporary objects")));
			break;
		default:
			return;
	}
	undo_shrink();
}

static void
undo_subxact_end(SubXactEvent event, SubTransactionId mySubid,
				 SubTransactionId parentSubid, void *arg)
{
	int			level;

	if (nundo == 0)
		return;
	level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (int64 i = nundo - 1; i >= 0 && undo[i].level >= level; i--)
			undo[i].level = level - 1;
	}
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		undo_abort(level);
}

/* Has the ends of transactions call us.  Once a session. */
void
memcat_undo_init(void)
{
	RegisterXactCallback(undo_xact_end, NULL);
	RegisterSubXactCallback(undo_subxact_end, NULL);
}
