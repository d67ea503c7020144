# Processes as /proc shows them.
package Plimsoll::Processes;

use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(children command);

# children of a process, by id
sub children
{
	my $parent = shift;
	if (open my $list, '<', "/proc/$parent/task/$parent/children") { return split ' ', readline($list) // '' }
	my $parent_of = sub { contents("/proc/$_/stat") =~ /.*\) \S+ (\d+)/s ? $1 : 0 };
	return grep { $parent_of->() == $parent } map { m{(\d+)$} } glob '/proc/[0-9]*';
}

# command is the command line of a process, its words with a blank between; empty when it has ended.
sub command { return contents("/proc/$_[0]/cmdline") =~ tr/\0/ /r }

sub contents
{
	open my $file, '<', $_[0] or return '';
	local $/;
	return readline($file) // '';
}

1;
