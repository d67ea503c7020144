package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"plimsoll/ground/postgres/cluster"
)

// Cures.
const (
	cureExtensions = "install the extensions for this server (engine/extensions) and CREATE EXTENSION in template1; " +
		"'plimsoll up --profile 1c' starts a server that has them"
	cureRole = "the 1C server's role is a superuser: ALTER ROLE … SUPERUSER"
	cureOwn  = "no setting cures this: use a PostgreSQL 15-18 that is not changed in this respect"
)

// oneCSteps are what a 1C server sends, by the order in public logs of its connections and by the statements that
// users of its technological journal publish. The texts are our own.
func oneCSteps(database string) []step {
	return slices.Concat(serverSteps(database), sessionSteps, extensionSteps(), probeSteps, functionSteps,
		infobaseSteps, temporarySteps, statementSteps)
}

func between(low, high int) func(string) bool {
	return func(value string) bool {
		n, err := strconv.Atoi(value)
		return err == nil && n >= low && n <= high
	}
}

// madeSteps are those that all others need.
const made = "server.database"

func serverSteps(database string) []step {
	return []step{
		{name: "server.version", sql: "SHOW server_version_num", fits: between(150000, 189999),
			expected: "150000 to 189999",
			cure:     "PostgreSQL 15 to 18: from 19 on standard_conforming_strings = off is refused"},
		{name: "server.role", sql: "SELECT rolsuper FROM pg_roles WHERE rolname = current_user", want: "t",
			cure: cureRole},
		{name: "server.encoding", sql: "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = " +
			"'template1'", want: "UTF8", cure: "initdb --encoding UTF8"},
		{name: "server.locks", sql: "SHOW max_locks_per_transaction", fits: between(256, 1<<30),
			expected: "256 or more", optional: true, cure: "max_locks_per_transaction = 1000: a transaction holds " +
				"hundreds of temporary tables and their indexes"},
		{name: "server.connections", sql: "SHOW max_connections", fits: between(100, 1<<30), expected: "100 or more",
			optional: true, cure: "max_connections: the 1C server has a connection for each session at work"},
		{name: made, sql: "CREATE DATABASE " + database + " ENCODING 'UTF8'", cure: "template1 must be UTF8, and " +
			"nobody may be connected to it"},
		{name: "server.mark", sql: fmt.Sprintf("COMMENT ON DATABASE %s IS '%s'", database, mark),
			after: []string{made}, cure: cureOwn},
	}
}

// session is a step of the application's first session.
func session(name, sql, want, cure string, after ...string) step {
	return step{name: name, sql: sql, want: want, cure: cure, session: first, after: append([]string{made}, after...)}
}

func (s step) asNote() step { s.optional = true; return s }

func (s step) asOneOf(group string) step { s.oneOf = group; return s }

var sessionSteps = []step{
	session("session.messages", "SET client_min_messages = error", "", cureOwn),
	session("session.locale_en", "SET lc_messages TO 'en_US.UTF-8'", "", cluster.LocaleCure("en_US.UTF-8")).
		asOneOf("locale"),
	session("session.locale_ru", "SET lc_messages TO 'ru_RU.UTF-8'", "", cluster.LocaleCure("ru_RU.UTF-8")).
		asOneOf("locale"),
	session("session.mergejoin", "SET enable_mergejoin = off", "", cureOwn),
	session("session.strings_before", "SHOW standard_conforming_strings", "", cureOwn),
	session("session.strings", "SET standard_conforming_strings = off; SHOW standard_conforming_strings", "off",
		"PostgreSQL 15 to 18: from 19 on this is refused"),
	session("session.escapes", "SET escape_string_warning = off", "", "PostgreSQL 15 to 18: 19 has no such setting"),
	session("session.operator_cost", "SET cpu_operator_cost = 0.001; SHOW cpu_operator_cost", "0.001", cureOwn),
	session("session.process", "SELECT pg_backend_pid()", "", cureOwn),
	session("session.encoding", "SET client_encoding = 'utf8'; SHOW client_encoding", "UTF8", cureOwn),
	session("session.lock_timeout_version", "SET lock_timeout = 2000", "", cureOwn),
	session("session.lock_timeout", "SET lock_timeout = 20000; SHOW lock_timeout", "20s", cureOwn),
}

