package scenario

import "maps"

func init() {
	maps.Copy(reference, map[string]about{
		"sql.session": {
			says: "Whose the sessions of the database are. With user each user has one and keeps what belongs " +
				"to it: temporary tables, SET, prepared statements. A session that is lost is replaced when its " +
				"user acts next. Before the run the number of users is checked against max_connections of the " +
				"server.",
			takes: "shared|user", instead: "shared", example: `session = "user"`,
		},
		"sql.connect": {
			says: "A script that each new session runs before anything else. Its statements are sent as text, " +
				"so that variables stand in SET too. With session = \"user\" it may set variables of the user " +
				"by \\gset.",
			takes: "script", instead: "nothing",
			example: "connect = '''\nSET work_mem = '8MB';\nCREATE TEMP TABLE basket (item int, quantity " +
				"int);\n'''",
		},
		"sql.retries": {
			says: "How often the script of an operation is done again after a serialization failure (40001) or " +
				"a deadlock (40P01), as with pgbench --max-tries: from its beginning, with the same random " +
				"numbers and variables. The latency has all tries; the result counts the operations that were " +
				"tried again.",
			takes: "whole number from 0 to 1000", instead: "0: such an operation has failed",
			example: "retries = 3",
		},
		"data": {
			says: "Rows that operations take variables from: the column id of [data.items] is :items_id in SQL " +
				"and {{items_id}} in requests.",
			example: "[data.items]\nfile = \"items.csv\"\ntake = \"once\"",
		},
		"data.*": {
			says: "One source of rows: file, sql or rows. An operation that names a column of it takes a row " +
				"when it begins, and has that row until its end.",
			example: "[data.items]\nfile = \"items.csv\"",
		},
		"data.*.file": {
			says: "A CSV file whose first line names the columns, or a Parquet file; from the folder of the " +
				"scenario. It is read once, into at most 1 GiB of memory; agents get the rows from their " +
				"coordinator.",
			takes: "path", instead: "sql or rows gives them", example: `file = "items.csv"`,
		},
		"data.*.sql": {
			says:  "A query that gives the rows. It is read once, before the load.",
			takes: "SQL", instead: "file or rows gives them", example: `sql = "SELECT id, price FROM items"`,
		},
		"data.*.rows": {
			says:  "How many rows are made by the expressions in columns. They take no memory.",
			takes: "whole number from 1 to 1000000000", instead: "file or sql gives them", example: "rows = 1_000_000",
		},
		"data.*.columns": {
			says:    "The columns of rows that are made.",
			example: `columns = { id = "{{:row}}", mail = "user{{:row}}@example.com" }`,
		},
		"data.*.columns.*": {
			says: "Text with expressions of pgbench in {{ }}, in which :row is the number of the row, from 1. A " +
				"column that is a single expression is a number. It depends on the seed and the row alone.",
			takes: "text", instead: "there is no such column", example: `price = "{{random(100, 9900)}}"`,
		},
		"data.*.take": {
			says: "Which row comes next. random: any. sequence: the next one that no user has taken yet; at the " +
				"end it begins again. once: likewise, and each row is taken only once in the whole run, by all " +
				"agents together; too few rows are refused, and a run in which somebody finds none left ends. " +
				"user: each user has one. The row depends on the seed, the user's number and how many rows this " +
				"user has taken.",
			takes: "random|sequence|once|user", instead: "random", example: `take = "sequence"`,
		},
		"data.*.shuffle": {
			says:  "The order of sequence, once and user is another one for each seed.",
			takes: "true or false", instead: "false: that of the file", example: "shuffle = true",
		},
		"day.file": {
			says: "The pace of a recorded day: a CSV or Parquet file with the columns at, a time, and rate, in " +
				"any unit. At its highest rate people think as long as the scenario says. The file is stretched " +
				"over the steady state.",
			takes: "path", instead: "the points in [day], if there are any",
			example: "[day]\nfile = \"monday.csv\"",
		},
		"stages": {
			says: "Stages of the steady state, one after the other: steps, spikes, or long ones of one load. " +
				"The result has the Apdex of each stage. --users changes all numbers of users in the same " +
				"proportion. 'plimsoll line' refuses them: its trials hold one load.",
			takes: "list of tables", instead: "one load all the time",
			example: "[[stages]]\nduration = \"5m\"\nusers = 100\n[[stages]]\nduration = \"1m\"\nusers = 1000   " +
				"# a spike",
		},
		"stages.*": {
			says: "One stage. It has users, who think and wait for answers, or a rate of operations; all " +
				"stages the same of the two.",
			example: "[[stages]]\nduration = \"5m\"\nrate = 50",
		},
		"stages.*.duration": {
			says: "How long the stage is, its ramp included.", takes: "duration", instead: "it is refused",
			example: `duration = "5m"`,
		},
		"stages.*.ramp": {
			says: "The first part of the stage, in which the number goes evenly from that of the stage before; " +
				"of the first stage from 0.",
			takes: "duration", instead: "0: at once", example: `ramp = "30s"`,
		},
		"stages.*.users": {
			says:  "Active users. One who is too many leaves when his think time ends.",
			takes: "whole number from 0 to 100000", instead: "the stage has a rate", example: "users = 500",
		},
		"stages.*.rate": {
			says: "Operations that arrive in a second, whatever became of earlier ones (Poisson arrivals, or " +
				"those that --arrivals names). The users are then the sessions that carry them out.",
			takes: "number from 0 to 1000000", instead: "the stage has users", example: "rate = 50",
		},
	})
}
