# Which source is used, and that none is used unverified.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new(dwarf => 1);
my $recorded = $shop->{source};

sub kept { scalar(() = glob("$shop->{cache}/engine/source/*/archive")) }

# refused checks that a source ends the run with CODE, one error line and a hint, and that nothing is kept.
sub refused
{
	my ($source, $code, $error, $what) = @_;
	my ($got, $out, $err) = $shop->run([], env => { SOURCE => $source });
	is($got, $code, "$what is refused");
	like($err, qr/\Aplimsoll: [^\n]*$error[^\n]*\nhint: [^\n]+\n\z/, '... in one line with a hint');
	is(kept(), 0, '... and nothing is kept');
	is(join(' ', $shop->prefixes('vanilla'), $shop->debris), '', '... nor built');
}

my $bad = "$shop->{dir}/bad.tar.bz2";
system('cp', $recorded, $bad);
open my $handle, '>>', $bad;
print $handle 'x';
close $handle;
refused($bad, 4, 'checksum mismatch', 'a tarball with one byte more');

Plimsoll::Workshop::spew("$bad.sha256", ('0' x 64) . "  bad.tar.bz2\n");
refused($bad, 4, 'checksum mismatch', 'a tarball that its own .sha256 file contradicts');
refused("$shop->{dir}/none.tar.bz2", 2, 'cannot read', 'a tarball that is not there');
refused($shop->{engine}, 2, 'not a PostgreSQL 18 source tree', 'a folder that is something else');

my $old = "$shop->{dir}/old";
Plimsoll::Workshop::spew("$old/configure", "PACKAGE_VERSION='17.4'\n", 0755);
refused($old, 2, 'PostgreSQL 17.4', 'another major version');

my ($code, $out, $err) = $shop->run(['--source', $recorded]);
is($code, 0, 'a recorded tarball builds') or diag $err;
is(kept(), 1, '... and is kept');
my $by_archive = readlink("$shop->{cache}/engine/current/vanilla");

unlink $recorded;
($code, $out, $err) = $shop->run([], env => { SOURCE => '' });
is($code, 0, 'once kept it is taken from the cache');
is($err, '', '... and nothing is built');

my $other = "$shop->{dir}/other.tar.bz2";
Plimsoll::Workshop::spew("$shop->{tree}/HISTORY", "another\n");
system('tar', '-cjf', $other, '-C', $shop->{dir}, 'postgresql-18.6');
system("cd $shop->{dir} && sha256sum other.tar.bz2 >other.tar.bz2.sha256");
($code, $out, $err) = $shop->run(['--source', $other]);
is($code, 0, "a tarball with upstream's .sha256 next to it builds") or diag $err;
isnt(readlink("$shop->{cache}/engine/current/vanilla"), $by_archive, '... under its own key');

($code, $out, $err) = $shop->run([], env => { SOURCE => '' });
is(readlink("$shop->{cache}/engine/current/vanilla"), $by_archive, 'without a name the recorded one is taken again');

($code, $out, $err) = $shop->run(['--source', $shop->{tree}, '--flavour', 'vanilla']);
is($code, 0, 'an unpacked folder builds') or diag $err;
($code, $out, $err) = $shop->run(['--source', $shop->{tree}, '--flavour', 'vanilla']);
is($err, '', '... once');
Plimsoll::Workshop::spew("$shop->{tree}/src/backend/main.c",
	qq{#include <stdio.h>\nint main(void)\n{\n\tputs("mine");\n\treturn 0;\n}\n});
($code, $out, $err) = $shop->run(['--source', $shop->{tree}, '--flavour', 'vanilla']);
is(`$shop->{cache}/engine/current/vanilla/bin/postgres`, "mine\n", '... and again when a file in it changes');
ok(!-e "$shop->{tree}/config.mk", "... without a trace in the person's folder");

Plimsoll::Workshop::spew("$shop->{dir}/postgresql-18.9/$_",
	Plimsoll::Workshop::slurp("$shop->{tree}/$_") =~ s/18\.6/18.9/r =~ s/mine/stock/r, 0755)
  for qw(configure Makefile src/backend/main.c);
($code, $out, $err) = $shop->run(['--source', "$shop->{dir}/postgresql-18.9", '--flavour', 'plimsoll']);
is($code, 0, 'a newer minor that the series fits builds') or diag $err;
like($err, qr/developed on PostgreSQL 18\.6, applies cleanly to 18\.9/, '... and it is said');

($code, $out, $err) = $shop->run(['--source', $shop->{tree}, '--flavour', 'plimsoll']);
is($code, 1, 'a source that the series does not fit is refused');
like($err, qr/greeting\.patch/, '... naming the patch');
like($err, qr/^hint: .*\.log$/m, '... and the log');

done_testing();
