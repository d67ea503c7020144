package diagnose

import (
	"strconv"
	"strings"
)

// effects of settings that change how statements run, by name.
var effects = map[string]string{
	"work_mem":                        "how much memory a sort or hash may use before it writes temporary files",
	"hash_mem_multiplier":             "how much memory a hash may use before it writes temporary files",
	"temp_buffers":                    "how much of temporary tables stays in memory",
	"random_page_cost":                "how dear the planner thinks an index is",
	"seq_page_cost":                   "how dear the planner thinks a whole scan is",
	"cpu_tuple_cost":                  "what the planner thinks a row costs",
	"cpu_index_tuple_cost":            "what the planner thinks an entry of an index costs",
	"cpu_operator_cost":               "what the planner thinks an operator costs",
	"effective_cache_size":            "how much the planner thinks is in memory: a small value avoids indexes",
	"default_statistics_target":       "how much ANALYZE learns",
	"join_collapse_limit":             "whether joins run in the order in which they are written",
	"from_collapse_limit":             "whether subqueries are planned apart",
	"geqo":                            "whether joins of many tables are planned by chance",
	"geqo_threshold":                  "from how many tables on joins are planned by chance",
	"plan_cache_mode":                 "whether prepared statements are planned for their values or once for all",
	"jit":                             "whether statements are compiled",
	"jit_above_cost":                  "from what cost on statements are compiled",
	"jit_inline_above_cost":           "from what cost on functions are compiled into statements",
	"jit_optimize_above_cost":         "from what cost on compiled statements are optimized",
	"max_parallel_workers_per_gather": "how many workers help a statement",
	"parallel_setup_cost":             "from what cost on workers help",
	"parallel_tuple_cost":             "from what cost on workers help",
	"effective_io_concurrency":        "how many reads a session asks for at once",
	"synchronous_commit":              "what a commit waits for",
	"commit_delay":                    "how long a commit waits for company before it flushes",
	"default_transaction_isolation":   "SERIALIZABLE and REPEATABLE READ make transactions fail that must be repeated",
	"constraint_exclusion":            "whether tables are left out by their constraints",
	"session_preload_libraries":       "code of libraries that runs in each session",
	"local_preload_libraries":         "code of libraries that runs in each session",
	"row_security":                    "whether policies are applied",
	"track_functions":                 "whether calls of functions are timed",
	"temp_file_limit":                 "when a statement with large temporary files fails",
	"vacuum_cost_delay":               "how often VACUUM pauses",
}

// saysOf a setting of a role or a database; empty: it changes no statement's time, or is not known.
func saysOf(name, value string) string {
	if method, is := strings.CutPrefix(name, "enable_"); is {
		if isOff(value) {
			return "the planner avoids " + strings.ReplaceAll(method, "_", " ") + ", however good it would be"
		}
		return "the planner may use " + strings.ReplaceAll(method, "_", " ")
	}
	return effects[name]
}

// narrows says whether a setting keeps the planner from a usual way: it then may be the reason for slow statements.
func (s Setting) narrows() bool {
	switch {
	case strings.HasPrefix(s.Name, "enable_"):
		return isOff(s.Value)
	case strings.HasPrefix(s.Name, "jit_"):
		return number(s.Value) >= 0 && number(s.Value) < 1000
	case s.Name == "join_collapse_limit" || s.Name == "from_collapse_limit":
		return s.Value == "1"
	case strings.HasPrefix(s.Name, "parallel_"):
		return number(s.Value) >= 0 && number(s.Value)*costsApart < number(s.boot)
	case strings.HasSuffix(s.Name, "_cost"):
		return number(s.boot) > 0 && number(s.Value) > costsApart*number(s.boot)
	case s.Name == "plan_cache_mode":
		return s.Value != "auto"
	case s.Name == "geqo_threshold":
		return number(s.Value) < 6
	case s.Name == "work_mem":
		return strings.HasSuffix(strings.ToLower(s.Value), "kb") && number(s.Value) < 1024
	}
	return false
}

// costsApart: times that a cost must differ from PostgreSQL's own. A planner that thinks workers cheap starts too many;
// one that thinks pages or rows dear avoids what reads them.
const costsApart = 10

func number(text string) float64 {
	x, err := strconv.ParseFloat(strings.TrimRight(text, "kKmMgGtTbBs "), 64)
	if err != nil {
		return -1
	}
	return x
}

// saysOfTable a storage parameter; empty: it does not matter here.
func saysOfTable(name, value string) string {
	switch {
	case name == "autovacuum_enabled" && isOff(value):
		return "autovacuum neither cleans nor analyzes it"
	case name == "fillfactor" && number(value) < 50:
		return "its pages are left half empty: each scan reads more of them"
	case strings.HasPrefix(name, "autovacuum_") && strings.HasSuffix(name, "scale_factor"),
		strings.HasPrefix(name, "autovacuum_") && strings.HasSuffix(name, "threshold"):
		return "when autovacuum comes"
	case name == "parallel_workers":
		return "how many workers scan it"
	}
	return ""
}

// shortMS: logging each statement that takes this long, in milliseconds, logs nearly all.
const shortMS = 10

// perStatement says what a setting makes the server do for each statement; empty: nothing.
func perStatement(name, value, unit string) string {
	ms := number(value)
	if unit == "" && strings.HasSuffix(value, "s") && !strings.HasSuffix(value, "ms") {
		ms *= 1000
	}
	logsAll := ms >= 0 && ms < shortMS
	switch name {
	case "log_statement":
		if strings.EqualFold(value, "all") || strings.EqualFold(value, "mod") {
			return "each statement is logged"
		}
	case "log_min_duration_statement":
		if logsAll {
			return "nearly each statement is logged with its time"
		}
	case "log_min_duration_sample":
		if logsAll {
			return "a part of all statements is logged"
		}
	case "log_duration", "log_parser_stats", "log_planner_stats", "log_executor_stats", "log_statement_stats",
		"debug_print_parse", "debug_print_rewritten", "debug_print_plan", "log_lock_failures":
		if isOn(value) {
			return "lines of the log for each statement"
		}
	case "auto_explain.log_min_duration":
		if logsAll {
			return "the plan of nearly each statement is logged"
		}
	case "auto_explain.log_analyze":
		if isOn(value) {
			return "each node of each statement's plan is counted, and timed if auto_explain.log_timing is on"
		}
	case "auto_explain.log_nested_statements":
		if isOn(value) {
			return "statements within functions are explained, too"
		}
	case "pgaudit.log":
		if value != "" && !strings.EqualFold(value, "none") {
			return "statements of these classes are audited: a line of the log for each"
		}
	case "pgaudit.log_relation", "pgaudit.log_rows":
		if isOn(value) {
			return "a line of the audit for each table of a statement"
		}
	case "pg_stat_statements.track_planning":
		if isOn(value) {
			return "planning is counted under a lock that statements of one kind share"
		}
	}
	return ""
}
