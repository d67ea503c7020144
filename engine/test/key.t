# Which changes cause a rebuild, and which do not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new(dwarf => 1);
my $cache = "$shop->{cache}/engine";

# built returns the steps that a run took.
sub built
{
	my ($code, $out, $err) = $shop->run([@_]);
	is($code, 0, 'builds') or diag $err;
	return $err;
}

sub current { readlink("$cache/current/$_[0]") }
sub manifest { Plimsoll::Workshop::slurp("$cache/current/$_[0]/plimsoll-engine.json") }

my $first = built();
like($first, qr/vanilla: compile/, 'the first run compiles vanilla');
like($first, qr/plimsoll: compile/, '... and plimsoll');
is(`$cache/current/vanilla/bin/postgres`, "stock\n", 'vanilla has no patch');
is(`$cache/current/plimsoll/bin/postgres`, "patched\n", 'plimsoll has the series');
like(manifest('vanilla'), qr/"patchset": 0,/, "vanilla's manifest: no patchset");
like(manifest('plimsoll'), qr/"patchset": 7,/, "plimsoll's manifest: the header's number");
is(scalar(grep { (stat)[2] & 0004 } glob("$cache/current/*/bin/postgres")), 2,
	'the server user can read what was built');
is(join(' ', $shop->debris), '', 'nothing is left over');

my %before = map { $_ => current($_) } qw(vanilla plimsoll);
is(built(), '', 'the second run does nothing');

Plimsoll::Workshop::spew("$shop->{engine}/patches/18/greeting.md", "A note.\n");
is(built(), '', 'a note next to a patch is no reason to build');

Plimsoll::Workshop::spew("$shop->{engine}/extensions/two/two.o", "left by a make\n");
is(built(), '', 'nor are the products of a make in an extension\'s folder');

Plimsoll::Workshop::spew("$shop->{engine}/extensions/two/two.c", "int two = 2;\n");
my $changed = built();
unlike($changed, qr/compile|configure|extension one/, 'a changed extension leaves the core and the others alone');
like($changed, qr/vanilla: extension two/, '... and is built for vanilla');
like($changed, qr/plimsoll: extension two/, '... and for plimsoll');
is(Plimsoll::Workshop::slurp("$cache/current/plimsoll/lib/two.c"), "int two = 2;\n", '... and is in place');
is(current('plimsoll'), $before{plimsoll}, '... in the same prefix');
is(built(), '', '... once');

my $shared = "$shop->{engine}/extensions/one/shared.h";
Plimsoll::Workshop::spew($shared, "int shared;\n");
symlink '../one/shared.h', "$shop->{engine}/extensions/two/shared.h" or die "symlink: $!";
built();
Plimsoll::Workshop::spew($shared, "long shared;\n");
$changed = built();
like($changed, qr/vanilla: extension $_\b/, "a file that two extensions share is extension $_\'s") for qw(one two);
is(built(), '', '... once');

Plimsoll::Workshop::spew("$shop->{engine}/overlay/src/backend/plimsoll/extra.c", "int plimsoll_extra = 2;\n");
$changed = built();
unlike($changed, qr/vanilla: (?:compile|extension)/, 'a changed overlay does not touch vanilla');
like($changed, qr/plimsoll: compile/, '... and builds plimsoll');
isnt(current('plimsoll'), $before{plimsoll}, '... under another key');
is(scalar $shop->prefixes('plimsoll'), 2, '... in addition to the old one');

Plimsoll::Workshop::spew("$shop->{engine}/overlay/src/test/modules/extra/Makefile", "all:\n");
is(built(), '', 'a test in the overlay changes no build');

my ($code, $out, $err) = $shop->run(['path', 'plimsoll']);
is($out, "$cache/" . (current('plimsoll') =~ s{^\.\./}{}r) . "\n", 'path prints the current build');
($code, $out, $err) = $shop->run(['path', 'plimsoll-assert']);
is($code, 4, 'path of a flavour that is not built is refused');
like($err, qr/^hint: engine\/build --flavour plimsoll-assert$/m, '... with what to do');

($code, $out, $err) = $shop->run(['clean']);
is(join(' ', map { s{.*/}{}r } $shop->prefixes('plimsoll')), current('plimsoll') =~ s{^\.\./}{}r,
	'clean keeps the current build alone');
is(built(), '', '... and there is nothing to build afterwards');

like(built('--flavour', 'plimsoll-assert'), qr/plimsoll-assert: compile/,
	'the build with assertions is a flavour of its own');
is(`$cache/current/plimsoll-assert/bin/postgres`, "patched\n", '... with the series');

done_testing();
