# Files of temporary relations: none is left, however a session ends, and one that
# cannot be made is reported and does no harm.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
temp_lazy_files = on
autovacuum = off
max_connections = 20
restart_after_crash = on
allow_in_place_tablespaces = on
});
$node->start;

sub temp_files
{
	my $data = $node->data_dir;
	return grep { m{/t\d+_\d+[^/]*$} }
	  (glob("$data/base/*/t*"), glob("$data/pg_tblspc/*/PG_*/*/t*"));
}

sub no_files
{
	my $name = shift;
	is(join(' ', temp_files()), '', "$name: no file");
}

# A session that has a table in files and one that is in memory.
sub session
{
	my $buffers = shift // '1MB';
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe(
		qq{SET temp_buffers = '$buffers';
		  CREATE TEMP TABLE small (a int PRIMARY KEY, b text);
		  INSERT INTO small SELECT g, g FROM generate_series(1, 100) g;});
	return $session;
}

# More than the local buffers hold.
sub spread
{
	my $session = shift;
	$session->query_safe(
		q{CREATE TEMP TABLE large (a int PRIMARY KEY, b text);
		  INSERT INTO large SELECT g, repeat('x', 500) FROM generate_series(1, 10000) g;}
	);
	return $session;
}

# Until the server has noticed that a backend was killed, it still answers.
sub kill_backend
{
	my ($session, $pid) = @_;
	my $logged = -s $node->logfile;
	kill 'KILL', $pid;
	eval { $session->quit };
	$node->wait_for_log(qr/all server processes terminated; reinitializing/, $logged);
	$node->poll_query_until('postgres', 'SELECT true');
}

sub leave
{
	my ($session, $pid) = @_;
	$session->quit;
	wait_for_end($pid);
}

sub wait_for_end
{
	my $pid = shift;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
	  or die "session $pid does not end";
}

sub pid_of { return $_[0]->query_safe('SELECT pg_backend_pid()') }

# The ordinary ways to end
my $session = session();
my $pid = pid_of($session);
no_files('a small table');
spread($session);
cmp_ok(scalar(temp_files()), '>', 0, 'a large table has files');
leave($session, $pid);
no_files('the end of a session');

$session = spread(session());
$pid = pid_of($session);
$session->query_safe('BEGIN; TRUNCATE large; DROP TABLE small;'
	  . q{CREATE TEMP TABLE more AS SELECT repeat('x', 500) FROM generate_series(1, 5000)});
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
wait_for_end($pid);
eval { $session->quit };
no_files('a session terminated in a transaction');

# Dropped by somebody else, the table's pages stay with the owner.  Nobody else
# could name a table whose catalog rows are in memory.
{
	local $ENV{PGOPTIONS} = '-c enable_temp_memory_catalog=off';
	$session = session();
}
$pid = pid_of($session);
my $small = $session->query_safe(q{SELECT 'small'::regclass::oid});
$node->safe_psql('postgres',
	"DO \$\$ BEGIN EXECUTE 'DROP TABLE ' || $small\::regclass; END \$\$");
is($session->query_safe(
		q{CREATE TEMP TABLE again AS SELECT g, repeat('x', 500) AS b FROM generate_series(1, 10000) g;
		  SELECT count(*), sum(length(b)) FROM again}),
	'10000|5000000',
	'after a drop by another session the owner works on');
leave($session, $pid);
no_files('... and leaves');

# Crashes
foreach my $victim ('backend', 'postmaster')
{
	$session = spread(session());
	$session->query_safe('BEGIN; TRUNCATE large;');
	cmp_ok(scalar(temp_files()), '>', 0, "$victim: there are files");
	$pid = pid_of($session);
	if ($victim eq 'backend')
	{
		kill_backend($session, $pid);
	}
	else
	{
		$node->kill9;
		eval { $session->quit };
		foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
		{
			last if $node->start(fail_ok => 1);
			select(undef, undef, undef, 0.1);
			# what an attempt that timed out may have left
			$node->stop('fast', fail_ok => 1);
		}
	}
	no_files("kill of a $victim");
}

