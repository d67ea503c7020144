# PostgreSQL's own source: fetched through this machine's package configuration, laid out as a repository,
# edited, written back.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new;
my $tree = "$shop->{dir}/tree";
my $patches = "$shop->{engine}/patches/18";
my $real_cache = `bash -c '. $shop->{engine}/lib/dirs.sh; cache_dir'`;
chomp $real_cache;

sub machine
{
	return scalar `find /etc/apt /var/lib/apt/lists -type f 2>/dev/null | sort | xargs stat -c '%n %s %Y'
		sha256sum /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null`;
}
sub git
{
	my $out = `git -C $tree -c user.name=A -c user.email=a\@example.org @_ 2>&1`;
	$? == 0 or diag $out;
	return $out;
}
sub texts { scalar `cd $shop->{engine} && find patches overlay -type f | sort | xargs sha256sum` }

subtest 'the source package comes through a derived entry, and the machine stays as it was' => sub {
	my $before = machine();
	my ($code, $out, $err) = $shop->run(['tree', $tree]);
	if ($code != 0)
	{
		like($err, qr/cannot get PostgreSQL 18's source/, 'without a network it says so');
		like($err, qr/^hint: name a tarball: SOURCE=/m, '... with what to do');
		diag 'SKIPPED: the source package cannot be fetched here; going on with the cached source';
		system('mkdir', '-p', "$shop->{cache}/engine");
		system('cp', '-R', "$real_cache/engine/source", "$shop->{cache}/engine/");
		($code, $out, $err) = $shop->run(['tree', $tree]);
	}
	else
	{
		like($err, qr/source package, signature verified/, 'fetched, and apt vouched for it');
	}
	is($code, 0, 'laid out') or diag $err;
	is(machine(), $before, 'package configuration and lists are untouched');
};

my $before = texts();
my $series = () = Plimsoll::Workshop::slurp("$patches/series") =~ /^[^#\s]/mg;
is(git('rev-list --count HEAD'), 2 + $series . "\n", 'upstream, the overlay and one commit per patch');
is(git('status --porcelain'), '', 'nothing uncommitted');

my ($code, $out, $err) = $shop->run(['patches', $tree]);
is($code, 0, 'writing back without a change') or diag $err;
is(texts(), $before, '... makes no difference');

# An edit of a file of PostgreSQL's together with a new file, as one commit.
sub edit
{
	my ($file, $from, $to) = @_;
	my $text = Plimsoll::Workshop::slurp("$tree/$file");
	$text =~ s/\Q$from\E/$to/ or die "no $from in $file";
	Plimsoll::Workshop::spew("$tree/$file", $text);
}
edit('src/backend/main/main.c', 'const char *progname;',
	"const char *progname;\n\n/* Plimsoll: a trace of the test */");
Plimsoll::Workshop::spew("$tree/src/backend/plimsoll/trace.c", "/* trace */\n");

($code, $out, $err) = $shop->run(['patches', $tree]);
is($code, 1, 'what no commit holds is not written back');
like($err, qr/^hint: git commit --fixup/m, '... and the way is named');

git('add -A');
git("commit -q -m 'no topic here'");
($code, $out, $err) = $shop->run(['patches', $tree]);
is($code, 1, 'a commit without a topic has no name for its patch');
is(texts(), $before, '... and nothing is written');

git("commit -q --amend -m 'trace: leave a trace' -m 'A body.'");
($code, $out, $err) = $shop->run(['tree', $tree]);
is($code, 1, 'a tree with unsaved commits is not overwritten');
($code, $out, $err) = $shop->run(['patches', $tree]);
is($code, 0, 'a commit with a topic is written back') or diag $err;
like($err, qr/trace\.md, the note of a new patch/, '... and its note asked for');
my $patch = Plimsoll::Workshop::slurp("$patches/trace.patch");
like($patch, qr/^Subject: trace: leave a trace\n\nA body\.\n/m, 'the patch carries the message');
like($patch, qr/^\+\/\* Plimsoll: a trace of the test \*\/$/m, '... and the edit');
unlike($patch, qr/trace\.c/, '... but not the new file');
is(Plimsoll::Workshop::slurp("$shop->{engine}/overlay/src/backend/plimsoll/trace.c"), "/* trace */\n",
	'that is in the overlay');
like(Plimsoll::Workshop::slurp("$patches/series"), qr/^trace\.patch\n\z/m, 'the series ends with it');

my $after = texts();
($code, $out, $err) = $shop->run(['tree', $tree]);
is($code, 0, 'laid out from what was written, over a saved tree') or diag $err;
($code, $out, $err) = $shop->run(['patches', $tree]);
is(texts(), $after, '... writes back the same');

git('reset -q --hard HEAD~1');
git('rm -q src/backend/plimsoll/trace.c');
git("commit -q -m 'overlay: no trace'");
($code, $out, $err) = $shop->run(['patches', $tree]);
is(texts(), $before, 'dropping the commit and its file undoes both');

done_testing();
