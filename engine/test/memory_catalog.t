# The memory catalog's contract, case by case, on a running server. memory_catalog_diff.t tests that it otherwise
# behaves as the real catalog.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use IPC::Open2;
use Plimsoll::Patience qw(holds);
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $server = Plimsoll::Server->new($prefix, enable_temp_memory_catalog => 'on', autovacuum => 'off',
	max_prepared_transactions => 2,
	max_locks_per_transaction => 10, max_connections => 10);
my $in_memory = q{SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C") FROM pg_class
	WHERE relnamespace = pg_my_temp_schema() AND (ctid::text::point)[0] >= 3758096384;};

sub says
{
	my ($name, $script, $want) = @_;
	is($server->psql('postgres', $script) =~ s/^psql:[^ ]*: //mgr, $want, $name);
}

# A session that stays open: ask() sends statements and returns the output.
sub session
{
	my $pid = open2(my $out, my $in, "$server->{bin}/psql", '-XAtq', '-h', $server->{dir}, '-U', 'probe',
		'-d', 'postgres');
	my $session = { pid => $pid, in => $in, out => $out };
	chomp($session->{backend} = ask($session, 'SELECT pg_backend_pid();'));
	$server->keep($session->{backend});
	return $session;
}

sub ask
{
	my ($session, $statements) = @_;
	my $answer = '';
	print { $session->{in} } "$statements\n\\echo --\n";
	$session->{in}->flush;
	while (defined(my $line = readline $session->{out})) { last if $line eq "--\n"; $answer .= $line }
	return $answer;
}

# leave closes a session; its backend has ended then, too.
sub leave
{
	my $session = shift;
	close $session->{in};
	close $session->{out};
	waitpid $session->{pid}, 0;
	$server->left($session->{backend});
}

says('rows are in memory', "CREATE TEMP TABLE t (a int PRIMARY KEY, b text); CREATE INDEX i ON t (b);
	$in_memory", "i t t_pkey\n");
says('the setting decides at creation, not later', "CREATE TEMP TABLE t (a int); SET enable_temp_memory_catalog = off;
	CREATE INDEX i ON t (a); CREATE TEMP TABLE u (b text); ALTER TABLE t ADD b text;
	$in_memory SET enable_temp_memory_catalog = on; CREATE INDEX ON u (b); VACUUM FULL u; $in_memory", "i t\ni t\n");

subtest 'a table that memory cannot hold is entirely in the real catalogs' => sub {
	my %moves = (
		'a view' => 'CREATE TEMP VIEW v AS SELECT * FROM t',
		'a trigger' => 'CREATE TRIGGER g BEFORE UPDATE
			ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
		'a rule' => 'CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING',
		'a policy' => 'CREATE POLICY p ON t USING (true)',
		'a sequence' => 'CREATE TEMP SEQUENCE s OWNED BY t.a',
		'extended statistics' => 'CREATE STATISTICS pg_temp.x ON a, b FROM t',
		'a child' => 'CREATE TEMP TABLE c () INHERITS (t)',
		'a foreign key' => 'CREATE TEMP TABLE f (a int REFERENCES t)',
		'a function of its row type' => 'CREATE FUNCTION pg_temp.f(t) RETURNS int LANGUAGE sql AS $$SELECT 1$$',
		'a domain over its row type' => 'CREATE DOMAIN pg_temp.d AS t',
		'a type of its own' => 'CREATE TYPE pg_temp.y AS (a int, b text); ALTER TABLE t OF pg_temp.y',
	);
	for my $what (sort keys %moves)
	{
		my $said = $server->psql('postgres', "SET client_min_messages = warning;
			CREATE TEMP TABLE t (a int PRIMARY KEY, b text); INSERT INTO t VALUES (1, 'x'); BEGIN; $moves{$what};
			ROLLBACK; $in_memory $moves{$what}; SELECT 'then'; $in_memory SELECT b FROM t; DROP TABLE t CASCADE;
			SELECT to_regclass('t') IS NULL;");
		is($said, "t t_pkey\nthen\n\nx\nt\n", $what);
	}
};

subtest 'ON COMMIT looks for the rows of a table that has just moved where they are' => sub {
	my $kept = 'CREATE TEMP TABLE t (i int PRIMARY KEY, t text) ON COMMIT DELETE ROWS;';
	is($server->psql('postgres', "CREATE TEMP TABLE t (i int, t text) ON COMMIT DELETE ROWS;
		CREATE TEMP VIEW v AS SELECT * FROM t; VACUUM FULL t; SELECT 'done';", temp_lazy_toast => 'on'), "done\n",
		'VACUUM FULL gives it a toast table');
	is($server->psql('postgres', "$kept CREATE FUNCTION pg_temp.filled() RETURNS text LANGUAGE plpgsql AS \$\$
		BEGIN INSERT INTO t SELECT g FROM generate_series(1, 300) g; ANALYZE t; RETURN 'x'; END \$\$;
		INSERT INTO pg_description SELECT 't'::regclass, 'pg_class'::regclass, 1, pg_temp.filled();
		SELECT count(*), col_description('t'::regclass, 1) FROM t;"), "0|x\n",
		'a row by SQL moves it in the last command');
};

subtest 'SQL that inserts a catalog row moves the table to the real catalogs' => sub {
	my $file = "$server->{dir}/rows";
	my %puts = (
		'INSERT' => "INSERT INTO pg_description VALUES ('t'::regclass, 'pg_class'::regclass, 1, 'x')",
		'MERGE' => "MERGE INTO pg_description USING (SELECT 't'::regclass AS t) s ON objoid = t AND objsubid = 1
			WHEN NOT MATCHED THEN INSERT VALUES (t, 'pg_class'::regclass, 1, 'x')",
		'COPY' => "COPY (SELECT 't'::regclass::oid, 'pg_class'::regclass::oid, 1, 'x') TO '$file';
			COPY pg_description FROM '$file'",
		'UPDATE' => "INSERT INTO pg_description VALUES (0, 'pg_class'::regclass, 1, 'x');
			UPDATE pg_description SET objoid = 't'::regclass WHERE objoid = 0",
		'a row that hangs on the table' => "INSERT INTO pg_depend
			VALUES ('pg_class'::regclass, 0, 0, 'pg_class'::regclass, 't'::regclass, 1, 'n');
			DELETE FROM pg_depend WHERE objid = 0; COMMENT ON COLUMN t.a IS 'x'",
	);
	for my $what (sort keys %puts)
	{
		my $said = $server->psql('postgres', "CREATE TEMP TABLE t (a int, b text); COMMENT ON TABLE t IS 'y';
			CREATE TEMP TABLE u (c int); $in_memory $puts{$what}; $in_memory SELECT col_description('t'::regclass, 1),
			obj_description('t'::regclass); DROP TABLE t; SELECT count(*) FROM pg_description
			WHERE description IN ('x', 'y');");
		is($said, "t u\nu\nx|y\n0\n", $what);
	}
	like($server->psql('postgres', "CREATE TEMP TABLE t (a int); COMMENT ON TABLE t IS 'y';
		INSERT INTO pg_description VALUES ('t'::regclass, 'pg_class'::regclass, 0, 'x');
		SELECT obj_description('t'::regclass);"),
		qr/duplicate key value violates unique constraint "pg_description_o_c_o_index".*^y$/ms, 'unique indexes hold');
};

subtest 'a cursor stays on its row through updates' => sub {
	my $change = 'UPDATE pg_class SET relpages = relpages + 1 WHERE CURRENT OF c RETURNING relpages';
	my $at = "CREATE TEMP TABLE t (a int); BEGIN; DECLARE c CURSOR FOR SELECT relname FROM pg_class
		WHERE oid = 't'::regclass%s; FETCH 1 FROM c; %s; COMMIT; SELECT relpages FROM pg_class
		WHERE oid = 't'::regclass;";
	for my $for ('', ' FOR UPDATE')
	{
		says("one after the other$for", sprintf($at, $for, "$change; $change; $change"), "t\n1\n2\n3\n3\n");
		says("one undone$for", sprintf($at, $for, "$change; SAVEPOINT s; $change; ROLLBACK TO s;
			$change"), "t\n1\n2\n2\n2\n");
		says("the table moves in between$for", sprintf($at, $for, "$change; CREATE TEMP VIEW v AS SELECT * FROM t;
			$change; $change"), "t\n1\n2\n3\n3\n");
		says("the row goes$for", sprintf($at, $for, "$change; DROP TABLE t; $change; CREATE TEMP TABLE t (a int)"),
			"t\n1\n0\n");
	}
};

subtest 'nothing is written to the catalogs' => sub {
	my $size = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_sys_tables
		WHERE relname IN ('pg_class', 'pg_attribute', 'pg_type', 'pg_index', 'pg_depend', 'pg_shdepend', 'pg_attrdef',
		'pg_constraint', 'pg_statistic', 'pg_description');";
	my $s = session();
	ask($s, 'CREATE TEMP TABLE first (a int);');
	my $before = ask($s, "SELECT pg_stat_force_next_flush(); $size");
	ask($s, "CREATE TEMP TABLE t (a int PRIMARY KEY, b text DEFAULT 'x', c numeric CHECK (c > 0));
		CREATE INDEX ON t (b); INSERT INTO t SELECT g, g, g FROM generate_series(1, 50) g; ANALYZE t;
		ALTER TABLE t ADD d text; COMMENT ON TABLE t IS 'x'; TRUNCATE t; DROP TABLE t;");
	is(ask($s, "SELECT pg_stat_force_next_flush();
		$size"), $before, 'by create, index, fill, analyze, alter, comment, truncate and drop');
	leave($s);
};

subtest 'other sessions cannot drop what its tables depend on' => sub {
	my $s = session();
	chomp(my $pid = ask($s, 'SELECT pg_backend_pid();'));
	$server->psql('postgres', "CREATE TYPE pair AS (a int, b text); CREATE TYPE mood AS ENUM ('ok');
		CREATE ROLE probe_owner; GRANT ALL ON SCHEMA public TO probe_owner;");
	ask($s, "SET ROLE probe_owner; CREATE TEMP TABLE t (m mood); RESET ROLE; CREATE TEMP TABLE pairs (p pair[]);
		INSERT INTO pairs VALUES (ARRAY[(1, 'x')::pair]);");
	my $whose = qr/DETAIL:  They belong to the sessions with process ID $pid\./;
	like($server->psql('postgres', 'ALTER TYPE pair ALTER ATTRIBUTE a TYPE text;'),
		qr/cannot alter type "pair\[\]" because temporary tables of other sessions use it\n$whose/,
		'nor can the layout of a type change');
	is(ask($s, "SELECT p[1].b FROM pairs; DROP TABLE pairs;"), "x\n", '... so the value is read as it was written');
	is($server->psql('postgres', 'ALTER TYPE pair ALTER ATTRIBUTE a TYPE text; DROP TYPE pair;'), '',
		'unless the table is gone');
	ask($s, "CREATE SCHEMA kept; CREATE TEMP TABLE named (s regnamespace DEFAULT 'kept');");
	like($server->psql('postgres', 'DROP SCHEMA kept;'), qr/cannot drop schema kept because other objects depend on it/,
		'a schema that a default names');
	like($server->psql('postgres', 'DROP SCHEMA kept CASCADE;'),
		qr/DETAIL:  Temporary tables of other sessions depend on it \(process ID $pid\)\./,
		'... and it is said by whom');
	my $second = session();
	chomp(my $second_pid = ask($second, "CREATE TEMP TABLE named (s regnamespace DEFAULT 'kept');
		SELECT pg_backend_pid();"));
	my ($both) = $server->psql('postgres', 'DROP SCHEMA kept;') =~ /\(process ID (.*)\)/;
	is(join(' ', sort split /, /, $both // ''), join(' ', sort $pid, $second_pid), '... and by whom else');
	is($server->psql('postgres', "CREATE EXTENSION plimsoll; SELECT pid, classid, object FROM plimsoll_temp_references
		WHERE pid IN ($pid, $second_pid) AND classid = 'pg_namespace'::regclass ORDER BY pid;
		DROP EXTENSION plimsoll;"),
		join('', map { "$_|pg_namespace|schema kept\n" } sort { $a <=> $b } $pid, $second_pid),
			'a view lists who holds what');
	ask($second, 'DISCARD TEMP;');
	like($server->psql('postgres', 'DROP SCHEMA kept;'), qr/\(process ID $pid\)/, 'DISCARD TEMP lets go');
	leave($second);
	is(ask($s, "DROP TABLE named; DROP SCHEMA kept; SELECT 'dropped';"), "dropped\n", '... unless the table is gone');
	ask($s, "CREATE TEMP TABLE line (x int, y text); CREATE TEMP TABLE lines (v line[], n int DEFAULT (NULL::line).x);
		INSERT INTO lines VALUES (ARRAY[(1, 'y')::line]);");
	chomp(my $schema = ask($s, "BEGIN; CREATE TEMP VIEW moved AS SELECT * FROM line; ROLLBACK;
		CREATE TEMP VIEW moved AS SELECT * FROM line; SELECT pg_my_temp_schema()::regnamespace;"));
	like($server->psql('postgres', "DROP TABLE $schema.line CASCADE;"),
		qr/cannot drop .* because other objects depend on it\nDETAIL:  Temporary tables of other sessions/,
		'a row type of theirs that has moved to the real catalogs');
	is(ask($s, "SELECT v[1].y FROM lines; DROP TABLE lines;"), "y\n", '... so the value is there');
	unlike($server->psql('postgres', "DROP TABLE $schema.line CASCADE;"), qr/ERROR/, '... unless the table is gone');
	like($server->psql('postgres', 'DROP TYPE mood CASCADE;'),
		qr/cannot drop type mood because other objects depend on it/, 'a type, not even with CASCADE');
	my $others = qr/DETAIL:  temporary tables of other sessions \(process ID $pid\)/;
	like($server->psql('postgres', 'DROP OWNED BY probe_owner; DROP ROLE probe_owner;'),
		qr/role "probe_owner" cannot be dropped because some objects depend on it\n$others/, 'its owner');
	is(ask($s, "INSERT INTO t VALUES ('ok'); SELECT * FROM t;"), "ok\n", 'the table lives');
	is(ask($s, "BEGIN; DROP TABLE t; ROLLBACK; SELECT * FROM t;"), "ok\n", '... and after a drop that was rolled back');
	like($server->psql('postgres', 'DROP TYPE mood;'), qr/cannot drop type mood/, 'still');
	is(ask($s, "SELECT count(*) FROM t; DROP TYPE mood CASCADE; SELECT count(*) FROM pg_attribute
		WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped;"), "1\n0\n", 'the session itself may');
	leave($s);
	is($server->psql('postgres', "DROP OWNED BY probe_owner; DROP ROLE probe_owner;"), '', 'gone with the session');
};

subtest 'names in its temporary schema are its own' => sub {
	my $s = session();
	chomp(my $schema = ask($s, 'CREATE TEMP TABLE t (a int); SELECT pg_my_temp_schema()::regnamespace;'));
	chomp(my $pid = ask($s, 'SELECT pg_backend_pid();'));
	my $keeps = qr/DETAIL:  The session with process ID $pid keeps/;
	my $refused = qr/cannot create or rename objects in temporary schemas of other sessions\n$keeps/;
	like($server->psql('postgres', "CREATE TYPE $schema.x $_;"), $refused, "CREATE TYPE $_") for "AS ENUM ('a')",
		'AS RANGE (subtype = float8)', '';
	like($server->psql('postgres', "CREATE DOMAIN $schema.x AS int;"), $refused, 'CREATE DOMAIN');
	ask($s, "CREATE TYPE pg_temp.y AS ENUM ('a'); CREATE TEMP SEQUENCE s;");
	like($server->psql('postgres', "ALTER TYPE $schema.y RENAME TO x;"), $refused, 'ALTER TYPE RENAME');
	like($server->psql('postgres', "ALTER SEQUENCE $schema.s RENAME TO x;"), $refused, 'ALTER SEQUENCE RENAME');
	is(ask($s, "ALTER TYPE pg_temp.y RENAME TO z; CREATE TEMP TABLE x (a int); CREATE TEMP VIEW v AS SELECT * FROM x;
		SELECT count(*) FROM pg_type WHERE typname = 'x';"), "1\n", 'its own are free to it, and the table moves');
	leave($s);

	# A type that is made, but not committed, when the session makes its first table in memory.
	my ($late, $superuser) = (session(), session());
	chomp($schema = ask($late, 'CREATE TEMP SEQUENCE s; SELECT pg_my_temp_schema()::regnamespace;'));
	ask($superuser, "BEGIN; CREATE TYPE $schema.x AS ENUM ('a');");
	print { $late->{in} } "DO \$\$ BEGIN CREATE TEMP TABLE x (a int);
		EXCEPTION WHEN duplicate_object THEN RAISE INFO '%', set_config('probe.said', SQLERRM, false); END \$\$;\n";
	$late->{in}->flush;
	ok(holds(sub { $server->psql('postgres', 'SELECT count(*) FROM pg_locks WHERE NOT granted;') eq "1\n" }),
		'its first table waits for a type being made there');
	ask($superuser, 'COMMIT;');
	is(ask($late, "SELECT current_setting('probe.said', true);"), qq{type "x" already exists\n},
		'... and then sees it');
	leave($_) for $late, $superuser;
};

is($server->psql('postgres', "CREATE TEMP TABLE t (a int); DROP TABLE t; SELECT 'dropped';", temp_skip_locks => 'on'),
	"dropped\n", 'a drop that writes nothing commits without a transaction ID');
says('DISCARD TEMP drops them, a rollback brings them back', "CREATE TEMP TABLE t (a int PRIMARY KEY);
	CREATE TEMP SEQUENCE s; BEGIN; DISCARD TEMP; SELECT to_regclass('t') IS NULL AND to_regclass('s') IS NULL; ROLLBACK;
	$in_memory DISCARD TEMP; SELECT to_regclass('t') IS NULL AND to_regclass('s') IS NULL;", "t\nt t_pkey\nt\n");
says('a table that has moved is no longer counted', "CREATE EXTENSION plimsoll; CREATE TEMP TABLE t (a int);
	SELECT tables FROM plimsoll_temp_catalog; CREATE TEMP VIEW v AS SELECT a FROM t;
	SELECT tables FROM plimsoll_temp_catalog; DROP EXTENSION plimsoll;", "1\n");
for my $case ([ off => '10' ], [ on => '-1' ])
{
	my ($setting, $figure) = @$case;
	says("$setting: what ANALYZE noted in a transaction that moved the table and was rolled back",
		"SET enable_temp_memory_catalog = $setting; CREATE TEMP TABLE t (a int, b int); BEGIN;
		CREATE STATISTICS pg_temp.x ON a, b FROM t; INSERT INTO t SELECT g, g FROM generate_series(1, 10) g; ANALYZE t;
		ROLLBACK; SELECT reltuples FROM pg_class WHERE relname = 't';", "$figure\n");
}
says('a full memory catalog says so', "SET temp_memory_catalog_limit = '64kB'; CREATE TEMP TABLE keep (a int);
	DO \$\$ BEGIN FOR i IN 1..50 LOOP EXECUTE 'CREATE TEMP TABLE t' || i || ' (a int)'; END LOOP;
	EXCEPTION WHEN configuration_limit_exceeded THEN RAISE WARNING '%', SQLERRM; END \$\$; $in_memory",
	"WARNING:  memory catalog of temporary tables is full\nkeep\n");
subtest 'the limit is one of all memory' => sub {
	$server->psql('postgres', 'CREATE EXTENSION plimsoll;');
	my $s = session();
	ask($s, "SET temp_memory_catalog_limit = '4MB'; DO \$\$ DECLARE isfull bool := false;
		BEGIN FOR i IN 1..5000 LOOP BEGIN EXECUTE 'CREATE TEMP TABLE t' || i || ' (a int)';
		EXCEPTION WHEN configuration_limit_exceeded THEN isfull := true; END; COMMIT; EXIT WHEN isfull; END LOOP;
		END \$\$;");
	my $used = ask($s, "SELECT sum(used_bytes) FROM pg_backend_memory_contexts
		WHERE name ~ '^memory catalog|^Plimsoll temp relations';");
	cmp_ok($used, '>', 3.5 * 2**20, 'it is used');
	cmp_ok($used, '<', 4.5 * 2**20, 'and kept');
	my $counted = ask($s, 'SELECT bytes FROM plimsoll_temp_catalog WHERE pid = pg_backend_pid();');
	cmp_ok(abs($used - $counted), '<', 0.02 * $used, 'rows, keys, undo and ownership are all counted');
	is(ask($s, "SET client_min_messages = error; DO \$\$ BEGIN FOR i IN 1..20 LOOP EXECUTE 'DROP TABLE t' || i;
		END LOOP; END \$\$; CREATE TEMP TABLE again (a int); SELECT count(*) FROM again;"), "0\n",
		'dropped tables make room');
	leave($s);
	$server->psql('postgres', 'DROP EXTENSION plimsoll;');
};
for my $setting (qw(off on))
{
	my $add = sub { "DO \$\$ BEGIN EXECUTE format('ALTER TABLE t ADD b text DEFAULT %L', $_[0]);
		EXCEPTION WHEN program_limit_exceeded THEN RAISE WARNING '%', SQLERRM; END \$\$;" };
	says("$setting: a catalog row that fits no page is refused at once", "SET enable_temp_memory_catalog = $setting;
		CREATE TEMP TABLE t (a int); @{[ $add->(q{(SELECT string_agg(md5(g::text), '')
		FROM generate_series(1, 400) g)}), $add->(q{repeat('x', 100000)}) ]} CREATE TEMP VIEW v AS SELECT length(b)
		FROM t; INSERT INTO t VALUES (1); SELECT * FROM v;",
		"WARNING:  row is too big: size 12968, maximum size 8160\n100000\n");
}
says('PREPARE TRANSACTION refuses', "BEGIN; CREATE TEMP TABLE t (a int); PREPARE TRANSACTION 'x';",
	"ERROR:  cannot PREPARE a transaction that has operated on temporary objects\n");
says('a plan over a catalog runs without workers', "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET debug_parallel_query = on; CREATE TEMP TABLE t (a int);
	SELECT count(*) FROM pg_class WHERE relname = 't'; SELECT 't'::regclass;", "1\nt\n");
says('a cached plan sees a table made after it', "SET plan_cache_mode = force_generic_plan;
	PREPARE p AS SELECT relname FROM pg_class WHERE relname = 't'; EXECUTE p; CREATE TEMP TABLE t (a int); EXECUTE p;
	DROP TABLE t; EXECUTE p;", "t\n");
says('SQL may change its rows', "SET allow_system_table_mods = on; CREATE TEMP TABLE t (a int);
	UPDATE pg_class SET reltuples = 5 WHERE relname = 't'; SELECT reltuples FROM pg_class WHERE relname = 't';
	COMMENT ON TABLE t IS 'x'; DELETE FROM pg_description WHERE objoid = 't'::regclass;
	SELECT obj_description('t'::regclass) IS NULL;", "5\nt\n");
says('SQL that meets a row twice changes it once', "CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1); ANALYZE t;
	UPDATE pg_class SET relpages = 7 FROM generate_series(1, 2) WHERE oid = 't'::regclass RETURNING relpages;
	DELETE FROM pg_statistic USING generate_series(1, 2) WHERE starelid = 't'::regclass RETURNING staattnum;
	MERGE INTO pg_class USING generate_series(1, 2) ON oid = 't'::regclass WHEN MATCHED THEN UPDATE SET relpages = 8;",
	"7\n1\nERROR:  MERGE command cannot affect row a second time\n"
		. "HINT:  Ensure that not more than one source row matches any one target row.\n");
says('TIDs that no row has', "CREATE TEMP TABLE t (a int); SELECT count(*) FROM pg_class
	WHERE ctid IN ('(3758096384,0)', '(3758096385,0)', '(3758096384,257)');", "0\n");
says('TID ranges, both directions', "CREATE TEMP TABLE zz1 (a int); CREATE TEMP TABLE zz2 (a int); BEGIN;
	DECLARE c SCROLL CURSOR FOR SELECT relname FROM pg_class WHERE ctid >= (SELECT max(ctid) FROM pg_class
	WHERE ctid < '(3758096384,0)'); MOVE 1 FROM c; FETCH ALL FROM c; FETCH BACKWARD 1 FROM c; MOVE BACKWARD ALL FROM c;
	MOVE 1 FROM c; FETCH 1 FROM c; COMMIT; SELECT (SELECT relname FROM pg_class WHERE ctid BETWEEN g AND g)
	FROM (SELECT ctid FROM pg_class WHERE relname ~ '^zz' ORDER BY 1) s(g); SELECT count(*) FROM pg_class
	WHERE ctid < '(3758096384,0)' AND relname ~ '^zz';",
	"zz1\nzz2\nzz2\nzz1\nzz1\nzz2\n0\n");
for my $plan (qw(seq index bitmap indexonly))
{
	my $only = join ' ', map { "SET enable_${_}scan = " . ($_ eq $plan || ($plan eq 'indexonly' && $_ eq 'index') ? 'on'
		: 'off') . ';' } qw(seq index bitmap indexonly);
	says("$plan scan, both directions", "$only CREATE TEMP TABLE zz1 (a int); CREATE TEMP TABLE zz2 (a int);
		CREATE TABLE zz15 (a int); BEGIN; DECLARE c SCROLL CURSOR FOR SELECT relname FROM pg_class
		WHERE relname IN ('zz1', 'zz15', 'zz2') ORDER BY relname COLLATE \"C\"; FETCH 2 FROM c; FETCH 2 FROM c;
		FETCH BACKWARD 2 FROM c; COMMIT; DROP TABLE zz15;", "zz1\nzz15\nzz2\nzz2\nzz15\n");
}
subtest 'the frozen horizon of the database waits for its tables' => sub {
	my $s = session();
	ask($s, 'CREATE TEMP TABLE t (a int);');
	my $mine = ask($s, "SELECT relfrozenxid FROM pg_class WHERE relname = 't';");
	$server->psql('postgres', 'SELECT pg_current_xact_id();' x 200);
	$server->psql('postgres', 'VACUUM FREEZE;');
	chomp(my $database = $server->psql('postgres', "SELECT datfrozenxid FROM pg_database WHERE datname = 'postgres';"));
	cmp_ok($database, '<=', $mine, 'while they live');
	my $horizon = sub { $server->psql('postgres', "VACUUM FREEZE; SELECT datfrozenxid FROM pg_database
		WHERE datname = 'postgres';") };
	ask($s, 'CREATE TEMP TABLE u (a int); VACUUM FREEZE t;');
	cmp_ok($horizon->(), '>', $mine, 'frozen ones hold it back no longer');
	$mine = ask($s, "SELECT relfrozenxid FROM pg_class WHERE relname = 'u';");
	$server->psql('postgres', 'SELECT pg_current_xact_id();' x 200);
	cmp_ok($horizon->(), '<=', $mine, '... but the others do');
	ask($s, 'DROP TABLE u; VACUUM FREEZE t;');
	cmp_ok($horizon->(), '>', $mine, '... until they are gone');
	my $running = session();
	chomp(my $xid = ask($running, 'BEGIN; SELECT pg_current_xact_id();'));
	$server->psql('postgres', 'SELECT pg_current_xact_id();' x 200);
	ask($s, 'VACUUM FREEZE t; CREATE TEMP TABLE w (a int);');
	cmp_ok(ask($s, "SELECT relfrozenxid FROM pg_class WHERE relname = 't';"), '>', $xid,
		'a frozen table is newer than what runs elsewhere');
	is(ask($s, "SELECT relfrozenxid FROM pg_class WHERE relname = 'w';"), "$xid\n",
		'... and a table made then is older');
	ask($running, 'COMMIT;');
	leave($running);
	cmp_ok($horizon->(), '<=', $xid, '... which holds the horizon back again');
	leave($s);
	$server->psql('postgres', 'VACUUM FREEZE;');
	chomp($database = $server->psql('postgres', "SELECT datfrozenxid FROM pg_database WHERE datname = 'postgres';"));
	cmp_ok($database, '>', $mine, 'not longer');
};
my $files = "SELECT count(*) FROM pg_ls_dir('base/' || (SELECT oid FROM pg_database WHERE datname = 'postgres')) f
	WHERE f ~ '^t\\d';";
subtest 'a session with more tables than locks leaves nothing when it ends' => sub {
	my $s = session();
	ask($s, "CREATE TEMP SEQUENCE s; DO \$\$ BEGIN FOR i IN 1..3000 LOOP EXECUTE 'CREATE TEMP TABLE t' || i ||
		' (a int, b text) ON COMMIT ' || CASE WHEN i < 10 THEN 'DELETE' ELSE 'PRESERVE' END || ' ROWS';
		IF i % 20 = 0 THEN COMMIT; END IF; END LOOP; END \$\$;");
	is(ask($s, "SELECT count(*) FROM pg_class WHERE relname ~ '^t\\d+\$';"), "3000\n", 'they are there');
	leave($s);
	is($server->psql('postgres', $files), "0\n", 'no file');
	is($server->psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 's';"), "0\n",
		'nothing of what was in the real catalogs');
	unlike($server->log, qr/FATAL|out of shared memory/, 'no complaint');
};
subtest 'a killed session leaves nothing' => sub {
	my $s = session();
	ask($s, 'CREATE TEMP TABLE t (a int, b text);');
	kill 'KILL', $s->{backend};
	leave($s);
	# Before it has noticed, it is the old one that answers.
	ok(holds(sub { !kill 0, $s->{backend} }), 'the server notices');
	ok(holds(sub { $server->psql('postgres', 'SELECT 1;') eq "1\n" }), '... and comes back');
	is($server->psql('postgres', "SELECT count(*) FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace
		WHERE nspname LIKE 'pg_temp%');"), "0\n", 'no row');
	is($server->psql('postgres', $files), "0\n", 'no file');
};
unlike($server->log, qr/TRAP|PANIC/, 'no assertion failed');
done_testing();
