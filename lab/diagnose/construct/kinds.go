package construct

// constructs by their kind. In a name %s is the function or the operator that was read.
var constructs = [kinds]Construct{
	product: {"a join without a condition (a product of tables)", "each row of one meets each row of the other",
		"add the condition that says which rows belong together; EXISTS where the other table is only asked",
		Avoidable},
	joinLists: {"two lists joined to one parent and counted with DISTINCT (a product of both lists, a fan trap)",
		"each row of one list meets each row of the other before DISTINCT takes the copies away",
		"count each list in a subquery of its own, then join the counts", Avoidable},
	joinOr: {"OR in the condition of a join", "no join by hash or merge serves OR: each pair of rows is compared",
		"UNION ALL of two joins, one for each condition; or two LEFT JOINs and coalesce", Avoidable},
	joinDistinct: {"IS NOT DISTINCT FROM in the condition of a join",
		"no index, hash or merge serves it: each pair of rows is compared",
		"join by =, and what is NULL on both sides in a second statement by UNION ALL; or store a value for NULL",
		Avoidable},
	joinRange: {"a join by ranges or inequalities alone (BETWEEN, <, >, LIKE), without an equality",
		"no hash or merge serves it: a nested loop compares each pair of rows",
		"an equality beside it (a day, a group); a range type with a GiST index and @>; or LATERAL … ORDER BY … " +
			"LIMIT 1",
		Avoidable},
	selfJoin: {"a join of a table with itself by an inequality (each row with all before it)",
		"the pairs grow with the square of the rows of a group",
		"a window function (lag, lead, sum OVER, row_number) reads the rows once", Avoidable},
	notIn: {"NOT IN (SELECT …)", "it is never a join; where its list does not fit into work_mem as a hash, the " +
		"subquery is compared row by row", "NOT EXISTS (SELECT … WHERE key = …) instead of NOT IN: it is planned " +
		"as a join, and NULL does not change its meaning", Avoidable},
	orSubquery: {"a subquery (EXISTS, IN) beside OR", "beside OR it is no join: it is asked for each row",
		"UNION of two statements, or a LEFT JOIN and a condition on its key", Avoidable},
	runningTotal: {"a correlated subquery over the rows before (a running total)",
		"each row reads all rows before it: their number grows with the square",
		"a window function: sum(…) OVER (PARTITION BY … ORDER BY …) reads them once", Avoidable},
	countCompared: {"a count(*) that is only compared, where EXISTS would do", "it counts all rows to know whether " +
		"there is one", "EXISTS (SELECT FROM … WHERE …) ends at the first row", Avoidable},
	recursionCopies: {"WITH RECURSIVE … UNION ALL whose copies DISTINCT takes away outside",
		"a row that is reached in several ways is walked on from each time: the copies multiply with each step",
		"UNION instead of UNION ALL drops them in each step", Avoidable},
	recursionFiltered: {"WITH RECURSIVE with a condition or LIMIT outside of it",
		"a condition outside of WITH RECURSIVE does not reach into it: the query walks everything first",
		"begin at the wanted rows: the condition belongs into the first SELECT of the recursion, a depth into the " +
			"second",
		Avoidable},
	slidingExtreme: {"a window with a sliding frame and %s, whose step cannot be undone (OVER … ROWS BETWEEN n " +
		"PRECEDING …)", "sum and count take the row out again that leaves the frame; %s reads each frame anew",
		"a frame from the first row (UNBOUNDED PRECEDING); a smaller frame; or max and min of buckets first",
		Avoidable},
	orderRandom: {"ORDER BY random()", "all rows are read, get a number and are sorted, for a few",
		"WHERE key >= a random number ORDER BY key LIMIT 1, or TABLESAMPLE SYSTEM", Avoidable},
	keysetOr: {"a comparison of rows written with OR (a > ? OR a = ? AND b > ?)",
		"OR keeps the index from beginning at that row: it is walked from its start",
		"(a, b) > (?, ?), which an index on (a, b) serves", Avoidable},
	orTables: {"OR over columns of two tables", "no index serves it: the tables are joined before it filters",
		"UNION of two statements, each with one of the conditions", Avoidable},
	optionalOr: {"a condition that OR makes optional (? IS NULL OR column = ?)",
		"a plan for all values cannot use the index of the column", "build the statement with the conditions that " +
			"are wanted; or plan_cache_mode = force_custom_plan", Avoidable},
	rowsMade: {"a set-returning function of each row (%s), whose rows are made to be filtered or counted",
		"each row becomes as many as the function makes, before a condition takes them away",
		"compare the ends themselves (BETWEEN, a range type), or make the rows of a calendar once and join them",
		Avoidable},
	distinctAggregate: {"an aggregate with DISTINCT (count(DISTINCT …))",
		"the rows of each group are sorted for it: it is never hashed", "GROUP BY in a subquery first, then count " +
			"its rows; or DISTINCT only where there can be copies", Avoidable},
	unionAll: {"UNION without ALL", "all rows of both sides are sorted or hashed to find duplicates",
		"UNION ALL where the sides cannot have the same row", Avoidable},
	updateAll: {"UPDATE of all rows, without WHERE", "each row is written anew, changed or not",
		"WHERE column IS DISTINCT FROM the new value: rows that have it already stay", Avoidable},
	upsertAll: {"INSERT … ON CONFLICT DO UPDATE without WHERE", "a row that is there is written anew, also where " +
		"nothing changes", "DO UPDATE … WHERE (t.a, t.b) IS DISTINCT FROM (excluded.a, excluded.b)", Avoidable},
	offsetRows: {"OFFSET", "all rows before the page are found and sorted, only to be skipped",
		"go on behind the last row: WHERE (key) > (?) ORDER BY key LIMIT n", Avoidable},
	fenced: {"WITH … AS MATERIALIZED", "it is computed as a whole: no condition outside reaches into it",
		"NOT MATERIALIZED, or a subquery in FROM", Avoidable},

	recursionOpen: {"WITH RECURSIVE … UNION ALL without an end of its own (no depth, no CYCLE, no path)",
		"it ends where no row is left: in a graph each way to a row is walked by itself",
		"UNION drops rows that were met; CYCLE key SET … USING …, or a depth in its second SELECT, ends it", Costly},
	recursion: {"recursion (WITH RECURSIVE)", "each step joins the rows of the last one; no plan knows how many " +
		"they are",
		"an index on the column that it walks by; a depth; or store the path (ltree, closure table)", Costly},
	correlated: {"a correlated subquery", "it runs once for each row of the query around it (SubPlan)",
		"LEFT JOIN a subquery with GROUP BY, or LATERAL; an index on what it compares", Costly},
	orderedSet: {"an ordered-set aggregate (%s)", "it sorts all rows of its group", "percentiles of a sample, or " +
		"kept as rows are written", Costly},
	regularExpression: {"a regular expression (%s)", "it is matched with each text, and no index but one of trigrams " +
		"serves it", "an index of trigrams (pg_trgm), equality, or LIKE 'beginning%'", Costly},
	textSearch: {"text search (%s)", "each text is taken apart into its words", "a stored tsvector with a GIN index; " +
		"rank only the rows of a page", Costly},
	jsonCondition: {"a condition on a field of a document (JSON, XML)", "each document is unpacked and taken apart",
		"an index on the expression, or a column of its own", Costly},
	likeness: {"likeness of texts (%s)", "it is computed for each text", "the operators % and <-> of pg_trgm, which " +
		"an index serves", Costly},
	encryption: {"encryption or a hash that is slow on purpose (%s)", "it takes micro- to milliseconds for each row",
		"do it once for each value, outside of conditions; an index on a plain hash", Costly},
	powers: {"powers, roots or logarithms (%s), which are slow for numeric", "numeric computes them digit by digit",
		"::float8 where fifteen digits are enough", Costly},
	arraySearch: {"a search in arrays (%s)", "each array is unpacked and read through", "column @> ARRAY[…], which a " +
		"GIN index serves; or a table of its own", Costly},
	anyPart: {"%s with a pattern that may begin with a wildcard", "a usual index finds beginnings alone: each text " +
		"is matched", "an index of trigrams (CREATE EXTENSION pg_trgm; USING gin (… gin_trgm_ops))", Costly},
	groupingSets: {"grouping sets (CUBE, ROLLUP)", "all rows are grouped once for each set", "only the sets that are " +
		"shown; or group once and add up the groups", Costly},
	distinctOn: {"DISTINCT ON", "all rows are read in order, and all but the first of each group dropped",
		"a table of the groups and LATERAL (… ORDER BY … LIMIT 1), with an index on the group and the order", Costly},
	distinctJoin: {"DISTINCT over a join", "copies that a join makes are sorted or hashed away",
		"does DISTINCT hide rows that a join makes too many? EXISTS asks whether there is one", Costly},
	orderedAggregate: {"an aggregate with ORDER BY (%s)", "it sorts the rows of each group", "sort in a subquery, by " +
		"an index", Costly},
	windowFiltered: {"a window function in a subquery, filtered outside", "the window is computed for all rows " +
		"first, unless the condition is on PARTITION BY", "LATERAL (… ORDER BY … LIMIT n) for the first of each; the " +
		"condition inside", Costly},
	windowSliding: {"a window with a sliding frame (%s OVER … ROWS BETWEEN …)", "each row adds one to its frame and " +
		"takes one out; float8 cannot take out and reads each frame anew", "a smaller frame, or fewer rows in the " +
		"subquery below", Costly},
	windowAll: {"a window over all rows (OVER without PARTITION BY)", "all rows are read and kept, before " +
		"the first is returned", "a condition below it, or the place of one row by counting those before it", Costly},
	derivedGroups: {"a subquery in FROM that groups all rows", "a condition outside reaches into it only by the " +
		"columns of its GROUP BY", "join first and group what is left, or LATERAL with the condition inside", Costly},
	namedTwice: {"a WITH query that is used more than once", "it is computed as a whole and kept: no condition " +
		"reaches into it", "NOT MATERIALIZED, or the condition inside", Costly},
	manyOr: {"many conditions joined by OR", "each is compared, or looked up, by itself",
		"= ANY ($1), or a join with unnest($1)", Costly},
	longList: {"a long list of values", "it is parsed, planned and compared in each call",
		"send it as one parameter: = ANY ($1), or JOIN unnest($1)", Costly},
	manyJoins: {"a join of nine tables or more", "beyond join_collapse_limit they are joined in the order written, " +
		"and planned for long", "fewer tables; or raise join_collapse_limit and from_collapse_limit for this " +
		"statement", Costly},
	joinComputed: {"a join by a computed value (a cast or a function)", "it is computed for each row, and an index " +
		"or statistics of the column do not help", "the same type on both sides; a generated column with an index",
		Costly},
	computedColumn: {"a condition on a computed column (a function, a cast or a sum)", "no index of the column " +
		"serves " +
		"it, and it is computed for each row", "compare the column itself; or an index on the expression", Costly},
	nullSafe: {"IS NOT DISTINCT FROM in a condition", "no index serves it", "= , and IS NULL where the value is null",
		Costly},
	rowsInList: {"a set-returning function in the list (%s)", "each row becomes as many as it makes", "LATERAL in " +
		"FROM, behind the conditions", Costly},
	buildsDocument: {"a document built of rows (%s)", "each row becomes text or a tree in memory", "rows of " +
		"columns, or fewer fields", Costly},
	longCase: {"a CASE of many branches", "they are tried in turn for each row", "a table of the values, joined",
		Costly},
	sampled: {"TABLESAMPLE BERNOULLI", "it reads all pages of the table", "TABLESAMPLE SYSTEM reads a part of them",
		Costly},
	heldCursor: {"a cursor WITH HOLD", "all of its rows are computed and put aside when its transaction ends",
		"go on behind the last row by a condition", Costly},
	orderExpression: {"ORDER BY of an expression", "no index of the column has this order: all rows are computed and " +
		"sorted", "an index on the same expression", Costly},
	deleteAll: {"DELETE of all rows, without WHERE", "each row is marked by itself, and vacuumed later", "TRUNCATE",
		Costly},

	lateral: {"LATERAL", "the subquery runs for each row before it", "an index on what it compares", Usual},
	intersects: {"%s without ALL", "both sides are sorted or hashed as a whole", "EXISTS or NOT EXISTS with an index",
		Usual},
	buildsList:    {"lists built of rows (%s)", "each value is kept in memory", "fewer rows below", Usual},
	windowRunning: {"a running window (OVER … ORDER BY)", "the rows are sorted for it", "an index in its order", Usual},
	window: {"window functions (OVER)", "the rows are sorted for it", "a condition outside of the subquery with the " +
		"window does not reach into it, unless it is on PARTITION BY", Usual},
	inSelect: {"IN (SELECT …)", "it is joined, or hashed as a whole", "EXPLAIN (ANALYZE) it: which side has far more " +
		"rows than the other?", Usual},
	exists: {"EXISTS", "it is joined, or asked for each row", "an index on what it compares", Usual},
	scalar: {"a subquery", "it runs once, or for each row where it names a table outside",
		"EXPLAIN (ANALYZE) it: a SubPlan with many loops runs for each row; a join runs once", Usual},
	rowsOfFunction: {"rows of a function (%s)", "they are made as a whole, and the planner guesses how many they are",
		"fewer rows; ROWS of the function", Usual},
	jsonFields: {"fields of documents (JSON, XML)", "each document is unpacked for each field", "columns for what is " +
		"often read", Usual},
	hashes: {"hashes or conversions (%s)", "they are computed for each row", "only for the rows that are shown", Usual},
	texts:  {"texts that are put together (%s)", "each makes a new text", "only for the rows that are shown", Usual},
	dates: {"dates that are formatted or cut (%s)", "it is computed for each row", "only for the rows that are " +
		"shown; a range of the column itself in conditions", Usual},
	like: {"LIKE", "an index serves a fixed beginning alone", "text_pattern_ops, or trigrams", Usual},
	rowComparison: {"a comparison of rows", "an index in that order serves it", "an index on these columns in this " +
		"order", Usual},
	or: {"OR", "each condition is looked up by itself, or none", "UNION ALL of conditions that an index serves", Usual},
	locks: {"FOR UPDATE or FOR SHARE", "each row is written to lock it", "lock the rows that will change, in one order",
		Usual},
	upsert: {"ON CONFLICT", "each row is looked up, and written or dropped", "send what has changed", Usual},
	merge:  {"MERGE", "both tables are joined", "an index on the key of the target", Usual},
	copies: {"COPY", "all rows are formatted or parsed", "at a quiet hour, or of fewer rows", Usual},
	limitAlone: {"LIMIT without ORDER BY", "where the wanted rows are rare, all are read for the first of them",
		"an index on the condition", Usual},
	distinct: {"DISTINCT", "all rows are sorted or hashed", "does DISTINCT hide rows that a join makes too many? " +
		"EXISTS asks whether there is one", Usual},
	groupBy: {"GROUP BY", "all rows are sorted or hashed", "fewer rows below; totals that are kept", Usual},
	order:   {"a sort (ORDER BY)", "all rows are sorted", "an index in the wanted order", Usual},
	join: {"a join", "rows multiply where several match", "EXPLAIN (ANALYZE) it: which join has far more rows than " +
		"its sides?", Usual},
	returning: {"RETURNING", "what is written is sent back", "only the columns that are used", Usual},
}
