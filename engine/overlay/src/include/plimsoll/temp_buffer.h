/*-------------------------------------------------------------------------
 *
 * temp_buffer.h
 *	  The local buffers of a temporary relation, found without a search.
 *
 * src/include/plimsoll/temp_buffer.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_BUFFER_H
#define PLIMSOLL_TEMP_BUFFER_H

#include "storage/buf_internals.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_buffers_by_relation;

extern void temp_buffer_init(int nbuffers);
extern void temp_buffer_expect(const RelFileLocator *locator);
extern void temp_buffer_tagged(int bufid, const BufferTag *tag);
extern void temp_buffer_untagged(int bufid, const BufferTag *tag);
extern int	temp_buffer_count(const RelFileLocator *locator);
extern int	temp_buffer_first(const RelFileLocator *locator);
extern int	temp_buffer_next(int bufid);
extern void temp_buffer_dropped(int bufid);
extern int	temp_buffer_take_dropped(void);

#endif							/* PLIMSOLL_TEMP_BUFFER_H */
