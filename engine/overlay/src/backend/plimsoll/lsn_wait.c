/*-------------------------------------------------------------------------
 *
 * lsn_wait.c
 *	  Sessions that wait until the log has reached a position.
 *
 * For each kind of wait there is a queue in shared memory, ordered by
 * position.  Whoever moves the log (flushes it, receives it, replays it)
 * takes those out that it has reached and sets their latches.
 *
 * To learn that nobody waits, it reads one word: the lowest position of the
 * queue.  No wake-up is lost, because both sides first write and then read:
 *
 *		waiter							log
 *		------							---
 *		write the lowest position		write the log's position
 *		full barrier					full barrier
 *		read the log's position			read the lowest position
 *
 * The waiter's barrier is the release of the queue's lock.  For a flush of
 * the primary the other one is the release of WALWriteLock; for what a
 * standby writes it stands in walreceiver.c.  Positions that are written and
 * read under a spinlock (replay, what a standby has flushed) need none: if
 * the waiter's turn with the spinlock comes first, the log's process sees
 * what was written before it; otherwise the waiter sees the position.
 *
 * src/backend/plimsoll/lsn_wait.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "plimsoll/lsn_wait.h"
#include "replication/walreceiver.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* The lowest position of an empty queue. */
#define NOBODY_WAITS PG_UINT64_MAX

typedef struct Waiter
{
	dlist_node	link;			/* detached: it has been reached */
	XLogRecPtr	lsn;
} Waiter;

typedef struct LsnWaits
{
	pg_atomic_uint64 nearest[LSN_WAIT_KINDS];
	LWLock		lock;			/* guards the queues, and changes of nearest */
	int			tranche;
	dlist_head	queues[LSN_WAIT_KINDS];
	Waiter		waiters[FLEXIBLE_ARRAY_MEMBER]; /* by ProcNumber */
} LsnWaits;

pg_atomic_uint64 *lsn_wait_nearest = NULL;

static LsnWaits *waits = NULL;

Size
lsn_wait_shmem_size(void)
{
	return add_size(offsetof(LsnWaits, waiters),
					mul_size(MaxBackends, sizeof(Waiter)));
}

void
lsn_wait_shmem_init(void)
{
	bool		found;

	waits = ShmemInitStruct("waits for LSN", lsn_wait_shmem_size(), &found);
	if (!found)
	{
		memset(waits, 0, lsn_wait_shmem_size());
		for (int kind = 0; kind < LSN_WAIT_KINDS; kind++)
		{
			pg_atomic_init_u64(&waits->nearest[kind], NOBODY_WAITS);
			dlist_init(&waits->queues[kind]);
		}
		waits->tranche = LWLockNewTrancheId();
		LWLockInitialize(&waits->lock, waits->tranche);
	}
	LWLockRegisterTranche(waits->tranche, "LsnWaits");
	lsn_wait_nearest = waits->nearest;
}

static void
publish_nearest(LsnWaitKind kind)
{
	dlist_head *queue = &waits->queues[kind];
	uint64		nearest = NOBODY_WAITS;

	if (!dlist_is_empty(queue))
		nearest = dlist_head_element(Waiter, link, queue)->lsn;
	pg_atomic_write_u64(&waits->nearest[kind], nearest);
}

static Waiter *
own_waiter(void)
{
	return &waits->waiters[MyProcNumber];
}

/* Later sessions mostly wait for later positions: the search starts there. */
static void
enter_queue(LsnWaitKind kind, XLogRecPtr lsn)
{
	dlist_head *queue = &waits->queues[kind];
	Waiter	   *own = own_waiter();
	dlist_node *before = &queue->head;
	dlist_iter	iter;

	own->lsn = lsn;
	LWLockAcquire(&waits->lock, LW_EXCLUSIVE);
	dlist_reverse_foreach(iter, queue)
	{
		if (dlist_container(Waiter, link, iter.cur)->lsn <= lsn)
		{
			before = iter.cur;
			break;
		}
	}
	dlist_insert_after(before, &own->link);
	publish_nearest(kind);
	LWLockRelease(&waits->lock);
}

/* Also called when the wait ends by an error or with the session. */
static void
leave_queue(int code, Datum kind)
{
	Waiter	   *own = own_waiter();

	LWLockAcquire(&waits->lock, LW_EXCLUSIVE);
	if (!dlist_node_is_detached(&own->link))
	{
		dlist_delete_thoroughly(&own->link);
		publish_nearest(DatumGetInt32(kind));
	}
	LWLockRelease(&waits->lock);
}

