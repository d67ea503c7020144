/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  How PostgreSQL's settings machinery treats the settings of this server.
 *
 * src/include/plimsoll/settings.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_SETTINGS_H
#define PLIMSOLL_SETTINGS_H

#include "utils/guc.h"

/*
 * A flag for settings of PGC_BACKEND: ALTER ROLE and ALTER DATABASE may set them
 * as well.  That is before the session has a temporary table, and not later.
 */
#define GUC_FROM_ROLE	0x00800000

static inline bool
setting_may_come_from_role(int flags, GucSource source)
{
	return (flags & GUC_FROM_ROLE) != 0 &&
		((source >= PGC_S_GLOBAL && source <= PGC_S_DATABASE_USER) ||
		 source == PGC_S_TEST);
}

/*
 * Other names of the settings, for configurations that a stock server has to start
 * with as well: it takes a name with a dot for one of a module, and ignores it.
 */
#define PLIMSOLL_GUC_NAMES \
	"plimsoll.enable_temp_memory_catalog", "enable_temp_memory_catalog", \
	"plimsoll.temp_async_commit", "temp_async_commit", \
	"plimsoll.temp_buffers_by_relation", "temp_buffers_by_relation", \
	"plimsoll.temp_lazy_files", "temp_lazy_files", \
	"plimsoll.temp_lazy_toast", "temp_lazy_toast", \
	"plimsoll.temp_live_statistics", "temp_live_statistics", \
	"plimsoll.temp_local_invalidation", "temp_local_invalidation", \
	"plimsoll.temp_memory_catalog_limit", "temp_memory_catalog_limit", \
	"plimsoll.temp_parallel_scans", "temp_parallel_scans", \
	"plimsoll.temp_skip_locks", "temp_skip_locks", \
	"plimsoll.track_wait_timing", "track_wait_timing"

#endif							/* PLIMSOLL_SETTINGS_H */
