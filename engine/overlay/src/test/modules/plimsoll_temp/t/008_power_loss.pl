# The power fails after a commit: what the disk has by then is what was flushed.
# With temp_async_commit a commit that only temporary tables need is not flushed;
# one that anything permanent needs must be, whatever temporary work goes along.
#
# The disk after the failure is made from a copy of the data directory as it was
# at a checkpoint, and of the WAL as far as the server says that it is flushed.
# The process that flushes what others leave is stopped meanwhile, so each commit
# has to show by itself how far the WAL is flushed after it.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
fsync = on
temp_local_invalidation = on
temp_skip_locks = on
temp_async_commit = on
temp_lazy_files = on
autovacuum = off
checkpoint_timeout = 1d
bgwriter_delay = 10s
});
$node->start;
$node->safe_psql('postgres',
	'CREATE TABLE kept (way text, n int); CREATE TABLE emptied AS SELECT 1 AS n;
	 CREATE SEQUENCE numbers CACHE 1');

# Each way to commit something permanent beside something temporary.
my @ways = (
	[ 'a row', 'CREATE TEMP TABLE t (a int); INSERT INTO kept VALUES (:way, 1); DROP TABLE t;' ],
	[ 'a row first', 'INSERT INTO kept VALUES (:way, 1); CREATE TEMP TABLE t (a text); DROP TABLE t;' ],
	[ 'a row out of a temporary table',
		'CREATE TEMP TABLE t ON COMMIT DROP AS SELECT 1 AS n; INSERT INTO kept SELECT :way, n FROM t;' ],
	[ 'a row in a savepoint',
		'CREATE TEMP TABLE t (a int) ON COMMIT DROP; SAVEPOINT s; INSERT INTO kept VALUES (:way, 1); RELEASE s;' ],
	[ 'a row beside a rolled-back one',
		'INSERT INTO kept VALUES (:way, 1); SAVEPOINT s; CREATE TEMP TABLE t (a int); ROLLBACK TO s;' ],
	[ 'a table', 'CREATE TEMP TABLE t (a int) ON COMMIT DROP; CREATE TABLE made (a int);' ],
	[ 'a truncated table', 'CREATE TEMP TABLE t (a int) ON COMMIT DROP; TRUNCATE emptied;' ],
	[ 'a comment', q{CREATE TEMP TABLE t (a int) ON COMMIT DROP; COMMENT ON TABLE kept IS 'about';} ],
	[ 'a function', 'CREATE TEMP TABLE t (a int) ON COMMIT DROP;
		CREATE FUNCTION made() RETURNS int LANGUAGE sql AS $$SELECT 1$$;' ],
	[ 'a sequence', q{CREATE TEMP TABLE t AS SELECT nextval('numbers') AS n; DROP TABLE t;} ],
);

# Each way to commit something temporary alone.
my @temporary = (
	[ 'a table made', 'CREATE TEMP TABLE v (a int PRIMARY KEY, b text);' ],
	[ 'rows', q{INSERT INTO v SELECT g, repeat('x', 5000) FROM generate_series(1, 50) g;} ],
	[ 'a column', 'ALTER TABLE v ADD c int DEFAULT 3;' ],
	[ 'an index', 'CREATE INDEX ON v (c);' ],
	[ 'statistics', 'ANALYZE v;' ],
	[ 'a savepoint', 'SAVEPOINT s; CREATE TEMP TABLE w (a int); RELEASE s; SAVEPOINT s; DROP TABLE v; ROLLBACK TO s;' ],
	[ 'a truncated table', 'TRUNCATE v;' ],
	[ 'a dropped table', 'DROP TABLE v, w;' ],
);

my $said = q{SELECT way, n FROM kept ORDER BY way COLLATE "C";
	SELECT to_regclass('made'), to_regprocedure('made()'), obj_description('kept'::regclass, 'pg_class');
	SELECT count(*) FROM emptied; SELECT nextval('numbers') > 1};

foreach my $memory ('off', 'on')
{
	$node->safe_psql('postgres', $_) foreach 'SELECT pg_switch_wal()', 'CHECKPOINT';
	my $disk = PostgreSQL::Test::Cluster->new("disk_$memory");
	PostgreSQL::Test::RecursiveCopy::copypath($node->data_dir, $disk->data_dir,
		filterfn => sub { $_[0] !~ /^postmaster\.(pid|opts)$/ });
	chmod 0700, $disk->data_dir;

	my $writer = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
	kill STOP => $writer;

	# Before the record of the commit nothing has been flushed, and afterwards it has;
	# or nothing has been flushed at all.
	my $flush = 'pg_current_wal_flush_lsn()';
	my @played = ((map { [ 'permanent', @$_ ] } @ways), (map { [ 'temporary', @$_ ] } @temporary));
	my $session = join '', map {
		my ($kind, $way, $sql) = @$_;
		"SELECT $flush AS before \\gset\nBEGIN; " . $sql =~ s/:way/'$way'/gr
		  . " SELECT pg_current_wal_insert_lsn() AS written \\gset\nCOMMIT;\n"
		  . "SELECT 'after', '$kind: $way', $flush > :'written', $flush = :'before';\n"
	} @played;
	my $flushed = $node->safe_psql('postgres',
		"SET enable_temp_memory_catalog = $memory;\n$session
		SELECT 'flushed', file_name, file_offset FROM pg_walfile_name_offset($flush);
		CREATE TEMP TABLE u (a int);\n");
	is_deeply([ $flushed =~ /^after\|(.*)$/mg ],
		[ map { "$_->[0]: $_->[1]|" . ($_->[0] eq 'permanent' ? 't|f' : 'f|t') } @played ],
		"memory catalog $memory: what is permanent is flushed by its commit, and nothing else is");
	my $want = $node->safe_psql('postgres', $said =~ s/nextval\('numbers'\) > 1/true/r);
	kill CONT => $writer;
	$node->stop('immediate');

	# What the disk has of the WAL: everything up to the flushed position.
	my ($segment, $offset) = $flushed =~ /^flushed\|(\w+)\|(\d+)$/m;
	foreach my $path (sort glob($node->data_dir . '/pg_wal/' . '[0-9A-F]' x 24))
	{
		my ($name) = $path =~ m{([^/]+)$};
		my $wal = slurp_bytes($path);
		substr($wal, $name gt $segment ? 0 : $offset) =~ tr/\0-\377/\0/
		  if $name ge $segment;
		write_bytes($disk->data_dir . "/pg_wal/$name", $wal);
	}
	$disk->append_conf('postgresql.conf', 'port = ' . $disk->port);
	$disk->append_conf('postgresql.conf', "unix_socket_directories = '" . $disk->host . "'");
	$disk->start;
	is($disk->safe_psql('postgres', $said), $want,
		"memory catalog $memory: all that was committed is there");
	is($disk->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname = 'u'
			AND pg_table_is_visible(oid)}),
		'0', "memory catalog $memory: nothing temporary is");
	$disk->stop;

	$node->start;
	$node->safe_psql('postgres',
		"DROP TABLE made; DROP FUNCTION made; TRUNCATE kept; COMMENT ON TABLE kept IS NULL;
		 INSERT INTO emptied VALUES (1); ALTER SEQUENCE numbers RESTART");
}
done_testing();

sub slurp_bytes
{
	my $path = shift;
	open my $file, '<:raw', $path or die "$path: $!";
	local $/;
	return scalar <$file>;
}

sub write_bytes
{
	my ($path, $bytes) = @_;
	open my $file, '>:raw', $path or die "$path: $!";
	print $file $bytes;
	close $file or die "$path: $!";
	return;
}
