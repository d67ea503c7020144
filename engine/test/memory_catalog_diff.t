# Cheap temporary tables compared with stock ones: the same random session must give the same output with the settings
# off, with the memory catalog on, and with everything on.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   SEEDS=1-40   which sessions (fuzz/catalogs of make engine-test-full plays others each time); STEPS=120 their length
#   PLANS=parallel   every query that may have parallel workers has them, also over temporary tables where everything
#                is on
#   MINUTES=60   sessions from the first of SEEDS on, until so many minutes have passed
#   SETTINGS="debug_discard_caches=1"   more settings of the server (that one knows a build with assertions)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Seeds;
use Plimsoll::Server;
use Plimsoll::TempScript;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
my $seeds = Plimsoll::Seeds->new('1-8');
my $steps = $ENV{STEPS} // 120;
my $parallel = ($ENV{PLANS} // '') eq 'parallel';
my %more = map { split /=/, $_, 2 } split ' ', $ENV{SETTINGS} // '';
# What a transaction has to log depends on wal_level: sessions take turns.
my @servers = map { Plimsoll::Server->new($prefix, max_prepared_transactions => 2, autovacuum => 'off',
	max_wal_senders => 0, wal_level => $_, max_worker_processes => 16, max_parallel_workers => 16, %more) }
	qw(replica minimal);

my %memory = (enable_temp_memory_catalog => 'on');
my %settings = (
	'the memory catalog' => \%memory,
	'everything' => { %memory,
		map { ("temp_$_" => 'on') }
			qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast) },
);

if ($parallel)
{
	$settings{everything}{temp_parallel_scans} = 'on';
	%settings = ('everything, parallel plans' => $settings{everything});
}

# How many workers the sessions had, without and with our settings.
my %launched = (off => 0, on => 0);

# said returns the output of one session in a fresh database, where OIDs and statistics of others do not show.
sub said
{
	my ($server, $script, %setting) = @_;
	$server->psql('postgres', 'CREATE DATABASE probe_diff;');
	my $said = $server->psql('probe_diff', $script, %setting, $parallel ? %Plimsoll::TempScript::PARALLEL : ());
	$launched{ %setting ? 'on' : 'off' } += $server->psql('postgres',
		"SELECT parallel_workers_launched FROM pg_stat_database WHERE datname = 'probe_diff';");
	my $left = $server->psql('postgres', 'DROP DATABASE probe_diff;');
	for ($said)
	{
		s/^psql:[^ ]*: //mg;
		s/pg_temp_\d+/pg_temp/g;
		s/pg_toast_temp_\d+/pg_toast_temp/g;
		s{/t\d+_\d+}{/file}g;
		s/(?<![a-f\d])\d{5,}(?![a-f\d])/N/g;    # OIDs, but no part of a checksum
	}
	return $said . $left;
}

# Three differences are tolerated. First: what ANALYZE, CREATE INDEX and the like write to pg_class survives a rollback,
# unless the same transaction has moved the table to the real catalogs, because the row they wrote is then removed
# (patches/18/memcat-writes.md).
sub without_figures { return $_[0] =~ s/^(class\|[^|]*\|\w\|\d+)\|[tf]\|[^|]*\|\d+\|/$1|/mgr }

# Second, with temp_lazy_toast: a table has no toast table yet, and so no value in it, where stock has one. with_toast
# gives it the toast table that stock has.
sub with_toast
{
	my ($off, $on) = @_;
	my @off = map { [split /\|/] } split /^/, $off;
	my @on = split /^/, $on;
	for my $n (0 .. $#on)
	{
		my @row = split /\|/, $on[$n];
		next unless $off[$n] && @row == @{ $off[$n] } && @row > 8 && $row[0] eq 'class' && $row[2] eq 'r';
		next unless $row[7] eq 'no toast' && $off[$n][7] =~ /^toast / && $row[8] =~ /^0 outside/;
		$row[7] = $off[$n][7];
		$on[$n] = join '|', @row;
	}
	return join '', @on;
}

# Third, with temp_lazy_toast: a value that a variable kept over the rollback of the statement that stored it. Both
# servers look it up in the toast table, unless ours has fetched it before, and may find its rows pruned. When that
# happens depends on the rest of the page, hence on when the toast table was created. From that step on the sessions are
# not comparable.
sub until_a_value_is_lost
{
	my ($off, $on) = @_;
	my ($step) = sort { $a <=> $b } map { /(.*?)(?:missing|unexpected) chunk number/s ? $1 =~ /.*^=== (\d+)$/ms
		: () } $off, $on;
	return ($off, $on) unless defined $step;
	note "a value is lost at step $step";
	return map { (split /^=== $step$/m, $_, 2)[0] } $off, $on;
}

# compare shows where two outputs of one session differ.
sub compare
{
	my ($name, $script, $off, $on, %setting) = @_;
	$on = with_toast($off, $on) if $setting{temp_lazy_toast};
	($off, $on) = until_a_value_is_lost($off, $on) if $off ne $on && $setting{temp_lazy_toast};
	if ($off ne $on && $script =~ /^ROLLBACK/m && without_figures($off) eq without_figures($on))
	{
		note "$name: figures of pg_class differ after a rollback";
		$on = $off;
	}
	return if ok($off eq $on, $name);
	my @off = split /^/, $off;
	my @on = split /^/, $on;
	my $n = 0;
	$n++ while defined $off[$n] && defined $on[$n] && $off[$n] eq $on[$n];
	my $from = $n < 12 ? 0 : $n - 12;
	diag "off:\n@off[$from .. $n + 6]\non:\n@on[$from .. $n + 6]";
	my ($step) = join('', @off[0 .. $n]) =~ /.*^=== (\d+)$/ms;
	my ($what) = $script =~ /^\\qecho === \Q$step\E\n(.*?)\nSELECT 'class'/ms;
	diag "at step $step: $what" if defined $step;
}

# By script: what it says near its end.
my %written = ('temp_tables.sql' => qr/cannot drop table fk1/, 'temp_objects.sql' => qr/^c2\|integer/m);
for my $file (sort keys %written)
{
	my $script = Plimsoll::Workshop::slurp("$FindBin::Bin/$file");
	my $stock = said($servers[0], $script);
	like($stock, $written{$file}, "$file runs to its end");
	compare("$file with $_", $script, $stock, said($servers[0], $script, %{ $settings{$_} }), %{ $settings{$_} })
		for sort keys %settings;
}

while (defined(my $seed = $seeds->next))
{
	my $script = Plimsoll::TempScript->new($seed, $steps, parallel => $parallel)->text;
	my $server = $servers[$seed % @servers];
	my $off = said($server, $script);
	like($off, qr/^class\|t\d\|r\|.*\|(no )?toast.*\|\d+ outside/m, "session $seed shows its tables");
	compare("session $seed with $_", $script, $off, said($server, $script, %{ $settings{$_} }), %{ $settings{$_} })
		for sort keys %settings;
}
unlike($_->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed') for @servers;
cmp_ok($launched{on}, '>', 2 * $launched{off}, 'temporary tables had workers') if $parallel;
note $seeds->played, ", workers: $launched{off} without our settings, $launched{on} with them";
done_testing();
