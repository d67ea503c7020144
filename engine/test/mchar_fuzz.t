# LIKE of mchar on random values and patterns, without a server and under the compiler's sanitizers: the substring
# search, the generic matcher and one that tries everything agree.
#
#   SEEDS=N     which values and patterns; defaults to 1
#   MINUTES=10  how long; defaults to three seconds
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Temp qw(tempdir);
use Test::More;

my $seed = ($ENV{SEEDS} // 1) =~ /^(\d+)/ ? $1 : die "SEEDS=$ENV{SEEDS} is not a number\n";
my $seconds = ($ENV{MINUTES} // 0.05) * 60;
my $dir = tempdir('plimsoll-fuzz-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $mchar = "$FindBin::Bin/../extensions/mchar";
chomp(my $icu = `pkg-config --cflags --libs icu-i18n icu-uc`);
my $compiler = $ENV{CC} // 'gcc';

# build SOURCE-FOLDER NAME FLAGS compiles the harness that stands there.
sub build
{
	my ($where, $name, $flags) = @_;
	my $said = `$compiler -Wall -Werror -Wno-unused-function -g -O1 $flags -I$where/test/stand_in -I$where \\
		-o $dir/$name $where/test/fuzz.c $icu 2>&1`;
	return $? == 0 ? '' : $said || 'the compiler failed';
}

my $sanitizers = '-fsanitize=address,undefined -fno-sanitize-recover=all';
is(build($mchar, 'fuzz', $sanitizers), '', 'compiles with sanitizers');
my $said = `$dir/fuzz $seed $seconds 2>&1`;
is($?, 0, 'all agree') or diag $said;
note $said;

# Without the vector instructions of x86-64 another search does the work.
is(build($mchar, 'scalar', "$sanitizers -U__SSE2__"), '', 'compiles without vector instructions');
$said = `$dir/scalar $seed @{[ $seconds / 3 ]} 2>&1`;
is($?, 0, 'all agree there, too') or diag $said;

# It sees an error: a search that takes no notice of a form of a letter, a matcher that forgets the blanks.
my %broken = (
	'a form is forgotten' => [ 'mchar_search.c', 's/unit = pairs\[low\+\+\]\.unit/low++/' ],
	'leftover blanks are not ignored' => [ 'mchar_pattern.c', 's/at >= trimmed/trimmed >= 0 && at >= length/' ],
	'a read behind the value' => [ 'mchar_search.c', 's/(end = length - literal->length);/$1 + 1;/' ]);
for my $what (sort keys %broken)
{
	my ($file, $edit) = @{ $broken{$what} };
	system('rm', '-rf', "$dir/broken");
	system('cp', '-R', $mchar, "$dir/broken") == 0 or die;
	my $before = -s "$dir/broken/$file";
	system('perl', '-0pi', '-e', $edit, "$dir/broken/$file") == 0 or die;
	isnt(-s "$dir/broken/$file", $before, "$what: the edit is made");
	is(build("$dir/broken", 'broken_fuzz', $sanitizers), '', '... compiles');
	`$dir/broken_fuzz $seed 10 2>&1`;
	isnt($?, 0, '... and is found');
}
done_testing();
