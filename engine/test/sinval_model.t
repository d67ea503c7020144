# The orders in which a writer and a reader of the invalidation queue can act, all of them, on a machine as weak as the
# barriers of PostgreSQL allow. No message may be read before it is there, and none may stay unread behind a flag that
# says there is none; that must fail as soon as any one of the four barriers is left out.
#
# What is played is what the patch has: the accesses and barriers are read from it.
#
# The machine. A processor acts in any order that neither a barrier nor the place in memory forbids. A store takes its
# place among the stores to the same place in memory (their coherence order) behind all that its processor has seen
# there, and reaches the other processor later or never, if a later one comes first. A barrier for stores lets no store
# after it reach anybody whom those before it have not reached. A full barrier waits until all that its processor has
# seen has reached everybody. So are POWER's processors (Sarkar and others, Understanding POWER Multiprocessors, 2011);
# x86 and ARM do less.
#
#   PATCH=FILE   the patch; defaults to engine/patches/18/sinval.patch
use strict;
use warnings;
use FindBin;
use Test::More;

my $patch = $ENV{PATCH} // "$FindBin::Bin/../patches/18/sinval.patch";

# What stands for a line of C. The queue holds message 1; the writer adds message 2.
my @meaning = (
	[ qr/buffer\[max % MAXNUMMESSAGES\] = /, 'store message2 1' ],
	[ qr/SetMaxMsgNum\(segP, max\)/, 'store max 2' ],
	[ qr/hasMessages = true/, 'store flag 1' ],
	[ qr/hasMessages = false/, 'store flag 0' ],
	[ qr/max = GetMaxMsgNum\(segP\)/, 'load max' ],
	[ qr/pg_write_barrier\(\)/, 'write barrier' ],
	[ qr/pg_read_barrier\(\)/, 'read barrier' ],
	[ qr/pg_memory_barrier\(\)/, 'full barrier' ],
);

# steps FROM, TO returns what the patched source does from one line to another.
sub steps
{
	my ($from, $to) = @_;
	open my $in, '<', $patch or die "$patch: $!";
	my $text = join '', map { /^[+ ](.*)/s ? $1 : () } grep { !/^\+\+\+/ } <$in>;
	my ($part) = $text =~ /.*($from.*?)$to/s or return;
	$part =~ s{/\*.*?\*/}{}gs;
	my @steps;
	for my $line (split /\n/, $part)
	{
		for (@meaning) { push @steps, $_->[1] if $line =~ $_->[0] }
	}
	return @steps;
}

