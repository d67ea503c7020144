# Two builds at once, and builds that are interrupted.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Temp qw(tempdir);
use POSIX qw(WNOHANG);
use Test::More;
use Plimsoll::Patience qw(holds);
use Plimsoll::Processes qw(children command);
use Plimsoll::Workshop;

*slurp = \&Plimsoll::Workshop::slurp;

# A pipe in a workshop; who opens it waits for the other end.
sub pipe_in
{
	my ($shop, $name) = @_;
	system('mkfifo', "$shop->{dir}/$name") == 0 or die 'mkfifo';
	return "$shop->{dir}/$name";
}

subtest 'the second of two builds waits, names the first, and repeats nothing' => sub {
	my $shop = Plimsoll::Workshop->new(dwarf => 1);
	my $gate = $shop->gate;
	my $first = $shop->start(['--flavour', 'vanilla'], env => { GATE => $gate });
	ok($shop->reached($gate), 'the first stands in the middle of compiling');
	my $says = pipe_in($shop, 'says');
	my $second = $shop->start(['--flavour', 'vanilla'], err => $says, out => "$shop->{dir}/out2");
	open my $second_says, '<', $says or die;
	like(scalar readline $second_says, qr/waiting for another build \(pid $first\)/,
		'the second waits and says for whom');
	$shop->open_gate($gate);
	waitpid($first, 0);
	is($?, 0, 'the first ends well');
	waitpid($second, 0);
	is($?, 0, 'the second ends well');
	unlike(join('', readline $second_says), qr/compile/, '... without compiling');
	like(slurp("$shop->{dir}/out2"), qr/^vanilla: /, '... and names the build');
};

subtest 'two checkouts with different series build at once and keep each its own' => sub {
	my $shop = Plimsoll::Workshop->new(dwarf => 1);
	my $gate = $shop->gate;
	my $first = $shop->start(['--flavour', 'plimsoll'], env => { GATE => $gate });
	ok($shop->reached($gate), 'the first stands in the middle of compiling');
	my $other = bless { %$shop, engine => "$shop->{dir}/other/engine" }, ref $shop;
	system('mkdir', '-p', "$shop->{dir}/other") == 0
	&& system('cp', '-R', $shop->{engine}, $other->{engine}) == 0 or die 'cp';
	Plimsoll::Workshop::spew("$other->{engine}/overlay/src/backend/plimsoll/extra.c", "int plimsoll_extra = 2;\n");
	my ($code, $out, $err) = $other->run(['--flavour', 'plimsoll']);
	is($code, 0, 'the second builds') or diag $err;
	unlike($err, qr/waiting/, '... without waiting');
	$shop->open_gate($gate);
	waitpid($first, 0);
	is($?, 0, 'the first ends well');
	my ($mine, $its) = map { ($_->run(['path', 'plimsoll']))[1] } $shop, $other;
	isnt($mine, $its, 'each has a build of its own');
	($code, $out, $err) = $other->run(['--flavour', 'plimsoll']);
	is($err, '', 'the second has nothing to do afterwards');
	is(($shop->run(['path', 'plimsoll']))[1], $mine, '... and the first keeps its own');
	$shop->run(['clean']);
	is(scalar $shop->prefixes('plimsoll'), 2, 'clean keeps both');
	system('rm', '-rf', "$shop->{dir}/other");
	Plimsoll::Workshop::spew("$shop->{engine}/extensions/two/two.c", "int two = 2;\n");
	$shop->run(['--flavour', 'plimsoll']);
	$shop->run(['clean']);
	is(join(' ', map { "$_\n" } $shop->prefixes('plimsoll')), $mine, '... until its checkout is gone');
};

subtest 'a killed build leaves nothing that disturbs the next one' => sub {
	my $shop = Plimsoll::Workshop->new(dwarf => 1);
	my $gate = $shop->gate;
	my $pid = $shop->start([], env => { GATE => $gate });
	ok($shop->reached($gate), 'it stands in the middle of compiling');
	kill KILL => $pid;
	waitpid($pid, 0);
	ok(scalar($shop->workers), 'its compilers are orphans now');
	is(scalar($shop->prefixes('vanilla')), 0, 'no build has appeared');
	my ($code, $out, $err) = $shop->run([]);
	is($code, 0, 'the next run builds') or diag $err;
	unlike($err, qr/waiting/, '... at once');
	is(join(' ', $shop->workers), '', '... and has ended the orphans');
	is(join(' ', $shop->debris), '', '... and cleared up');
};

