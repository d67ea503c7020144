/*-------------------------------------------------------------------------
 *
 * options.c
 *	  What a client may ask for: include-xids, skip-change, slice_size.
 *
 * extensions/dbcopies_decoding/options.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "dbcopies_decoding.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#define SLICE_SIZE_DEFAULT (2 * 1024 * 1024)

/* So that a name has room. */
#define SLICE_SIZE_MIN 256
#define SLICE_SIZE_MAX ((int) (MaxAllocSize / 4))

static void
refuse_value(const DefElem *option, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("could not parse value \"%s\" for parameter \"%s\"", strVal(option->arg), option->defname),
			 errhint("%s", hint)));
}

/* An option without a value is on. */
static bool
read_bool(const DefElem *option)
{
	bool		value = true;

	if (option->arg != NULL && !parse_bool(strVal(option->arg), &value))
		refuse_value(option, "It is on or off.");
	return value;
}

static int
read_size(const DefElem *option)
{
	int			value = SLICE_SIZE_DEFAULT;

	if (option->arg == NULL)
		return value;
	if (!parse_int(strVal(option->arg), &value, 0, NULL) || value < SLICE_SIZE_MIN || value > SLICE_SIZE_MAX)
		refuse_value(option, psprintf("It is a number of bytes from %d to %d.", SLICE_SIZE_MIN, SLICE_SIZE_MAX));
	return value;
}

void
copies_read_options(CopiesState *state, List *options)
{
	ListCell   *cell;

	state->include_xids = true;
	state->skip_change = false;
	state->slice_size = SLICE_SIZE_DEFAULT;
	foreach(cell, options)
	{
		DefElem    *option = (DefElem *) lfirst(cell);

		if (strcmp(option->defname, "include-xids") == 0)
			state->include_xids = read_bool(option);
		else if (strcmp(option->defname, "skip-change") == 0)
			state->skip_change = read_bool(option);
		else if (strcmp(option->defname, "slice_size") == 0)
			state->slice_size = read_size(option);
		else
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"%s\" is unknown", option->defname),
					 errhint("The options are include-xids, skip-change and slice_size.")));
	}
}
