/*-------------------------------------------------------------------------
 *
 * temp_lock.h
 *	  Temporary relations without heavyweight locks.
 *
 * IDENTIFICATION
 *	  src/include/plimsoll/temp_lock.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_LOCK_H
#define PLIMSOLL_TEMP_LOCK_H

#include "access/transam.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_namespace_d.h"
#include "plimsoll/temp_relation.h"
#include "storage/lock.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_skip_locks;

extern PGDLLIMPORT int temp_locks_skipped;

extern const TempRelationListener temp_lock_listener;
extern Size temp_lock_shmem_size(void);
extern void temp_lock_shmem_init(void);

/* The owner's side; see the inline functions below */
extern bool temp_lock_skip_own(Oid classid, Oid objid, LOCKMODE mode);
extern bool temp_lock_forget(Oid classid, Oid objid, LOCKMODE mode);
extern bool temp_lock_recorded(Oid classid, Oid objid, LOCKMODE mode);
extern bool temp_lock_skip_session(Oid relid);
extern bool temp_lock_unskip_session(Oid relid);

/* The side of all the others */
extern bool temp_lock_shut_out_owner(Oid classid, Oid objid, bool dontWait);

extern void AtEOXact_TempLock(bool isCommit);

/*
 * About to lock a catalog object: is it ours, so that there is no need to?  If
 * so, the lock counts as held by us until it is released or the transaction ends.
 *
 * Most locks of DDL are on system catalogs, whose OIDs say that they are not.
 */
static inline bool
temp_lock_skip(Oid classid, Oid objid, LOCKMODE mode)
{
	return unlikely(temp_skip_locks) && objid >= FirstNormalObjectId &&
		(temp_relation_count > 0 || classid == NamespaceRelationId) &&
		temp_lock_skip_own(classid, objid, mode);
}

/* About to release a lock: was it one that we skipped? */
static inline bool
temp_lock_unskip(Oid classid, Oid objid, LOCKMODE mode)
{
	return unlikely(temp_locks_skipped > 0) && objid >= FirstNormalObjectId &&
		temp_lock_forget(classid, objid, mode);
}

/*
 * A lock has been released by the fast path.  A transaction that is active on
 * temporary relations will take that of a system catalog again and again: keep the
 * local entry for the next time.  LockReleaseAll() removes it, as it does any entry that
 * holds nothing.
 */
static inline bool
temp_lock_keep_entry(const LOCKTAG *tag)
{
	return unlikely(temp_locks_skipped > 0) &&
		tag->locktag_field2 < FirstUnpinnedObjectId;
}

/* Do we hold this lock by having skipped it? */
static inline bool
temp_lock_held(const LOCKTAG *tag, LOCKMODE mode)
{
	if (likely(temp_locks_skipped == 0))
		return false;
	switch (tag->locktag_type)
	{
		case LOCKTAG_RELATION:
			return temp_lock_recorded(RelationRelationId, tag->locktag_field2, mode);
		case LOCKTAG_OBJECT:
			return tag->locktag_field4 == 0 &&
				temp_lock_recorded(tag->locktag_field2, tag->locktag_field3, mode);
		default:
			return false;
	}
}

/*
 * We have got a lock that keeps everyone from changing the object; if its
 * owner takes none, keep him out too.  Weaker locks are for those who just look,
 * or for writers of rows, who are turned away later.
 */
static inline bool
temp_lock_taken(Oid classid, Oid objid, LOCKMODE mode, bool dontWait)
{
	return mode < ShareUpdateExclusiveLock ||
		temp_lock_shut_out_owner(classid, objid, dontWait);
}

/* The same for those who do not wait; if it fails, the lock is released again. */
static inline bool
temp_lock_refused(Oid classid, Oid objid, LOCKMODE mode, const LOCKTAG *tag)
{
	if (temp_lock_taken(classid, objid, mode, true))
		return false;
	LockRelease(tag, mode, false);
	return true;
}

#endif							/* PLIMSOLL_TEMP_LOCK_H */
