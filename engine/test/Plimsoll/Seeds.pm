# The seeds of the random sessions of a test: SEEDS=FIRST-LAST, or, if MINUTES is set, from FIRST on until the time is
# over.
package Plimsoll::Seeds;

use strict;
use warnings;

# new(SEEDS) with the seeds to use by default
sub new
{
	my ($class, $usual) = @_;
	my ($first, $last) = ($ENV{SEEDS} // $usual) =~ /^(\d+)(?:-(\d+))?$/
		or die "SEEDS=$ENV{SEEDS} is neither a number nor two with a dash\n";
	my $until;
	if (defined $ENV{MINUTES})
	{
		$ENV{MINUTES} =~ /^[1-9]\d*$/ or die "MINUTES=$ENV{MINUTES} is not a number above 0\n";
		($until, $last) = (time + 60 * $ENV{MINUTES}, undef);
	}
	else { $last //= $first }
	return bless { first => $first, last => $last, until => $until, next => $first }, $class;
}

# next returns the seed of the next session, or nothing. There is always a first one.
sub next
{
	my $self = shift;
	my $seed = $self->{next};
	return undef if defined $self->{last} && $seed > $self->{last};
	return undef if defined $self->{until} && $seed > $self->{first} && time >= $self->{until};
	$self->{next}++;
	return $seed;
}

sub played { my $self = shift; return "sessions $self->{first} to " . ($self->{next} - 1) }

1;
