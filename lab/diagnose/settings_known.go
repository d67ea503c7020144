package diagnose

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/condition"
)

// knownSetting is one that changes how statements run.
type knownSetting struct {
	says string
	// narrows says of a value, and of PostgreSQL's own, that it keeps statements from a usual way; nil: none does.
	narrows func(value, boot string) bool
	// suffers says of a statement that the setting can be why it takes long; nil: of any.
	suffers func(value, text string) bool
	// logs: it acts on what is logged, too.
	logs bool
}

const (
	dearIndexes = "how dear the planner thinks an index is"
	forWorkers  = "from what cost on workers help"
	collected   = "how much memory, time or care the search for a join order by chance takes"
)

// knownSettings are those that a role, a database, a function or a tablespace may have of its own, by chapter 19 of
// PostgreSQL's documentation, as far as they change what a statement takes.
var knownSettings = map[string]knownSetting{
	// How the planner thinks.
	"random_page_cost":     {says: dearIndexes, narrows: dearer},
	"seq_page_cost":        {says: "how dear the planner thinks a whole scan is", narrows: dearer},
	"cpu_tuple_cost":       {says: "what the planner thinks a row costs", narrows: dearer},
	"cpu_index_tuple_cost": {says: "what the planner thinks an entry of an index costs", narrows: dearer},
	"cpu_operator_cost":    {says: "what the planner thinks an operator costs", narrows: dearer},
	"effective_cache_size": {says: "how much the planner thinks is in memory: a small value avoids indexes",
		narrows: smaller(64<<20, 8<<10)},
	"default_statistics_target": {says: "how much ANALYZE learns"},
	"join_collapse_limit": {says: "whether joins run in the order in which they are written",
		narrows: below(5), suffers: manyJoins},
	"from_collapse_limit": {says: "whether subqueries are planned apart",
		narrows: below(5), suffers: subqueries},
	"geqo": {says: "whether joins of many tables are planned by chance"},
	"geqo_threshold": {says: "from how many tables on joins are planned by chance",
		narrows: below(6), suffers: manyJoins},
	"geqo_effort":                {says: collected},
	"geqo_pool_size":             {says: collected},
	"geqo_generations":           {says: collected},
	"geqo_selection_bias":        {says: collected},
	"constraint_exclusion":       {says: "whether tables are left out by their constraints"},
	"cursor_tuple_fraction":      {says: "what part of a cursor's rows the planner expects to be fetched"},
	"recursive_worktable_factor": {says: "how many rows the planner expects a recursion to have"},
	"plan_cache_mode": {says: "whether prepared statements are planned for their values or once for all",
		narrows: func(value, _ string) bool { return value == "force_generic_plan" }},
	"jit":            {says: "whether statements are compiled"},
	"jit_above_cost": {says: "from what cost on statements are compiled", narrows: below(1000)},
	"jit_inline_above_cost": {says: "from what cost on functions are compiled into statements",
		narrows: below(1000)},
	"jit_optimize_above_cost": {says: "from what cost on compiled statements are optimized",
		narrows: below(1000)},
	"max_parallel_workers_per_gather":  {says: "how many workers help a statement"},
	"max_parallel_workers":             {says: "how many workers help all statements"},
	"max_parallel_maintenance_workers": {says: "how many workers help CREATE INDEX and VACUUM"},
	"parallel_leader_participation":    {says: "whether a session helps its workers"},
	"parallel_setup_cost":              {says: forWorkers, narrows: cheaper},
	"parallel_tuple_cost":              {says: forWorkers, narrows: cheaper},
	"min_parallel_table_scan_size":     {says: "from what size of a table on workers help"},
	"min_parallel_index_scan_size":     {says: "from what size of an index on workers help"},
	// Memory, disk and log.
	"work_mem": {says: "how much memory a sort or hash may use before it writes temporary files",
		narrows: smaller(1<<20, 1<<10)},
	"hash_mem_multiplier":        {says: "how much memory a hash may use before it writes temporary files"},
	"maintenance_work_mem":       {says: "how much memory CREATE INDEX and VACUUM may use"},
	"temp_buffers":               {says: "how much of temporary tables stays in memory"},
	"temp_tablespaces":           {says: "where temporary tables and files are"},
	"default_tablespace":         {says: "where new tables are"},
	"effective_io_concurrency":   {says: "how many reads a session asks for at once"},
	"maintenance_io_concurrency": {says: "how many reads VACUUM and CREATE INDEX ask for at once"},
	"backend_flush_after": {says: "after how many pages a session makes the system write them", logs: true,
		narrows: func(value, _ string) bool { return number(value) > 0 }, suffers: writing},
	"vacuum_cost_delay":         {says: "how often VACUUM pauses"},
	"vacuum_cost_limit":         {says: "after how much work VACUUM pauses"},
	"vacuum_buffer_usage_limit": {says: "how much memory VACUUM may use"},
	"synchronous_commit":        {says: "what a commit waits for"},
	"commit_delay":              {says: "how long a commit waits for company before it flushes"},
	"commit_siblings":           {says: "with how much company a commit waits before it flushes"},
	"wal_compression":           {says: "whether whole pages in the log are compressed"},
	"wal_skip_threshold":        {says: "from what size on a new table is flushed instead of logged"},
	"wal_consistency_checking": {says: "each change writes the whole page into the log, to be compared in replay",
		narrows: func(value, _ string) bool { return value != "" }, suffers: writing, logs: true},
	"gin_pending_list_limit":    {says: "how long the list of a GIN index grows that each search reads"},
	"gin_fuzzy_search_limit":    {says: "how many rows a search in a GIN index returns at most"},
	"default_toast_compression": {says: "how large values are compressed"},
	// What statements and sessions may do.
	"default_transaction_isolation": {says: "SERIALIZABLE and REPEATABLE READ make transactions fail that " +
		"must be repeated"},
	"default_transaction_deferrable": {says: "serializable transactions that read wait before they begin"},
	"default_transaction_read_only":  {says: "transactions that write fail"},
	"session_replication_role":       {says: "whether triggers and foreign keys run"},
	"row_security":                   {says: "whether policies are applied"},
	"exit_on_error":                  {says: "each error ends the session"},
	"session_preload_libraries":      {says: "code of libraries that runs in each session"},
	"local_preload_libraries":        {says: "code of libraries that runs in each session"},
	"bytea_output":                   {says: "how binary values are sent: escape takes more"},
	// What is counted and timed for each statement.
	"track_functions":     {says: "whether calls of functions are timed"},
	"track_io_timing":     {says: "the clock is read twice for each block of a disk"},
	"track_wal_io_timing": {says: "the clock is read twice for each write and flush of the log"},
	// Developer options.
	"ignore_system_indexes": {says: "the catalogs are read without their indexes", narrows: turnedOn},
	"debug_parallel_query":  {says: "statements run in a worker, however short they are", narrows: turnedOn},
	"force_parallel_mode":   {says: "statements run in a worker, however short they are", narrows: turnedOn},
	"debug_discard_caches": {says: "what is known of the catalogs is read again and again",
		narrows: func(value, _ string) bool { return number(value) > 0 }},
	// What ends work.
	statementTimeout:       {says: "each statement that takes longer is cancelled"},
	lockTimeout:            {says: "each statement that waits longer for a lock is cancelled"},
	transactionTimeout:     {says: "the session of each transaction that takes longer is ended"},
	idleTimeout:            {says: "a session that waits longer for its client within a transaction is ended"},
	"idle_session_timeout": {says: "a session that waits longer for its client is ended, also one of a pool"},
	tempFileLimit:          {says: "a statement with larger temporary files fails"},
	connectionLimit:        {says: "how many sessions it may have at once"},
}

