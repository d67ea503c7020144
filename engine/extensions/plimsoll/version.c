/*-------------------------------------------------------------------------
 *
 * version.c
 *	  plimsoll_version(): what Plimsoll is in this server.
 *
 * The extension and the server's patches are separate things: the extension
 * loads into a stock server as well and then says that it is one.  The
 * patchset is therefore asked for at run time by its setting's name; no
 * header of a patched server is needed to compile this.
 *
 * extensions/plimsoll/version.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "plimsoll", .version = PLIMSOLL_VERSION);
#else
PG_MODULE_MAGIC;
#endif

PG_FUNCTION_INFO_V1(plimsoll_version);

/* Version of the extension with the patchset, or with the word that there is none. */
Datum
plimsoll_version(PG_FUNCTION_ARGS)
{
	const char *patchset = GetConfigOption("plimsoll_patchset", true, false);

	if (patchset == NULL)
		PG_RETURN_TEXT_P(cstring_to_text("plimsoll " PLIMSOLL_VERSION
										 " (no patchset: stock PostgreSQL)"));

	PG_RETURN_TEXT_P(cstring_to_text(psprintf("plimsoll %s (patchset %s)",
											  PLIMSOLL_VERSION, patchset)));
}
