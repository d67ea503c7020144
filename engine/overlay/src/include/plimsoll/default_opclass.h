/*-------------------------------------------------------------------------
 *
 * default_opclass.h
 *	  Default operator classes of built-in types, found once.
 *
 * src/include/plimsoll/default_opclass.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_DEFAULT_OPCLASS_H
#define PLIMSOLL_DEFAULT_OPCLASS_H

extern Oid	default_opclass_known(Oid type_id, Oid am_id);
extern void default_opclass_found(Oid type_id, Oid am_id, Oid opclass_id);

#endif							/* PLIMSOLL_DEFAULT_OPCLASS_H */
