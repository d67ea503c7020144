# Temporary tables without files compared with those with: the same random session with temp_lazy_files off and on must
# give the same output and leave no file.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   SEEDS=1-40   which sessions; STEPS=80 their length
#   MINUTES=60   sessions from the first of SEEDS on, until so many minutes have passed
#   WITH=NAMES   other settings to turn on for both, such as "temp_buffers_by_relation enable_temp_memory_catalog"; or
#                to set: NAME=VALUE
#   SETTING=NAME what is compared instead of temp_lazy_files; temp_parallel_scans turns that on for both and has each
#                query use workers
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Seeds;
use Plimsoll::Server;
use Plimsoll::StorageScript;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $seeds = Plimsoll::Seeds->new('1-8');
my $steps = $ENV{STEPS} // 80;
my $compared = $ENV{SETTING} // 'temp_lazy_files';
my %with = map { /^(\w+)=(.*)/ ? ($1 => $2) : ($_ => 'on') } split ' ', $ENV{WITH} // '';
%with = (temp_lazy_files => 'on', temp_buffers_by_relation => 'on', max_worker_processes => 24,
	max_parallel_workers => 24, min_parallel_table_scan_size => 0, min_parallel_index_scan_size => 0,
	parallel_setup_cost => 0, parallel_tuple_cost => 0, jit => 'off', %with) if $compared eq 'temp_parallel_scans';
my $server = Plimsoll::Server->new($prefix, autovacuum => 'off', allow_in_place_tablespaces => 'on', %with);
$server->psql('postgres', q{CREATE TABLESPACE probe_elsewhere LOCATION ''; CREATE EXTENSION amcheck;});
# The temp schemas are created here; otherwise only the first session would create one.
$server->psql('postgres', 'CREATE TEMP TABLE first (a text);');

sub files
{
	my @data = ("$server->{dir}/data/base/*", "$server->{dir}/data/pg_tblspc/*/PG_*/*");
	return grep { m{/t\d+_\d+[^/]*$} } map { glob "$_/t*" } @data;
}

sub said
{
	my ($setting, $script) = @_;
	my $said = $server->psql('postgres', $script . "SHOW $compared;\n", $compared => $setting);
	$said =~ s/$setting\n\z// or $said .= "$compared is not $setting\n";
	for ($said)
	{
		s/^psql:[^ ]*: //mg;
		s/pg_((?:toast_)?)temp_\d+/pg_$1temp/g;
		s/\b(pg_toast)_\d+/$1/g;
		s{/t\d+_\d+}{/file}g;
	}
	return $said;
}

while (defined(my $seed = $seeds->next))
{
	my $script = Plimsoll::StorageScript->new($seed, $steps)->text;
	my ($off, $on) = map { said($_, $script) } qw(off on);
	is(join(' ', files()), '', "session $seed leaves no file");
	next if ok($off eq $on, "session $seed");
	my @off = split /^/, $off;
	my @on = split /^/, $on;
	my $n = 0;
	$n++ while defined $off[$n] && defined $on[$n] && $off[$n] eq $on[$n];
	my $from = $n < 8 ? 0 : $n - 8;
	diag "off:\n", @off[$from .. ($n + 4 < @off ? $n + 4 : $#off)], "on:\n",
		@on[$from .. ($n + 4 < @on ? $n + 4 : $#on)];
	my ($step) = join('', @off[0 .. $n]) =~ /.*^=== (\d+)$/ms;
	my $shown = qr/SELECT '|SELECT name, pg_relation_size/;
	my ($what) = defined $step ? $script =~ /^\\qecho === \Q$step\E\n(.*?)\n(?=$shown)/ms : ();
	diag "at step $step: $what" if defined $what;
}
unlike($server->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed');
note $seeds->played;
done_testing();
