# No cycle among our files of the core: if a file calls or reads another, the other does not do so in turn, directly or
# indirectly. docs/design/025-engine-layers.md draws the layers. Lower files reach higher ones through callbacks.
#
#   FOLDER=DIR   the C files; defaults to the overlay's
use strict;
use warnings;
use FindBin;
use Test::More;

my $folder = $ENV{FOLDER} // "$FindBin::Bin/../overlay/src/backend/plimsoll";
my %text = map { (m{([^/]+)\.c$})[0] => code($_) } glob "$folder/*.c";
my %home;
for my $file (keys %text) { $home{$_} = $file for definitions($text{$file}) }

# code FILE returns it without comments and strings.
sub code
{
	open my $in, '<', shift or die $!;
	local $/;
	my $text = <$in>;
	$text =~ s{/\*.*?\*/}{}gs;
	$text =~ s{"(?:\\.|[^"\\])*"}{""}g;
	return $text;
}

# definitions TEXT returns the functions and variables that other files can use, as pgindent lays them out.
sub definitions
{
	my $text = shift;
	my @functions = $text =~ /^(?!static\b|typedef\b)\w[\w \t*]*\n(\w+)\(/mg;
	my @variables = $text =~ /^(?!static\b|typedef\b|extern\b|return\b)(?:const )?\w+[ \t]+\**(\w+) = /mg;
	return (@functions, @variables);
}

my %uses;
for my $file (keys %text)
{
	for my $name ($text{$file} =~ /\b([A-Za-z_]\w+)\b/g)
	{
		$uses{$file}{ $home{$name} } = $name if $home{$name} && $home{$name} ne $file;
	}
}

# circle FILE, PATH: the first cycle found from FILE, in words, or undef.
my %done;
sub circle
{
	my ($file, @way) = @_;
	for my $i (0 .. $#way)
	{
		return join ', ', map { "$_->[0] uses $_->[1]" } @way[ $i .. $#way ] if $way[$i][0] eq $file;
	}
	return if $done{$file};
	for my $other (sort keys %{ $uses{$file} // {} })
	{
		my $found = circle($other, @way, [ $file, $uses{$file}{$other} ]);
		return $found if $found;
	}
	$done{$file} = 1;
	return;
}

my $arrows = 0;
$arrows += keys %$_ for values %uses;
cmp_ok(scalar(keys %home), '>', 100, scalar(keys %home) . ' functions and variables found');
cmp_ok($arrows, '>', 40, "$arrows arrows between " . keys(%text) . ' files');
my ($circle) = grep { defined } map { circle($_) } sort keys %text;
is($circle, undef, 'no circle');
done_testing;
