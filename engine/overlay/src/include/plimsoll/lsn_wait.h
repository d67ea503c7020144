/*-------------------------------------------------------------------------
 *
 * lsn_wait.h
 *	  Sessions that wait until the log has reached a position.
 *
 * src/include/plimsoll/lsn_wait.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_LSN_WAIT_H
#define PLIMSOLL_LSN_WAIT_H

#include "access/xlogdefs.h"
#include "port/atomics.h"

/* What must have happened to the log. */
typedef enum LsnWaitKind
{
	LSN_WAIT_STANDBY_REPLAY,
	LSN_WAIT_STANDBY_WRITE,
	LSN_WAIT_STANDBY_FLUSH,
	LSN_WAIT_PRIMARY_FLUSH,
	LSN_WAIT_KINDS
} LsnWaitKind;

typedef enum LsnWaitEnd
{
	LSN_WAIT_SUCCESS,
	LSN_WAIT_TIMEOUT,
	LSN_WAIT_NOT_IN_RECOVERY
} LsnWaitEnd;

/* For each kind the lowest position waited for, in shared memory. */
extern pg_atomic_uint64 *lsn_wait_nearest;

extern Size lsn_wait_shmem_size(void);
extern void lsn_wait_shmem_init(void);

extern XLogRecPtr lsn_wait_current(LsnWaitKind kind);
extern LsnWaitEnd lsn_wait_for(LsnWaitKind kind, XLogRecPtr lsn, int timeout_ms);

extern void lsn_wait_wake(LsnWaitKind kind, XLogRecPtr reached);
extern void lsn_wait_recovery_ended(void);

/*
 * The log has reached a position.  Between making that known and this call
 * there must be a full memory barrier, or the lock under which waiters read
 * the position: see lsn_wait.c.
 */
static inline void
lsn_wait_reached(LsnWaitKind kind, XLogRecPtr reached)
{
	if (unlikely(pg_atomic_read_u64(&lsn_wait_nearest[kind]) <= reached))
		lsn_wait_wake(kind, reached);
}

/* A record was replayed, so it was written and flushed as well. */
static inline void
lsn_wait_replayed(XLogRecPtr reached)
{
	lsn_wait_reached(LSN_WAIT_STANDBY_REPLAY, reached);
	lsn_wait_reached(LSN_WAIT_STANDBY_WRITE, reached);
	lsn_wait_reached(LSN_WAIT_STANDBY_FLUSH, reached);
}

#endif							/* PLIMSOLL_LSN_WAIT_H */
