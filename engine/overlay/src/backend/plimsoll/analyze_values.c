/*-------------------------------------------------------------------------
 *
 * analyze_values.c
 *	  Sorting the values of a column of ANALYZE's sample.
 *
 * Most columns of wide tables have few values.  PostgreSQL sorts each occurrence
 * of them, and never finds two equal, since equal ones are ordered by their place
 * in the sample.  Here the occurrences that are the same to the bit form a group
 * first, by hashing.  The groups are sorted, and give out their occurrences in
 * order.  The result is that of the sort, so the statistics are, too.
 *
 * Values that compare as equal may differ in their bits: 1.0 and 1.00, 0 and -0,
 * texts of a collation that ignores case.  Such groups come to lie side by side
 * and are merged.  That a value equals itself is all that we ask of the operator
 * class.
 *
 * A column whose values rarely repeat would gain nothing.  A look at some of them
 * tells.
 *
 * src/backend/plimsoll/analyze_values.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "plimsoll/analyze_values.h"
#include "port/pg_bitutils.h"

/*
 * Fewer values are sorted in no time.  Temporary tables often have some
 * dozens.
 */
#define MIN_VALUES		16

/*
 * So many are looked at, and so many of them must be repetitions.  With the
 * default statistics target that is about the case if a value occurs twice.
 */
#define PROBES			1024
#define MIN_REPEATED	16

/* Occurrences of a value: item has it, and where it occurs first. */
typedef struct ValueGroup
{
	ScalarItem	item;			/* must be first: groups are sorted as items */
	int			last;			/* where it occurs last */
	uint32		hash;
} ValueGroup;

typedef struct Grouping
{
	bool		typbyval;
	int			typlen;
	ValueGroup *groups;
	int			ngroups;
	int			maxgroups;		/* with more it would not be worth while */
	int			space;			/* for so many there is room by now */
	uint32	   *slots;			/* hash table: group + 1, or 0 */
	uint32		mask;
	int		   *next;			/* the next occurrence, or -1 */
} Grouping;

/* The bytes of a value that is passed by reference; not a toasted one. */
static inline const char *
image_of(const Grouping *grouping, Datum value, Size *len)
{
	if (grouping->typlen == -1)
	{
		*len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
		return VARDATA_ANY(DatumGetPointer(value));
	}
	*len = grouping->typlen == -2 ? strlen(DatumGetCString(value)) : grouping->typlen;
	return DatumGetPointer(value);
}

static inline uint32
hash_of(const Grouping *grouping, Datum value)
{
	const char *image;
	Size		len;

	if (grouping->typbyval)
		return (uint32) murmurhash64((uint64) value);
	image = image_of(grouping, value, &len);
	return hash_bytes((const unsigned char *) image, (int) len);
}

static inline bool
same_image(const Grouping *grouping, Datum a, Datum b)
{
	const char *image_a,
			   *image_b;
	Size		len_a,
				len_b;

	if (grouping->typbyval || a == b)
		return a == b;
	image_a = image_of(grouping, a, &len_a);
	image_b = image_of(grouping, b, &len_b);
	return len_a == len_b && memcmp(image_a, image_b, len_a) == 0;
}

static void
begin_grouping(Grouping *grouping, int nvalues, int maxgroups)
{
	uint32		nslots = pg_nextpower2_32(2 * maxgroups);

	grouping->maxgroups = maxgroups;
	grouping->ngroups = 0;
	grouping->space = Min(maxgroups, 256);
	grouping->groups = palloc_array(ValueGroup, grouping->space);
	grouping->slots = palloc0_array(uint32, nslots);
	grouping->mask = nslots - 1;
	grouping->next = palloc_array(int, nvalues);
}

static void
end_grouping(Grouping *grouping)
{
	pfree(grouping->groups);
	pfree(grouping->slots);
	pfree(grouping->next);
}

/* A value that has not occurred yet.  False: too many of them. */
static bool
add_group(Grouping *grouping, uint32 slot, uint32 hash, const ScalarItem *item)
{
	ValueGroup *group;

	if (grouping->ngroups == grouping->maxgroups)
		return false;
	if (grouping->ngroups == grouping->space)
	{
		grouping->space = Min(grouping->space * 2, grouping->maxgroups);
		grouping->groups = repalloc_array(grouping->groups, ValueGroup, grouping->space);
	}
	group = &grouping->groups[grouping->ngroups++];
	group->item = *item;
	group->last = item->tupno;
	group->hash = hash;
	grouping->slots[slot] = grouping->ngroups;
	return true;
}

