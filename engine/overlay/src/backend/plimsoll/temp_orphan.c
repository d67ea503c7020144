/*-------------------------------------------------------------------------
 *
 * temp_orphan.c
 *	  Files of temporary relations that a session left behind.
 *
 * The start of the server removes all files of temporary relations, and so does
 * the restart after a crash unless remove_temp_files_after_crash is off.  A
 * session removes its own files as it drops its relations, and the rest at its
 * very end.  If a session did not get that far, the next one with its proc number
 * removes the files, which are all named t<proc>_*.  One byte per proc number
 * tells whether it has to look; it is set before a session makes its first file
 * and cleared when the session has removed the last.
 *
 * Whoever makes files passes a function that removes them when the session ends.
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
#include "postmaster/postmaster.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#define NUM_PROCS (MaxBackends + NUM_AUXILIARY_PROCS)

typedef struct TempOrphanShared
{
	/*
	 * Has any session kept relations without files since the server started?
	 */
	bool		in_use;
	/* May there be files of a session with this proc number? */
	bool		may_have_files[FLEXIBLE_ARRAY_MEMBER];
} TempOrphanShared;

static TempOrphanShared *shared;

/*
 * Functions that remove the files of this session, one for each part that
 * makes some.
 */
#define MAX_REMOVERS 4

static TempFileRemover removers[MAX_REMOVERS];
static int	nremovers = 0;

Size
temp_orphan_shmem_size(void)
{
	return add_size(offsetof(TempOrphanShared, may_have_files),
					mul_size(sizeof(bool), NUM_PROCS));
}

void
temp_orphan_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("Plimsoll temp orphans", temp_orphan_shmem_size(), &found);
	if (found)
		return;
	shared->in_use = false;
	memset(shared->may_have_files, !remove_temp_files_after_crash, NUM_PROCS);
}

/*
 * May there be temporary relations without files, of any session?  This is set
 * before such a relation becomes visible in a catalog.
 */
bool
temp_orphan_sessions(void)
{
	return shared->in_use;
}

/* The session has dropped its relations; remove the files that are left. */
static void
end_session(int code, Datum arg)
{
	for (int i = 0; i < nremovers; i++)
		removers[i] ();
	shared->may_have_files[MyProcNumber] = false;
}

/* A file is about to be made; the remover is called when the session ends. */
void
temp_orphan_file_begins(TempFileRemover remover)
{
	for (int i = 0; i < nremovers; i++)
		if (removers[i] == remover)
			return;
	Assert(nremovers < MAX_REMOVERS);
	if (nremovers == 0)
		on_shmem_exit(end_session, 0);
	removers[nremovers++] = remover;
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

	/*
	 * another session may be dropping the tablespace, or it lacks a directory
	 * of this version
	 */
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
 * Remove the files of earlier sessions with our proc number, in all databases.
 * Catalog rows that still point to them will only be deleted.
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
