# Parallel plans in a session that has catalog rows in memory: kinds of access to the catalogs in a worker × what the
# session did with its tables before × how the plan gets its worker. Each case must say the same on stock PostgreSQL,
# and that a worker said it.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   STOCK=DIR    the one to compare it with; defaults to the built vanilla flavour, else to the first, everything off
#   CASES=all    all cases; otherwise each access and mode with one state
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
chomp(my $stock = $ENV{STOCK} // `$engine/build path vanilla 2>/dev/null`);
$stock = $prefix if !-x "$stock/bin/postgres";

# Expressions over a permanent table p (id int, name text), where each name is 't'.
my @accesses = (
	'name::regclass::text', 'name::regclass::oid::regclass::text', q{('pg_temp.' || name)::regclass::text},
	'to_regclass(name)::text', q{to_regclass(name || '_pkey')::text}, 'to_regtype(name)::text',
	q{to_regtype(name || '[]')::text}, q{format_type(to_regtype('pg_temp.' || name), NULL)},
	'pg_table_is_visible(to_regclass(name))', q{has_table_privilege(name, 'SELECT')},
	q{has_column_privilege(name::regclass, 'i', 'UPDATE')}, 'pg_type_is_visible(to_regtype(name))',
	q{pg_get_indexdef(to_regclass(name || '_pkey'))}, q{obj_description(to_regclass(name), 'pg_class')},
	'col_description(to_regclass(name), 1)', 'ROW(1, name)::t::text', '(ROW(1, name)::t).n',
	'ARRAY[ROW(1, name)::t]::text', 'to_json(ROW(1, name)::t)::text',
	q{(jsonb_populate_record(NULL::t, jsonb_build_object('n', name))).n}, 'same(ROW(1, name)::t)::text',
	'pg_typeof(same(ROW(1, name)::t))::text', 'in_class(name)', 'in_attribute(name)', 'in_index(name)',
	'in_depend(name)', 'in_columns(name)', 'all_of_schema()', 'defined(name)', 'plain(name)', 'with_row(name)',
	'with_type(name)', 'reads_it(name)', 'makes_one(name)', q{(name || '1')::pg_temp.d::text},
	q{name::pg_temp.e::text}, 'pg_my_temp_schema()::regnamespace::text',
);
my $make = q{CREATE TEMP TABLE t (i int PRIMARY KEY, n text DEFAULT 'x'); COMMENT ON TABLE t IS 'table';
	COMMENT ON COLUMN t.i IS 'column'; INSERT INTO t VALUES (1, 'one');};
my @states = (
	[ 'no table', '' ],
	[ 'a table', $make ],
	[ 'in its transaction', "BEGIN; $make" ],
	[ 'rolled back to a savepoint', "BEGIN; $make SAVEPOINT s; ALTER TABLE t ADD more int;
		COMMENT ON TABLE t IS 'other'; CREATE TEMP TABLE u (i int); ROLLBACK TO s;" ],
	[ 'changed in a transaction', "$make BEGIN; ALTER TABLE t ADD more int; ALTER TABLE t DROP more;
		ALTER TABLE t ALTER i TYPE bigint; COMMENT ON TABLE t IS 'other';" ],
	[ 'moved to the catalogs', "$make BEGIN; CREATE TEMP VIEW v AS SELECT * FROM t;" ],
	[ 'moved, rolled back', "$make BEGIN; SAVEPOINT s; CREATE TEMP VIEW v AS SELECT * FROM t; ROLLBACK TO s;" ],
	[ 'made again', "$make BEGIN; DROP TABLE t; $make" ],
	[ 'dropped', "$make CREATE TEMP TABLE u (i int); DROP TABLE t;" ],
	[ 'another role', "$make GRANT SELECT ON t TO other; SET ROLE other;" ],
);
my @modes = (
	[ 'a parallel scan', 'SET debug_parallel_query = off;', '{query}' ],
	[ 'debug_parallel_query', 'SET debug_parallel_query = on;', '{query}' ],
	[ 'a prepared plan', 'SET debug_parallel_query = off; SET plan_cache_mode = force_generic_plan;',
		'EXECUTE q;' ],
);

my $setup = <<'END';
SET check_function_bodies = off;
CREATE ROLE other;
CREATE TABLE p (id int, name text) WITH (parallel_workers = 2);
INSERT INTO p SELECT g, 't' FROM generate_series(1, 2000) g;
ANALYZE p;
GRANT SELECT ON p TO other;
CREATE FUNCTION by_worker() RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN pg_backend_pid() <> current_setting('probe.leader')::int; END $$;
CREATE FUNCTION same(x anyelement) RETURNS anyelement LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN x; END $$;
CREATE FUNCTION in_class(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN (SELECT concat(relkind, relnatts, relhasindex) FROM pg_class WHERE relname = n
	AND relnamespace = pg_my_temp_schema()); END $$;
CREATE FUNCTION in_attribute(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN (SELECT string_agg(concat(attname, ' ', format_type(atttypid, atttypmod), ' ', atthasdef), ' '
	ORDER BY attnum) FROM pg_attribute WHERE attrelid = to_regclass(n) AND attnum > 0 AND NOT attisdropped);
	END $$;
CREATE FUNCTION in_index(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN (SELECT string_agg(indexrelid::regclass::text, ' ') FROM pg_index
	WHERE indrelid = to_regclass(n)); END $$;
CREATE FUNCTION in_depend(n text) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN (SELECT count(*) FROM pg_depend JOIN pg_constraint c ON classid = 'pg_constraint'::regclass
	AND objid = c.oid WHERE refobjid = to_regclass(n)); END $$;
CREATE FUNCTION in_columns(n text) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN (SELECT count(*) FROM information_schema.columns WHERE table_name = n
	AND table_schema ~ '^pg_temp'); END $$;
CREATE FUNCTION all_of_schema() RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN RETURN (SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C") FROM pg_class
	WHERE relnamespace = pg_my_temp_schema()); END $$;
CREATE FUNCTION defined(n text) RETURNS text
	LANGUAGE plpgsql PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	BEGIN RETURN concat(to_regclass(n), has_table_privilege(to_regclass(n), 'INSERT')); END $$;
CREATE FUNCTION plain(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE SET search_path = pg_catalog AS $$
	BEGIN RETURN concat(to_regclass(n), to_regtype(n)); END $$;
CREATE FUNCTION with_row(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$ DECLARE r t; BEGIN r.n := n;
	RETURN r::text; END $$;
CREATE FUNCTION with_type(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$ DECLARE v t.i%TYPE := 3;
	BEGIN RETURN pg_typeof(v); END $$;
CREATE FUNCTION reads_it(x text) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN (SELECT count(*)
	FROM t); END $$;
CREATE FUNCTION makes_one(n text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN CREATE TEMP TABLE made (i int); RETURN n; END $$;
END
my $start = <<'END';
\set VERBOSITY terse
\set ON_ERROR_ROLLBACK on
SET client_min_messages = warning;
SELECT set_config('probe.leader', pg_backend_pid()::text, false) <> '';
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET parallel_leader_participation = off;
CREATE DOMAIN pg_temp.d AS text CHECK (VALUE <> '');
CREATE TYPE pg_temp.e AS ENUM ('t', 'u');
END

# A session for each state: a case that fails must not end the transaction of the others.
sub script
{
	my ($state, $cases) = @_;
	my $text = $start;
	$text .= "CREATE TEMP TABLE beside (i int);\n$state->[1]\n";
	for my $case (@$cases)
	{
		my ($n, $access, $mode) = @$case;
		my $query = "SELECT DISTINCT $access, by_worker() FROM p;";
		my $play = $mode->[2] =~ s/\{query\}/$query/r;
		$text .= "\\echo === $n\n$mode->[1]\n";
		$text .= "PREPARE q AS $query\n$play\nDEALLOCATE q;\n" if $play =~ /EXECUTE/;
		$text .= "$play\n" if $play !~ /EXECUTE/;
	}
	return $text;
}

sub said
{
	my ($server, $script, %settings) = @_;
	my $text = $server->psql('postgres', $script, %settings);
	$text =~ s/^psql:[^ ]*: //mg;
	$text =~ s/pg_(toast_)?temp_\d+/pg_temp/g;
	my (undef, @parts) = split /^=== (\d+)\n/m, $text;
	return @parts;
}

my %everything = (enable_temp_memory_catalog => 'on', map { ("temp_$_" => 'on') }
	qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));
my @common = (autovacuum => 'off', max_worker_processes => 16, max_parallel_workers => 16);
my %server = (off => Plimsoll::Server->new($stock, @common), on => Plimsoll::Server->new($prefix, @common));
$server{$_}->psql('postgres', $setup) for sort keys %server;

my ($n, $different, $by_worker) = (0, 0, 0);
for my $state (0 .. $#states)
{
	my @cases;
	for my $access (0 .. $#accesses)
	{
		for my $mode (0 .. $#modes)
		{
			$n++;
			my $wanted = ($ENV{CASES} // '') eq 'all' || $n % 10 == 4 * $state % 10;
			push @cases, [ $n, $accesses[$access], $modes[$mode] ] if $wanted;
		}
	}
	my $script = script($states[$state], \@cases);
	my %off = said($server{off}, $script);
	my %on = said($server{on}, $script, %everything);
	for my $case (@cases)
	{
		my ($number, $access, $mode) = @$case;
		my ($off, $on) = map { $_->{$number} // 'nothing' } \%off, \%on;
		$by_worker++ if $on =~ /\|t$/m;
		next if $off eq $on;
		$different++;
		fail("$states[$state][0]: $access, $mode->[0]");
		diag "stock:\n${off}memory:\n$on";
	}
}
is($different, 0, 'each case says the same as on stock PostgreSQL');
cmp_ok($by_worker, '>', 60, 'most of them in a worker; the rest are errors');

# launched SESSION counts the workers of a plan; serial and parallel answers must agree.
my $grouping = 'SELECT id % 7, count(*), sum(id) FROM p GROUP BY 1';
my $costs = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
my $explain = sub { "EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $_[0];" };
sub launched
{
	my $text = $server{on}->psql('postgres', "$costs $_[0]", %everything);
	my @found = $text =~ /Workers Launched: \d+|ERROR.*/g;
	return @found ? join(' ', @found) =~ s/Workers Launched: //gr : "no Gather in $text";
}
for my $tables (0, 1, 1000)
{
	my $live = "DO \$\$ BEGIN FOR i IN 1..$tables LOOP
		EXECUTE 'CREATE TEMP TABLE live' || i || ' (id int PRIMARY KEY, name text)';
		IF i % 50 = 0 THEN COMMIT; END IF; END LOOP; END \$\$;";
	is(launched("$live @{[ $explain->($grouping) ]}"), '2', "$tables temporary tables: a grouping has its worker");
	is($server{on}->psql('postgres', "$costs $live SELECT count(*) FROM ($grouping) a;
		SET max_parallel_workers_per_gather = 0; CREATE TEMP TABLE serial AS $grouping;
		SET max_parallel_workers_per_gather = 2; CREATE TABLE parallel AS $grouping;
		TABLE serial EXCEPT TABLE parallel; SELECT count(*) FROM parallel;
		DROP TABLE parallel;", %everything), "7\n7\n",
		'... and the answer of the serial plan');
}
my $t = 'CREATE TEMP TABLE t AS SELECT id FROM p; ANALYZE t;';
is(launched("$t " . $explain->('SELECT count(*) FROM p JOIN t USING (id)')), '2',
	'the permanent part of a join with a temporary table has it');
is(launched("PREPARE q AS $grouping; EXECUTE q; $t " . $explain->('EXECUTE q')), '2',
	'a plan prepared before the table has it');
is(launched("PREPARE q AS SELECT count(*) FROM pg_class JOIN p ON relname = name; $t " . $explain->('EXECUTE q')),
	'0', 'a plan over a catalog with rows in memory has none');
is($server{on}->psql('postgres', "$costs PREPARE q AS SELECT count(*) FROM pg_class WHERE relname = 't';
	EXECUTE q; $t EXECUTE q; DROP TABLE t; EXECUTE q;", %everything), "0\n1\n0\n", '... and sees them');
is(launched("$t CREATE TABLE made AS $grouping;
	" . $explain->("CREATE TABLE made2 AS $grouping") . ' DROP TABLE made, made2;'), '2',
	'a permanent table is filled with a worker');
like($server{on}->psql('postgres', "$costs CREATE TEMP TABLE a AS SELECT id, repeat(md5(id::text), 200) AS long
	FROM p; ALTER TABLE a ALTER long SET STORAGE EXTERNAL; CREATE TEMP TABLE b AS SELECT id,
	string_agg(md5((id * g)::text), '') AS long FROM p, generate_series(1, 300) g WHERE id < 50 GROUP BY id;
	SELECT count(*), min(length(long)) FROM b;", %everything), qr/^49\|9600$/m,
	'a temporary table is filled from a parallel plan, out of line');
is(launched($explain->("CREATE TEMP TABLE made AS $grouping")), '2',
	'the first temporary table is filled with a worker');
is(launched("$t " . $explain->("CREATE TEMP TABLE made AS $grouping")), '2', '... and one along with others');
is(launched("$t BEGIN; SAVEPOINT s; " . $explain->("CREATE TEMP TABLE made AS $grouping") .
	' ROLLBACK TO s; ' . $explain->("CREATE TEMP TABLE made AS $grouping") . ' COMMIT; SELECT 1 / count(*) FROM made;'),
	'2 2', '... in savepoints, one of them rolled back');
is(launched("$t PREPARE f AS $grouping; " . $explain->('CREATE TEMP TABLE made AS EXECUTE f')), '2',
	'... from a prepared statement');
is($server{on}->psql('postgres', "$costs $t SELECT id % 7 AS k, count(*) AS n INTO TEMP made FROM p GROUP BY 1;
	CREATE TEMP TABLE long AS SELECT id, string_agg(md5((id * g)::text), '') AS s FROM p,
	generate_series(1, 90) g WHERE id < 200 GROUP BY id; ALTER TABLE long ALTER s SET STORAGE EXTERNAL;
	BEGIN; SAVEPOINT s;
	CREATE TEMP TABLE longer AS SELECT id, repeat(s, 40) AS s FROM long JOIN p USING (id); SAVEPOINT u;
	INSERT INTO longer SELECT * FROM longer; ROLLBACK TO u; COMMIT; UPDATE longer SET s = s || s WHERE id < 5;
	SELECT sum(n), count(*) FROM made; SELECT count(*), sum(length(s)) FROM longer;", %everything),
	"2000|7\n199|" . (90 * 32 * 40 * 203) . "\n", 'what has been filled so is whole, and can be changed');
# Rows and segment together would take more than the limit. The fifty tables take about half of it.
my $fifty = "DO \$\$ BEGIN FOR i IN 1..50 LOOP
	EXECUTE 'CREATE TEMP TABLE live' || i || ' (id int PRIMARY KEY, n text)'; END LOOP; END \$\$;";
my $bytes = $server{on}->psql('postgres', "CREATE EXTENSION plimsoll; $fifty
	SELECT bytes FROM plimsoll_temp_catalog WHERE pid = pg_backend_pid();", %everything);
my $limit = sub { "SET temp_memory_catalog_limit = '" . int($bytes * $_[0] / 1024) . "kB';" };
is(launched($limit->(1.1) . "$fifty " . $explain->($grouping)), '0',
	'no room for the segment: no workers, and no error');
is(launched($limit->(2.2) . "$fifty " . $explain->($grouping)), '2', 'with room they come');
unlike(launched($limit->(2.2) . "$fifty " . $explain->($grouping) . "DO \$\$ BEGIN FOR i IN 51..75 LOOP EXECUTE
	'CREATE TEMP TABLE live' || i || ' (id int PRIMARY KEY, n text)'; END LOOP; END \$\$;"), qr/ERROR/,
	'rows take the room of the segment');
is($server{on}->psql('postgres', "$t CREATE FUNCTION kind(n text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$ BEGIN RETURN coalesce(to_regclass(n)::text, 'none');
	END \$\$; CREATE INDEX p_kind ON p (kind(name)); SET enable_seqscan = off; SELECT count(*) FROM p
	WHERE kind(name) = 't'; DROP INDEX p_kind; DROP FUNCTION kind;", %everything), "2000\n",
	'an index over what the catalogs say is built in parallel');
unlike($_->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed') for values %server;
done_testing();
