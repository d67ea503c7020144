# WAIT FOR LSN on a primary, as PostgreSQL 19 has it: its answers, what it refuses, who wakes it, how it ends.
# src/test/recovery/t/090_plimsoll_wait_for.pl has standbys and promotion.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use IPC::Open2;
use Plimsoll::Patience qw(holds);
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
# The log writer sleeps long: what is not flushed stays so until somebody flushes it. A timer of the log-in that was
# switched off still wakes its session once, and would hide that nobody else does: it comes after the test.
my $server = Plimsoll::Server->new($prefix, autovacuum => 'off', wal_writer_delay => '10s',
	authentication_timeout => '600s');

# says runs a script and returns what it prints; LSN stands for a position of the log: now, or far ahead.
sub says
{
	my $script = shift;
	$script =~ s/NOW/:'now'/g;
	$script =~ s/AHEAD/:'ahead'/g;
	return $server->psql('postgres', "SELECT pg_current_wal_flush_lsn() AS now,
		pg_current_wal_insert_lsn() + 10000000000 AS ahead \\gset\n$script") =~ s/^psql:[^ ]*: //mgr
		=~ s{\b[0-9A-F]+/[0-9A-F]+\b}{LSN}gr;
}

my $flush = "MODE 'primary_flush'";
my $snapshot = "ERROR:  WAIT FOR must be called without an active or registered snapshot\nDETAIL:  WAIT FOR cannot be "
	. "executed within a transaction with an isolation level higher than READ COMMITTED.\n";
my $top = qr/^ERROR:  WAIT FOR can only be executed as a top-level statement\nDETAIL:  WAIT FOR cannot be used within /;
my @cases = (
	[ 'a position that is flushed', "WAIT FOR LSN NOW WITH ($flush);", "success\n" ],
	[ 'names and values in any case', "wait for lsn NOW with (\"mode\" 'PRIMARY_Flush', Timeout 1, no_throw on);",
		"success\n" ],
	[ 'the first position of all', "WAIT FOR LSN '0/0' WITH ($flush);", "success\n" ],
	[ 'a position beyond the log', "WAIT FOR LSN AHEAD WITH ($flush, TIMEOUT '10ms', NO_THROW);", "timeout\n" ],
	[ 'the same as an error', "\\set VERBOSITY sqlstate\nWAIT FOR LSN AHEAD WITH ($flush, TIMEOUT 10);",
		"ERROR:  57014\n" ],
	[ 'its words', "WAIT FOR LSN AHEAD WITH ($flush, TIMEOUT 10);",
		"ERROR:  timed out while waiting for target LSN LSN to be flushed; current flush LSN LSN\n" ],
	[ 'NO_THROW off', "WAIT FOR LSN AHEAD WITH ($flush, TIMEOUT 10, NO_THROW false);",
		"ERROR:  timed out while waiting for target LSN LSN to be flushed; current flush LSN LSN\n" ],
	[ 'statement_timeout ends it', "SET statement_timeout = 20; WAIT FOR LSN AHEAD WITH ($flush, TIMEOUT 0);",
		"ERROR:  canceling statement due to statement timeout\n" ],
	[ 'a standby is meant', 'WAIT FOR LSN NOW;', "ERROR:  recovery is not in progress\n"
		. "HINT:  Waiting for the replay LSN can only be executed during recovery.\n" ],
	( map { [ "$_ on a primary", "WAIT FOR LSN NOW WITH (MODE '$_', NO_THROW);", "not in recovery\n" ] }
		'standby_replay', 'standby_write', 'standby_flush' ),
	[ 'no such mode', "WAIT FOR LSN NOW WITH (MODE 'flush');",
		qr/^ERROR:  unrecognized value for WAIT option "mode": "flush"\n/ ],
	[ 'no such option', 'WAIT FOR LSN NOW WITH (patience 1);', qr/^ERROR:  option "patience" not recognized\n/ ],
	( map { [ "$_->[0] twice", "WAIT FOR LSN NOW WITH ($_->[1], $_->[1]);",
			qr/^ERROR:  conflicting or redundant options\n/ ] }
		[ 'MODE', $flush ], [ 'TIMEOUT', 'TIMEOUT 1' ], [ 'NO_THROW', 'NO_THROW' ] ),
	[ 'a timeout below 0', "WAIT FOR LSN NOW WITH (TIMEOUT '-1s');", "ERROR:  timeout cannot be negative\n" ],
	[ 'no timeout', "WAIT FOR LSN NOW WITH (TIMEOUT 'soon');", qr/^ERROR:  invalid timeout value: "soon"\n/ ],
	[ 'too long a timeout', "WAIT FOR LSN NOW WITH (TIMEOUT '1000d');", "ERROR:  timeout value is out of range\n" ],
	[ 'no position', "WAIT FOR LSN 'x';", qr/^ERROR:  invalid input syntax for type pg_lsn: "x"\n/ ],
	[ 'options without WITH', "WAIT FOR LSN NOW ($flush);", qr/^ERROR:  syntax error at or near "\("/ ],
	[ 'no LSN', 'WAIT FOR TIMEOUT 1;', qr/^ERROR:  syntax error at or near "TIMEOUT"/ ],
	[ 'as a prepared statement', "PREPARE w AS WAIT FOR LSN '0/0';", qr/^ERROR:  syntax error at or near "WAIT"/ ],
	[ 'by the extended protocol', "WAIT FOR LSN NOW WITH ($flush) \\bind \\g", "success\n" ],
	[ 'described without running', "WAIT FOR LSN AHEAD WITH ($flush) \\gdesc", "status|text\n" ],
	[ 'in a transaction', "BEGIN; SELECT 1; SAVEPOINT s; WAIT FOR LSN NOW WITH ($flush); COMMIT;", "1\nsuccess\n" ],
	[ 'in a read-only one', "BEGIN READ ONLY; WAIT FOR LSN NOW WITH ($flush); COMMIT;", "success\n" ],
	[ 'among statements of one message', "SELECT 1\\; WAIT FOR LSN NOW WITH ($flush)\\; SELECT 2;", "1\nsuccess\n2\n" ],
	[ 'with a snapshot', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; WAIT FOR LSN NOW WITH ($flush);",
		"1\n$snapshot" ],
	[ 'before the snapshot', "BEGIN ISOLATION LEVEL SERIALIZABLE; WAIT FOR LSN NOW WITH ($flush); SELECT 1; COMMIT;",
		"success\n1\n" ],
	[ 'with an open cursor', "BEGIN; DECLARE c CURSOR FOR SELECT 1; WAIT FOR LSN NOW WITH ($flush);", $snapshot ],
	[ 'in DO', "DO \$\$ BEGIN EXECUTE 'WAIT FOR LSN ''0/0'''; END \$\$;", $top ],
	[ 'in PL/pgSQL as it stands', "DO \$\$ BEGIN WAIT FOR LSN '0/0'; END \$\$;", $top ],
	[ 'in a function', "CREATE FUNCTION pg_temp.f() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN
		EXECUTE 'WAIT FOR LSN ''0/0'''; END \$\$; SELECT pg_temp.f();", $top ],
	[ 'in a procedure', "CREATE PROCEDURE pg_temp.p() LANGUAGE plpgsql AS \$\$ BEGIN COMMIT;
		EXECUTE 'WAIT FOR LSN ''0/0'''; END \$\$; CALL pg_temp.p();", $top ],
	[ 'rolled back and again', "BEGIN; SAVEPOINT s; WAIT FOR LSN AHEAD WITH ($flush, TIMEOUT 1); ROLLBACK TO s;
		WAIT FOR LSN NOW WITH ($flush); COMMIT;",
		"ERROR:  timed out while waiting for target LSN LSN to be flushed; current flush LSN LSN\nsuccess\n" ],
	[ 'its words stay names', "CREATE TEMP TABLE wait (lsn int, wait text); INSERT INTO wait VALUES (1, 'x');
		SELECT lsn, wait.wait wait, lsn lsn FROM wait; DROP TABLE wait;", "1|x|1\n" ],
);
for my $case (@cases)
{
	my ($name, $script, $want) = @$case;
	my $said = says($script);
	ref $want ? like($said, $want, $name) : is($said, $want, $name);
}

# A session that stays open: ask() returns the answer, begin() does not wait for it, and answer() does.
sub session
{
	my $pid = open2(my $out, my $in,
		qq{exec "$server->{bin}/psql" -XAtq -h "$server->{dir}" -U probe -d postgres 2>&1});
	my $session = { pid => $pid, in => $in, out => $out };
	chomp($session->{backend} = ask($session, 'SELECT pg_backend_pid() FROM pg_stat_force_next_flush();'));
	$server->keep($session->{backend});
	return $session;
}

sub begin
{
	my ($session, $statements) = @_;
	print { $session->{in} } "$statements\n\\echo --\n";
	$session->{in}->flush;
	return;
}

sub answer
{
	my ($session, $answer) = (shift, '');
	while (defined(my $line = readline $session->{out})) { last if $line eq "--\n"; $answer .= $line }
	return $answer;
}

sub ask { begin(@_); return answer($_[0]) }

sub leave
{
	my $session = shift;
	close $session->{in};
	close $session->{out};
	waitpid $session->{pid}, 0;
	$server->left($session->{backend});
}

my $watch = session();
my $waiting = sub { ask($watch, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'WaitForWalFlush'
	AND wait_event_type = 'Client';") + 0 };
ask($watch, 'CREATE TABLE t (a int);');

subtest 'whoever flushes wakes those whose position is reached' => sub {
	my @waiters = map { session() } 1 .. 4;
	my $writer = session();
	ask($writer, 'SET synchronous_commit = off;');
	my @lsn;
	for (0 .. 2)
	{
		ask($writer, "INSERT INTO t VALUES ($_);");
		chomp($lsn[$_] = ask($writer, 'SELECT pg_current_wal_insert_lsn();'));
	}
	chomp($lsn[3] = ask($writer, "SELECT '$lsn[2]'::pg_lsn + 10000000000;"));
	begin($waiters[$_], "WAIT FOR LSN '$lsn[$_]' WITH ($flush);") for 2, 0, 3, 1;
	ok(holds(sub { $waiting->() == 4 }), 'all wait') or return;
	ask($writer, 'SET synchronous_commit = on; INSERT INTO t VALUES (3);');
	my $woken = holds(sub { $waiting->() == 1 });
	ok($woken, 'all are woken but the one beyond the log');
	$woken or ask($watch, "SELECT pg_cancel_backend($_->{backend});") for @waiters[0 .. 2];
	is(answer($waiters[$_]), "success\n", "position $_") for 0 .. 2;
	kill 'TERM', $waiters[3]{backend};
	ok(holds(sub { $waiting->() == 0 }), 'until its session ends');
	answer($waiters[3]);
	ask($writer, 'INSERT INTO t VALUES (4);');
	is(ask($waiters[0], "WAIT FOR LSN '$lsn[3]' WITH ($flush, TIMEOUT 1, NO_THROW);"), "timeout\n",
		'a slot is used again');
	leave($_) for @waiters, $writer;
};

subtest 'a wait that is cancelled leaves the queue' => sub {
	my $waiter = session();
	for my $round (1 .. 3)
	{
		begin($waiter, "BEGIN; SAVEPOINT s; WAIT FOR LSN 'FF/0' WITH ($flush); ROLLBACK TO s; COMMIT;");
		ok(holds(sub { $waiting->() == 1 }), "round $round waits") or return;
		ask($watch, "SELECT pg_cancel_backend($waiter->{backend});");
		like(answer($waiter), qr/^(psql:\S+ )?ERROR:  canceling statement due to user request$/, 'cancelled');
		is(ask($waiter, "WAIT FOR LSN 'FF/0' WITH ($flush, TIMEOUT 1, NO_THROW);"), "timeout\n", '... and works again');
		ask($watch, 'INSERT INTO t VALUES (5);');
	}
	leave($waiter);
};

subtest 'a wait holds back no vacuum' => sub {
	my $waiter = session();
	begin($waiter, "BEGIN; SELECT count(*) > 0 FROM t; WAIT FOR LSN 'FF/0' WITH ($flush);");
	ok(holds(sub { $waiting->() == 1 }), 'it waits');
	is(ask($watch, "SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $waiter->{backend};"), "t\n",
		'it has no snapshot');
	ask($watch, "SELECT pg_cancel_backend($waiter->{backend});");
	answer($waiter);
	leave($waiter);
};

leave($watch);
unlike($server->log, qr/TRAP|PANIC/, 'no assertion failed');
done_testing();
