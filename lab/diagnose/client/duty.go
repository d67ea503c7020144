package client

import (
	"regexp"
	"slices"
	"strings"
)

// Duty is a kind of statement that a program sends beside its work: it finds and changes nothing that users asked for.
type Duty struct {
	Name string // what such statements are
	Cure string // what makes them fewer
	is   *regexp.Regexp
	not  *regexp.Regexp // nil: none of them is something else
}

// Savepoints of clients.
var Savepoints = &Duty{Name: "savepoints",
	Cure: "drivers set one before each statement where they are told to keep a transaction after an error (autosave, " +
		"on_error_rollback): only where it is needed",
	is: regexp.MustCompile(`(?i)^(?:savepoint|release)\b|^rollback\s+(?:(?:work|transaction)\s+)?to\b`)}

// Duties by their grammar. A text is that of a sample or of pg_stat_statements, with its values or without.
var Duties = []*Duty{
	{Name: "tests of the connection (SELECT 1)",
		Cure: "a pool that tests each connection before it hands it out: test those that were idle for long, or on " +
			"error",
		is: regexp.MustCompile(`(?i)^(?:select|values)\s+\(?` + testItem + `(?:\s*,\s*` + testItem + `)*\s*\)?\s*;?$`)},
	{Name: "settings of the session (SET, RESET, SHOW)",
		Cure: "settings once for the connection (its string, the pool's init hook), or for the role: ALTER ROLE … SET",
		is: regexp.MustCompile(`(?i)^(?:set|reset|show)\s|^select\s+(?:pg_catalog\.)?(?:set_config|current_setting)` +
			arguments),
		not: regexp.MustCompile(`(?i)^set\s+(?:session\s+)?application_name\b|^set\s+constraints\b`)}, // poolers do
	{Name: "clean-up of the session (DISCARD, DEALLOCATE, UNLISTEN)",
		Cure: "clean up only what was made: a pool by transaction needs no DISCARD ALL (server_reset_query_always = 0)",
		is: regexp.MustCompile(`(?i)^(?:discard|unlisten|deallocate|close\s+all)\b|^select\s+` +
			`(?:pg_catalog\.)?pg_advisory_unlock_all\s*\(`)},
	{Name: "statements that are prepared anew (PREPARE)",
		Cure: "prepare once for the connection and keep the name; the driver's cache of statements does so",
		is:   regexp.MustCompile(`(?i)^prepare\s`),
		not:  regexp.MustCompile(`(?i)^prepare\s+transaction\b`)},
	{Name: "reads of the catalogs",
		Cure: "drivers and mappers ask for types and columns once for a connection: keep connections; give the " +
			"types in the program; switch off the look at the schema in production",
		is: regexp.MustCompile(`(?i)^(?:select|with)\b.*` +
			`\b(?:information_schema\.\w|(?:pg_catalog\.)?pg_(?:type|class|attribute|attrdef|namespace|proc|` +
			`constraint|index|enum|range|description|depend|extension|database|roles|` +
			`settings|tables|views|matviews|indexes|sequences?|collation|operator|opclass|am|cast|language|` +
			`trigger|inherits|partitioned_table)\b)`),
		not: regexp.MustCompile(`(?i)\bpg_(?:stat|statio|locks|blocking|prepared_xacts|replication|ls_|size|` +
			`total_relation|relation_size)`)}, // a monitor
	Savepoints,
	{Name: "LISTEN", Cure: "one connection listens, for all of a program, once",
		is: regexp.MustCompile(`(?i)^listen\b`)},
	{Name: "advisory locks", Cure: "a lock only where two would do the same; a row's own lock (FOR UPDATE) needs no " +
		"statement more", is: regexp.MustCompile(`(?i)^select\s+(?:pg_catalog\.)?pg_(?:try_)?advisory_\w+` +
		arguments)},
	{Name: "numbers of sequences asked for one by one",
		Cure: "INSERT … RETURNING gives the number; a mapper takes a block of them (allocationSize, INCREMENT BY)",
		is:   regexp.MustCompile(`(?i)^select\s+(?:pg_catalog\.)?(?:nextval|currval|lastval|setval)` + arguments)},
}

// arguments of the only call of a SELECT without a table.
const arguments = `\s*\((?:[^()]|\([^()]*\))*\)(?:\s*::\s*\w+)?(?:\s+as\s+"?\w+"?)?\s*;?$`

// testItem is a value, or what a session knows of itself.
const testItem = `(?:\$?\?|\$?\d+|null|true|false|'[^']*'|current_(?:user|role|schema|database|catalog|date|time|` +
	`timestamp)|session_user|user|(?:pg_catalog\.)?(?:version|now|current_schemas?|current_database|current_user|` +
	`pg_is_in_recovery|pg_backend_pid|pg_postmaster_start_time|inet_(?:server|client)_(?:addr|port)|\w+_timestamp|` +
	`pg_last_\w+|pg_current_(?:wal|xact)\w*|txid_current\w*)\s*\([^()]*\))(?:\s*::\s*[\w ]+)?(?:\s+as\s+"?\w+"?)?`

// Brackets begin and end a transaction.
var Brackets = &Duty{Name: "BEGIN and COMMIT around single statements that read",
	Cure: "autocommit for a statement that reads alone: what the program's library calls a transaction of its own " +
		"(@Transactional, atomic) is for several",
	is: regexp.MustCompile(`(?i)^(?:begin|start\s+transaction|commit|end|rollback|abort)(?:\s+(?:work|transaction))?` +
		`(?:[\s,]+(?:read\s+only|read\s+write|isolation\s+level\s+\w+(?:\s+(?:read|committed|uncommitted))?|` +
		`(?:not\s+)?deferrable))*\s*;?$`)}

// Is says whether a statement is of this kind.
func (d *Duty) Is(text string) bool {
	return d.is.MatchString(text) && (d.not == nil || !d.not.MatchString(text))
}

// DutyOf a statement, or of several that are sent as one; nil: it is work, or has some.
func DutyOf(text string) (found *Duty) {
	for part := range strings.SplitSeq(strings.TrimRight(text, "; "), ";") {
		part = strings.TrimSpace(part)
		i := slices.IndexFunc(Duties, func(d *Duty) bool { return d.Is(part) })
		if i < 0 {
			return nil
		}
		if found == nil {
			found = Duties[i]
		}
	}
	return found
}
