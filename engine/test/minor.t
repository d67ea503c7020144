# Moving to a minor release: what is reported of each patch, and when the source is taken.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new(dwarf => 1);
my $main = 'src/backend/main.c';
my $stock = Plimsoll::Workshop::slurp("$shop->{tree}/$main");
my $recorded = Plimsoll::Workshop::slurp("$shop->{engine}/source.sha256");

# release packs a minor release whose main.c is TEXT, with upstream's checksum beside it.
sub release
{
	my ($version, $text, %file) = @_;
	my $name = "postgresql-$version";
	system('cp', '-R', $shop->{tree}, "$shop->{dir}/$name") unless -e "$shop->{dir}/$name";
	Plimsoll::Workshop::spew("$shop->{dir}/$name/configure",
		Plimsoll::Workshop::slurp("$shop->{tree}/configure") =~ s/18\.6/$version/r, 0755);
	Plimsoll::Workshop::spew("$shop->{dir}/$name/$main", $text);
	Plimsoll::Workshop::spew("$shop->{dir}/$name/$_", $file{$_}) for keys %file;
	system("cd $shop->{dir} && tar -cjf $name.tar.bz2 $name && sha256sum $name.tar.bz2 >$name.tar.bz2.sha256") == 0
	  or die 'pack';
	return "$shop->{dir}/$name.tar.bz2";
}

# minor tries a release and returns exit code, the report's line of a patch, everything.
sub minor
{
	my ($source, @options) = @_;
	my ($code, $out, $err) = $shop->run(['minor', @options, '--source', $source]);
	my ($line) = $out =~ /^greeting +(.*?) *$/m;
	return ($code, $line // '', "$out$err");
}

sub sums { Plimsoll::Workshop::slurp("$shop->{engine}/source.sha256") }

my ($code, $line, $all) = minor(release('18.8', $stock =~ s/puts/PUTS/r), '--list');
is("$code $line", "1 conflict  $main (1)", 'an edit of what a patch edits is a conflict, in that file') or diag $all;
like($all, qr/^0 clean, 0 fuzz, 1 conflict$/m, '... counted');
like($all, qr/^plimsoll: the series does not fit PostgreSQL 18\.8/m, '... and said');
is(sums(), $recorded, '... and nothing is taken');

($code, $line) = minor(release('18.8', $stock =~ s/int main\(void\)/int main(int argc, char **argv)/r));
is("$code $line", "1 fuzz      $main (1)", 'an edit beside it is fuzz: somebody has to look');
is(sums(), $recorded, '... and nothing is taken either');

($code, $line, $all) = minor(release('18.8', $stock, 'src/backend/plimsoll/extra.c' => "int theirs;\n"));
like($all, qr{^overlay +conflict  src/backend/plimsoll/extra\.c is upstream's, too$}m, 'a file that both have');
is($code, 1, '... is a conflict');
unlink "$shop->{dir}/postgresql-18.8/src/backend/plimsoll/extra.c";

my $moved = release('18.8', "/* two lines\n   more */\n$stock");
($code, $line) = minor($moved, '--list');
is("$code $line", '0 clean     1 hunks have moved', 'moved lines are clean');
is(sums(), $recorded, '... only reported with --list');

my ($older, $older_line) = minor(release('18.5', $stock), '--list');
is("$older $older_line", '0 clean', 'an older minor release can be tried, too');

($code, $line, $all) = minor($moved);
is($code, 0, 'what fits is taken') or diag $all;
like(sums(), qr/\A[0-9a-f]{64}  postgresql-18\.8\.tar\.bz2\n\Q$recorded\E\z/, '... as the version that we develop on');
($code, undef, $all) = $shop->run(['--flavour', 'plimsoll'], env => { SOURCE => '' });
is($code, 0, '... and it builds') or diag $all;
ok(glob("$shop->{cache}/engine/18.8-plimsoll-*/plimsoll-engine.json"), '... that version');

my $lib = "set -euo pipefail; ENGINE=$shop->{engine} MAJOR=18; . $shop->{engine}/lib/source.sh; "
	. ". $shop->{engine}/lib/minor.sh";
is(join(',', split /\n/, `printf '%s\\n' 18.7-1 1:18.7-1+deb13u1 18.6+dfsg-2 | bash -c '$lib; upstream_versions'`),
	'18.7,18.7,18.6', "a package's version is upstream's");
for my $case ([ '18.8', 1 ], [ '18.9', 0 ], [ '18.10', 0 ], [ '18.7', 1 ])
{
	system('bash', '-c', "$lib; is_newer $case->[0]");
	is($? >> 8, $case->[1], "18.8 is had; $case->[0] is " . ($case->[1] ? 'not newer' : 'newer'));
}

done_testing();
