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

extern Size TempOrphanShmemSize(void);
extern void TempOrphanShmemInit(void);

extern bool temp_orphan_sessions(void);
extern void temp_orphan_session_begins(void);
extern void temp_orphan_file_begins(void);

#endif							/* PLIMSOLL_TEMP_ORPHAN_H */
