/*-------------------------------------------------------------------------
 *
 * patchset.c
 *	  The number of the Plimsoll patch series, as the server reports it.
 *
 * The setting plimsoll_patchset is sent to every client at connection start,
 * so that a client knows what it talks to without a query; a stock server
 * sends nothing of that name.
 *
 * src/backend/plimsoll/patchset.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "plimsoll/patchset.h"

int			plimsoll_patchset = PLIMSOLL_PATCHSET;