static bool
add_value(Grouping *grouping, const ScalarItem *item)
{
	uint32		hash = hash_of(grouping, item->value);
	uint32		slot = hash & grouping->mask;

	grouping->next[item->tupno] = -1;
	while (grouping->slots[slot] != 0)
	{
		ValueGroup *group = &grouping->groups[grouping->slots[slot] - 1];

		if (group->hash == hash && same_image(grouping, group->item.value, item->value))
		{
			grouping->next[group->last] = item->tupno;
			group->last = item->tupno;
			return true;
		}
		slot = (slot + 1) & grouping->mask;
	}
	return add_group(grouping, slot, hash, item);
}

/*
 * Do values repeat?  Those looked at are spread over all, at uneven distances,
 * since values often come in cycles.
 */
static bool
values_repeat(Grouping *grouping, const ScalarItem *values, int nvalues)
{
	int			step = nvalues / PROBES;
	bool		repeat;

	if (step < 2)
		return true;
	begin_grouping(grouping, nvalues, PROBES);
	for (int i = 0; i < PROBES; i++)
		(void) add_value(grouping, &values[i * step + murmurhash32(i) % step]);
	repeat = grouping->ngroups <= PROBES - MIN_REPEATED;
	end_grouping(grouping);
	return repeat;
}

static int
compare_places(const void *a, const void *b, void *arg)
{
	return ((const ScalarItem *) a)->tupno - ((const ScalarItem *) b)->tupno;
}

/*
 * Give out the occurrences of groups that compare as equal, from g on, in the
 * order of their places.  Returns how many groups these were.
 */
static int
give_out(const Grouping *grouping, int g, ScalarItem *values, int *nvalues, int *tupnoLink)
{
	int			begin = *nvalues;
	int			end = begin;
	int			ngroups = 0;
	const ValueGroup *group;

	do
	{
		group = &grouping->groups[g + ngroups++];
		for (int i = group->item.tupno; i >= 0; i = grouping->next[i])
		{
			values[end].value = group->item.value;
			values[end++].tupno = i;
		}
		/* as in compute_scalar_stats: the last of its equals? */
	} while (tupnoLink[group->item.tupno] != group->item.tupno);

	if (ngroups > 1)
		qsort_interruptible(values + begin, end - begin, sizeof(ScalarItem),
							compare_places, NULL);
	for (int i = begin; i < end; i++)
		tupnoLink[values[i].tupno] = values[end - 1].tupno;
	*nvalues = end;
	return ngroups;
}

#ifdef USE_ASSERT_CHECKING
/*
 * Is the order strict, and does tupnoLink tell equals from others?  The comparator
 * notes in tupnoLink that two are equal.
 */
static bool
sorted_rightly(const ScalarItem *values, int nvalues, int *tupnoLink,
			   qsort_arg_comparator compare, void *arg)
{
	for (int i = 0; i + 1 < nvalues; i++)
	{
		int			place = values[i].tupno;
		int			link = tupnoLink[place];
		bool		less,
					equal;

		tupnoLink[place] = place;
		less = compare(&values[i], &values[i + 1], arg) < 0;
		equal = tupnoLink[place] != place;
		tupnoLink[place] = link;
		if (!less || equal != (link != place))
			return false;
	}
	return true;
}
#endif

/*
 * Sort values with the comparator of compute_scalar_stats, whose tupnoLink is as
 * that function describes it.  values[i].tupno must be i.  False: nothing has been
 * done, since values hardly repeat.
 */
bool
analyze_values_sort(ScalarItem *values, int nvalues, int *tupnoLink,
					bool typbyval, int typlen,
					qsort_arg_comparator compare, void *arg)
{
	Grouping	grouping = {.typbyval = typbyval,.typlen = typlen};
	bool		worth = true;
	int			n = 0;

	if (nvalues < MIN_VALUES || !values_repeat(&grouping, values, nvalues))
		return false;
	begin_grouping(&grouping, nvalues, nvalues / 2);
	for (int i = 0; i < nvalues && worth; i++)
	{
		Assert(values[i].tupno == i);
		worth = add_value(&grouping, &values[i]);
	}
	if (worth)
	{
		qsort_interruptible(grouping.groups, grouping.ngroups, sizeof(ValueGroup),
							compare, arg);
		for (int g = 0; g < grouping.ngroups;)
			g += give_out(&grouping, g, values, &n, tupnoLink);
		Assert(n == nvalues);
		Assert(sorted_rightly(values, nvalues, tupnoLink, compare, arg));
	}
	end_grouping(&grouping);
	return worth;
}