const (
	extMchar, extFulleq, extFasttrun = "extension.mchar", "extension.fulleq", "extension.fasttrun"
)

func extensionSteps() (all []step) {
	for _, name := range []string{"mchar", "fasttrun", "fulleq"} {
		all = append(all,
			step{name: "extension." + name + ".available", session: first, after: []string{made}, expected: "a version",
				sql:  "SELECT default_version FROM pg_available_extensions WHERE name = '" + name + "'",
				cure: cureExtensions, fits: func(value string) bool { return value != none }},
			session("extension."+name+".template", "SELECT installed_version FROM pg_available_extensions WHERE "+
				"name = '"+name+"' AND installed_version IS NOT NULL", "", "in template1: CREATE EXTENSION "+name,
				"extension."+name+".available").atAll().asNote(),
			session("extension."+name, "CREATE EXTENSION IF NOT EXISTS "+name, "", cureExtensions,
				"extension."+name+".available"),
			session("extension."+name+".update", "ALTER EXTENSION "+name+" UPDATE", "", cureRole, "extension."+name))
	}
	return all
}

// atAll expects a row.
func (s step) atAll() step {
	s.expected, s.fits = "a row", func(value string) bool { return value != none }
	return s
}

const (
	spaceData  = "probe.tablespace_data"
	spaceIndex = "probe.tablespace_index"
)

var probeSteps = []step{
	session(spaceIndex, "SELECT spcname FROM pg_tablespace WHERE spcname = 'v81c_index'", "v81c_index",
		"only for indexes on another disk: plimsoll up --tablespace v81c_index=DIR").asNote(),
	session(spaceData, "SELECT spcname FROM pg_tablespace WHERE spcname = 'v81c_data'", "v81c_data",
		"only for tables on another disk: plimsoll up --tablespace v81c_data=DIR").asNote(),
	session("probe.datediff2", "SELECT 1 FROM pg_proc WHERE proname IN ('datediff2')", none,
		"template1 has a function that the 1C server makes itself: drop it there"),
	session("probe.vassn", "SELECT 1 FROM pg_proc WHERE proname IN ('vassn')", none,
		"template1 has a function that the 1C server makes itself: drop it there"),
	session("probe.mchar", "SELECT count(*) FROM pg_type WHERE typname IN ('mchar', 'mvarchar') AND "+
		"pg_type_is_visible(oid)", "2", cureExtensions, extMchar),
	session("probe.version", "SHOW SERVER_VERSION_NUM", "", cureOwn),
	session("probe.tables", `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename IN ('config',
		'configsave', 'params', 'files', 'dbschema', 'dbschemaog')`, none,
		"template1 has tables of an infobase: drop them there"),
	session("probe.classes", `SELECT COUNT(*) FROM PG_CLASS WHERE UPPER(RELNAME) = 'V8USERS' AND RELNAMESPACE IN
		('public'::regnamespace, pg_my_temp_schema())`, "0", "template1 has tables of an infobase: drop them there"),
	session("probe.collation", "SELECT datcollate FROM pg_database WHERE datname = current_database()", "", cureOwn),
}

// The functions are ours; those of a 1C server have the same names and are written in the same language.
var functionSteps = []step{
	session("function.datediff2", `CREATE OR REPLACE FUNCTION datediff2(part varchar, a timestamp, b timestamp)
		RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN RETURN CASE part WHEN \'DAY\' THEN b::date - a::date ELSE extract(epoch FROM b - a) END; END'`, "",
		"the language plpgsql must be there, and the role may create functions in public"),
	session("function.datediff2.call", "SELECT datediff2('DAY', '2026-01-31 23:59:59', '2026-03-01 00:00:00')", "29",
		cureOwn, "function.datediff2"),
	session("function.vassn", `CREATE OR REPLACE FUNCTION vassn(given mvarchar, lowest numeric) RETURNS boolean
		LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length(given) >= lowest; END'`, "", cureOwn, extMchar),
	session("function.vassn.call", `SELECT vassn('a\\b'::mvarchar, 3)`, "t", cureOwn, "function.vassn"),
}
