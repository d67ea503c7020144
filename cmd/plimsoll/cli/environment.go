package cli

import "plimsoll/lab/prove/compare"

// variable of the environment that is no setting.
type variable struct {
	name      string
	says      string
	otherwise string // what holds without it
}

// places where things are kept (ground/host/dirs).
var places = []variable{
	{"PLIMSOLL_STATE", "Folder of clusters, backups, runs and everything else that cannot be made again.",
		"`/var/lib/plimsoll` for root, else `$XDG_STATE_HOME/plimsoll` or `~/.local/state/plimsoll`"},
	{"PLIMSOLL_CACHE", "Folder of what can be made again: builds of PostgreSQL, and their sources.",
		"`/var/cache/plimsoll` for root, else `$XDG_CACHE_HOME/plimsoll` or `~/.cache/plimsoll`"},
	{"PLIMSOLL_CONFIG", "Configuration file; `--config` overrides it.",
		"`/etc/plimsoll/plimsoll.toml` for root, else `$XDG_CONFIG_HOME/plimsoll/plimsoll.toml` or " +
			"`~/.config/plimsoll/plimsoll.toml`"},
}

// told are what Plimsoll tells programs that it starts.
var told = []variable{
	{"PLIMSOLL_COMPARE_SIDE", "`compare --command-a`: which side is measured.", ""},
	{"PLIMSOLL_COMPARE_ROUND", "`compare --command-a`: which round it is, from 1 on.", ""},
	{"PLIMSOLL_COMPARE_SEED", "`compare --command-a`: random seed of the round, the same for both sides.", ""},
	{"PLIMSOLL_KEEPER_PIPE", "Between `up` and the process that keeps a cluster.", ""},
	{"PLIMSOLL_SHIM_DATA", "To the library below a server with `--flush-latency`: its data directory.", ""},
	{"PLIMSOLL_SHIM_FLUSH_NS", "To that library: how long a flush takes at least, in nanoseconds.", ""},
	{"PLIMSOLL_SHIM_JOURNAL", "To that library: the folder in which `crash --power-cut` records all writes.", ""},
	{"PLIMSOLL_SHIM_BROKEN", "To that library: which fault it plants, to test `crash` itself.", ""},
}

// forTests are for those who test Plimsoll.
var forTests = []variable{
	{"PLIMSOLL_TEST_ENGINE", "PostgreSQL that tests run on: plimsoll, vanilla, stock, system, or a folder.",
		"plimsoll if it is built, else system"},
	{"PLIMSOLL_TEST_THOROUGH", "Anything: tests try everything instead of a sample.", "a sample"},
	{"PLIMSOLL_TEST_SHOTS", "Folder in which tests of pages keep pictures.", "none are kept"},
	{"PLIMSOLL_TEST_SCREENSHOT", "File in which the test of the page of document types keeps a picture.",
		"none is kept"},
	{"PLIMSOLL_TEST_RECORDINGS", "Folder in which tests of applications keep recordings and what was made of them.",
		"none are kept"},
	{"PLIMSOLL_TEST_WORKER_PROGRAM", "The program that tests start as a worker.", "the test binary itself"},
	{"PLIMSOLL_TEST_WORKER", "Set by tests for processes that they start as workers.", ""},
	{"PLIMSOLL_TEST_AS_PROGRAM", "Set by tests for processes that they start as the program itself.", ""},
	{"PLIMSOLL_TEST_OWN_MOUNTS", "Set by tests that run again with disks of their own.", ""},
}

// noSettings are the names that a command line may find set: the places, and what a comparison tells the program that
// it runs, which may be plimsoll itself.
func noSettings() []string {
	var names []string
	for _, v := range places {
		names = append(names, v.name)
	}
	return append(names, compare.Variables...)
}
