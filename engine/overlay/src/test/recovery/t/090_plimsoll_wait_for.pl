# WAIT FOR LSN on a standby and across a promotion; engine/test/wait_for.t has
# the primary.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', 'autovacuum = off');
$primary->start;
$primary->safe_psql('postgres', 'CREATE TABLE t (a int)');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

my %event = (replay => 'Replay', write => 'Write', flush => 'Flush');
my @modes = sort keys %event;
my $rows = 0;

# Writes a row on the primary and returns the position behind it.
sub written
{
	$primary->safe_psql('postgres', 'INSERT INTO t VALUES (1)');
	$rows++;
	return $primary->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
}

# Sessions of the standby that wait for a position, one for each mode.
sub waiters
{
	my ($lsn, $options) = @_;
	my %waiter;
	foreach my $mode (@modes)
	{
		$waiter{$mode} = $standby->background_psql('postgres', on_error_stop => 0);
		$waiter{$mode}->query_until(qr/begun/,
			"\\echo begun\nWAIT FOR LSN '$lsn' WITH (MODE 'standby_$mode'$options);\n\\echo ended\n");
	}
	ok(wait_until_waiting(map { "WaitForWal$event{$_}" } @modes), 'all wait');
	return %waiter;
}

sub wait_until_waiting
{
	my $want = join ' ', sort @_;
	return $standby->poll_query_until('postgres', "SELECT coalesce(string_agg(wait_event, ' ' ORDER BY wait_event), '') = '$want'
		FROM pg_stat_activity WHERE wait_event ~ '^WaitForWal[FRW]'");
}

sub ends_with
{
	my ($waiter, $want, $name) = @_;
	my $said = $waiter->query_until(qr/ended/, '');
	like($said . $waiter->{stderr}, $want, $name);
	$waiter->{stderr} = '';
	$waiter->quit;
}

# 1. What has arrived, and what arrives while one waits.
my $lsn = written();
is( $standby->safe_psql('postgres', "WAIT FOR LSN '$lsn'; SELECT count(*) FROM t"),
	"success\n$rows",
	'rows are there once the position is replayed');
$primary->wait_for_catchup($standby);
foreach my $mode (@modes)
{
	is( $standby->safe_psql('postgres', "WAIT FOR LSN '$lsn' WITH (MODE 'standby_$mode')"),
		'success', "$mode of what was replayed");
}
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$lsn = written();
is( $standby->safe_psql('postgres', "WAIT FOR LSN '$lsn' WITH (MODE 'standby_flush')"),
	'success', 'flush does not wait for replay');
is( $standby->safe_psql('postgres', "WAIT FOR LSN '$lsn' WITH (MODE 'standby_write')"),
	'success', 'nor does write');
is( $standby->safe_psql('postgres', "WAIT FOR LSN '$lsn' WITH (TIMEOUT 1, NO_THROW)"),
	'timeout', 'replay does');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');

# 2. Woken by the WAL receiver, and by replay.
$primary->wait_for_catchup($standby);
my $conninfo = $standby->safe_psql('postgres', 'SHOW primary_conninfo');
$standby->safe_psql('postgres', q{ALTER SYSTEM SET primary_conninfo = ''});
$standby->reload;
$standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_wal_receiver');
$lsn = written();
my %waiter = waiters($lsn, '');
$standby->safe_psql('postgres', 'ALTER SYSTEM SET primary_conninfo = $$' . $conninfo . '$$');
$standby->reload;
ends_with($waiter{$_}, qr/^success\nended/m, "$_ is woken") foreach @modes;

# 3. What a standby refuses.
my ($code, $out, $err) = $standby->psql('postgres', "WAIT FOR LSN '0/0' WITH (MODE 'primary_flush')");
like($err, qr/ERROR:  recovery is in progress\nHINT:  Waiting for primary_flush can only be done on a primary server\. /,
	'primary_flush');
($code, $out, $err) = $standby->psql('postgres',
	"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; WAIT FOR LSN '0/0'");
like($err, qr/must be called without an active or registered snapshot/, 'a snapshot');

# 4. A wait keeps no replay from going on: it has no snapshot.
my $ahead = $primary->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn() + 10000000000');
%waiter = waiters($ahead, '');
$primary->safe_psql('postgres', 'DELETE FROM t; VACUUM t');
$primary->wait_for_catchup($standby, 'replay');
ok(wait_until_waiting(map { "WaitForWal$event{$_}" } @modes), 'rows are removed under those who wait');

# 5. Promotion ends all waits of a standby.
my $here = $standby->safe_psql('postgres', 'SELECT pg_last_wal_replay_lsn()');
my $quiet = $standby->background_psql('postgres');
$quiet->query_until(qr/begun/, "\\echo begun\nWAIT FOR LSN '$ahead' WITH (NO_THROW);\n\\echo ended\n");
ok(wait_until_waiting((map { "WaitForWal$event{$_}" } @modes), 'WaitForWalReplay'), 'one more waits');
$standby->promote;
my %done = (replay => 'replayed', write => 'written', flush => 'flushed');
ends_with($waiter{$_},
	qr/ERROR:  recovery is not in progress\nDETAIL:  Recovery ended before target LSN \S+ was $done{$_}; last $_ LSN/,
	"$_ ends with an error") foreach @modes;
ends_with($quiet, qr/^not in recovery\nended/m, 'with NO_THROW by a word');
is($standby->safe_psql('postgres', "WAIT FOR LSN '$here'"), 'success', 'what was replayed before stays so');
is($standby->safe_psql('postgres', "WAIT FOR LSN '$ahead' WITH (NO_THROW)"), 'not in recovery', 'the rest does not come');
$standby->safe_psql('postgres', 'CREATE TABLE u (a int)');
$lsn = $standby->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
is($standby->safe_psql('postgres', "WAIT FOR LSN '$lsn' WITH (MODE 'primary_flush')"), 'success', 'it is a primary now');

$standby->stop;
$primary->stop;

# 6. A standby fed from an archive has no WAL receiver: replay wakes all.
my $source = PostgreSQL::Test::Cluster->new('source');
$source->init(has_archiving => 1, allows_streaming => 1);
$source->append_conf('postgresql.conf', 'autovacuum = off');
$source->start;
$source->safe_psql('postgres', 'CREATE TABLE t (a int)');
$source->backup('backup');
$standby = PostgreSQL::Test::Cluster->new('restoring');
$standby->init_from_backup($source, 'backup', has_restoring => 1);
$standby->start;
$source->safe_psql('postgres', 'INSERT INTO t VALUES (1)');
$lsn = $source->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
%waiter = waiters($lsn, '');
$source->safe_psql('postgres', 'SELECT pg_switch_wal()');
ends_with($waiter{$_}, qr/^success\nended/m, "$_ from an archive") foreach @modes;
$standby->stop;
$source->stop;

done_testing();
