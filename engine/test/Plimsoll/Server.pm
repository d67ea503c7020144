# A server of a built flavour for one test, with its own data directory and socket, removed when the test ends.
package Plimsoll::Server;

use strict;
use warnings;
use File::Temp qw(tempdir);
use Plimsoll::Patience qw(holds);
use Plimsoll::Processes qw(children command);
use Scalar::Util qw(weaken);

# How long pg_ctl waits for a server, in seconds: a guard, nothing is measured.
$ENV{PGCTLTIMEOUT} //= Plimsoll::Patience::MAX;

my %running; # weak references, by directory

# new(PREFIX, SETTING => VALUE…) creates and starts one, as an ordinary user if we are root.
sub new
{
	my ($class, $prefix, %setting) = @_;
	my $dir = tempdir('plimsoll-server-XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my $user = $> == 0 ? (grep { defined getpwnam $_ } qw(plimsoll postgres))[0] : undef;
	my $self = bless { bin => "$prefix/bin", dir => $dir, user => $user, open => {} }, $class;
	chown((getpwnam $user)[2, 3], $dir) if defined $user;
	$self->{options} = join ' ', "-k $dir -c listen_addresses= -c fsync=off",
		map { "-c $_=$setting{$_}" } sort keys %setting;
	$self->as_user("$self->{bin}/initdb", '-D', "$dir/data", '-U', 'probe', '-A', 'trust', '--no-sync')
		or die 'initdb failed';
	$self->{owner} = $$;
	weaken($running{$dir} = $self);
	$self->start;
	return $self;
}

sub start
{
	my $self = shift;
	$self->as_user("$self->{bin}/pg_ctl", '-D', "$self->{dir}/data", '-l', "$self->{dir}/log", '-w', '-o',
		$self->{options}, 'start')
		or die "the server does not start: " . $self->log;
	($self->{postmaster}) = $self->slurp('data/postmaster.pid') =~ /^(\d+)/ or die 'the server has no pid';
}

# restart ends it as MODE says (fast, or immediate: a crash) and starts it again; data may be changed between.
sub restart
{
	my ($self, $mode, $between) = @_;
	$self->as_user("$self->{bin}/pg_ctl", '-D', "$self->{dir}/data", '-m', $mode, 'stop')
		or die 'the server does not end';
	$between->() if $between;
	$self->start;
}

# as_user runs a command as the user that may run a server; true if it succeeds.
sub as_user
{
	my ($self, @command) = @_;
	unshift @command, 'setpriv', "--reuid=$self->{user}", '--regid=' . (getpwnam $self->{user})[3], '--init-groups'
		if defined $self->{user};
	my $pid = fork() // die "fork: $!";
	if (!$pid) { chdir '/'; open STDOUT, '>', '/dev/null'; open STDERR, '>&', \*STDOUT; exec @command; die }
	waitpid $pid, 0;
	return $? == 0;
}

# psql runs a script in one session and returns all its output, errors included, when the session has ended: psql ends
# before its backend, which then still drops temporary tables and tells its statistics. The settings are set when the
# session starts. A psql that the script runs (\!) is another session of the same database.
sub psql
{
	my ($self, $database, $script, %setting) = @_;
	local $ENV{PGOPTIONS} = join ' ', map { "-c $_=$setting{$_}" } sort keys %setting;
	local @ENV{qw(PATH PGHOST PGUSER PGDATABASE)} = ("$self->{bin}:$ENV{PATH}", $self->{dir}, 'probe', $database);
	my ($in, $out) = map { "$self->{dir}/$_.$$" } qw(in out);
	open my $file, '>', $in or die; print $file $script; close $file;
	system("$self->{bin}/psql -XAtq -f $in >$out 2>&1");
	open $file, '<', $out or die; my $said = do { local $/; <$file> }; close $file;
	unlink $in, $out;
	$self->quiet;
	return $said;
}

# keep tells of a backend whose session stays open; left, that its session has been closed.
sub keep { my ($self, $backend) = @_; $self->{open}{$backend} = 1 }
sub left { my ($self, $backend) = @_; delete $self->{open}{$backend}; $self->quiet }

# quiet waits until no backend is left but those of open sessions.
sub quiet
{
	my $self = shift;
	my $theirs = sub { !$self->{open}{$_} && command($_) =~ /^postgres: probe / };
	my $others = sub { grep { $theirs->() } children($self->{postmaster}) };
	holds(sub { !$others->() }) or die 'a session does not end: ' . join ', ', map { command($_) } $others->();
}

sub log { return $_[0]->slurp('log') }

sub slurp
{
	my ($self, $name) = @_;
	open my $file, '<', "$self->{dir}/$name" or return '';
	local $/;
	return scalar <$file>;
}

sub DESTROY { $_[0]->stop }

# A variable of the test's own lives longer than this, and File::Temp has removed the directory by then.
END { $_->stop for grep { defined } values %running }

sub stop
{
	my $self = shift;
	return if !defined $self->{owner} || $self->{owner} != $$;
	local $?;
	delete $self->{owner};
	delete $running{ $self->{dir} };
	$self->as_user("$self->{bin}/pg_ctl", '-D', "$self->{dir}/data", '-m', 'immediate', 'stop');
}

1;