static void
wake(Waiter *waiter)
{
	SetLatch(&GetPGProcByNumber(waiter - waits->waiters)->procLatch);
}

void
lsn_wait_wake(LsnWaitKind kind, XLogRecPtr reached)
{
	dlist_mutable_iter iter;

	LWLockAcquire(&waits->lock, LW_EXCLUSIVE);
	dlist_foreach_modify(iter, &waits->queues[kind])
	{
		Waiter	   *waiter = dlist_container(Waiter, link, iter.cur);

		if (waiter->lsn > reached)
			break;
		dlist_delete_thoroughly(&waiter->link);
		wake(waiter);
	}
	publish_nearest(kind);
	LWLockRelease(&waits->lock);
}

/* Those who wait for something on a standby see that it is none any more. */
void
lsn_wait_recovery_ended(void)
{
	LWLockAcquire(&waits->lock, LW_SHARED);
	for (int kind = 0; kind < LSN_WAIT_PRIMARY_FLUSH; kind++)
	{
		dlist_iter	iter;

		dlist_foreach(iter, &waits->queues[kind])
			wake(dlist_container(Waiter, link, iter.cur));
	}
	LWLockRelease(&waits->lock);
}

/*
 * How far the log is.  What was replayed was written and flushed, even if it
 * came from an archive and there is no WAL receiver.
 */
XLogRecPtr
lsn_wait_current(LsnWaitKind kind)
{
	switch (kind)
	{
		case LSN_WAIT_PRIMARY_FLUSH:
			return GetFlushRecPtr(NULL);
		case LSN_WAIT_STANDBY_WRITE:
			return Max(GetWalRcvWriteRecPtr(), GetXLogReplayRecPtr(NULL));
		case LSN_WAIT_STANDBY_FLUSH:
			return Max(GetWalRcvFlushRecPtr(NULL, NULL),
					   GetXLogReplayRecPtr(NULL));
		default:
			return GetXLogReplayRecPtr(NULL);
	}
}

static uint32
wait_event(LsnWaitKind kind)
{
	switch (kind)
	{
		case LSN_WAIT_STANDBY_REPLAY:
			return WAIT_EVENT_WAIT_FOR_WAL_REPLAY;
		case LSN_WAIT_STANDBY_WRITE:
			return WAIT_EVENT_WAIT_FOR_WAL_WRITE;
		default:
			return WAIT_EVENT_WAIT_FOR_WAL_FLUSH;
	}
}

/*
 * Is the wait over, whatever the clock says?  On a server that was never a
 * standby, replay has a position, too, but it means nothing.
 */
static bool
has_ended(LsnWaitKind kind, XLogRecPtr lsn, LsnWaitEnd *end)
{
	bool		primary = kind != LSN_WAIT_PRIMARY_FLUSH && !RecoveryInProgress();

	*end = LSN_WAIT_SUCCESS;
	if ((!primary || PromoteIsTriggered()) && lsn <= lsn_wait_current(kind))
		return true;
	*end = LSN_WAIT_NOT_IN_RECOVERY;
	return primary;
}

static LsnWaitEnd
wait_in_queue(LsnWaitKind kind, XLogRecPtr lsn, int timeout_ms)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													timeout_ms);
	LsnWaitEnd	end;

	while (!has_ended(kind, lsn, &end))
	{
		long		left = -1;
		int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;

		/* It was reached, even if a new WAL receiver begins anew. */
		if (dlist_node_is_detached(&own_waiter()->link))
			return LSN_WAIT_SUCCESS;
		if (timeout_ms > 0)
		{
			left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);
			if (left <= 0)
				return LSN_WAIT_TIMEOUT;
			events |= WL_TIMEOUT;
		}
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, events, left, wait_event(kind));
		ResetLatch(MyLatch);
	}
	return end;
}

/* A timeout of 0 means to wait for as long as it takes. */
LsnWaitEnd
lsn_wait_for(LsnWaitKind kind, XLogRecPtr lsn, int timeout_ms)
{
	LsnWaitEnd	end;

	if (has_ended(kind, lsn, &end))
		return end;

	enter_queue(kind, lsn);
	PG_ENSURE_ERROR_CLEANUP(leave_queue, Int32GetDatum(kind));
	{
		end = wait_in_queue(kind, lsn, timeout_ms);
	}
	PG_END_ENSURE_ERROR_CLEANUP(leave_queue, Int32GetDatum(kind));
	leave_queue(0, Int32GetDatum(kind));
	return end;
}
