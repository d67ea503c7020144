/*-------------------------------------------------------------------------
 *
 * temp_orphan.c
 *	  Files of temporary relations that a session left behind.
 *
 * The start of the server removes all files of temporary relations, and so does
 * the restart after a crash, unless remove_temp_files_after_crash is off.  A
 * session removes its own as it drops its relations, and what is left of them at
 * its very end.  Where neither came to it, whoever gets the proc number next
 * removes them, all of them being named t<proc>_*: one byte per proc number
 * tells whether it has to look.  The byte is set before a session makes its
 * first file and cleared when it has removed the last.
 *
 * src/backend/plimsoll/temp_orphan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "common/relpath.h"
#include "miscadmin.h"
#include "plimsoll/temp_orphan.h"
#include "plimsoll/temp_storage.h"
#include "plimsoll/temp_tablespace.h"
#include "postmaster/postmaster.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#define NUM_PROCS (MaxBackends + NUM_AUXILIARY_PROCS)

typedef struct TempOrphanShared
{
	/* Has any session kept relations without files since the server started? */
	bool		in_use;
	/* May there be files of a session with this proc number? */
	bool		may_have_files[FLEXIBLE_ARRAY_MEMBER];
} TempOrphanShared;

static TempOrphanShared *shared;

static bool registered = false;

Size
TempOrphanShmemSize(void)
{
	return add_size(offsetof(TempOrphanShared, may_have_files),
					mul_size(sizeof(bool), NUM_PROCS));
}

void
TempOrphanShmemInit(void)
{
	bool		found;

	shared = ShmemInitStruct("Plimsoll temp orphans", TempOrphanShmemSize(), &found);
	if (found)
		return;
	shared->in_use = false;
	memset(shared->may_have_files, !remove_temp_files_after_crash, NUM_PROCS);
}

/*
 * May there be temporary relations without files, of any session?  Who can see
 * a relation in a catalog sees that this was set before.
 */
bool
temp_orphan_sessions(void)
{
	return shared->in_use;
}

/* Everything that had to drop relations has done so. */
static void
end_session(int code, Datum arg)
{
	temp_storage_unlink_all();
	temp_tablespace_release_all();
	shared->may_have_files[MyProcNumber] = false;
}

/* A file is about to be made. */
void
temp_orphan_file_begins(void)
{
	if (registered)
		return;
	on_shmem_exit(end_session, 0);
	registered = true;
	shared->may_have_files[MyProcNumber] = true;
}

static void
remove_from_dbspace(const char *dbspace, const char *prefix)
{
	DIR		   *dir = AllocateDir(dbspace);
	struct dirent *de;
	char		path[MAXPGPATH * 2];

	while ((de = ReadDirExtended(dir, dbspace, LOG)) != NULL)
	{
		if (strncmp(de->d_name, prefix, strlen(prefix)) != 0 ||
			!looks_like_temp_rel_name(de->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dbspace, de->d_name);
		if (unlink(path) < 0)
			ereport(LOG,
					(errcode_for_file_access(),
					 errmsg("could not remove file \"%s\": %m", path)));
		else
			ereport(DEBUG1, (errmsg_internal("removed orphaned file \"%s\"", path)));
	}
	FreeDir(dir);
}

static void
remove_from_tablespace(const char *tablespace, const char *prefix)
{
	DIR		   *dir = AllocateDir(tablespace);
	struct dirent *de;
	char		dbspace[MAXPGPATH];

	/* a tablespace may be on its way out, or have nothing of this version */
	if (dir == NULL && errno == ENOENT)
		return;
	while ((de = ReadDirExtended(dir, tablespace, LOG)) != NULL)
	{
		if (strspn(de->d_name, "0123456789") != strlen(de->d_name))
			continue;
		snprintf(dbspace, sizeof(dbspace), "%s/%s", tablespace, de->d_name);
		remove_from_dbspace(dbspace, prefix);
	}
	FreeDir(dir);
}

/*
 * Remove the files of whoever had our proc number, in all databases.  Catalog rows
 * that still lead to them are of no other use than to be deleted.
 */
static void
remove_predecessors(void)
{
	DIR		   *dir;
	struct dirent *de;
	char		prefix[32];
	char		tablespace[MAXPGPATH];

	snprintf(prefix, sizeof(prefix), "t%d_", MyProcNumber);

	remove_from_tablespace("base", prefix);
	dir = AllocateDir(PG_TBLSPC_DIR);
	while ((de = ReadDirExtended(dir, PG_TBLSPC_DIR, LOG)) != NULL)
	{
		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		snprintf(tablespace, sizeof(tablespace), "%s/%s/%s", PG_TBLSPC_DIR,
				 de->d_name, TABLESPACE_VERSION_DIRECTORY);
		remove_from_tablespace(tablespace, prefix);
	}
	FreeDir(dir);
	shared->may_have_files[MyProcNumber] = false;
}

/* The session's first temporary relation is about to be made. */
void
temp_orphan_session_begins(void)
{
	shared->in_use = true;
	if (shared->may_have_files[MyProcNumber])
		remove_predecessors();
}