// Settings that end work.
const (
	statementTimeout   = "statement_timeout"
	lockTimeout        = "lock_timeout"
	transactionTimeout = "transaction_timeout"
	idleTimeout        = "idle_in_transaction_session_timeout"
	tempFileLimit      = "temp_file_limit"
	connectionLimit    = "CONNECTION LIMIT" // of ALTER ROLE and ALTER DATABASE
)

// saysOf a setting of a role or a database; empty: it changes no statement's time, or is not known.
func saysOf(name, value string) string {
	if method, is := strings.CutPrefix(name, "enable_"); is {
		if isOff(value) {
			return "the planner avoids " + strings.ReplaceAll(method, "_", " ") + ", however good it would be"
		}
		return "the planner may use " + strings.ReplaceAll(method, "_", " ")
	}
	return knownSettings[name].says
}

// narrows says whether a setting keeps statements from a usual way: it then may be why they take long.
func (s Setting) narrows() bool {
	if strings.HasPrefix(s.Name, "enable_") {
		return isOff(s.Value)
	}
	known := knownSettings[s.Name]
	return known.narrows != nil && known.narrows(s.Value, s.boot)
}

// suffers says of a statement that this setting can be why it takes long.
func (s Setting) suffers(text string) bool {
	if s.function != "" && !names(text, s.function) {
		return false
	}
	if method, is := strings.CutPrefix(s.Name, "enable_"); is {
		needs := methodNeeds[method]
		return needs == nil || needs.MatchString(text)
	}
	known := knownSettings[s.Name]
	return known.suffers == nil || known.suffers(s.Value, text)
}

// classes of the time that the setting can take.
func (s Setting) classes() []waits.Class {
	if knownSettings[s.Name].logs {
		return withLog
	}
	return work
}

