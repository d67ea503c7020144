/*-------------------------------------------------------------------------
 *
 * memcat_undo.c
 *	  The undo log of the memory catalog, which gives it the semantics of
 *	  transactions.
 *
 * The undo log is one stack for all nesting levels.  An entry knows the level
 * it was made at; committing a subtransaction lowers the level of the entries
 * on top of the stack, aborting it pops and reverts them.  Work is therefore
 * proportional to what the subtransaction did, never to what is live.
 *
 * Row versions that the transaction marked as deleted are freed when the top
 * transaction commits; those made by a transaction or subtransaction that
 * aborts are freed then.
 *
 * src/backend/plimsoll/memcat_undo.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"

bool		MemCatSpillPending = false;

typedef struct MemUndo
{
	MemUndoOp	op;
	int			level;			/* nesting level of its transaction */
	void	   *what;
} MemUndo;

static MemUndo *undo = NULL;
static int64 nundo = 0;
static int64 maxundo = 0;

/*
 * Units that are to move.  The array has room for all that were ever in it at
 * once, so putting one back during an abort cannot fail.
 */
static MemUnit **pending = NULL;
static int	npending = 0;
static int	maxpending = 0;

/* Makes room, so that the next entry cannot fail. */
void
MemUndoPrepare(void)
{
	if (nundo == maxundo)
	{
		int64		n = maxundo ? maxundo * 2 : 1024;

		if (undo)
			undo = repalloc_huge(undo, n * sizeof(MemUndo));
		else
			undo = MemoryContextAlloc(MemStoreContext(), n * sizeof(MemUndo));
		maxundo = n;
	}
}

void
MemUndoPush(MemUndoOp op, void *what)
{
	Assert(nundo < maxundo);
	undo[nundo].op = op;
	undo[nundo].level = GetCurrentTransactionNestLevel();
	undo[nundo].what = what;
	nundo++;
}

static void
add_pending(MemUnit *unit)
{
	Assert(npending < maxpending);
	unit->pending = true;
	pending[npending++] = unit;
	MemCatSpillPending = true;
}

static void
forget_pending(MemUnit *unit)
{
	for (int i = 0; i < npending; i++)
	{
		if (pending[i] == unit)
		{
			pending[i] = pending[--npending];
			break;
		}
	}
	unit->pending = false;
	MemCatSpillPending = npending > 0;
}

static void
undo_commit(void)
{
	for (int64 i = 0; i < nundo; i++)
	{
		switch (undo[i].op)
		{
			case MEMUNDO_INSERT:
				((MemRow *) undo[i].what)->open = false;
				break;
			case MEMUNDO_DELETE:
				MemStoreFree(undo[i].what);
				break;
			case MEMUNDO_SPILL:
				break;
			case MEMUNDO_MOVE:
				MemUnitGone(undo[i].what);
				break;
		}
	}
	nundo = 0;
}

static void
undo_abort(int level)
{
	while (nundo > 0 && undo[nundo - 1].level >= level)
	{
		MemUndo    *entry = &undo[--nundo];

		switch (entry->op)
		{
			case MEMUNDO_INSERT:
				MemStoreFree(entry->what);
				break;
			case MEMUNDO_DELETE:
				{
					MemRow	   *row = entry->what;

					row->deleted = false;
					row->newer = NULL;
					ItemPointerSetInvalid(&row->moved);
				}
				break;
			case MEMUNDO_SPILL:
				forget_pending(entry->what);
				break;
			case MEMUNDO_MOVE:
				((MemUnit *) entry->what)->spilled = false;
				add_pending(entry->what);
				break;
		}
	}
}

/* A transaction that leaves an unusually large log gives its memory back. */
static void
undo_shrink(void)
{
	if (maxundo > 64 * 1024)
	{
		pfree(undo);
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
		case XACT_EVENT_PRE_COMMIT:
			if (MemCatSpillPending)
				MemCatSpill();
			return;
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

/* Has the transactions' end to call us. */
void
MemUndoInit(void)
{
	RegisterXactCallback(undo_xact_end, NULL);
	RegisterSubXactCallback(undo_subxact_end, NULL);
}

/* The unit moves to the real catalogs at the end of the command. */
void
MemUnitSpill(MemUnit *unit)
{
	if (unit->pending || unit->spilled)
		return;
	MemCatNamesOutside = true;
	MemUndoPrepare();
	if (npending == maxpending)
	{
		int			n = maxpending ? maxpending * 2 : 16;

		if (pending)
			pending = repalloc(pending, n * sizeof(MemUnit *));
		else
			pending = MemoryContextAlloc(MemStoreContext(), n * sizeof(MemUnit *));
		maxpending = n;
	}
	add_pending(unit);
	MemUndoPush(MEMUNDO_SPILL, unit);
}

/* A unit that is to move, or NULL. */
MemUnit *
MemUnitPending(void)
{
	return npending > 0 ? pending[npending - 1] : NULL;
}

void
MemUnitMoved(MemUnit *unit)
{
	MemUndoPrepare();
	forget_pending(unit);
	unit->spilled = true;
	MemUndoPush(MEMUNDO_MOVE, unit);
}
