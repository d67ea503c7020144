# What CREATE INDEX writes over a row of pg_class survives a rollback, in memory
# as in the real catalog.  A session that went on with what it had cached before
# would write the old values back with its next ALTER TABLE, and lose an index.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'Injection points not supported by this build'
  if ($ENV{enable_injection_points} // '') ne 'yes';

my $node = PostgreSQL::Test::Cluster->new('inplace');
$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
plan skip_all => 'Extension injection_points not installed'
  if !$node->check_extension('injection_points');
$node->safe_psql('postgres', 'CREATE EXTENSION injection_points');

my $point = 'inplace-before-pin';

foreach my $settings ('', 'enable_temp_memory_catalog=on',
	'enable_temp_memory_catalog=on temp_local_invalidation=on')
{
	local $ENV{PGOPTIONS} = join ' ', map { "-c $_" } split ' ', $settings;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $name = $settings || 'stock';
	$session->query_safe('CREATE TEMP TABLE t (a int, b int); INSERT INTO t VALUES (1, 1)');

	# Cancelled between the row of the table and that of its index.
	{
		local $ENV{PGOPTIONS} = '';
		$node->safe_psql('postgres', "SELECT injection_points_attach('$point', 'wait')");
	}
	$session->query_until(qr/start/, "\\echo start\nCREATE INDEX t_a ON t (a);\n\\echo end\n");
	{
		local $ENV{PGOPTIONS} = '';
		my $in_wait = "SELECT wait_event = '$point' FROM pg_stat_activity WHERE pid = $pid";
		$node->poll_query_until('postgres', $in_wait) or die 'CREATE INDEX does not come to the row of its table';
		$node->safe_psql('postgres', "SELECT injection_points_wakeup('$point')");
		# it passes the point twice, so being there again is the second time
		usleep(500_000);
		$node->poll_query_until('postgres', $in_wait) or die 'CREATE INDEX does not come to the row of its index';
		$node->safe_psql('postgres', "SELECT injection_points_detach('$point'); SELECT pg_cancel_backend($pid)");
	}
	$session->query_until(qr/end/, '');
	like($session->{stderr}, qr/canceling statement/, "$name: CREATE INDEX is cancelled");
	$session->{stderr} = '';

	my $has = q{SELECT relhasindex FROM pg_class WHERE oid = 't'::regclass};
	is($session->query_safe($has), 't', "$name: what was written over the row survives");
	$session->query_safe('CREATE UNIQUE INDEX t_b ON t (b)');
	$session->query_safe('ALTER TABLE t SET (fillfactor = 50)');
	is($session->query_safe($has), 't', "$name: the next change of the row keeps it");
	$session->query('INSERT INTO t VALUES (2, 1)');
	$session->{stderr} = '';
	is($session->query_safe('SELECT a, b FROM t'), '1|1', "$name: the index is there for an INSERT");
	$session->quit;
}

$node->stop;
done_testing();