subtest 'a sleeping child of a killed build does not count as another build' => sub {
	my $shop = Plimsoll::Workshop->new(dwarf => 1);
	$shop->run(['--flavour', 'vanilla']);
	my ($prefix) = $shop->prefixes('vanilla');
	unlink "$prefix/plimsoll-engine.json";
	my $lock = "$shop->{cache}/engine/lock/" . ($prefix =~ s{.*/18\.6-}{}r);
	# No process has this id, nor gets it while the test runs: it is beyond the kernel's largest.
	Plimsoll::Workshop::spew($lock, "4194305\n");
	my ($held, $go) = map { pipe_in($shop, $_) } qw(held go);
	my $holder = fork() // die;
	exec 'flock', $lock, 'sh', '-c', "echo held >$held; read go <$go" unless $holder;
	is(slurp($held), "held\n", 'the lock is held');
	my $err = "$shop->{dir}/err";
	my $pid = $shop->start([], err => $err);
	# The second of its attempts to get the lock shows that the first failed.
	my %attempts;
	ok(holds(sub { $attempts{$_} = 1 for grep { command($_) =~ /^flock / } children($pid); keys %attempts > 1 }),
		'the build waits for it');
	Plimsoll::Workshop::spew($go, "go\n");
	waitpid $holder, 0;
	waitpid $pid, 0;
	is($?, 0, 'the build ends well') or diag slurp($err);
	unlike(slurp($err), qr/waiting/, '... and named no dead owner');
};

subtest 'a build that dies after the prefix and before its manifest is repeated' => sub {
	my $shop = Plimsoll::Workshop->new(dwarf => 1);
	$shop->run([]);
	my ($prefix) = $shop->prefixes('vanilla');
	unlink "$prefix/plimsoll-engine.json", "$prefix/bin/postgres";
	my ($code, $out, $err) = $shop->run(['path', 'vanilla']);
	is($code, 4, 'it does not count as built');
	($code, $out, $err) = $shop->run([]);
	is($code, 0, 'the next run builds') or diag $err;
	ok(-x "$prefix/bin/postgres", '... all of it');
};

subtest 'a Ctrl-C is heard when the count of compilations is known and its process not over' => sub {
	my $dir = tempdir(CLEANUP => 1);
	my $engine = Plimsoll::Workshop->home;
	my $pid = fork() // die;
	if (!$pid)
	{
		$SIG{INT} = 'DEFAULT';
		exec 'bash', '-c', <<"SH" or die;
. $engine/lib/progress.sh
compilations() { echo 5; exec >&-; : >$dir/counted; sleep 1; }
PROGRESS_TITLE=compile PROGRESS_EXPECTED=10 PROGRESS_START=0 PROGRESS_QUARTER=4
trap 'exit 130' INT
until [ -e $dir/over ]; do progress_show; sleep 0.05; done
SH
	}
	ok(holds(sub { -e "$dir/counted" }), 'counted');
	kill INT => $pid;
	my $ended = holds(sub { waitpid($pid, WNOHANG) == $pid });
	is($? >> 8, 130, 'it ends') if ok($ended, 'heard');
	Plimsoll::Workshop::spew("$dir/over", '');
	waitpid($pid, 0) unless $ended;
};

for my $case ([INT => 'Ctrl-C'], [TERM => 'a polite kill'], [HUP => 'a lost terminal'])
{
	my ($signal, $what) = @$case;
	subtest "$what stops the build and leaves nothing" => sub {
		my $shop = Plimsoll::Workshop->new(dwarf => 1);
		my $gate = $shop->gate;
		my $err = "$shop->{dir}/err";
		my $pid = $shop->start([], env => { GATE => $gate }, err => $err);
		ok($shop->reached($gate), 'it stands in the middle of compiling');
		kill $signal => $pid;
		waitpid($pid, 0);
		is($? >> 8, 130, 'exit code of an interruption');
		like(slurp($err), qr/^plimsoll: interrupted/m, 'it says so');
		is(join(' ', $shop->workers), '', 'no process works on');
		is(join(' ', $shop->debris), '', 'no debris');
		my ($code) = $shop->run([]);
		is($code, 0, 'the next run builds');
	};
}

done_testing();
