/*-------------------------------------------------------------------------
 *
 * startup.h
 *	  What the parts of Plimsoll do when the server starts.
 *
 * src/include/plimsoll/startup.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_STARTUP_H
#define PLIMSOLL_STARTUP_H

extern Size plimsoll_shmem_size(void);
extern void plimsoll_shmem_init(void);

#endif							/* PLIMSOLL_STARTUP_H */
