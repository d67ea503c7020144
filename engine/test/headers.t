# Extensions that were compiled for stock PostgreSQL work on our server only if each declaration that they were compiled
# with holds there: the layout of a struct, the value of a constant, the arguments of a function. So whatever stock's
# installed headers say, ours have to say word by word and in the same order; they may say more.
#
#   PREFIX=DIR   the build to test; defaults to the built plimsoll flavour
#   STOCK=DIR    the one to compare it with; defaults to the built vanilla flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
chomp(my $vanilla = $ENV{STOCK} // `$engine/build path vanilla`);
my ($ours, $stock) = map { "$_/include/postgresql/server" } $prefix, $vanilla;

# What may differ, and why it does no harm to who was compiled with the other one.
my %allowed = (
	# who has stock's does not time the wait
	'utils/wait_event.h' => qr/^static inline void pgstat_report_wait_(start|end)\(/,
	# the prefix
	'pg_config.h' => qr/^#define CONFIGURE_ARGS /,
);
# Keywords are sorted; an extension asks for them by name.
my %any_order = map { $_ => 1 } 'parser/kwlist.h';

# declarations FILE returns what a header says in pieces: a directive, an entry of a list, a declaration, a function.
sub declarations
{
	my $text = Plimsoll::Workshop::slurp(shift);
	$text =~ s{/\*.*?\*/}{ }gs;
	$text =~ s{\\\n}{ }g;
	my (@pieces, $piece, $depth);
	my $done = sub {
		$piece =~ s/\s+/ /g;
		$piece =~ s/^ | $//g;
		push @pieces, $piece if $piece ne '';
		($piece, $depth) = ('', 0);
	};
	($piece, $depth) = ('', 0);
	for my $line (split /\n/, $text)
	{
		my $fresh = $piece !~ /\S/;
		if ($line =~ /^\s*#/)
		{
			# inside of a declaration it stays part of it
			if ($fresh) { $piece = $line; $done->() } else { $piece .= "\n$line\n" }
			next;
		}
		$piece .= "$line\n";
		$depth += ($line =~ tr/({//) - ($line =~ tr/)}//);
		next if $depth > 0;
		my $list = $fresh && ($line =~ /^\s*[A-Z_]+\(.*\)\s*$/ || $line =~ /^\s*\w+ = \w+,\s*$/);
		my $body = $line =~ /^\}/ && $line !~ /^\}\s*\w/ && $piece !~ /^\s*(typedef|struct|enum|union)\b/;
		$done->() if $list || $body || $line =~ /;\s*$/ || $line =~ /^extern "C"/;
	}
	$done->();
	return @pieces;
}

# grown OLD, NEW: is it the same enumeration, with more values at its end?
sub grown
{
	my ($old, $new) = map { [ /^((?:typedef )?enum \w*) ?\{(.*?),? ?\} ?(.*)$/ ] } @_;
	return @$old && @$new && $old->[0] eq $new->[0] && $old->[2] eq $new->[2] && index("$new->[1],", "$old->[1],") == 0;
}

# missing OLD, NEW, ANY_ORDER returns what the first list has and the second does not have in its place.
sub missing
{
	my ($old, $new, $any_order) = @_;
	my ($at, @missing) = (0);
	for my $piece (@$old)
	{
		my $here = $any_order ? 0 : $at;
		$here++ while $here < @$new && $new->[$here] ne $piece && !grown($piece, $new->[$here]);
		if ($here < @$new) { $at = $here + 1 } else { push @missing, $piece }
	}
	return @missing;
}

# An entry that is added between others would move those that follow: enumerations are made of such lists.
sub lists_grow_at_end
{
	my ($old, $new) = map { join "\n", grep { /^[A-Z_]+\(/ } @$_ } @_;
	return index($new, $old) == 0;
}

# The comparison itself: what it must find.
my $before = ['typedef struct A { int a; int b; } A;', 'enum B { X, Y };', '#define C 1'];
is_deeply([ missing($before, [ $before->[0], 'extern int more;', @$before[ 1, 2 ] ]) ], [], 'an addition does no harm');
is_deeply([ missing($before, [ 'typedef struct A { int a; int c; int b; } A;', @$before[ 1, 2 ] ]) ],
	[ $before->[0] ], 'a new field does');
is_deeply([ missing($before, [ 'typedef struct A { int a; int b; int c; } A;', @$before[ 1, 2 ] ]) ],
	[ $before->[0] ], 'at the end of a struct, too');
is_deeply([ missing($before, [ $before->[0], 'enum B { X, Y, Z };', '#define C 2' ]) ], ['#define C 1'],
	'so does another value, but not one more');
is_deeply([ missing($before, [ $before->[0], 'enum B { X, Z, Y };', $before->[2] ]) ], [ $before->[1] ],
	'unless it comes between others');

chomp(my @files = map { s{^\./}{}r } `cd '$stock' && find . -name '*.h' | sort`);
cmp_ok(scalar @files, '>', 500, scalar(@files) . ' headers of stock');
my ($pieces, @broken) = (0);
for my $file (@files)
{
	my ($old, $new) = map { [ declarations("$_/$file") ] } $stock, $ours;
	$pieces += @$old;
	push @broken, map { "$file: " . substr($_, 0, 300) }
		grep { !$allowed{$file} || $_ !~ $allowed{$file} } missing($old, $new, $any_order{$file});
	push @broken, "$file: an entry comes between others" if !$any_order{$file} && !lists_grow_at_end($old, $new);
}
cmp_ok($pieces, '>', 20_000, "$pieces declarations");
is(join("\n", @broken), '', 'our headers say what those of stock say');
done_testing;
