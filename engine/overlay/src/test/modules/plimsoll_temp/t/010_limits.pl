# What is limited: objects that tables in memory depend on, shared memory for the
# rows that parallel workers need, transaction ids.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
# A process that may make no large files can still write to a small segment of WAL.
$node->init(extra => ['--wal-segsize=1']);
$node->append_conf('postgresql.conf', "autovacuum = off\n" . join '', map { "$_ = on\n" } 'enable_temp_memory_catalog',
	map { "temp_$_" } qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION plimsoll_temp');

# There is room for so many objects (MAX_OBJECTS); a table that needs more moves to
# the real catalogs, and takes no shared memory that is meant for others.
my ($room, $each) = (16384, 500);
my $tables = int($room / $each) + 2;
$node->safe_psql('postgres', "CREATE TABLE drawn (n int); DO \$\$ BEGIN FOR i IN 1..@{[ $tables * $each ]} LOOP
	EXECUTE 'CREATE FUNCTION f' || i || '() RETURNS int LANGUAGE sql RETURN 1'; END LOOP; END \$\$");
my $session = $node->background_psql('postgres');
my $make = sub {
	my $n = shift;
	return "CREATE TEMP TABLE t$n (a int DEFAULT " . join('+', map { 'f' . ($n * $each + $_) . '()' } 1 .. $each) . ');';
};
$session->query_safe($make->($_)) foreach 0 .. $tables - 1;
my $held = $node->safe_psql('postgres', 'SELECT held_references()');
cmp_ok($held, '<=', $room, 'no more objects are held than there is room for');
cmp_ok($held, '>', $room - $each, '... and nearly as many');
my $seen = $node->safe_psql('postgres', q{SELECT string_agg(relname, ' ' ORDER BY oid) FROM pg_class WHERE relname ~ '^t\d+$'});
is($seen, join(' ', map { "t$_" } int($room / $each) .. $tables - 1), 'the tables that found no room have moved');
is($session->query_safe("INSERT INTO t$_ DEFAULT VALUES; SELECT a FROM t$_"), $each, "t$_ works")
  foreach 0, $tables - 1;
foreach my $n (1, $tables * $each)
{
	my ($code, $out, $err) = $node->psql('postgres', "DROP FUNCTION f$n()");
	like($err, qr/other objects depend on it/, "what f$n holds is not dropped");
}
$session->query_safe('DISCARD TEMP');
is($node->safe_psql('postgres', 'SELECT held_references()'), '0', 'then there is room again');
$session->query_safe($make->($tables - 1));
is($node->safe_psql('postgres', 'SELECT held_references()'), $each, '... and it is taken');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname ~ '^t\d+$'}), '0', '... in memory');
$session->quit;

# No room for the rows: the query has no workers, and no error.
$node->safe_psql('postgres', 'CREATE TABLE p WITH (parallel_workers = 2) AS SELECT g FROM generate_series(1, 20000) g');
my $forced = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET client_min_messages = error;};
my $fill = q{DO $$ BEGIN FOR i IN 1..800 LOOP EXECUTE 'CREATE TEMP TABLE t' || i
	|| ' (a int PRIMARY KEY, b text, c text, d text, e text, f text, g text, h text)'; END LOOP; END $$;};
my $query = 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) SELECT count(*), sum(g) FROM p;
	SELECT count(*), sum(g) FROM p;';
foreach my $limit ('', 'SELECT limit_files(2 << 20);')
{
	my ($code, $out, $err) = $node->psql('postgres', "$forced $fill $limit $query");
	is($err, '', $limit ? 'too little shared memory: no error' : 'enough shared memory: no error');
	like($out, $limit ? qr/Workers Launched: 0/ : qr/Workers Launched: [12]/, $limit ? '... and no workers' : '... workers');
	like($out, qr/^20000\|200010000$/m, '... and the answer');
}

# The horizon of the tables in memory is that of the oldest, whatever order they
# are frozen and dropped in.
$session = $node->background_psql('postgres');
my $oldest = q{SELECT held_horizon() = (SELECT relfrozenxid FROM pg_class WHERE relfrozenxid <> '0'
	AND relnamespace IN (pg_my_temp_schema(), (SELECT oid FROM pg_namespace
	WHERE nspname = 'pg_toast_temp_' || substring(pg_my_temp_schema()::regnamespace::text, '\d+')))
	ORDER BY age(relfrozenxid) DESC LIMIT 1)};
srand(17);
my ($agreed, $asked, $last, @live) = (0, 0, 0);
foreach my $round (1 .. 120)
{
	$node->safe_psql('postgres', 'SELECT pg_current_xact_id()') if $round % 3 == 0;
	my $t = @live ? $live[ rand @live ] : 0;
	my $what = int(rand 6);
	if ($what < 3 || @live < 2)
	{
		push @live, ++$last;
		$session->query_safe("CREATE TEMP TABLE h$last (a int, b text); INSERT INTO h$last VALUES (1, 'x')");
	}
	elsif ($what == 3) { $session->query_safe("VACUUM FREEZE h$t") }
	elsif ($what == 4) { $session->query_safe("DROP TABLE h$t"); @live = grep { $_ != $t } @live }
	else { $session->query_safe("BEGIN; DROP TABLE h$t; SAVEPOINT s; CREATE TEMP TABLE h$t (a int); ROLLBACK TO s; ROLLBACK") }
	$asked++;
	my $says = $session->query_safe($oldest);
	$agreed++ if $says eq 't';
}
is($agreed, $asked, 'the horizon is that of the oldest table');
$session->quit;

# At the limit where no transaction id is given any more, the owner's VACUUM FREEZE
# of all its tables lets the database's horizon move.
$node->safe_psql('postgres', 'ALTER DATABASE template0 ALLOW_CONNECTIONS true');
foreach my $memory ('on', 'off')
{
	$session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe("SET client_min_messages = error; SET enable_temp_memory_catalog = $memory;
		CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
		INSERT INTO t SELECT g, repeat(md5(g::text), 100) FROM generate_series(1, 100) g; CREATE TEMP TABLE u AS SELECT 1 AS n");
	my $frozen = q{SELECT min(datfrozenxid::text::bigint) FROM pg_database WHERE datname = 'postgres'};
	my $freeze = sub { $node->psql($_, 'VACUUM FREEZE') foreach qw(template0 template1 postgres) };
	$freeze->();
	my $before = $node->safe_psql('postgres', $frozen);
	my $stop = ($before + 2**31 - 3_000_000 + 200_000) % 2**32;
	$node->safe_psql('postgres', "SELECT skip_xids('$stop')");
	my $assign = 'SELECT pg_current_xact_id()';
	my $refused = sub { my ($code, $out, $err) = $node->psql('postgres', $assign); return $err };
	$freeze->();
	like($refused->(), qr/not accepting commands that assign new transaction IDs/,
		"memory catalog $memory: no transaction ids while the tables hold the horizon back");
	is($node->safe_psql('postgres', $frozen), $before, '... where it was');
	$session->query('VACUUM FREEZE');
	$freeze->();
	isnt($node->safe_psql('postgres', $frozen), $before, '... their owner freezes them, and it moves');
	is($refused->(), '', '... so there are transaction ids again');
	is($session->query_safe('SELECT count(*), sum(length(b)) FROM t'), '100|320000', '... and the rows are whole');
	$session->quit;
}

unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal/, 'nothing crashed');
$node->stop;
done_testing();
