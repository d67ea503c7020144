/*-------------------------------------------------------------------------
 *
 * plantuner.h
 *	  What the files of this extension share.
 *
 * extensions/plantuner/plantuner.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLANTUNER_H
#define PLANTUNER_H

/* settings.c: may the planner use the index? */
extern bool plantuner_fix_empty_table;
extern void plantuner_define_settings(void);
extern bool plantuner_hides_any(void);
extern bool plantuner_hides(Oid index);

#endif							/* PLANTUNER_H */
