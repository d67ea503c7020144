# The built servers themselves: what they report, that the extensions' tests pass, and that nothing is
# built twice.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use File::Temp qw(tempdir);
use IO::Socket::UNIX;
use Plimsoll::Patience;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
$ENV{PGCTLTIMEOUT} //= Plimsoll::Patience::MAX;
my $user = $> == 0 ? (grep { defined getpwnam $_ } qw(plimsoll postgres))[0] : undef;

# as_user runs a command as the user that may run a server.
sub as_user
{
	my @command = @_;
	unshift @command, 'setpriv', "--reuid=$user", '--regid=' . (getpwnam $user)[3], '--init-groups' if defined $user;
	my $pid = fork() // die;
	if (!$pid) { chdir '/'; open STDOUT, '>', '/dev/null'; open STDERR, '>&', \*STDOUT; exec @command; die }
	waitpid $pid, 0;
	return $? == 0;
}

# parameters connects as a client does and returns what the server reports before the first query.
sub parameters
{
	my ($socket) = @_;
	my $server = IO::Socket::UNIX->new(Peer => $socket) or die "connect: $!";
	my $startup = pack('N', 196608) . "user\0probe\0database\0postgres\0\0";
	print $server pack('N', 4 + length $startup) . $startup;
	my %parameter;
	while (read($server, my $head, 5) == 5)
	{
		my ($type, $length) = unpack 'aN', $head;
		read $server, my $body, $length - 4;
		die "refused: $body" if $type eq 'E';
		last if $type eq 'Z';
		my ($name, $value) = split /\0/, $body;
		$parameter{$name} = $value if $type eq 'S';
	}
	return \%parameter;
}

my %reported;
for my $flavour (qw(vanilla plimsoll))
{
	subtest $flavour => sub {
		chomp(my $prefix = `$engine/build path $flavour`);
		ok(-x "$prefix/bin/postgres", 'is built') or return;
		my $dir = tempdir('plimsoll-server-XXXXXX', TMPDIR => 1, CLEANUP => 1);
		chown((getpwnam $user)[2, 3], $dir) if defined $user;
		my $bin = "$prefix/bin";
		ok(as_user("$bin/initdb", '-D', "$dir/data", '-U', 'probe', '-A', 'trust', '--no-sync'),
			'makes a data directory');
		ok(as_user("$bin/pg_ctl", '-D', "$dir/data", '-l', "$dir/log", '-w', '-o',
			"-k $dir -c listen_addresses= -c fsync=off", 'start'), 'starts');
		$reported{$flavour} = parameters("$dir/.s.PGSQL.5432");
		my $settings = `$bin/psql -XAt -h $dir -U probe postgres -c "SELECT name || ' ' || setting FROM pg_settings
			WHERE name LIKE 'plimsoll%' AND category LIKE 'Preset%'"`;
		my $header = Plimsoll::Workshop::slurp("$engine/overlay/src/include/plimsoll/patchset.h");
		my ($number) = $header =~ /^#define PLIMSOLL_PATCHSET (\d+)/m;
		my ($want, $is) = $flavour eq 'plimsoll' ? ("plimsoll_patchset $number\n", 'shows the preset') : ('',
			'has no such setting');
		is($settings, $want, $is);
		is($reported{$flavour}{plimsoll_patchset}, $flavour eq 'plimsoll' ? $number : undef,
			'tells clients at connection start');
		ok(!as_user("$bin/postgres", '-D', "$dir/data", '-c', 'plimsoll_patchset=9', '-C', 'plimsoll_patchset'),
			'cannot be told otherwise') if $flavour eq 'plimsoll';
		ok(as_user("$bin/pg_ctl", '-D', "$dir/data", '-m', 'immediate', 'stop'), 'stops');
	};
}
delete $reported{plimsoll}{plimsoll_patchset};
is_deeply([sort keys %{ $reported{plimsoll} }], [sort keys %{ $reported{vanilla} }],
	'the flavours report the same otherwise');

my $flags = sub { `\$($engine/build path $_[0])/bin/pg_config --configure` =~ s/'--(prefix|cache-file)=[^']*' //gr };
is($flags->('plimsoll'), $flags->('vanilla'), 'both are configured alike');
my $contrib = sub { chomp(my $prefix = `$engine/build path $_[0]`); join ' ',
	map { s{.*/}{}r } glob("$prefix/share/postgresql/extension/*.control") };
like($contrib->('plimsoll'), qr/\b$_\b/, "has $_")
	for qw(amcheck pageinspect pg_buffercache pg_prewarm pg_stat_statements);

my $said = `$engine/build regress 2>&1`;
is($?, 0, "the extensions' tests pass") or diag $said;
my @extensions = map { m{([^/]+)/Makefile$} } glob("$engine/extensions/*/Makefile");
for my $flavour (qw(vanilla plimsoll))
{
	like($said, qr/^$flavour: $_: All \d+ tests passed/m, "... those of $_ on $flavour") for @extensions;
}

subtest 'the extensions compile against an installed stock server' => sub {
	my ($config) = grep { -e `$_ --includedir-server` =~ s/\n/\/postgres.h/r }
		glob('/usr/lib/postgresql/1[5-8]/bin/pg_config');
	plan skip_all => 'no PostgreSQL 15-18 with its server headers is installed' unless $config;
	my $dir = tempdir('plimsoll-stock-XXXXXX', TMPDIR => 1, CLEANUP => 1);
	for my $name (@extensions)
	{
		my $build = `cp -R $engine/extensions/$name $dir/ && make -s -C $dir/$name PG_CONFIG=$config COPT=-Werror 2>&1`;
		is($?, 0, "$name builds without a warning") or diag $build;
	}
};

$said = `$engine/build 2>&1 >/dev/null`;
is($said, '', 'a further build has nothing to do');

subtest 'the benchmark ends what it starts' => sub {
	my $dir = tempdir(CLEANUP => 1);
	chmod 0755, $dir;
	my $options = '--workloads cycle --clients 1 --seconds 1 --rounds 2 --idle 2 --beside cycle';
	my $said = do { local $ENV{TMPDIR} = $dir; `"$engine/bench/temp-tables" $options 2>&1` };
	is($?, 0, 'it ends well') or diag $said;
	like($said, qr/^cycle +1 +8MB +0 +2 +\d+ +\d+ /m, 'a line of figures, with idle sessions and work beside');
	my @left = grep { -r $_ && Plimsoll::Workshop::slurp($_) =~ /\Q$dir/ } glob '/proc/[0-9]*/cmdline';
	is("@left", '', 'no process is left');
	is(join(' ', glob "$dir/*"), '', 'no file either');
};

done_testing();
