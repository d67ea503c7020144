# ANALYZE deforms each sampled row once. The statistics are those of stock PostgreSQL, for all that a column can be.
#
#   PREFIX=DIR    the server to test; defaults to the built plimsoll flavour
#   VANILLA=DIR   the one to compare with; defaults to the built vanilla flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $vanilla = $ENV{VANILLA} // `$engine/build path vanilla`);
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
# engine/build leaves file_fdw out unless it builds all of PostgreSQL.
my $foreign = grep({ -e "$_/share/postgresql/extension/file_fdw.control" } $vanilla, $prefix) == 2 ? 1 : 0;
diag 'SKIPPED: foreign tables, because one of the servers lacks file_fdw (engine/build --whole)' unless $foreign;
my $script = "\\set foreign $foreign\n" . Plimsoll::Workshop::slurp("$FindBin::Bin/analyze.sql");

# statistics PREFIX, SETTING => VALUE…: what the script says there, line by line.
sub statistics
{
	my ($where, %setting) = @_;
	my $server = Plimsoll::Server->new($where, autovacuum => 'off', %setting);
	my $said = $server->psql('postgres', $script);
	unlike($server->log, qr/TRAP|PANIC/, 'no assertion failed');
	return split /\n/, $said;
}

my @stock = statistics($vanilla);
my @ours = statistics($prefix, enable_temp_memory_catalog => 'on');
is_deeply([ grep { /ERROR|FATAL|server closed/ } @stock, @ours ], [], 'the script runs');
cmp_ok(scalar(grep { /^wide\w*\|c\d+\|/ } @stock), '==', 300 + 300 + 5, 'all columns have statistics');
my @differ = grep { ($stock[$_] // '') ne ($ours[$_] // '') } 0 .. ($#stock > $#ours ? $#stock : $#ours);
is(scalar(@differ), 0, 'the statistics are those of stock')
	or diag join "\n", map { 'stock: ' . substr($stock[$_] // '', 0, 300),
		'ours:  ' . substr($ours[$_] // '', 0, 300) } @differ[ 0 .. ($#differ > 4 ? 4 : $#differ) ];
done_testing();
