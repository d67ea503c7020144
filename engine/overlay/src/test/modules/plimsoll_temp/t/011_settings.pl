# The settings: who may set them, where, under which names; a configuration that a
# stock server starts with, too.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @of_connection = map { "temp_$_" } qw(async_commit buffers_by_relation lazy_files local_invalidation parallel_scans skip_locks);
my @others = qw(enable_temp_memory_catalog temp_lazy_toast temp_live_statistics track_wait_timing);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# names with a dot are what a stock server ignores
$node->append_conf('postgresql.conf', join '', map { "plimsoll.$_ = on\n" } @of_connection, @others);
$node->append_conf('postgresql.conf', 'plimsoll.temp_memory_catalog_limit = 77MB');
$node->start;

sub error_of
{
	my ($code, $out, $err) = $node->psql('postgres', @_);
	return $err =~ /ERROR:  (.*)/ ? $1 : '';
}

foreach my $name (@of_connection, @others)
{
	is($node->safe_psql('postgres', "SHOW $name; SHOW plimsoll.$name"), "on\non", "plimsoll.$name is $name");
}
is($node->safe_psql('postgres', 'SHOW temp_memory_catalog_limit'), '77MB', 'so is that of the limit');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name ~ '^plimsoll\.'}), '0', '... and no setting of its own');

# A role, a database, and a role in a database
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN; CREATE DATABASE books; GRANT ALL ON SCHEMA public TO clerk');
foreach my $name (@of_connection)
{
	is(error_of("SET $name = off"), qq(parameter "$name" cannot be set after connection start), "$name is not set later");
	foreach my $who ('ROLE clerk', 'DATABASE books', 'ROLE clerk IN DATABASE books')
	{
		is(error_of("ALTER $who SET $name = off"), '', "ALTER $who SET $name");
		is($node->safe_psql('books', "SHOW $name", extra_params => [ '-U', 'clerk' ]), 'off', '... is heeded');
		is(error_of("ALTER $who RESET $name"), '', '... and taken away');
	}
	is($node->safe_psql('books', "SHOW $name", extra_params => [ '-U', 'clerk' ]), 'on', '... it is as it was');
}
is(error_of('ALTER ROLE clerk SET plimsoll.temp_lazy_files = off'), '', 'the other name works there');
is($node->safe_psql('postgres', q{SELECT setconfig FROM pg_db_role_setting}), '{temp_lazy_files=off}', '... and the usual one is kept');
is($node->safe_psql('postgres', 'CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1); SELECT a FROM t; SHOW temp_lazy_files',
		extra_params => [ '-U', 'clerk' ]), "1\noff", 'a session of the role has tables');
# PostgreSQL's own settings of this kind are as they were
is(error_of('ALTER ROLE clerk SET ignore_system_indexes = on'),
	'parameter "ignore_system_indexes" cannot be set after connection start', 'a setting of PostgreSQL is refused');
is(error_of('ALTER ROLE clerk SET temp_lazy_files = maybe'), 'parameter "temp_lazy_files" requires a Boolean value', 'so is no value');

# A change of the file is for new sessions.
my $session = $node->background_psql('postgres');
is($session->query('SHOW temp_lazy_files'), 'on', 'a session begins');
$node->append_conf('postgresql.conf', 'temp_lazy_files = off');
$node->reload;
$node->poll_query_until('postgres', 'SHOW temp_lazy_files', 'off') or die 'the file is not read';
is($session->query('SHOW temp_lazy_files'), 'on', '... and goes on as it began');
$session->quit;

# The limit protects the server's memory, so a role does not raise it for itself.
like($node->psql('postgres', 'SET temp_memory_catalog_limit = 1000000', extra_params => [ '-U', 'clerk' ], on_error_stop => 1),
	qr/^3$/, 'a role does not raise the limit');
is(error_of('SET temp_memory_catalog_limit = 1000000'), '', '... a superuser does');
is(error_of('GRANT SET ON PARAMETER temp_memory_catalog_limit TO clerk'), '', '... and allows it to others');
is($node->psql('postgres', 'SET temp_memory_catalog_limit = 1000000', extra_params => [ '-U', 'clerk' ]), '0', '... who do, too');

# All are in the sample file, which initdb copies.
my $sample = slurp_file($node->data_dir . '/postgresql.conf');
like($sample, qr/^#$_ = /m, "$_ is in the sample") foreach @of_connection, @others, 'temp_memory_catalog_limit';

$node->stop;
done_testing();
