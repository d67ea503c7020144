# Stock PostgreSQL from the package registry: fetched once, complete, and as its record says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::SHA qw(sha512_base64);
use Test::More;
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new(dwarf => 1);
my $cache = "$shop->{cache}/engine";
my $package = "$shop->{dir}/package";
my $archive = "$shop->{dir}/linux-16.14.0-beta.17.tgz";
Plimsoll::Workshop::spew("$package/native/bin/postgres", "#!/bin/sh\necho packaged\n", 0755);
Plimsoll::Workshop::spew("$package/native/lib/libicuuc.so.60.2", "a library\n");
Plimsoll::Workshop::spew("$package/native/pg-symlinks.json",
	'[{"source":"native/lib/libicuuc.so.60.2","target":"native/lib/libicuuc.so.60"}]');
system('tar', '-czf', $archive, '-C', $shop->{dir}, 'package') == 0 or die 'tar';

# This npm stands in for the registry.
my $path = "$shop->{dir}/path";
Plimsoll::Workshop::spew("$path/npm", "#!/bin/sh\necho \"\$@\" >>$shop->{dir}/asked\nexec cp $archive .\n", 0755);

sub record
{
	my $hash = shift;
	Plimsoll::Workshop::spew("$shop->{engine}/packages.integrity",
		join '', map { "\@embedded-postgres/linux-$_ 16.14.0-beta.17 sha512-$hash\n" } qw(x64 arm64));
}

sub stock { return $shop->run([ 'stock', @_ ], env => { PATH => "$path:$ENV{PATH}" }) }

record('x' x 86 . '==');
my ($code, $out, $err) = stock(16);
is($code, 4, 'a package with another hash than recorded is refused');
like($err, qr/checksum mismatch/, '... by that name');
ok(!-e "$cache/current/stock-16", '... and nothing is there');
is(join(' ', $shop->debris), '', '... nor left over');

my $hash = sha512_base64(Plimsoll::Workshop::slurp($archive));
$hash .= '=' while length($hash) % 4;
record($hash);
($code, $out, $err) = stock(16);
is($code, 0, 'the recorded one is taken') or diag $err;
my $bin = "$cache/current/stock-16/bin/postgres";
is(`$bin`, "packaged\n", '... and runs');
is(readlink("$cache/current/stock-16/lib/libicuuc.so.60"), 'libicuuc.so.60.2',
	'... with the links that npm does not pack');
like(Plimsoll::Workshop::slurp("$cache/current/stock-16/plimsoll-engine.json"), qr/"flavour": "stock"/,
	'... and says what it is');
like(Plimsoll::Workshop::slurp("$shop->{dir}/asked"), qr/--ignore-scripts \@embedded-postgres\S+\@16\.14\.0-beta\.17$/m,
	'the version was asked for by name, and no script of the package runs');

unlink "$path/npm";
($code, $out, $err) = stock(16);
is("$code $err", '0 ', 'a second time nothing is fetched');
($code, $out) = $shop->run(['path', 'stock-16']);
like($out, qr{/16\.14-stock-16-}, 'path prints it');
($code, $out, $err) = $shop->run(['clean']);
ok(-x $bin, 'clean keeps it');

($code, $out, $err) = stock(14);
is($code, 2, 'a version without a package is refused');
($code, $out, $err) = $shop->run(['path', 'stock-17']);
like($err, qr{^hint: engine/build stock 17$}m, 'path of one that is not there says how to get it');

done_testing();