var (
	hasJoin  = regexp.MustCompile(`(?i)\bjoin\b|\bfrom\b[^()]*,|\(\s*select\b|\busing\b`)
	hasSort  = regexp.MustCompile(`(?i)\border\s+by\b|\bgroup\s+by\b|\bdistinct\b|\bover\s*\(|\bunion\b|\bjoin\b`)
	hasGroup = regexp.MustCompile(`(?i)\bgroup\s+by\b|\bdistinct\b|\bunion\b|\bintersect\b|\bexcept\b`)
)

// methodNeeds is what a statement must have for a method of the planner to serve it; what is not here serves any.
var methodNeeds = map[string]*regexp.Regexp{
	"hashjoin": hasJoin, "mergejoin": hasJoin, "nestloop": hasJoin, "memoize": hasJoin, "material": hasJoin,
	"parallel_hash": hasJoin, "partitionwise_join": hasJoin, "self_join_elimination": hasJoin, "sort": hasSort,
	"incremental_sort": hasSort, "presorted_aggregate": hasSort, "distinct_reordering": hasSort, "hashagg": hasGroup,
	"group_by_reordering": hasGroup, "partitionwise_aggregate": hasGroup,
}

var joinKeyword = regexp.MustCompile(`(?i)\bjoin\b`)

// joinedTables of a statement that JOIN connects; below 2: none.
func joinedTables(text string) int { return 1 + len(joinKeyword.FindAllString(text, -1)) }

// manyJoins says that JOIN connects more tables than a limit: beyond it they are joined as they are written. Of two
// tables there is one order.
func manyJoins(value, text string) bool { return joinedTables(text) > max(2, int(number(value))) }

// subqueries in FROM that are planned apart from the statement around them.
func subqueries(_, text string) bool {
	_, from, found := condition.CutFold(text, "from")
	return found && strings.Contains(strings.ToLower(strings.ReplaceAll(from, " ", "")), "(select")
}

func writing(_, text string) bool { return writes(text) }

// costsApart: times that a cost must differ from PostgreSQL's own. A planner that thinks workers cheap starts too many;
// one that thinks pages or rows dear avoids what reads them.
const costsApart = 10

func dearer(value, boot string) bool {
	return number(boot) > 0 && number(value) > costsApart*number(boot)
}

func cheaper(value, boot string) bool {
	return number(value) >= 0 && number(value)*costsApart < number(boot)
}

func turnedOn(value, _ string) bool { return isOn(value) || strings.EqualFold(value, "regress") }

func below(most float64) func(value, boot string) bool {
	return func(value, _ string) bool { return number(value) >= 0 && number(value) < most }
}

// smaller than so many bytes; without a unit a value counts what the setting is made of.
func smaller(bytes, unit float64) func(value, boot string) bool {
	return func(value, _ string) bool {
		n := sizeOf(value, unit)
		return n >= 0 && n < bytes
	}
}

// sizeOf a setting in bytes; without a unit it counts what the setting is made of; below 0: it is none.
func sizeOf(value string, unit float64) float64 {
	if bytes := memoryOf(strings.ReplaceAll(value, " ", "")); bytes > 0 {
		return bytes
	}
	return number(value) * unit
}

func number(text string) float64 {
	x, err := strconv.ParseFloat(strings.TrimRight(text, "kKmMgGtTbBs "), 64)
	if err != nil {
		return -1
	}
	return x
}

var timeUnits = []struct {
	name string
	unit time.Duration
}{{"us", time.Microsecond}, {"ms", time.Millisecond}, {"min", time.Minute}, {"s", time.Second}, {"h", time.Hour},
	{"d", 24 * time.Hour}}

// timeOfSetting as it is written; without a unit it is in milliseconds; 0: it is none.
func timeOfSetting(value string) time.Duration {
	value = strings.TrimSpace(value)
	unit := time.Millisecond
	for _, one := range timeUnits {
		if bare, is := strings.CutSuffix(value, one.name); is {
			value, unit = strings.TrimSpace(bare), one.unit
			break
		}
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n * float64(unit))
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
	case "log_transaction_sample_rate":
		if number(value) > 0 {
			return "all statements of a part of the transactions are logged"
		}
	case "log_min_messages", "client_min_messages":
		if strings.HasPrefix(strings.ToLower(value), "debug") {
			return "the server tells what it does for each statement"
		}
	case "log_duration", "log_parser_stats", "log_planner_stats", "log_executor_stats", "log_statement_stats",
		"debug_print_parse", "debug_print_rewritten", "debug_print_plan", "log_lock_failures", "trace_sort",
		"trace_locks", "trace_lwlocks":
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

// ordersJoins says that a setting is about the order in which tables are joined.
func (s Setting) ordersJoins() bool {
	return slices.Contains([]string{"join_collapse_limit", "from_collapse_limit", "geqo_threshold"}, s.Name)
}
