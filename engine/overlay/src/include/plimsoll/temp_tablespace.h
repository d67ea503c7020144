/*-------------------------------------------------------------------------
 *
 * temp_tablespace.h
 *	  Tablespaces that hold temporary relations without files.
 *
 * src/include/plimsoll/temp_tablespace.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_TABLESPACE_H
#define PLIMSOLL_TEMP_TABLESPACE_H

extern void temp_tablespace_enter(Oid spcOid, Oid dbOid);
extern void temp_tablespace_leave(Oid spcOid);
extern void temp_tablespace_release_unused(void);

#endif							/* PLIMSOLL_TEMP_TABLESPACE_H */
