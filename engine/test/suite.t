# The release suite: its parts, one after another, on a dwarf whose tests pass or fail as ordered.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Patience qw(holds);
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new(dwarf => 1);
my $orders = "$shop->{dir}/orders";
sub order { my ($part, $does) = @_; Plimsoll::Workshop::spew("$orders/$part", "$does\n") }
sub played { join ' ', split /\n/, Plimsoll::Workshop::slurp("$shop->{dir}/played") }

# Each folder's check notes that it was called and with which settings, then says what its order is.
my $check = <<MAKE;
NAME = \$(notdir \$(CURDIR))
all install:
temp-install:
	\@echo \$(EXTRA_INSTALL)
check:
	\@echo "\$(NAME)\$(if \$(TEMP_CONFIG),:\$(basename \$(notdir \$(TEMP_CONFIG))))" >>$shop->{dir}/played
	\@sh -c "\$\$(cat $orders/\$(NAME) 2>/dev/null || echo 'echo All 3 tests passed.')"
MAKE
my $source = $shop->{tree};
my $with_tests = "REGRESS = one two\nISOLATION = three\n";
Plimsoll::Workshop::spew("$source/$_/Makefile", $with_tests . $check)
	for qw(src/test/regress src/test/isolation src/test/recovery src/test/subscription src/pl/plpgsql/src
		contrib/first contrib/left_out src/test/modules/plimsoll_temp);
Plimsoll::Workshop::spew("$source/contrib/silent/Makefile", $check);
Plimsoll::Workshop::spew("$source/src/bin/tool/Makefile", $check);
Plimsoll::Workshop::spew("$source/src/bin/tool/t/001.pl", '');
Plimsoll::Workshop::spew("$source/contrib/Makefile", "SUBDIRS = first silent\nALWAYS_SUBDIRS = left_out\n");
Plimsoll::Workshop::spew("$source/src/bin/Makefile", "SUBDIRS = tool\n");
Plimsoll::Workshop::spew("$source/src/test/modules/Makefile", "SUBDIRS =\n");
Plimsoll::Workshop::spew("$source/src/test/Makefile", "all:\n");
Plimsoll::Workshop::spew("$orders/.keep", '');
Plimsoll::Workshop::spew("$shop->{dir}/played", '', 0666);
mkdir "$shop->{engine}/test";
system('cp', glob("$FindBin::Bin/*.conf"), "$shop->{engine}/test") == 0 or die;
$shop->pack;

sub suite
{
	Plimsoll::Workshop::spew("$shop->{dir}/played", '', 0666);
	return $shop->run([ 'suite', '--flavour', 'plimsoll', @_ ]);
}

order('isolation', 'echo 1 of 122 tests failed; exit 1');
order('tool', 'echo TAP tests not enabled');
my ($code, $out, $err) = suite(qw(regress isolation contrib bin temp));
is($code, 1, 'a failed part is the result of all') or diag $err;
is(played(), 'regress regress:on isolation isolation:on first first:on tool tool:on plimsoll_temp plimsoll_temp:on',
	'every part runs, with everything off and on, and failures stop nothing');
my ($table) = $out =~ /\n\n(plimsoll: PostgreSQL 18\.6.*)/s;
like($table, qr/^regress:on +passed +\d+:\d\d  All 3 tests passed$/m, 'the closing table tells of those that passed');
like($table, qr/^isolation:off +failed .* 1 of 122 tests failed; log: (.*)$/m, '... of those that failed');
my ($log) = $table =~ /log: (.*)/;
like(Plimsoll::Workshop::slurp($log), qr/1 of 122/, '... with where to look');
like($table, qr/^bin\/tool:off +skipped .*TAP tests not enabled$/m, 'a part whose tests did not run has not passed');
like($table, qr/^not compiled here: contrib\/left_out$/m, '... and what is not compiled is named');
unlike($table, qr/silent/, '... unless it has no tests');
like($table, qr/^plimsoll: 6 passed, 2 failed, 2 without a test that ran, 0 not run$/m, 'the sum');
like($err, qr/^plimsoll: isolation:on \(4 of 10\) …$/m, 'progress is told');

unlink "$orders/isolation";
($code, $out, $err) = suite(qw(--resume regress isolation recovery:on));
is($code, 0, 'taken up again, with the fault mended, all is well') or diag $err;
is(played(), 'isolation isolation:on recovery:on', '... and what has passed does not run again');
unlike($err, qr/compile/, '... nor is anything compiled');
like($out, qr/^regress:off +passed/m, '... but is in the table');

($code, $out) = suite(qw(--list loaded));
like($out, qr{^not run yet: loaded/regress loaded/isolation loaded/recovery loaded/subscription loaded/plpgsql$}m,
	"each of PostgreSQL's own has a run with our extensions loaded");
# They are installed by the whole build, which this is not.
like(Plimsoll::Workshop::slurp("$FindBin::Bin/extensions_loaded.conf"), qr/^shared_preload_libraries = /m,
	'... that loads their libraries');

($code, $out) = suite(qw(--list contrib/first subscription:off));
is($code, 0, 'a list');
is(played(), '', '... runs nothing');
like($out, qr/^contrib\/first:on +passed.*^not run yet: subscription:off$/ms, '... and tells what is open');

suite('contrib:on');
is(played(), 'first:on', 'a group is chosen by its settings');
($code, $out, $err) = suite('nonsense');
is($code, 2, 'an unknown part is refused');
like($err, qr/unknown part nonsense \(known: regress /, '... with those there are');

# Pipes: who opens one waits for the other end. The part holds its pipe open as long as it runs.
my ($part, $second_says) = map { "$shop->{dir}/$_" } qw(part second);
system('mkfifo', '-m', '666', $part, $second_says) == 0 or die 'mkfifo';
order('regress', "exec >$part; echo runs; sleep 3600");
my $pid = $shop->start([ 'suite', '--flavour', 'plimsoll', 'regress:off' ]);
open my $runs, '<', $part or die;
is(scalar readline $runs, "runs\n", 'a part runs');
my $second = $shop->start([ 'suite', '--flavour', 'plimsoll', 'temp:off' ], err => $second_says);
open my $waits, '<', $second_says or die;
is(scalar readline $waits, "engine: waiting for another run of the suites (pid $pid)\n",
	'one run at a time, and the second says for whom it waits');
kill INT => $pid;
waitpid $pid, 0;
is($? >> 8, 130, 'interrupted');
$runs->blocking(0);
ok(holds(sub { my $end = sysread $runs, my $more, 1; defined $end && $end == 0 }), '... the part ends with it');
waitpid $second, 0;
is($? >> 8, 0, '... and the one that waited goes on');
unlink "$orders/regress";
($code, $out) = suite(qw(--resume regress:off));
is(played(), '', '... and an interrupted part changes no earlier verdict');

Plimsoll::Workshop::spew("$shop->{engine}/overlay/src/test/recovery/Makefile",
	$with_tests . $check =~ s/^check:\n/check:\n\t\@echo newer >>$shop->{dir}\/played\n/mr);
($code, $out, $err) = suite('recovery:off');
is(played(), 'newer recovery', 'a test that has changed is taken');
unlike($err, qr/compile/, '... and nothing is compiled for it');

Plimsoll::Workshop::spew("$shop->{engine}/overlay/src/backend/plimsoll/extra.c", "int plimsoll_extra = 2;\n");
($code, $out, $err) = suite(qw(--resume regress:off));
is(played(), 'regress', 'another source: nothing has passed yet');
is(scalar(() = glob("$shop->{cache}/engine/suite/*/tree")), 1, '... and one tree is kept');
done_testing();
