/*-------------------------------------------------------------------------
 *
 * fasttrun.h
 *	  What the files of this extension share.
 *
 * extensions/fasttrun/fasttrun.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef FASTTRUN_H
#define FASTTRUN_H

#include "utils/relcache.h"

/* empty.c */
extern void fasttrun_empty(Relation table);

#endif							/* FASTTRUN_H */
