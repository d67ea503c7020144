/*-------------------------------------------------------------------------
 *
 * wait_timing.c
 *	  How often and how long each process has waited, by wait event.
 *
 * A process writes into its own slot in shared memory alone, without a lock.
 * Its counter of changes is odd while it writes, so that a reader takes the
 * slot again.  A wait that is running is there, too: who waits for an hour
 * is seen before the hour is over.
 *
 * A process that ends adds its slot to the sum of those that have ended.
 * That and the readers take a lock: a reader finds each wait once.
 *
 * What a process waits for is what pg_stat_activity shows: a wait that
 * begins within another ends the other.
 *
 * src/backend/plimsoll/wait_timing.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "plimsoll/wait_timing.h"
#include "port/atomics.h"
#include "portability/instr_time.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"

/*
 * Events of one process, and of all that have ended: powers of two.  A
 * backend meets some dozens of PostgreSQL's three hundred.  The first entry
 * is for those that find no place.
 */
#define OWN_EVENTS 128
#define ALL_EVENTS 1024

/* A process that stopped in the middle of a change is not waited for. */
#define READ_ATTEMPTS 1000

typedef struct WaitEntry
{
	uint32		event;
	uint64		waits;
	uint64		nanoseconds;
} WaitEntry;

typedef struct WaitSlot
{
	volatile uint32 changes;	/* odd: it is being written */
	int			pid;
	bool		used;			/* anything was ever timed */
	uint32		open;			/* the wait that is running; 0: none */
	uint64		since;
	WaitEntry	entries[OWN_EVENTS + 1];
} WaitSlot;

typedef struct WaitTimings
{
	LWLock		lock;			/* guards what follows up to the slots */
	int			tranche;
	WaitEntry	ended[ALL_EVENTS + 1];
	WaitSlot	slots[FLEXIBLE_ARRAY_MEMBER];	/* by ProcNumber */
} WaitTimings;

bool		track_wait_timing = false;
uint32		wait_timing_open = 0;

static WaitTimings *timings = NULL;
static WaitSlot *own = NULL;

static int
slot_count(void)
{
	return MaxBackends + NUM_AUXILIARY_PROCS;
}

Size
wait_timing_shmem_size(void)
{
	return add_size(offsetof(WaitTimings, slots),
					mul_size(slot_count(), sizeof(WaitSlot)));
}

void
wait_timing_shmem_init(void)
{
	bool		found;

	timings = ShmemInitStruct("wait timings", wait_timing_shmem_size(), &found);
	if (!found)
	{
		memset(timings, 0, wait_timing_shmem_size());
		timings->tranche = LWLockNewTrancheId();
		LWLockInitialize(&timings->lock, timings->tranche);
	}
	LWLockRegisterTranche(timings->tranche, "WaitTimings");
}

static uint64
now(void)
{
	instr_time	t;

	INSTR_TIME_SET_CURRENT(t);
	return INSTR_TIME_GET_NANOSEC(t);
}

/* The entry of an event; the first one if the table has no place for it. */
static WaitEntry *
entry_of(WaitEntry *entries, uint32 size, uint32 event)
{
	uint32		place = event ^ (event >> 24);

	for (uint32 i = 0; i < size; i++)
	{
		WaitEntry  *entry = &entries[1 + ((place + i) & (size - 1))];

		if (entry->event == 0)
			entry->event = event;
		if (entry->event == event)
			return entry;
	}
	return &entries[0];
}

static void
begin_change(void)
{
	own->changes++;
	pg_write_barrier();
}

static void
end_change(void)
{
	pg_write_barrier();
	own->changes++;
}

/* The time up to a moment counts for the wait that is running. */
static void
count_open(uint64 until)
{
	WaitEntry  *entry = entry_of(own->entries, OWN_EVENTS, own->open);

	entry->waits++;
	entry->nanoseconds += until - own->since;
}

