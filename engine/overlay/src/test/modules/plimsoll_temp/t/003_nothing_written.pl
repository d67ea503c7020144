# With everything on, a session's temporary tables leave nothing in shared
# places: no catalog row or page, no WAL, no transaction ID, no message to
# others, no lock.  Whatever wal_level asks for.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %level_needs = (minimal => 'max_wal_senders = 0', replica => '', logical => '');

# Each statement commits by itself; \; joins those of one transaction.
my @without_rows = (
	q{CREATE TEMP TABLE t (id int PRIMARY KEY, name text COLLATE "C" DEFAULT 'x' CHECK (name <> ''),
	  amount numeric(15, 2) NOT NULL, body bytea, up text GENERATED ALWAYS AS (upper(name)) STORED)},
	'CREATE INDEX t_name ON t (name, amount) INCLUDE (body) WHERE amount > 0',
	'CREATE UNIQUE INDEX t_expr ON t ((lower(name) || id))',
	q{COMMENT ON COLUMN t.name IS 'a name'},
	'ANALYZE t', 'VACUUM t', 'SELECT count(*) FROM t',
	'ALTER TABLE t ADD COLUMN extra int DEFAULT 5',
	'ALTER TABLE t ALTER COLUMN extra TYPE bigint',
	'ALTER TABLE t RENAME COLUMN extra TO more', 'ALTER TABLE t DROP COLUMN more',
	'ALTER TABLE t SET (fillfactor = 50)',
	'TRUNCATE t', 'REINDEX TABLE t', 'CLUSTER t USING t_expr', 'VACUUM FULL t',
	'CREATE TEMP TABLE likewise (LIKE t INCLUDING ALL)',
	'BEGIN\; SAVEPOINT s\; DROP TABLE t\; ROLLBACK TO s\; ALTER TABLE t RENAME TO u\; COMMIT',
	'BEGIN\; CREATE TEMP TABLE gone (a int PRIMARY KEY, b text)\; ROLLBACK',
	'BEGIN\; CREATE TEMP TABLE gone (a int PRIMARY KEY, b text) ON COMMIT DROP\; COMMIT',
	'DROP TABLE u, likewise');

# Rows carry a transaction ID; its end is one small record, which nobody awaits.
my @with_rows = (
	'CREATE TEMP TABLE t (id int PRIMARY KEY, name text)',
	q{INSERT INTO t SELECT g, repeat('y', g) FROM generate_series(1, 500) g},
	'CREATE INDEX ON t (name)', 'ANALYZE t',
	'UPDATE t SET id = id + 1000', 'DELETE FROM t WHERE id < 1100', 'VACUUM t',
	'CREATE TEMP TABLE copied AS SELECT * FROM t', 'SELECT * INTO TEMP again FROM t',
	q{UPDATE copied SET name = (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 400) g) WHERE id < 1110},
	'TRUNCATE t', 'DROP TABLE t, copied, again');
my $transactions_with_rows = 6;

my $catalogs = q{SELECT 'rows', sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_sys_tables
	UNION ALL SELECT 'pages', sum(pg_relation_size(oid)) FROM pg_class WHERE oid < 16384 AND relkind IN ('r', 'i', 't')
	UNION ALL SELECT 'xids', pg_snapshot_xmax(pg_current_snapshot())::text::bigint
	UNION ALL SELECT 'messages', shared_invalidations()
	UNION ALL SELECT 'wal records', wal_records FROM pg_stat_get_backend_wal(pg_backend_pid())
	UNION ALL SELECT 'wal bytes', wal_bytes FROM pg_stat_get_backend_wal(pg_backend_pid())
	UNION ALL SELECT 'fsyncs', sum(fsyncs) FROM pg_stat_get_backend_io(pg_backend_pid()) WHERE object = 'wal'};

sub traces
{
	my $session = shift;
	$session->query_safe('SELECT pg_stat_force_next_flush()');
	return map { split /\|/ } split /\n/, $session->query_safe($catalogs);
}

# What a list of statements leaves behind, the locks of a transaction included.
sub left_by
{
	my ($session, @statements) = @_;
	my %before = traces($session);
	$session->query_safe($_) for @statements;
	my %after = traces($session);
	return { map { ($_ => $after{$_} - $before{$_}) } keys %before };
}

foreach my $level (sort keys %level_needs)
{
	my $node = PostgreSQL::Test::Cluster->new($level);
	# no checksums: setting a hint bit of a catalog would be logged
	$node->init(extra => ['--no-data-checksums']);
	$node->append_conf(
		'postgresql.conf', qq{
wal_level = $level
$level_needs{$level}
autovacuum = off
fsync = on
temp_local_invalidation = on
temp_skip_locks = on
temp_async_commit = on
temp_buffers_by_relation = on
temp_lazy_toast = on
enable_temp_memory_catalog = on
});
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION plimsoll_temp');
	my $session = $node->background_psql('postgres');
	# The first temporary table makes the schema; the first of each kind loads caches.
	left_by($session, @without_rows, @with_rows);

	is_deeply(
		left_by($session, @without_rows),
		{ map { ($_ => 0) } 'rows', 'pages', 'xids', 'messages', 'wal records', 'wal bytes', 'fsyncs' },
		"$level: nothing is written by the life of a table");
	my $left = left_by($session, @with_rows);
	is_deeply(
		[ @$left{ 'rows', 'pages', 'messages', 'fsyncs' } ], [ 0, 0, 0, 0 ],
		"$level: nor by that of its rows, to catalogs and disk");
	is_deeply([ @$left{ 'xids', 'wal records' } ],
		[ ($transactions_with_rows) x 2 ], "$level: a transaction ID and its end for each change of rows");

	$session->query_safe(
		'BEGIN; CREATE TEMP TABLE t (a int PRIMARY KEY, b text); ALTER TABLE t ADD c int; DROP TABLE t');
	is( $session->query_safe(
			q{SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()
			  AND mode IN ('ShareLock', 'ShareUpdateExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
			  AND locktype <> 'virtualxid'}),
		'0', "$level: no lock that others could meet");
	$session->query_safe('ROLLBACK');

	$session->query_safe($_)
	  for 'CREATE TABLE parent (a int)', 'CREATE TEMP TABLE child (a int)',
	  'BEGIN\; ALTER TABLE child INHERIT parent\; ROLLBACK', 'DROP TABLE child';
	is($session->query_safe(q{SELECT to_regclass('child') IS NULL}),
		't', "$level: what other sessions might have met can be dropped");
	$session->quit;
	$node->stop;
}

done_testing();
