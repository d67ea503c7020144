# The output plugin over the replication protocol: who may use it, slices, what a client has confirmed, a crash.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
plan skip_all => "no pg_recvlogical in $prefix" unless -x "$prefix/bin/pg_recvlogical";
my $server = Plimsoll::Server->new($prefix, autovacuum => 'off', wal_level => 'logical', max_replication_slots => 4);
my $ask = sub { chomp(my $said = $server->psql('postgres', @_)); return $said };

# client runs pg_recvlogical and returns what it prints.
sub client
{
	my @arguments = @_;
	local $ENV{PGAPPNAME} = 'copies';
	my $command = join ' ', map { "'$_'" } "$prefix/bin/pg_recvlogical", '-h', $server->{dir}, '-U', 'probe',
		'-d', 'postgres', '-S', 'copies', @arguments;
	return scalar `$command 2>&1`;
}

# changes returns the records up to now; what a client has received is confirmed.
sub changes
{
	my @options = map { ('-o', $_) } @_;
	my $end = $ask->('SELECT pg_current_wal_flush_lsn()');
	return client('--start', '--no-loop', '-E', $end, '-f', '-', '-o', 'include-xids=off', @options);
}

# Servers since 18.6 ask for the administrator's word.
my $asks = $ask->("SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'");
SKIP: {
	skip 'this server knows no output_plugin_libraries', 3 unless $asks;
	like(client('--create-slot', '-P', 'dbcopies_decoding'),
		qr/library "dbcopies_decoding" may not be used as an output plugin/, 'refused unless the server is told');
	$ask->("ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, dbcopies_decoding");
	is($ask->('SELECT pg_reload_conf()'), 't', 'a reload is enough');
	$server->psql('postgres', "DO \$\$ BEGIN FOR i IN 1..3000 LOOP
		EXIT WHEN (SELECT setting LIKE '%dbcopies%' FROM pg_settings WHERE name = 'output_plugin_libraries');
		PERFORM pg_sleep(0.01); END LOOP; END \$\$");
	like($ask->('SHOW output_plugin_libraries'), qr/dbcopies_decoding/, '... to put it on the list');
}
is(client('--create-slot', '-P', 'dbcopies_decoding'), '', 'a client makes a slot');

$ask->(q{CREATE TABLE reference12 (id int PRIMARY KEY, name text);
	INSERT INTO reference12 VALUES (1, 'it''s'), (2, NULL)});
is(changes(), "B\nI reference12 1 'it''s'\nI reference12 2 null\nC\n", 'records');
is(changes(), '', 'what was received does not come again');

# Slices: none is longer than asked for, the protocol's header included; only the last carries a position.
$ask->("INSERT INTO reference12 SELECT g, repeat('x', 100 * g) FROM generate_series(3, 40) g");
my $whole = join '', map { "I reference12 $_ '" . 'x' x (100 * $_) . "'\n" } 3 .. 40;
my $sliced = changes('slice_size=300');
my @lines = split /\n/, $sliced;
cmp_ok(scalar(grep { /!$/ } @lines), '>', 200, 'slices');
is((sort { $b <=> $a } map { length } @lines)[0], 300 - 25, '... as long as they may be');
is($sliced =~ s/!\n//gr, "B\n${whole}C\n", '... make the records');

# A client that ends in the middle gets the whole transaction again.
my $before = $ask->('SELECT pg_current_wal_insert_lsn()');
$ask->("BEGIN; UPDATE reference12 SET name = 'new' WHERE id = 1; DELETE FROM reference12 WHERE id = 2; COMMIT");
client('--start', '--no-loop', '-E', $before, '-f', '-');
is(changes(), "B\nU reference12 1 'new'\nD reference12 2\nC\n", 'a client that stops short gets it again');

# A crash: the slot is there, and nothing that was not confirmed is lost. What was confirmed may come again, as the
# server writes down seldom how far a client has come.
$ask->("INSERT INTO reference12 VALUES (100, 'before')");
$server->restart('immediate');
$ask->("INSERT INTO reference12 VALUES (101, 'after')");
ok(changes() =~ /^B\nI reference12 100 'before'\nC\nB\nI reference12 101 'after'\nC\n\z/m, 'after a crash');

# skip-change: the slot moves on without a word.
$ask->("INSERT INTO reference12 VALUES (102, 'passed over')");
is(changes('skip-change=on'), '', 'skip-change says nothing');
is(changes(), '', '... and the slot has moved on');
$ask->('TRUNCATE reference12');
is(changes(), "B\nT reference12\nC\n", '... to what follows');
like(client('--start', '--no-loop', '-E', $before, '-f', '-', '-o', 'slice_size=x'),
	qr/could not parse value "x" for parameter "slice_size"/, 'a wrong option is told to the client');
is(client('--drop-slot'), '', 'the slot is dropped');
unlike($server->log, qr/was terminated by signal|PANIC|TRAP/, 'nothing has crashed');
$server->stop;
done_testing;
