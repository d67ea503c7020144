/*-------------------------------------------------------------------------
 *
 * temp_tablespace.c
 *	  Tablespaces that hold temporary relations without files.
 *
 * Files in a tablespace keep DROP TABLESPACE from removing it; no catalog row
 * does.  So a session that keeps temporary relations without files in a
 * tablespace keeps one empty file there, t<proc>_0.  That is the name of a
 * temporary relation's file which no relation has.  The file stays when the last
 * relation goes, since the next will come soon.  DROP TABLESPACE asks all
 * sessions to close their files there (the barrier SMGRRELEASE) before it looks
 * again, and that is when we remove it.
 *
 * The database's own tablespaces cannot be dropped, so they need no such file.
 *
 * src/backend/plimsoll/temp_tablespace.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "plimsoll/temp_orphan.h"
#include "plimsoll/temp_tablespace.h"
#include "storage/fd.h"
#include "storage/proc.h"
#include "utils/memutils.h"

typedef struct HeldTablespace
{
	Oid			spcOid;
	int64		relations;		/* whose storage is there */
	char		path[MAXPGPATH];
} HeldTablespace;

static HeldTablespace *held = NULL;
static int	nheld = 0;

static bool
needs_no_file(Oid spcOid)
{
	return spcOid == MyDatabaseTableSpace || spcOid == DEFAULTTABLESPACE_OID;
}

static HeldTablespace *
find_held(Oid spcOid)
{
	for (int i = 0; i < nheld; i++)
		if (held[i].spcOid == spcOid)
			return &held[i];
	return NULL;
}

static void
make_file(const char *path)
{
	int			fd = BasicOpenFile(path, O_RDWR | O_CREAT | PG_BINARY);

	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\": %m", path)));
	close(fd);
}

static void
remove_file(const char *path)
{
	if (unlink(path) < 0 && errno != ENOENT)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", path)));
}

/* The session ends. */
static void
release_all(void)
{
	for (int i = 0; i < nheld; i++)
		remove_file(held[i].path);
	nheld = 0;
}

/* Storage is being created in this tablespace. */
void
temp_tablespace_enter(Oid spcOid, Oid dbOid)
{
	HeldTablespace *tablespace;
	char	   *directory;

	if (needs_no_file(spcOid))
		return;
	tablespace = find_held(spcOid);
	if (tablespace == NULL)
	{
		if (held == NULL)
			held = MemoryContextAlloc(TopMemoryContext, sizeof(HeldTablespace));
		else
			held = repalloc_array(held, HeldTablespace, nheld + 1);
		tablespace = &held[nheld];
		tablespace->spcOid = spcOid;
		tablespace->relations = 0;
		directory = GetDatabasePath(dbOid, spcOid);
		snprintf(tablespace->path, MAXPGPATH, "%s/t%d_0", directory, MyProcNumber);
		pfree(directory);
		TablespaceCreateDbspace(spcOid, dbOid, false);
		temp_orphan_file_begins(release_all);
		make_file(tablespace->path);
		nheld++;
	}
	tablespace->relations++;
}

/* Storage in this tablespace is gone. */
void
temp_tablespace_leave(Oid spcOid)
{
	HeldTablespace *tablespace = find_held(spcOid);

	if (tablespace != NULL)
		tablespace->relations--;
}

/* A session wants to drop a tablespace: release those that we do not need. */
void
temp_tablespace_release_unused(void)
{
	int			kept = 0;

	for (int i = 0; i < nheld; i++)
	{
		if (held[i].relations > 0)
			held[kept++] = held[i];
		else
			remove_file(held[i].path);
	}
	nheld = kept;
}
