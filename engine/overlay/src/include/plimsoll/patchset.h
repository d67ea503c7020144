/*-------------------------------------------------------------------------
 *
 * patchset.h
 *	  The number of the Plimsoll patch series in this server.
 *
 * src/include/plimsoll/patchset.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_PATCHSET_H
#define PLIMSOLL_PATCHSET_H

/*
 * Raised by one with every change of the series or of the overlay that a
 * client could want to ask for.  It counts on across PostgreSQL's own
 * versions, so that "at least N" means the same on each of them.
 */
#define PLIMSOLL_PATCHSET 15

/* Backs the read-only setting plimsoll_patchset; guc_tables.c fills it. */
extern PGDLLIMPORT int plimsoll_patchset;

#endif							/* PLIMSOLL_PATCHSET_H */
