# Many sessions that use temporary tables for a long time: cycles, tables that are kept and refilled, tables that move
# to the catalogs, savepoints. No command fails, nothing crashes, and nothing is left: no row, no file, no reference.
#
#   PREFIX=DIR      the server to test; defaults to the built plimsoll flavour
#   SESSIONS=100    how many at once; defaults to 6
#   MINUTES=5       how long; otherwise each session plays 40 rounds
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $sessions = $ENV{SESSIONS} // 6;
my @length = defined $ENV{MINUTES} ? ('--time', 60 * $ENV{MINUTES}) : ('--transactions', 40);
my $server = Plimsoll::Server->new($prefix, max_connections => $sessions + 10, enable_temp_memory_catalog => 'on',
	map { ("temp_$_" => 'on') }
		qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));

# By weight. A script leaves the session without tables, but "kept", which looks for the one that it left.
my %scripts = (
	'cycle@8' => q{
		CREATE TEMP TABLE work (id int PRIMARY KEY, item text, amount numeric);
		INSERT INTO work SELECT g, 'item ' || g, g FROM generate_series(1, 50) g;
		CREATE INDEX work_item ON work (item);
		ANALYZE work;
		SELECT 1 / (count(*) = 50)::int FROM work;
		DROP TABLE work;},
	'kept@6' => q{
		CREATE TEMP TABLE IF NOT EXISTS kept (id int, item text);
		TRUNCATE kept;
		INSERT INTO kept SELECT g, repeat('x', g) FROM generate_series(1, 200) g;
		SELECT 1 / (count(*) = 200)::int FROM kept;},
	'savepoint@4' => q{
		BEGIN;
		CREATE TEMP TABLE work (id int, item text) ON COMMIT DROP;
		SAVEPOINT one;
		ALTER TABLE work ADD COLUMN more int DEFAULT 7;
		INSERT INTO work SELECT g, repeat(md5(g::text), 200), g FROM generate_series(1, 5) g;
		ROLLBACK TO one;
		INSERT INTO work VALUES (1, 'one');
		SELECT 1 / (count(*) = 1)::int FROM work;
		COMMIT;},
	'rolled_back@2' => q{
		BEGIN;
		CREATE TEMP TABLE work (id int UNIQUE);
		INSERT INTO work SELECT generate_series(1, 1000);
		ROLLBACK;},
	'moved@1' => q{
		CREATE TEMP TABLE moved (id int PRIMARY KEY);
		CREATE TEMP VIEW over_it AS SELECT * FROM moved;
		INSERT INTO moved VALUES (1);
		SELECT 1 / (count(*) = 1)::int FROM over_it;
		DROP TABLE moved CASCADE;},
	'booked@2' => q{
		BEGIN;
		CREATE TEMP TABLE work ON COMMIT DROP AS SELECT g AS id FROM generate_series(1, 10) g;
		INSERT INTO booked SELECT :client_id, count(*) FROM work;
		COMMIT;},
);
my @files;
for my $name (sort keys %scripts)
{
	my ($title, $weight) = split /@/, $name;
	open my $file, '>', "$server->{dir}/$title.sql" or die;
	print $file $scripts{$name} =~ s/^\t\t//mgr, "\n";
	close $file;
	push @files, '--file', "$server->{dir}/$title.sql\@$weight";
}

$server->psql('postgres', 'CREATE EXTENSION plimsoll; CREATE TABLE booked (client int, n bigint);');
my $pgbench = "$server->{bin}/pgbench --no-vacuum -h $server->{dir} -U probe";
my $said = qx{$pgbench --client $sessions --jobs 2 @length @files postgres 2>&1};
is($?, 0, 'no session was aborted') or diag $said;
like($said, qr/number of failed transactions: 0 /, 'no transaction failed') or diag $said;
my ($played) = $said =~ /number of transactions actually processed: (\d+)/;
cmp_ok($played // 0, '>=', $sessions, 'rounds were played');
$server->quiet;
is($server->psql('postgres', q{SELECT relname FROM pg_class WHERE relpersistence = 't';
	SELECT * FROM plimsoll_temp_catalog; SELECT * FROM plimsoll_temp_references;
	SELECT n FROM booked WHERE n <> 10;}), '', 'nothing is left of the sessions');
is_deeply([ glob "$server->{dir}/data/base/*/t*_*" ], [], '... and no file');
unlike($server->log, qr/ERROR|TRAP|was terminated by signal|PANIC/, 'no error, no crash');
note "$sessions sessions, ", $played // 0, ' rounds';
done_testing();
