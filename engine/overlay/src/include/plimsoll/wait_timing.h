/*-------------------------------------------------------------------------
 *
 * wait_timing.h
 *	  How often and how long each process has waited, by wait event.
 *
 * wait_event.h calls this from pgstat_report_wait_start() and _end(), so it
 * includes no other header.
 *
 * src/include/plimsoll/wait_timing.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_WAIT_TIMING_H
#define PLIMSOLL_WAIT_TIMING_H

/* GUC */
extern PGDLLIMPORT bool track_wait_timing;

/* the wait whose time is running in this process; 0: none */
extern PGDLLIMPORT uint32 wait_timing_open;

extern Size wait_timing_shmem_size(void);
extern void wait_timing_shmem_init(void);

extern void wait_timing_attach(void);
extern void wait_timing_detach(void);

extern void wait_timing_start(uint32 event);
extern void wait_timing_end(void);

/*
 * A row of wait_timing_read(): pid 0 is the sum of the processes that have
 * ended, event 0 what found no place in a table.
 */
typedef void (*WaitTimingRow) (void *state, int pid, Oid role, uint32 event,
							   int64 waits, int64 nanoseconds);

extern void wait_timing_read(WaitTimingRow row, void *state);

#endif							/* PLIMSOLL_WAIT_TIMING_H */
