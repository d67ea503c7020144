/*-------------------------------------------------------------------------
 *
 * temp_orphan.h
 *	  Files of temporary relations that a session left behind.
 *
 * src/include/plimsoll/temp_orphan.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_ORPHAN_H
#define PLIMSOLL_TEMP_ORPHAN_H

/* removes files that this session made; no error if there are none */
typedef void (*TempFileRemover) (void);

extern Size temp_orphan_shmem_size(void);
extern void temp_orphan_shmem_init(void);

extern bool temp_orphan_sessions(void);
extern void temp_orphan_session_begins(void);
extern void temp_orphan_file_begins(TempFileRemover remover);

#endif							/* PLIMSOLL_TEMP_ORPHAN_H */
