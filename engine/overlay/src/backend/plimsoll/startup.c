/*-------------------------------------------------------------------------
 *
 * startup.c
 *	  What the parts of Plimsoll do when the server starts.
 *
 * Each part gets its shared memory, those that rely on the record of temporary
 * relations register to hear of its changes, and the one that answers the planner
 * takes its hooks.  This is the one file that knows all parts.
 *
 * src/backend/plimsoll/startup.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "plimsoll/lsn_wait.h"
#include "plimsoll/memcat.h"
#include "plimsoll/startup.h"
#include "plimsoll/temp_commit.h"
#include "plimsoll/temp_invalidation.h"
#include "plimsoll/temp_lock.h"
#include "plimsoll/temp_orphan.h"
#include "plimsoll/temp_relation.h"
#include "plimsoll/temp_statistics.h"
#include "plimsoll/wait_timing.h"
#include "storage/shmem.h"

Size
plimsoll_shmem_size(void)
{
	Size		size = temp_invalidation_shmem_size();

	size = add_size(size, temp_lock_shmem_size());
	size = add_size(size, temp_orphan_shmem_size());
	size = add_size(size, memcat_shmem_size());
	size = add_size(size, lsn_wait_shmem_size());
	return add_size(size, wait_timing_shmem_size());
}

void
plimsoll_shmem_init(void)
{
	temp_relation_listen(&temp_invalidation_listener);
	temp_relation_listen(&temp_lock_listener);
	temp_relation_listen(&temp_commit_listener);
	temp_relation_listen(&memcat_listener);

	temp_invalidation_shmem_init();
	temp_lock_shmem_init();
	temp_orphan_shmem_init();
	memcat_shmem_init();
	lsn_wait_shmem_init();
	wait_timing_shmem_init();
	temp_statistics_init();
}
