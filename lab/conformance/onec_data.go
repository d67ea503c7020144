package conformance

import "strings"

const cureTables = "drop what template1 has of this name; else " + cureOwn

const folderCure = "the tablespace's folder must be there and belong to the server's user"

// The infobase's own tables, and one of its application's.
var infobaseSteps = []step{
	session("infobase.config", `CREATE TABLE config (filename mvarchar(128) NOT NULL, creation timestamp NOT NULL,
		modified timestamp NOT NULL, attributes smallint NOT NULL, datasize bigint NOT NULL, binarydata bytea NOT NULL,
		partno integer NOT NULL); CREATE UNIQUE INDEX config_by_name ON config (filename, partno)`, "",
		cureTables, extMchar),
	session("infobase.configsave", "CREATE TABLE configsave (LIKE config INCLUDING ALL)", "", cureTables,
		"infobase.config"),
	session("infobase.params", "CREATE TABLE params (LIKE config INCLUDING ALL)", "", cureTables, "infobase.config"),
	session("infobase.files", "CREATE TABLE files (LIKE config INCLUDING ALL)", "", cureTables, "infobase.config"),
	session("infobase.dbschema", "CREATE TABLE dbschema (serializeddata bytea NOT NULL)", "", cureTables),
	session("infobase.ibversion", "CREATE TABLE ibversion (ibversion integer NOT NULL, platformversionreq integer NOT "+
		"NULL); INSERT INTO ibversion VALUES (1, 1)", "", cureTables),
	session("infobase.v8users", `CREATE TABLE v8users (id bytea NOT NULL, name mvarchar(64) NOT NULL,
		descr mvarchar(128) NOT NULL, changed timestamp NOT NULL, show boolean NOT NULL, data bytea NOT NULL);
		CREATE UNIQUE INDEX v8users_by_id ON v8users (id); CREATE UNIQUE INDEX v8users_by_name ON v8users (name)`, "",
		cureTables, extMchar),
	session("infobase.file", `INSERT INTO config VALUES ('root', '2026-01-01 00:00:00'::timestamp,
		'2026-01-01 00:00:00'::timestamp, 0, 4, '\\000\\377\\134\\047'::bytea, 0)`, "INSERT 0 1", cureTables,
		"infobase.config"),
	session("infobase.file.read", "SELECT encode(binarydata, 'hex') FROM config WHERE filename = 'ROOT' AND partno = 0",
		"00ff5c27", cureTables, "infobase.file"),
	session("infobase.user.twice", `INSERT INTO v8users VALUES ('\\001', 'Ann', '', now(), true, ''),
		('\\002', 'ANN ', '', now(), true, '')`, "error 23505", cureTables, "infobase.v8users").asError("23505"),
	session("infobase.reference", `CREATE TABLE _reference1 (_idrref bytea NOT NULL, _version integer NOT NULL,
		_marked boolean NOT NULL, _code mchar(9) NOT NULL, _description mvarchar(150) NOT NULL, _parent bytea);
		CREATE UNIQUE INDEX _reference1_1 ON _reference1 (_idrref);
		CREATE INDEX _reference1_2 ON _reference1 (_description, _idrref);
		INSERT INTO _reference1 SELECT decode(lpad(to_hex(n), 32, '0'), 'hex'), 0, false, n::text::mchar,
		('Item ' || n)::mvarchar, CASE WHEN n > 10 THEN decode(lpad(to_hex(n % 10), 32, '0'), 'hex') END
		FROM generate_series(1, 1000) n`, "INSERT 0 1000", cureTables, extMchar),
	session("infobase.tablespace_data", "CREATE TABLE in_data (n integer) TABLESPACE v81c_data", "", folderCure,
		spaceData).asNote(),
	session("infobase.tablespace_index", "CREATE INDEX in_index ON dbschema (serializeddata) TABLESPACE v81c_index", "",
		folderCure, spaceIndex, "infobase.dbschema").asNote(),
}

func (s step) asError(code string) step {
	s.want, s.code = "", code
	return s
}

const analyzeCure = "shared_preload_libraries = 'online_analyze', online_analyze.table_type = 'temporary': without " +
	"statistics of temporary tables plans are guesses"

var temporarySteps = []step{
	session("temporary.create", `CREATE TEMPORARY TABLE tt1 (_q_000_f_000rref bytea, _q_000_f_001 numeric(15, 2),
		_q_000_f_002 mvarchar(50))`, "", cureOwn, extMchar),
	session("temporary.index", "CREATE INDEX tmpind_0 ON pg_temp.tt1 (_q_000_f_000rref)", "", cureOwn,
		"temporary.create"),
	session("temporary.fill", `INSERT INTO pg_temp.tt1 SELECT _idrref, 1, _description FROM _reference1`,
		"INSERT 0 1000", cureOwn, "temporary.index", "infobase.reference"),
	session("temporary.statistics", "SELECT reltuples FROM pg_class WHERE oid = 'pg_temp.tt1'::regclass", "1000",
		analyzeCure, "temporary.fill").asNote(),
	session("temporary.empty_table", "SHOW plantuner.fix_empty_table", "on", "shared_preload_libraries = 'plantuner', "+
		"plantuner.fix_empty_table = on: an empty temporary table is planned as ten full pages").asNote(),
	session("temporary.analyze", "ANALYZE pg_temp.tt1", "", cureOwn, "temporary.fill"),
	session("temporary.fasttruncate", "SELECT fasttruncate('pg_temp.tt1'); SELECT count(*) FROM pg_temp.tt1", "0",
		cureExtensions, "temporary.fill", extFasttrun),
	session("temporary.refill", "INSERT INTO pg_temp.tt1 SELECT _idrref, 1, _description FROM _reference1",
		"INSERT 0 1000", cureOwn, "temporary.fasttruncate"),
	session("temporary.permanent", "SELECT fasttruncate('_reference1')", "", cureExtensions, "infobase.reference",
		extFasttrun).refused(),
	session("temporary.drop", "DROP TABLE pg_temp.tt1", "", cureOwn, "temporary.create"),
}

