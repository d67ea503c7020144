# Parallel scans of temporary tables: what the session did with its table before × kinds of scan × other settings. Each
# case must say the same with temp_parallel_scans off, where no worker can read the table, and on, where one does.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   CASES=all    each state with all settings; otherwise with one of them
#   STATES=…     a regular expression: the states to play; defaults to all
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $server = Plimsoll::Server->new($prefix, autovacuum => 'off', max_worker_processes => 24,
	max_parallel_workers => 24, max_prepared_transactions => 2, allow_in_place_tablespaces => 'on');

$server->psql('postgres', <<'END');
CREATE TABLE p (id int PRIMARY KEY, name text) WITH (parallel_workers = 2);
INSERT INTO p SELECT g, 'permanent ' || g FROM generate_series(1, 4000) g;
CREATE TABLESPACE elsewhere LOCATION '';
CREATE FUNCTION rows_of_u(n int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS
	$$ BEGIN RETURN (SELECT count(*) FROM u); END $$;
CREATE FUNCTION locks_u(n int) RETURNS int LANGUAGE plpgsql PARALLEL RESTRICTED AS
	$$ BEGIN PERFORM FROM u FOR UPDATE; RETURN n; END $$;
VACUUM ANALYZE;
END

my $forced = <<'END';
SET client_min_messages = warning;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0; SET max_parallel_workers_per_gather = 2; SET jit = off;
SET cpu_tuple_cost = 1; SET cpu_index_tuple_cost = 1;
END
my $columns = '(id int, name text, long text)';
# Each 50th value is stored out of line.
sub rows_of
{
	my ($first, $last) = @_;
	return "SELECT g AS id, repeat('n' || g % 97 || ' ', 15) AS name, CASE WHEN g % 50 = 0 THEN (SELECT
		string_agg(md5(i || ' ' || g), '') FROM generate_series(1, 150) i) END AS long
		FROM generate_series($first, $last) g";
}
sub fill { return 'INSERT INTO t ' . rows_of(@_) . ';' }
my $indexed = 'CREATE INDEX t_id ON t (id);';
my $make = "CREATE TEMP TABLE t $columns; $indexed " . fill(1, 3000);

