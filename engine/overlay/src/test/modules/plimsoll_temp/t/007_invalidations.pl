# A storm of invalidation messages from several writers: each reader gets all of
# them, in order, and none later than it may.  Whoever has seen that something was
# sent, as a session does that waited for a lock, gets it with its next look.
#
#   STORM=N   messages of each writer; defaults to 100,000

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run;
use Test::More;

my $messages = $ENV{STORM} // 100_000;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION plimsoll_temp');

sub session
{
	my ($sql, $out) = @_;
	return IPC::Run::start(
		[ $node->installed_command('psql'), '-XAtq', '-d', $node->connstr('postgres'), '-c', $sql ],
		'>', $out, '2>&1');
}

foreach my $case ([ 1, 1, 1 ], [ 3, 3, 1 ], [ 2, 4, 20 ])
{
	my ($writers, $readers, $batch) = @$case;
	my @out = ('') x ($writers + $readers);
	my @sessions = (
		(map { session("SELECT watch_invalidations($_, $writers, $messages)", \$out[$_]) } 0 .. $readers - 1),
		(map { session("SELECT send_invalidations($_, $writers, $readers, $messages, $batch)", \$out[ $readers + $_ - 1 ]) }
			1 .. $writers));
	$_->finish for @sessions;
	is_deeply(
		[ map { s/\n$//r } @out ],
		[ ('late 0, gaps 0, resets 0') x $readers, ('') x $writers ],
		"$writers writers in batches up to $batch, $readers readers: nothing late, nothing lost");
	# the next storm has new numbers
	$node->restart;
}
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing crashed');

done_testing();
