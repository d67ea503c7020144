# Sessions that change tables and sessions that use them, all at once: whoever has a lock on a table knows its newest
# definition, in its relation cache and in its prepared plans. The catalog itself, read by SQL, is the judge.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   ROUNDS=N     transactions of each session that uses tables; defaults to 150
use strict;
use warnings;
use FindBin;
use POSIX qw(WNOHANG);
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $rounds = $ENV{ROUNDS} // 150;
my $server = Plimsoll::Server->new($prefix, autovacuum => 'off', enable_temp_memory_catalog => 'on',
	temp_local_invalidation => 'on');
$server->psql('postgres', <<'END');
DO $$ BEGIN FOR t IN 1..3 LOOP EXECUTE format('CREATE TABLE t%s (c int DEFAULT 0, d int)', t); END LOOP; END $$;
CREATE TABLE used (known int, written int);
END

# A default stands in the relation cache and in the prepared plan of the INSERT. The temporary table's messages stay
# local, between those that others must see.
my %script = (changes => <<'END');
\set t random(1, 3)
\set value random(1, 1000000)
ALTER TABLE t:t ALTER c SET DEFAULT :value;
CREATE TEMP TABLE mine (i int) ON COMMIT DROP;
END
$script{"uses$_"} = <<"END" for 1 .. 3;
BEGIN;
LOCK TABLE t$_ IN ROW EXCLUSIVE MODE;
WITH i AS (INSERT INTO t$_ DEFAULT VALUES RETURNING c)
	INSERT INTO used SELECT i.c, pg_get_expr(adbin, adrelid)::int FROM i, pg_attrdef WHERE adrelid = 't$_'::regclass;
COMMIT;
END
for my $name (keys %script)
{
	open my $file, '>', "$server->{dir}/$name.sql" or die $!;
	print $file $script{$name};
}

# start NAME, OPTION… plays scripts in some sessions and returns the process.
my $changing = 3;
my $using = 5;
sub start
{
	my ($name, @options) = @_;
	my $pid = fork() // die "fork: $!";
	return $pid if $pid;
	open STDOUT, '>', "$server->{dir}/$name.out";
	open STDERR, '>&', \*STDOUT;
	exec "$prefix/bin/pgbench", '-h', $server->{dir}, '-U', 'probe', '-n', '-j', 1, @options, 'postgres';
}

# A test that dies leaves no process.
my $changes;
END { kill TERM => $changes if $changes }

# The changes go on until enough of them have been used, however the sessions take turns.
$changes = start('changes', '-c', $changing, '-t', 1_000_000, '-f', "$server->{dir}/changes.sql");
my ($played, $seen, $status) = (0, 0, 0);
while ($seen <= 20 && $played < 40 && !$status)
{
	my $uses = start('uses', '-M', 'prepared', '-c', $using, '-t', $rounds,
		map { ('-f', "$server->{dir}/uses$_.sql") } 1 .. 3);
	waitpid $uses, 0;
	$status = $?;
	$played++;
	my $psql = "$prefix/bin/psql -h $server->{dir} -U probe -XAtq postgres";
	chomp($seen = qx{$psql -c "SELECT count(DISTINCT written) FROM used"});
}
is($status, 0, 'each session that uses tables has ended well') or diag $server->slurp('uses.out');
is(waitpid($changes, WNOHANG), 0, 'the sessions that change tables have gone on') or diag $server->slurp('changes.out');
kill TERM => $changes;
waitpid $changes, 0;
$changes = 0;
my $all = $rounds * $using * $played;
is($server->psql('postgres', 'SELECT count(*), count(*) FILTER (WHERE known <> written) FROM used'), "$all|0\n",
	'each use of a table was that of its newest definition');
cmp_ok($seen, '>', 20, 'of which there were many');
unlike($server->log, qr/TRAP|PANIC/, 'nothing crashed');
done_testing();
