# A crash in the midst of heavy work on temporary tables: everything that was
# acknowledged as durable is there, and nothing temporary is.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
temp_local_invalidation = on
temp_skip_locks = on
temp_async_commit = on
autovacuum_naptime = 1s
restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres',
	'CREATE EXTENSION amcheck; CREATE TABLE kept (client int, n int)');

my $script = $node->basedir . '/cycle.sql';
append_to_file(
	$script, q{
CREATE TEMP TABLE t (id int PRIMARY KEY, name text DEFAULT 'x', amount numeric);
INSERT INTO t SELECT g, repeat('y', g), g FROM generate_series(1, 200) g;
CREATE INDEX ON t (name);
ANALYZE t;
INSERT INTO kept SELECT :client_id, count(*) FROM t;
BEGIN;
ALTER TABLE t ADD COLUMN extra int;
SAVEPOINT s;
DROP TABLE t;
ROLLBACK TO s;
COMMIT;
DROP TABLE t;
});

sub temp_files
{
	return grep { m{/t\d+_\d+} } glob($node->data_dir . '/base/*/t*');
}

my $catalogs = join ',',
  map { "'$_'" }
  qw(pg_class pg_attribute pg_type pg_depend pg_index pg_statistic pg_constraint);
my $damage = qq{
	SELECT count(*) FROM (
		SELECT bt_index_check(indexrelid, true) FROM pg_index
		WHERE indrelid::regclass::text IN ($catalogs)) c};

# A backend aborts when it panics.
my %signal = ('kill of a backend' => 'KILL', 'panic of a backend' => 'ABRT');

foreach my $how (
	'immediate stop',
	'kill of a backend',
	'panic of a backend',
	'kill of the postmaster')
{
	my $pgbench = IPC::Run::start(
		[
			'pgbench', '--no-vacuum', '--client' => 4, '--time' => 60,
			'--file' => $script, $node->connstr('postgres')
		],
		'>' => \my $out,
		'2>' => \my $err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	$node->poll_query_until('postgres', 'SELECT count(*) > 100 FROM kept')
	  or die "no cycles";

	# Whoever reads a row that another session has committed may rely on it.
	my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM kept');
	if ($how eq 'immediate stop')
	{
		$node->stop('immediate');
		$pgbench->finish;
		$node->start;
	}
	elsif ($how eq 'kill of the postmaster')
	{
		$node->kill9;
		$pgbench->finish;
		# its children have to notice first
		foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
		{
			last if $node->start(fail_ok => 1);
			select(undef, undef, undef, 0.1);
			# what an attempt that timed out may have left
			$node->stop('fast', fail_ok => 1);
		}
	}
	else
	{
		my $pid = $node->safe_psql('postgres',
			q{SELECT pid FROM pg_stat_activity
			  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1}
		);
		kill $signal{$how}, $pid;
		$pgbench->finish;
		$node->poll_query_until('postgres', 'SELECT true');
	}

	cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM kept'),
		'>=', $before, "$how: what was committed is there");
	is(scalar(temp_files()), 0, "$how: no file of a temporary relation");
	ok($node->safe_psql('postgres', $damage) > 10, "$how: catalogs are whole");
	is( $node->safe_psql(
			'postgres',
			'CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1); TABLE t'),
		'1',
		"$how: the temporary schema is usable");
	$node->poll_query_until(
		'postgres',
		q{SELECT count(*) = 0 FROM pg_class WHERE relpersistence = 't'})
	  or die "$how: orphaned rows stay";
	pass("$how: no orphaned rows");
	$node->safe_psql('postgres', 'TRUNCATE kept');
}

# No standby is waited for, either.
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'absent'");
$node->reload;
$node->poll_query_until('postgres',
	q{SELECT current_setting('synchronous_standby_names') = 'absent'});
is( $node->safe_psql(
		'postgres', q{
			SET synchronous_commit = local;
			CREATE TEMP TABLE first (a int);
			SET synchronous_commit = remote_apply;
			CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
			INSERT INTO t VALUES (1, 'x');
			ANALYZE t;
			DROP TABLE t;
			SET synchronous_commit = local;
			SELECT 'through'}),
	'through',
	'a commit of temporary tables alone waits for no standby');

$node->stop('immediate');
done_testing();