void
wait_timing_start(uint32 event)
{
	uint64		since;

	if (own == NULL)
		return;
	since = now();
	begin_change();
	if (wait_timing_open != 0)
		count_open(since);
	own->open = wait_timing_open = event;
	own->since = since;
	own->used = true;
	end_change();
}

void
wait_timing_end(void)
{
	uint64		until = now();

	begin_change();
	count_open(until);
	own->open = wait_timing_open = 0;
	end_change();
}

/* A process begins: its slot is empty, and MyProc is its own. */
void
wait_timing_attach(void)
{
	own = &timings->slots[MyProcNumber];
	own->pid = MyProcPid;
}

/*
 * A process ends, maybe in the middle of a wait.  What it waits for from here
 * on, for our lock as well, is not timed.
 */
void
wait_timing_detach(void)
{
	WaitSlot   *slot = own;

	if (slot == NULL)
		return;
	if (wait_timing_open != 0)
		wait_timing_end();
	own = NULL;
	if (!slot->used)
	{
		slot->pid = 0;
		return;
	}

	LWLockAcquire(&timings->lock, LW_EXCLUSIVE);
	for (int i = 0; i <= OWN_EVENTS; i++)
	{
		WaitEntry  *from = &slot->entries[i];
		WaitEntry  *to = &timings->ended[0];

		if (from->event != 0)
			to = entry_of(timings->ended, ALL_EVENTS, from->event);
		to->waits += from->waits;
		to->nanoseconds += from->nanoseconds;
	}
	memset(slot, 0, sizeof(WaitSlot));
	LWLockRelease(&timings->lock);
}

/* A slot as it was at one moment. */
static void
copy_slot(WaitSlot *to, const WaitSlot *from)
{
	for (int i = 0; i < READ_ATTEMPTS; i++)
	{
		uint32		before = from->changes;

		pg_read_barrier();
		memcpy(to, from, sizeof(WaitSlot));
		pg_read_barrier();
		if (before % 2 == 0 && before == from->changes)
			return;
	}
}

static void
give_entries(WaitTimingRow row, void *state, int pid, Oid role,
			 const WaitEntry *entries, int size)
{
	for (int i = 0; i <= size; i++)
	{
		if (entries[i].waits > 0 || entries[i].nanoseconds > 0)
			row(state, pid, role, entries[i].event, entries[i].waits,
				entries[i].nanoseconds);
	}
}

/*
 * All that was timed since the server started.  The rows are given once the
 * lock is free again.
 */
void
wait_timing_read(WaitTimingRow row, void *state)
{
	int			used = 0;
	WaitEntry  *ended = palloc_array(WaitEntry, ALL_EVENTS + 1);
	WaitSlot   *slots = palloc_extended(mul_size(slot_count(), sizeof(WaitSlot)),
										MCXT_ALLOC_HUGE);
	Oid		   *roles = palloc_array(Oid, slot_count());
	uint64		until;

	LWLockAcquire(&timings->lock, LW_SHARED);
	memcpy(ended, timings->ended, sizeof(timings->ended));
	for (int i = 0; i < slot_count(); i++)
	{
		if (!timings->slots[i].used)
			continue;
		roles[used] = GetPGProcByNumber(i)->roleId;
		copy_slot(&slots[used++], &timings->slots[i]);
	}
	until = now();
	LWLockRelease(&timings->lock);

	give_entries(row, state, 0, InvalidOid, ended, ALL_EVENTS);
	for (int i = 0; i < used; i++)
	{
		WaitSlot   *slot = &slots[i];

		if (slot->open != 0)	/* it has not ended: its time, but no wait */
			entry_of(slot->entries, OWN_EVENTS, slot->open)->nanoseconds +=
				until - slot->since;
		give_entries(row, state, slot->pid, roles[i], slot->entries, OWN_EVENTS);
	}
	pfree(roles);
	pfree(slots);
	pfree(ended);
}