# What follows the hunks has not changed. To let go of an LWLock, or take one, is a full barrier. The writer then does
# what others may learn: it lets go of a lock that they wait for.
my @writer = (steps(qr/segP->buffer\[max/, qr/\n\s*for \(/), 'store flag 1', 'full barrier', 'store done 1');
my @look = (steps(qr/stateP->hasMessages = false/, qr/\n\s*if \(stateP->resetState/),
	'load message1', 'load message2', 'full barrier');
my @before_look = ('load done', 'full barrier', 'load flag', 'full barrier');

is_deeply(\@writer, [ 'store message2 1', 'write barrier', 'store max 2', 'full barrier', 'store flag 1',
	'full barrier', 'store done 1' ], 'the writer as the patch has it');
is_deeply(\@look, [ 'store flag 0', 'full barrier', 'load max', 'read barrier', 'load message1', 'load message2',
	'full barrier' ], 'the reader as the patch has it');

my @places = qw(message1 message2 max flag done);
my %place = map { $places[$_] => $_ } 0 .. $#places;

# The reader has read message 1, or is about to.
my @beginnings = map { { message1 => 1, message2 => 0, max => 1, flag => 1 - $_, done => 0, read => $_ } } 0, 1;

# compile LIST: steps with what must have been done before each.
sub compile
{
	my @steps = map { my ($what, $of, $value) = split; { name => $_, what => $what, of => $place{$of} // $of,
		value => $value } } @_;
	for my $j (0 .. $#steps)
	{
		$steps[$j]{after} = [ grep { ordered($steps[$_], $steps[$j]) } 0 .. $j - 1 ];
	}
	return \@steps;
}

# ordered A, B: does the processor do A before B, which comes later in the program?
sub ordered
{
	my ($a, $b) = @_;
	my $barrier = (grep { defined } map { $_->{of} eq 'barrier' ? $_->{what} : undef } $a, $b)[0];
	return $a->{of} == $b->{of} if !defined $barrier;
	return 1 if $barrier eq 'full';
	my $orders = { write => 'store', read => 'load' }->{$barrier};
	return !grep { $_->{of} ne 'barrier' && $_->{what} ne $orders } $a, $b;
}

# A state: for each processor the steps done (a string of 0 and 1), what it has seen of each place (an index of the
# coherence order), what its last barrier for stores saw; for each place the coherence order, of [value, processor,
# what must be seen before it]; and what the reader knows.
my ($writer, $reader, $states, $trace, %seen);

# play WRITER, LOOK: true if nothing goes wrong from either beginning.
sub play
{
	my ($of_writer, $of_look) = @_;
	($writer, $reader) = (compile(@$of_writer), compile(@before_look, @$of_look));
	($states, $trace) = (0, undef);
	for my $initial (@beginnings)
	{
		%seen = ();
		my @stack = ([ beginning($initial), [ "message 1 has been read: $initial->{read}" ] ]);
		while (my $top = pop @stack)
		{
			my ($now, $way) = @$top;
			next if $seen{ key($now) }++;
			$states++;
			my $wrong = wrong($now);
			if ($wrong) { $trace = [ @$way, $wrong ]; return 0 }
			push @stack, map { [ $_->[0], [ @$way, $_->[1] ] ] } successors($now);
		}
	}
	return 1;
}

sub beginning
{
	my $initial = shift;
	return {
		done => [ '0' x @$writer, '0' x @$reader ],
		view => [ [ (0) x @places ], [ (0) x @places ] ],
		before => [ undef, undef ],
		order => [ map { [ [ $initial->{$_}, -1, undef, 0 ] ] } @places ],
		read => $initial->{read}, got => {},
	};
}

sub key
{
	my $s = shift;
	return join '|', @{ $s->{done} }, map({ join ',', @$_ } @{ $s->{view} }),
		map({ defined $_ ? join ',', @$_ : '' } @{ $s->{before} }),
		map({ join ';', map { join ',', identity($_), @{ $_->[2] // [] } } @$_ } @{ $s->{order} }),
		$s->{read}, map { "$_=" . ($s->{got}{$_} // '') } sort keys %{ $s->{got} };
}

sub copy
{
	my $s = shift;
	return { %$s, done => [ @{ $s->{done} } ], view => [ map { [ @$_ ] } @{ $s->{view} } ],
		before => [ @{ $s->{before} } ], order => [ map { [ @$_ ] } @{ $s->{order} } ], got => { %{ $s->{got} } } };
}

# All that can happen next.
sub successors
{
	my $s = shift;
	my @next;
	for my $who (0, 1)
	{
		my $steps = $who ? $reader : $writer;
		for my $i (0 .. $#$steps)
		{
			my $done = $s->{done}[$who];
			next if substr($done, $i, 1) || grep { !substr $done, $_, 1 } @{ $steps->[$i]{after} };
			push @next, act($s, $who, $i, $steps->[$i]);
		}
	}
	return @next, arrivals($s);
}

# A store reaches the other processor.
sub arrivals
{
	my $s = shift;
	my @next;
	for my $who (0, 1)
	{
		for my $p (0 .. $#places)
		{
			for my $at ($s->{view}[$who][$p] + 1 .. $#{ $s->{order}[$p] })
			{
				my (undef, undef, $needs) = @{ $s->{order}[$p][$at] };
				next if $needs && grep { $s->{view}[$who][$_] < position($s, $_, $needs->[$_]) } 0 .. $#places;
				my $new = copy($s);
				$new->{view}[$who][$p] = $at;
				push @next, [ $new, ($who ? 'the reader' : 'the writer') . " is reached by $places[$p] = "
						. $s->{order}[$p][$at][0] ];
			}
		}
	}
	return @next;
}

# A store is known by its processor and step; positions move.
sub position
{
	my ($s, $p, $id) = @_;
	for my $at (0 .. $#{ $s->{order}[$p] }) { return $at if identity($s->{order}[$p][$at]) eq $id }
	die "no store $id";
}

sub identity { return "$_[0][1]:$_[0][3]" }

sub seen_by
{
	my ($s, $who) = @_;
	return [ map { identity($s->{order}[$_][ $s->{view}[$who][$_] ]) } 0 .. $#places ];
}

sub act
{
	my ($s, $who, $i, $step) = @_;
	my $name = ($who ? 'reader: ' : 'writer: ') . $step->{name};
	my $done = sub { my $new = copy($s); substr($new->{done}[$who], $i, 1) = 1; return $new };
	if ($step->{of} eq 'barrier')
	{
		my $other = 1 - $who;
		return if $step->{what} eq 'full' && grep { $s->{view}[$other][$_] < $s->{view}[$who][$_] } 0 .. $#places;
		my $new = $done->();
		$new->{before}[$who] = seen_by($s, $who) if $step->{what} ne 'read';
		return [ $new, $name ];
	}
	my $p = $step->{of};
	if ($step->{what} eq 'load')
	{
		my $new = $done->();
		my $value = $s->{order}[$p][ $s->{view}[$who][$p] ][0];
		learn($new, $i, $places[$p], $value);
		return [ $new, "$name: $value" ];
	}
	my @next;
	for my $at ($s->{view}[$who][$p] + 1 .. @{ $s->{order}[$p] })
	{
		my $new = $done->();
		splice @{ $new->{order}[$p] }, $at, 0, [ $step->{value}, $who, $s->{before}[$who], $i ];
		for my $v (@{ $new->{view} }) { $v->[$p]++ if $v->[$p] >= $at }
		$new->{view}[$who][$p] = $at;
		push @next, [ $new, $name ];
	}
	return @next;
}

# What the reader makes of a value.
sub learn
{
	my ($s, $i, $what, $value) = @_;
	my $got = $s->{got};
	$got->{$what} = $value;
	# The flag says that there is nothing to read: the look ends, with no barrier.
	$s->{done}[1] = '1' x @$reader if $what eq 'flag' && !$value;
	return if grep { !defined $got->{$_} } 'max', 'message1', 'message2';
	$got->{wrong} //= grep({ !$got->{"message$_"} } $s->{read} + 1 .. $got->{max}) ? 'yes' : undef;
	$s->{read} = $got->{max} if $got->{max} > $s->{read};
}

# What must not be.
sub wrong
{
	my $s = shift;
	return 'a message is read before it is there' if $s->{got}{wrong};
	return if $s->{done}[1] =~ /0/ || $s->{read} == 2;
	return 'the writer was known to have sent it, and the message is not read' if $s->{got}{done};
	return if $s->{done}[0] =~ /0/ || $s->{order}[ $place{flag} ][-1][0];
	return 'the flag says that there is no message, and one is not read';
}

ok(play(\@writer, \@look), 'no message is lost or read too early')
	or diag join "\n", @$trace;
my $all = $states;
note "$all states";
cmp_ok($all, '>', 500, 'many orders have been played');

# without LIST, N: the list without its nth barrier.
for my $case ([ 'the writer\'s write barrier', 1, undef ], [ 'the writer\'s full barrier', 3, undef ],
	[ 'the reader\'s full barrier', undef, 1 ], [ 'the reader\'s read barrier', undef, 3 ])
{
	my ($name, $of_writer, $of_look) = @$case;
	my @w = @writer;
	my @l = @look;
	splice @w, $of_writer, 1 if defined $of_writer;
	splice @l, $of_look, 1 if defined $of_look;
	ok(!play(\@w, \@l), "it fails without $name");
	note join "\n", "without $name:", @{ $trace // [] };
}
my @weaker = @writer;
$weaker[3] = 'write barrier';
ok(!play(\@weaker, \@look), 'it fails with a mere write barrier before the writer\'s flag, as on POWER');
note join "\n", @{ $trace // [] };
done_testing();
