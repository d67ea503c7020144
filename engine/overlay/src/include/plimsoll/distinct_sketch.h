/*-------------------------------------------------------------------------
 *
 * distinct_sketch.h
 *	  About how many different values were there?
 *
 * src/include/plimsoll/distinct_sketch.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_DISTINCT_SKETCH_H
#define PLIMSOLL_DISTINCT_SKETCH_H

typedef struct DistinctSketch DistinctSketch;

extern DistinctSketch *distinct_sketch_share(DistinctSketch *sketch);
extern void distinct_sketch_release(DistinctSketch *sketch);
extern void distinct_sketch_add(DistinctSketch **sketch, uint32 hash,
								MemoryContext context);
extern double distinct_sketch_estimate(DistinctSketch *sketch);

#endif							/* PLIMSOLL_DISTINCT_SKETCH_H */
