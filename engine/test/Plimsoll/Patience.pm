# How long tests wait for what can only be looked for, such as the end of another's child. Where there is a signal (a
# pipe, a child of one's own) a test waits for that.
package Plimsoll::Patience;

use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(holds);

# Guards against waiting for ever, and measures nothing: what needs milliseconds on an idle machine comes in this time
# on one that has ten times too much to do.
use constant MAX => 300;

# holds looks until the condition is true, and says whether it ever was.
sub holds
{
	my $condition = shift;
	my ($pause, $until) = (0.001, time + MAX);
	until ($condition->())
	{
		return 0 if time > $until;
		select undef, undef, undef, $pause;
		$pause *= 2 if $pause < 0.05;
	}
	return 1;
}

1;
