# Random sessions on temporary tables whose commands are cancelled at any moment. Whatever was cut short, what the
# session's catalogs say must agree with itself, its tables must be readable, their names free once they are dropped,
# and nothing of it may be left when the session has ended.
#
# Every second session has parallel plans wherever it may, also over its temporary tables.
#
# No table is made ON COMMIT DELETE ROWS: PostgreSQL truncates and rebuilds the indexes of such a table in place
# (RelationTruncateIndexes); an index whose rebuild is cancelled has no first page from then on. Stock servers show it.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   SEEDS=1-40   which sessions; more are played until 20 commands have been cancelled; STEPS=40 their length
#   MINUTES=15   sessions from the first of SEEDS on, until so many minutes have passed
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Patience qw(holds);
use Plimsoll::Seeds;
use Plimsoll::Server;
use Plimsoll::TempScript;
use Plimsoll::Workshop;

use constant ENOUGH => 20;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $steps = $ENV{STEPS} // 40;
my $seeds = Plimsoll::Seeds->new('1-100');
my %everything = (enable_temp_memory_catalog => 'on', map { ("temp_$_" => 'on') }
		qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));
my $server = Plimsoll::Server->new($prefix, max_prepared_transactions => 2, autovacuum => 'off',
	max_worker_processes => 16, max_parallel_workers => 16);

# What must print nothing at the end of a session.
my @lies = (
	q{SELECT 'columns', relname FROM pg_class c WHERE relnamespace = pg_my_temp_schema() AND relnatts <>
		(SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0)},
	map({; my ($catalog, $column) = @$_;
		"SELECT '$catalog', $column FROM $catalog WHERE $column >= 16384 AND
			NOT EXISTS (SELECT FROM pg_class WHERE oid = $column)" }
		[ 'pg_attribute', 'attrelid' ], [ 'pg_index', 'indexrelid' ], [ 'pg_index', 'indrelid' ],
		[ 'pg_type', 'typrelid' ], [ 'pg_attrdef', 'adrelid' ], [ 'pg_constraint', 'conrelid' ],
		[ 'pg_statistic', 'starelid' ]),
	map({; "SELECT 'pg_depend', d FROM pg_depend d WHERE ${_}classid = 'pg_class'::regclass AND ${_}objid >= 16384
		AND NOT EXISTS (SELECT FROM pg_class WHERE oid = ${_}objid)" } '', 'ref'),
	q{SELECT 'type', relname FROM pg_class c WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'
		AND NOT EXISTS (SELECT FROM pg_type WHERE oid = reltype AND typrelid = c.oid)},
	q{SELECT 'one name', relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
		GROUP BY relname HAVING count(*) > 1},
);
my $end = join '', map { "$_;\n" } @lies, q{DO $$ DECLARE name regclass; n bigint; BEGIN
	FOR name IN SELECT oid FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind IN ('r', 'p', 'v') LOOP
		EXECUTE 'SELECT count(*) FROM ' || name INTO n;
	END LOOP; END $$}, 'DISCARD TEMP',
	q{SELECT 'left', relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()},
	map { ("CREATE TEMP TABLE t$_ (c0 int PRIMARY KEY, c1 text)", "INSERT INTO t$_ VALUES (1, 'x')") } 0 .. 4;

sub number_in
{
	open my $file, '<', shift or return 0;
	return (<$file> // '') =~ /^(\d+)\n/ ? $1 : 0;
}

# played returns what the end of a session says and how many of its commands were cancelled. Before the end psql waits
# until no signal can come any more.
sub played
{
	my ($seed) = @_;
	my ($pid_file, $over, $safe) = map { "$server->{dir}/$_.$seed" } qw(pid over safe);
	my $parallel = $seed % 2;
	my $random = Plimsoll::TempScript->new($seed, $steps, parallel => $parallel)->text =~ s/ ON COMMIT DELETE ROWS//gr;
	my $script = "SELECT pg_backend_pid() \\g $pid_file\n$random"
		. "\\! touch $over; until [ -e $safe ]; do sleep 0.01; done\nROLLBACK;\n\\qecho === lies\n" . $end;
	my $killer = fork() // die "fork: $!";
	if (!$killer)
	{
		srand $seed;
		my $backend;
		holds(sub { $backend = number_in($pid_file); $backend || -e $over });
		until (-e $over || !-e "/proc/$backend")
		{
			select undef, undef, undef, rand(0.005) * rand();
			kill INT => $backend;
		}
		open my $file, '>', $safe;
		require POSIX;
		POSIX::_exit(0);
	}
	$server->psql('postgres', 'CREATE DATABASE probe_cancel;');
	my $said = $server->psql('probe_cancel', $script, %everything,
		$parallel ? (temp_parallel_scans => 'on', %Plimsoll::TempScript::PARALLEL) : ());
	waitpid $killer, 0;
	$server->psql('postgres', 'DROP DATABASE probe_cancel WITH (FORCE);');
	my $cancelled = () = $said =~ /canceling statement due to user request/g;
	my ($lies) = $said =~ /^=== lies\n(.*)\z/ms;
	return ($lies // "the session did not reach its end:\n" . substr($said, -500), $cancelled);
}

is($server->psql('postgres', 'CREATE EXTENSION plimsoll;'), '', 'our extension is installed');
my ($sessions, $cancelled) = (0, 0);
while (defined(my $seed = $seeds->next))
{
	my ($lies, $n) = played($seed);
	$lies =~ s/^psql:[^\n]*WARNING:[^\n]*\n//mg;
	is($lies, '', "session $seed: nothing that disagrees");
	($sessions, $cancelled) = ($sessions + 1, $cancelled + $n);
	last if !defined $ENV{MINUTES} && !defined $ENV{SEEDS} && $cancelled >= ENOUGH;
}
cmp_ok($cancelled, '>=', 1, 'commands were cancelled');
is($server->psql('postgres', q{SELECT relname FROM pg_class WHERE relpersistence = 't';
	SELECT * FROM plimsoll_temp_catalog; SELECT * FROM plimsoll_temp_references;}),
	'', 'nothing is left of the sessions');
is_deeply([ glob "$server->{dir}/data/base/*/t*_*" ], [], '... and no file');
unlike($server->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed');
note "$sessions sessions, $cancelled commands cancelled; ", $seeds->played;
done_testing();