# Crashes at no particular moment: tables come, grow out of the buffers, are
# truncated and go
my $load = $node->basedir . '/load.sql';
append_to_file(
	$load, q{
SET temp_buffers = '800kB';
CREATE TEMP TABLE t (id int PRIMARY KEY, name text);
BEGIN;
INSERT INTO t SELECT g, repeat('y', 300) FROM generate_series(1, 4000) g;
SAVEPOINT one;
TRUNCATE t;
INSERT INTO t SELECT g, repeat('y', 300) FROM generate_series(1, 3000) g;
ROLLBACK TO one;
COMMIT;
CREATE INDEX ON t (name, id);
INSERT INTO done VALUES (1);
DROP TABLE t;
});
$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE done (a int)');
foreach my $round (1 .. 3)
{
	my $pgbench = IPC::Run::start(
		[
			'pgbench', '--no-vacuum', '--client' => 3, '--time' => 60,
			'--file' => $load, $node->connstr('postgres')
		],
		'>' => \my $out,
		'2>' => \my $err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	$node->poll_query_until('postgres',
		'SELECT count(*) > 5 FROM done')
	  or die 'no cycles';
	$node->stop('immediate');
	$pgbench->finish;
	$node->start;
	no_files("round $round of crashes");
}

# Files that the restart leaves are removed by who gets the proc number
$node->append_conf('postgresql.conf', 'remove_temp_files_after_crash = off');
$node->reload;
$node->poll_query_until('postgres',
	q{SELECT current_setting('remove_temp_files_after_crash') = 'off'});
$session = spread(session());
kill_backend($session, pid_of($session));
cmp_ok(scalar(temp_files()), '>', 0, 'a crash leaves files if told so');
my @sessions;
foreach (1 .. 15)
{
	last if !temp_files();
	push @sessions, session();
}
no_files('the next with the proc number');
$_->quit foreach @sessions;
$node->append_conf('postgresql.conf', 'remove_temp_files_after_crash = on');
$node->restart;

# A file in the way is an orphan
$session = session();
$pid = pid_of($session);
my $path = $session->query_safe(q{SELECT pg_relation_filepath('small')});
append_to_file($node->data_dir . "/$path", 'garbage' x 10000);
spread($session);
is($session->query_safe('SELECT count(*), sum(a) FROM small'),
	'100|5050', 'an orphan of the same name is not read');
leave($session, $pid);
no_files('... and it is gone');

# A file that cannot be made
SKIP:
{
	my $prlimit = `prlimit --version 2>/dev/null`;
	skip 'no prlimit', 6 if !$prlimit;

	$session = session('4MB');
	$pid = pid_of($session);
	$session->query_safe(
		q{CREATE TEMP TABLE kept AS SELECT g, repeat('y', 500) AS b FROM generate_series(1, 1000) g}
	);
	no_files('before the disk is full');
	$session->query_safe('BEGIN; CREATE TEMP TABLE large (b text)');
	system_or_bail('prlimit', "--pid=$pid", '--fsize=300000:');
	$session->query(
		q{INSERT INTO large SELECT repeat('x', 500) FROM generate_series(1, 10000)});
	like(
		$session->{stderr},
		qr/ERROR:  could not extend file "base\/\d+\/t\d+_\d+".*: File too large.*HINT:  Check free disk space\..*CONTEXT:  making the file of a temporary relation/s,
		'a full disk is reported');
	is(join(' ', grep { -s $_ > 300000 } temp_files()), '', 'no half-made file');
	$session->{stderr} = '';
	$session->query('ROLLBACK');
	system_or_bail('prlimit', "--pid=$pid", '--fsize=unlimited:');
	is($session->query_safe(
			'SELECT count(*), sum(length(b)) FROM kept; SELECT count(*) FROM small'),
		"1000|500000\n100",
		'what was there is there');
	spread($session);
	is($session->query_safe(
			'SELECT count(*), sum(length(b)) FROM kept; SELECT count(*), sum(a) FROM large'),
		"1000|500000\n10000|50005000",
		'... and with room on the disk work goes on');
	leave($session, $pid);
	no_files('after the full disk');
}

# A tablespace stays while somebody has relations in it, files or not
$node->safe_psql('postgres', q{CREATE TABLESPACE elsewhere LOCATION ''});
$session = $node->background_psql('postgres');
$pid = pid_of($session);
$session->query_safe('SET temp_tablespaces = elsewhere; CREATE TEMP TABLE far (a int)');
like(
	($node->psql('postgres', 'DROP TABLESPACE elsewhere'))[2],
	qr/tablespace "elsewhere" is not empty/,
	'a tablespace in use is not dropped');
$session->query_safe('BEGIN; DROP TABLE far; SAVEPOINT one; CREATE TEMP TABLE far (a int); ROLLBACK TO one; COMMIT');
$node->safe_psql('postgres', 'DROP TABLESPACE elsewhere; ' . q{CREATE TABLESPACE elsewhere LOCATION ''});
pass('one no longer in use is');
is( $session->query_safe(
		'CREATE TEMP TABLE far AS SELECT 1 AS a; SELECT a FROM far'),
	'1', 'its successor is used');
leave($session, $pid);
no_files('tablespaces');
$node->safe_psql('postgres', 'DROP TABLESPACE elsewhere');

unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'no assertion failed');
$node->stop;
done_testing();