my @states = (
	[ 'filled', $make ],
	[ 'filled, with its statistics', "$make ANALYZE t;" ],
	[ 'made by CREATE TABLE AS', 'CREATE TEMP TABLE t AS ' . rows_of(1, 3000) . "; $indexed" ],
	[ 'vacuumed', "$make VACUUM t;" ],
	[ 'empty', "CREATE TEMP TABLE t $columns; $indexed" ],
	[ 'emptied', "$make DELETE FROM t;" ],
	[ 'made in the transaction', "BEGIN; $make" ],
	[ 'filled in the transaction', "CREATE TEMP TABLE t $columns; $indexed BEGIN; " . fill(1, 3000) ],
	[ 'changed in the transaction', "BEGIN; $make UPDATE t SET name = name || 'u' WHERE id % 3 = 0;
		DELETE FROM t WHERE id % 5 = 0; " . fill(3001, 3500) . " DELETE FROM t WHERE id % 7 = 0 OR id > 3400;" ],
	[ 'changed twice, committed', "$make UPDATE t SET name = name || 'u'; UPDATE t SET name = 'short'
		WHERE id % 2 = 0; DELETE FROM t WHERE id % 3 = 0;" ],
	[ 'pruned while read', "$make SELECT count(*) FROM t; UPDATE t SET long = 'x' WHERE id % 2 = 0;
		UPDATE t SET name = 'y' WHERE id % 4 = 0; SELECT count(*) FROM t WHERE id > 0;" ],
	[ 'rolled back to a savepoint', "BEGIN; $make SAVEPOINT s; DELETE FROM t WHERE id % 2 = 0;
		UPDATE t SET name = 'lost'; " . fill(3001, 4000) . " ROLLBACK TO s; UPDATE t SET name = 'kept'
		WHERE id % 9 = 0;" ],
	[ 'in a savepoint', "BEGIN; $make SAVEPOINT s; DELETE FROM t WHERE id % 2 = 0; SAVEPOINT r;
		UPDATE t SET name = 'inner' WHERE id % 3 = 0;" ],
	[ 'a savepoint released', "BEGIN; $make SAVEPOINT s; DELETE FROM t WHERE id % 2 = 0; RELEASE s;
		UPDATE t SET name = 'outer' WHERE id % 3 = 0;" ],
	[ 'made in a savepoint', "CREATE TEMP TABLE t $columns; BEGIN; SAVEPOINT s; DROP TABLE t; $make" ],
	[ 'made in a savepoint, rolled back', "$make BEGIN; SAVEPOINT s; DROP TABLE t;
		CREATE TEMP TABLE t $columns; " . fill(1, 50) . ' ROLLBACK TO s;' ],
	[ 'truncated', "$make BEGIN; TRUNCATE t; " . fill(10, 2000) ],
	[ 'truncated, rolled back', "$make BEGIN; SAVEPOINT s; TRUNCATE t; " . fill(10, 2000) . ' ROLLBACK TO s;' ],
	[ 'truncated where it was made', "BEGIN; $make TRUNCATE t; " . fill(10, 2000) . ' COMMIT;' ],
	[ 'rolled back', "$make BEGIN; DELETE FROM t WHERE id % 2 = 0; " . fill(1, 900) . ' ROLLBACK;' ],
	[ 'on commit delete rows', "CREATE TEMP TABLE t $columns ON COMMIT DELETE ROWS; $indexed BEGIN; "
		. fill(1, 3000) ],
	[ 'on commit delete rows, again', "CREATE TEMP TABLE t $columns ON COMMIT DELETE ROWS; $indexed BEGIN; "
		. fill(1, 3000) . ' SELECT count(*) FROM t; COMMIT; SELECT count(*) FROM t; BEGIN; ' . fill(1, 999) ],
	[ 'on commit drop', "BEGIN; CREATE TEMP TABLE t $columns ON COMMIT DROP; $indexed " . fill(1, 3000) ],
	[ 'a cursor is open', "$make BEGIN; DECLARE c SCROLL CURSOR FOR SELECT id, name FROM t ORDER BY ctid;
		FETCH 3 FROM c; UPDATE t SET name = 'later' WHERE id % 2 = 0; DELETE FROM t WHERE id % 3 = 0;",
		'FETCH 5 FROM c;' ],
	[ 'an old snapshot', "$make BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM p;
		DELETE FROM t WHERE id % 3 = 0;" ],
	[ 'rewritten', "$make ALTER TABLE t ALTER id TYPE bigint; ALTER TABLE t ADD more text DEFAULT 'more';
		ALTER TABLE t DROP more; VACUUM FULL t;" ],
	[ 'rewritten in a transaction', "BEGIN; $make ALTER TABLE t ALTER id TYPE bigint; CLUSTER t USING t_id;
		REINDEX TABLE t; DELETE FROM t WHERE id % 8 = 0;" ],
	[ 'a partitioned table', "CREATE TEMP TABLE t $columns PARTITION BY RANGE (id); CREATE TEMP TABLE t1
		PARTITION OF t FOR VALUES FROM (0) TO (1000); CREATE TEMP TABLE t2 PARTITION OF t FOR VALUES FROM (1000)
		TO (9000); $indexed" . fill(1, 3000) ],
	[ 'a child', "DROP TABLE IF EXISTS parent CASCADE; CREATE TABLE parent (id int, name text, long text);
		INSERT INTO parent SELECT g, 'of the parent', NULL FROM generate_series(1, 2000) g;
		CREATE TEMP TABLE child () INHERITS (parent); INSERT INTO child " . rows_of(1, 2000)
		. '; CREATE INDEX child_id ON child (id); CREATE TEMP VIEW t AS SELECT * FROM parent;' ],
	[ 'with a view', "$make CREATE TEMP VIEW v AS SELECT * FROM t;" ],
	[ 'elsewhere', "SET temp_tablespaces = elsewhere; $make" ],
	[ 'copied in', "CREATE TEMP TABLE t $columns; $indexed COPY t FROM PROGRAM
		'seq 1 1000 | sed s/\$/,name,long/' (FORMAT csv);" ],
	[ 'all values out of line', "CREATE TEMP TABLE t $columns; ALTER TABLE t ALTER long SET STORAGE EXTERNAL;
		$indexed INSERT INTO t SELECT g, 'n', repeat(md5(g::text), 300) FROM generate_series(1, 200) g;
		BEGIN; UPDATE t SET long = long || 'u' WHERE id % 2 = 0; SAVEPOINT s; UPDATE t SET long = 'lost';
		ROLLBACK TO s;" ],
);

my $sum = q{count(*), sum(id), md5(string_agg(name || coalesce(md5(long), ''), ',' ORDER BY id, name, long))};
my @scans = (
	[ '', "SELECT $sum FROM t;" ],
	[ '', 'SELECT count(*), sum(t.id), count(p.name) FROM t JOIN p USING (id);' ],
	[ 'SET enable_hashjoin = off; SET enable_mergejoin = off;',
		'SELECT count(*), sum(length(t.name)) FROM p JOIN t USING (id) WHERE p.id < 300;' ],
	[ 'SET enable_hashjoin = off; SET enable_nestloop = off;',
		'SELECT count(*), sum(length(t.name)) FROM p LEFT JOIN t USING (id);' ],
	[ '', 'SELECT count(*) FROM t a JOIN t b ON a.id = b.id + 1;' ],
	[ '', q{SELECT count(*), sum(hashtext(long)) FROM t WHERE long LIKE '%ab%' OR long IS NULL;} ],
	[ '', 'SELECT id, name, md5(long) FROM t WHERE id % 100 = 7 ORDER BY id, name, long;' ],
	[ '', 'SELECT id % 7, count(*), max(name) FROM t GROUP BY 1 ORDER BY 1;' ],
	[ '', 'SELECT count(*) FROM p WHERE EXISTS (SELECT FROM t WHERE t.id = p.id);' ],
	[ '', 'SELECT count(*) FROM p WHERE id NOT IN (SELECT id FROM t WHERE id IS NOT NULL);' ],
	[ '', 'SELECT sum(length((SELECT min(long) FROM t WHERE t.id = p.id))) FROM p WHERE id < 200;' ],
	[ '', 'SELECT count(*) FROM p WHERE id > (SELECT avg(id) FROM t);' ],
	[ '', 'SELECT count(*), sum(id) FROM (SELECT id FROM t UNION ALL SELECT id FROM p UNION ALL SELECT id FROM t) a;' ],
	[ 'SET enable_seqscan = off; SET enable_bitmapscan = off;',
		"SELECT $sum FROM t WHERE id BETWEEN 100 AND 2500;" ],
	[ 'SET enable_seqscan = off; SET enable_bitmapscan = off;',
		'SELECT count(*), sum(id) FROM t WHERE id BETWEEN 100 AND 2500;' ],
	[ 'SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;',
		"SELECT $sum FROM t WHERE id BETWEEN 100 AND 2500 OR id IN (3, 5, 7);" ],
	[ q{SET plan_cache_mode = force_generic_plan; PREPARE q(int) AS SELECT count(*), sum(id) FROM t WHERE id > $1;},
		'EXECUTE q(5); EXECUTE q(1000); DEALLOCATE q;' ],
	[ 'SET debug_parallel_query = on;', "SELECT $sum FROM t;" ],
	[ 'SET debug_parallel_query = on;', 'SELECT ctid, id, md5(long) FROM t WHERE id < 9 ORDER BY 1, 2, 3 LIMIT 9;' ],
	[ 'SET parallel_leader_participation = off;', "SELECT $sum FROM t;" ],
	[ 'SET max_parallel_workers = 0;', "SELECT $sum FROM t;" ],
	[ '', "UPDATE t SET name = name || '!' WHERE id % 13 = 0; SELECT $sum FROM t;" ],
	[ '', "DELETE FROM t WHERE id % 17 = 0; SELECT $sum FROM t; SELECT $sum FROM t;" ],
	[ '', "INSERT INTO t SELECT id + 10000, name, long FROM t WHERE id % 4 = 0; SELECT $sum FROM t;" ],
);
my $reset = 'RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_indexscan; RESET enable_indexonlyscan;
	RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop; RESET debug_parallel_query;
	RESET plan_cache_mode; RESET parallel_leader_participation; RESET max_parallel_workers;';

my %everything = (enable_temp_memory_catalog => 'on', map { ("temp_$_" => 'on') }
	qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));
my @settings = (
	[ 'everything', { %everything, temp_buffers => 4096 } ],
	[ 'everything, few buffers', { %everything, temp_buffers => 100 } ],
	[ 'nothing else', { temp_buffers => 1024 } ],
	[ 'nothing else, few buffers', { temp_buffers => 100 } ],
	[ 'files, async commit', { temp_lazy_files => 'on', temp_async_commit => 'on' } ],
);

sub script
{
	my ($state) = @_;
	my $text = "$forced\\set ON_ERROR_ROLLBACK on\n$state->[1]\n";
	for my $n (0 .. $#scans)
	{
		$text .= "$scans[$n][0]\n\\qecho === $n\n$scans[$n][1]\n" . ($state->[2] // '') . "\n\\qecho === -\n$reset\n";
	}
	return "$text\\qecho === end\nCOMMIT; SELECT count(*), sum(id) FROM t;\n";
}

sub said
{
	my ($script, %settings) = @_;
	my $text = $server->psql('postgres', $script, %settings);
	$text =~ s/^psql:[^ ]*: //mg;
	$text =~ s/pg_(toast_)?temp_\d+/pg_temp/g;
	return $text;
}

sub workers { return $server->psql('postgres', 'SELECT sum(parallel_workers_launched) FROM pg_stat_database;') }

my ($differ, $played, %launched) = (0, 0, on => 0, off => 0);
for my $s (0 .. $#states)
{
	next if $states[$s][0] !~ ($ENV{STATES} // '');
	for my $c (0 .. $#settings)
	{
		next if ($ENV{CASES} // '') ne 'all' && $c != $s % @settings;
		my $state = $states[$s];
		my %text;
		for my $with (qw(off on))
		{
			my $before = workers();
			$text{$with} = said(script($state), %{ $settings[$c][1] }, temp_parallel_scans => $with);
			$launched{$with} += workers() - $before;
		}
		my ($off, $on) = @text{qw(off on)};
		$played++;
		next if $off eq $on;
		$differ++;
		fail("$state->[0], $settings[$c][0]");
		my @off = split /^/, $off;
		my @on = split /^/, $on;
		my $n = 0;
		$n++ while defined $off[$n] && defined $on[$n] && $off[$n] eq $on[$n];
		my $from = $n < 4 ? 0 : $n - 4;
		diag "off:\n", map({ substr($_ // '', 0, 200) } @off[$from .. $n + 2]), "on:\n",
			map { substr($_ // '', 0, 200) } @on[$from .. $n + 2];
	}
}
is($differ, 0, "the same with and without workers, $played sessions");
cmp_ok($launched{on} - $launched{off}, '>=', 15 * $played,
	"$launched{on} workers, $launched{off} with the setting off");

# Plans
my %on = (%everything, temp_parallel_scans => 'on');
my $explain = 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off)';
sub on { return $server->psql('postgres', "$forced $_[0]", %on, @_[1 .. $#_]) }
my $join = on("$make ANALYZE t; SET enable_nestloop = off; $explain SELECT count(*) FROM t JOIN p USING (id);");
like($join, qr/Workers Launched: 2/, 'a join of a temporary with a permanent table has workers');
like($join, qr/Parallel Seq Scan on t\b/, '... that share the scan of the temporary one');
like($join, qr/Parallel Seq Scan on p\b/, '... and that of the permanent one');
like(on("$make SET enable_seqscan = off; SET enable_bitmapscan = off; SET parallel_leader_participation = off;
	$explain SELECT count(name) FROM t WHERE id > 5;"), qr/Workers Launched: 2.*Parallel Index Scan using t_id on t\b/s,
	'a parallel index scan');
like(on("$make SET enable_seqscan = off; SET enable_indexscan = off; SET parallel_leader_participation = off;
	$explain SELECT count(name) FROM t WHERE id > 5;"), qr/Workers Launched: [12].*Parallel Bitmap Heap Scan on t\b/s,
	'a parallel bitmap scan');
like(on("$make CREATE TEMP TABLE made AS SELECT id, max(long) AS long FROM t GROUP BY id; $explain
	CREATE TEMP TABLE more AS SELECT count(*) FROM made;"), qr/Workers Launched: [12].*Parallel Seq Scan on made\b/s,
	'a temporary table is filled from another with workers');
unlike(on("$make $explain SELECT count(*) FROM t;", temp_parallel_scans => 'off'), qr/Gather/,
	'off: none for a temporary table');
for my $kind ([ 'a catalog in memory', 'pg_class JOIN t ON relname = name' ], [ 'a sequence', 's' ])
{
	unlike(on("$make CREATE TEMP SEQUENCE s; $explain SELECT count(*) FROM $kind->[1];"),
		qr/Launched: [1-9]|ERROR/, "no worker for $kind->[0]");
}

# What writing costs
my $plain = "SET jit = off; CREATE TEMP TABLE t (id int, name text); INSERT INTO t SELECT g, repeat('x', 800)
	FROM generate_series(1, 30000) g; ANALYZE t;";
my $cost = q{SET cpu_tuple_cost = 1; EXPLAIN SELECT id FROM t WHERE id % 9 < 0;};
my $start = sub { my ($text) = @_; $text =~ /Parallel Seq Scan on t +\(cost=(\d+\.\d+)/ ? $1 : $text };
my $dirty = $start->($server->psql('postgres', "$plain $cost", %on, temp_buffers => 20000));
my $clean = $start->($server->psql('postgres', "$plain SET debug_parallel_query = on; SELECT count(*) FROM t;
	RESET debug_parallel_query; $cost", %on, temp_buffers => 20000));
cmp_ok($dirty, '>=', 1.3 * 3000, 'pages to write have their price');
cmp_ok($clean, '<', $dirty / 20, '... once');

# Nothing is written while workers read. They alone read first, so that pages are clean and the leader's lack hint bits.
my $buffers = 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT count(*) FROM t;';
my $stale = "$make UPDATE t SET name = 'x' WHERE id % 2 = 0; SET parallel_leader_participation = off;
	SELECT count(*) FROM t; RESET parallel_leader_participation;";
like(on("$stale SET max_parallel_workers_per_gather = 0; $buffers"), qr/Buffers: local .*dirtied=/,
	'a scan sets hint bits and prunes');
my $alone = on("$stale SET max_parallel_workers = 0; $buffers");
like($alone, qr/Workers Launched: 0/, 'in parallel mode');
unlike($alone, qr/dirtied=/, '... it does not');

# What workers must not read
my $u = 'CREATE TEMP TABLE u (a int); INSERT INTO u SELECT g FROM generate_series(1, 10) g;';
my $error = qr/ERROR:  cannot access temporary tables during a parallel operation/;
for my $settings ({%on}, { temp_parallel_scans => 'on' })
{
	like($server->psql('postgres', "$forced $make $u SET parallel_leader_participation = off;
		SELECT sum(rows_of_u(id)) FROM t;", %$settings), $error, 'no other temporary table than those of the plan');
}
like(on("$make $u SELECT max(locks_u(id)) FROM t WHERE id < 3;"),
	qr/ERROR:  cannot lock rows of temporary tables during a parallel operation/, 'rows are not locked meanwhile');
like(on("$make $u SELECT locks_u(1);"), qr/^1$/m, '... otherwise they are');

# What workers get or prepare besides the tables that they scan: values out of line of a table that the leader alone
# reads, and indexes of sub-selects above the Gather. Stock PostgreSQL fails with such values if the scan is parallel.
my $far = q{SET parallel_leader_participation = off; SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;
	CREATE TEMP TABLE v (id int, long text, words text[], pair p, packed text);
	ALTER TABLE v ALTER long SET STORAGE EXTERNAL, ALTER words SET STORAGE EXTERNAL, ALTER pair SET STORAGE EXTERNAL;
	INSERT INTO v SELECT g, 'permanent ' || g || repeat(' ', 5000), ARRAY['a', 'permanent ' || g || repeat(' ', 5000)],
		ROW(g, 'permanent ' || g || repeat(' ', 5000))::p, (SELECT 'permanent ' || g || ' ' ||
		string_agg(md5(i::text), repeat(' ', 40)) FROM generate_series(1, 200) i) FROM generate_series(1, 9) g;
	CREATE FUNCTION pg_temp.below(n int) RETURNS SETOF bigint LANGUAGE plpgsql AS $$ DECLARE x text;
		BEGIN SELECT long INTO x FROM v WHERE id = n; RETURN QUERY SELECT count(*) FROM p WHERE name < x; END $$;
	CREATE TEMP TABLE b (id int, at point); INSERT INTO b SELECT g, point(g, g) FROM generate_series(1, 9000) g;
	CREATE INDEX b_id ON b USING brin (id); CREATE INDEX b_at ON b USING spgist (at);
	ALTER TABLE b SET (parallel_workers = 0); };
for my $case (
	[ 'a result of the leader', 'SELECT count(*) FROM p WHERE name < (SELECT long FROM v WHERE id = 3);' ],
	[ '... compressed', 'SELECT count(*) FROM p WHERE name < (SELECT packed FROM v WHERE id = 3);' ],
	[ '... another for each rescan', 'SELECT g, (SELECT count(*) FROM p WHERE name < (SELECT long FROM v
		WHERE v.id = g)) FROM generate_series(1, 10) g;' ],
	[ '... an array', 'SELECT count(*) FROM p WHERE name < ANY ((SELECT words FROM v WHERE id = 3)::text[]);' ],
	[ '... an array made in the query', 'SELECT count(*) FROM p
		WHERE name < ANY ((SELECT array_agg(long) FROM v)::text[]);' ],
	[ '... a record', 'SELECT count(*) FROM p WHERE name < ((SELECT pair FROM v WHERE id = 3)).name;' ],
	[ '... a row', 'SELECT count(*) FROM p WHERE name < ((SELECT v FROM v WHERE id = 3)).long;' ],
	[ 'a parameter', 'SELECT pg_temp.below(3); SELECT pg_temp.below(9);' ],
	[ 'BRIN above the Gather', 'SELECT n, n IN (SELECT id FROM b WHERE id < 9) FROM (SELECT count(*) AS n FROM p) a;' ],
	[ 'SP-GiST above the Gather', q{SET enable_indexscan = off; SELECT n, n IN (SELECT id FROM b
		WHERE at <@ box '((0, 0), (9, 9))') FROM (SELECT count(*) AS n FROM p) a;} ],
	[ 'BRIN before the Gather', 'SELECT count(*) FROM p WHERE id > (SELECT count(*) FROM b WHERE id < 9);' ],
	[ 'a merge of 200 partitions', q{SET debug_parallel_query = on; SET enable_sort = off;
		CREATE TEMP TABLE m (k int, id int) PARTITION BY LIST (k); DO $$ BEGIN FOR g IN 1 .. 200 LOOP
		EXECUTE format('CREATE TEMP TABLE m%s PARTITION OF m FOR VALUES IN (%s)', g, g); END LOOP; END $$;
		CREATE INDEX ON m (id); INSERT INTO m SELECT g % 200 + 1, g FROM generate_series(1, 2000) g;
		SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM m;} ],
)
{
	for my $others ({%everything}, {})
	{
		my %text;
		$text{alone} = $server->psql('postgres', "$forced $far SET max_parallel_workers = 0; $case->[1]", %$others,
			temp_buffers => 1024);
		my $before = workers();
		$text{on} = $server->psql('postgres', "$forced $far $case->[1]", %$others, temp_buffers => 1024,
			temp_parallel_scans => 'on');
		is($text{on}, $text{alone}, "$case->[0], with " . (%$others ? 'everything' : 'nothing else'));
		cmp_ok(workers() - $before, '>', 0, '... with workers');
	}
}

# Files
sub files { return grep { m{/t\d+_\d+[^/]*$} } glob "$server->{dir}/data/base/*/t*" }
my $shell = "\\! ls $server->{dir}/data/base/*/t*_* 2>/dev/null | wc -l\n";
is(on("CREATE TEMP TABLE t (id int); INSERT INTO t SELECT g FROM generate_series(1, 5000) g;
	CREATE TEMP TABLE beside (a int PRIMARY KEY, b text);\n$shell SELECT count(*) FROM t;\n$shell
	DROP TABLE t;\n$shell"),
	"0\n5000\n1\n0\n", 'one file for the table that is scanned, none for others');
is(join(' ', files()), '', 'none is left');

# A disk that is full. Shared memory counts as a file to this limit, but is small.
SKIP:
{
	skip 'no prlimit', 4 if system('prlimit --version >/dev/null 2>&1') != 0;
	# The limit may be changed by who runs the server.
	my $prlimit = defined $server->{user} ? "setpriv --reuid=$server->{user} --regid="
		. (getpwnam $server->{user})[3] . ' --clear-groups prlimit' : 'prlimit';
	for my $lazy (qw(on off))
	{
		my $full = on(qq{CREATE TEMP TABLE t (id int, name text);
			INSERT INTO t SELECT g, repeat('x', 500) FROM generate_series(1, 15000) g;
			SELECT pg_backend_pid() AS pid \\gset\n\\setenv BACKEND :pid
			\\! $prlimit --pid=\$BACKEND --fsize=4000000:
			SELECT count(*) FROM t;
			SET max_parallel_workers_per_gather = 0;
			SELECT count(*), sum(length(name)) FROM t;
			SET max_parallel_workers_per_gather = 2;
			\\! $prlimit --pid=\$BACKEND --fsize=unlimited:
			SELECT count(*), sum(length(name)) FROM t;}, temp_lazy_files => $lazy, temp_buffers => 4096);
		like($full, qr/ERROR:  could not (?:extend|write).*CONTEXT:  writing a temporary relation for parallel/s,
			"lazy files $lazy: a full disk fails the query");
		like($full, qr/workers\n15000\|7500000\n15000\|7500000\n\z/, '... and the table stays readable');
	}
}

# Cancelled at any moment
my $cancelled = 0;
for my $round (1 .. 5)
{
	my ($pid_file, $over, $safe) = map { "$server->{dir}/$_.$round" } qw(pid over safe);
	my $killer = fork() // die "fork: $!";
	if (!$killer)
	{
		my $backend;
		until (-e $over)
		{
			select undef, undef, undef, rand(0.03);
			if (!$backend && open my $file, '<', $pid_file) { ($backend) = (<$file> // '') =~ /^(\d+)\n/ }
			last if $backend && !kill INT => $backend; # the server has crashed
		}
		open my $file, '>', $safe;
		require POSIX;
		POSIX::_exit(0);
	}
	my $text = eval { on("$make\nCREATE TEMP TABLE beside AS TABLE t;\nSELECT pg_backend_pid() \\g $pid_file\n"
		. "UPDATE t SET name = name;\nSELECT count(name) FROM t JOIN p USING (id);\nSELECT count(*) FROM t, beside b
		WHERE t.id = b.id + 1;\n" x 20 . "\\! touch $over; until [ -e $safe ]; do sleep 0.01; done\n\\qecho === end\n"
		. 'SELECT count(*), sum(id), count(long) FROM t; SELECT count(*), count(long), sum(b.id) FROM t
		JOIN beside b USING (id, long);', temp_buffers => $round % 2 ? 100 : 2000) } // $@;
	open my $ended, '>', $over or die "$over: $!"; # also if psql lost its session before
	waitpid $killer, 0;
	$cancelled++ while $text =~ /canceling statement due to user request/g;
	like($text, qr/=== end\n3000\|4501500\|60\n60\|60\|91500\n\z/, "round $round: what was there is there")
		or diag substr($text, -600);
}
cmp_ok($cancelled, '>', 0, 'commands were cancelled');
is(join(' ', files()), '', 'and no file is left');
unlike($server->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed');
done_testing();