// trimmed expects the value with any blanks behind it: mchar pads.
func (s step) trimmed() step {
	want := s.want
	s.expected, s.fits = want, func(value string) bool { return strings.TrimRight(value, " ") == want }
	return s
}

// refused expects any error.
func (s step) refused() step {
	s.code, s.expected = anyError, "refused: it is no temporary table"
	return s
}

var statementSteps = []step{
	session("statement.backslash", `SELECT 'a\\b\'c'`, `a\b'c`, "standard_conforming_strings = off in the session",
		"session.strings"),
	session("statement.bytes", `SELECT encode('\\236\\253\\000'::bytea, 'hex')`, "9eab00", cureOwn, "session.strings"),
	session("statement.reference", `SELECT _description FROM _reference1 WHERE _idrref =
		'\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\007'::bytea`, "Item 7", cureOwn,
		"session.strings", "infobase.reference"),
	session("statement.case", "SELECT count(*) FROM _reference1 WHERE _description = 'ITEM 7'::mvarchar", "1", cureOwn,
		"infobase.reference"),
	session("statement.blanks", "SELECT count(*) FROM _reference1 WHERE _code = '7 '::mchar", "1", cureOwn,
		"infobase.reference"),
	session("statement.like", "SELECT count(*) FROM _reference1 WHERE _description LIKE '%EM 77%'::mvarchar", "11",
		cureOwn, "infobase.reference"),
	session("statement.like_escape", `SELECT count(*) FROM _reference1 WHERE _description LIKE '%\\_%'::mvarchar ESCAPE
		'\\'`, "0", cureOwn, "session.strings", "infobase.reference"),
	session("statement.order", "SELECT _description FROM _reference1 ORDER BY _description DESC, _idrref LIMIT 1",
		"Item 999", cureOwn, "infobase.reference"),
	session("statement.group", "SELECT max(n) FROM (SELECT count(*) AS n FROM _reference1 GROUP BY "+
		"substr(_description, 1, 6)) g", "112", cureOwn, "infobase.reference"),
	session("statement.fulleq", "SELECT (NULL::bytea == NULL::bytea) AND NOT (NULL::bytea == '1'::bytea)", "t",
		cureExtensions, extFulleq),
	session("statement.fulleq_join", "SELECT count(*) FROM _reference1 a JOIN (SELECT DISTINCT _parent FROM "+
		"_reference1) b ON a._parent == b._parent", "1000", cureExtensions, "infobase.reference", extFulleq),
	session("statement.cursor", "BEGIN; DECLARE c CURSOR FOR SELECT _code FROM _reference1 ORDER BY _idrref; FETCH 2 "+
		"IN c; MOVE 2 IN c; FETCH 1 IN c", "5", cureOwn, "infobase.reference").trimmed(),
	session("statement.cursor.close", "CLOSE c; COMMIT", "", cureOwn, "statement.cursor"),
	session("statement.lock_table", "BEGIN; LOCK TABLE _reference1 IN EXCLUSIVE MODE", "", cureOwn,
		"infobase.reference"),
	{name: "statement.lock_timeout", session: second, after: []string{made, "statement.lock_table"}, code: "55P03",
		sql: "SET lock_timeout = 200; UPDATE _reference1 SET _version = 1 WHERE _marked", cure: cureOwn},
	session("statement.lock_table.end", "COMMIT", "", cureOwn, "statement.lock_table"),
	session("statement.for_update", "BEGIN; SELECT _version FROM _reference1 WHERE _code = '7'::mchar FOR UPDATE", "0",
		cureOwn, "infobase.reference"),
	session("statement.returning", "UPDATE _reference1 SET _version = _version + 1 WHERE _code = '7'::mchar RETURNING "+
		"_version", "1", cureOwn, "statement.for_update"),
	session("statement.commit", "COMMIT", "COMMIT", cureOwn, "statement.for_update"),
	session("statement.insert_returning", `INSERT INTO _reference1 VALUES ('\\377', 0, false, '1001', 'New', NULL)
		RETURNING encode(_idrref, 'hex')`, "ff", cureOwn, "session.strings", "infobase.reference"),
	session("statement.period", "SELECT date_trunc('month', '2026-02-28 10:00:00'::timestamp) + INTERVAL '1 month'",
		"2026-03-01 00:00:00", cureOwn),
}
