# A build that stops says why in one line with a hint, or with the log's last lines if a program failed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Workshop;

sub one_line
{
	my ($err, $error, $what) = @_;
	like($err, qr/\A(?:[^\n]*…\n)*plimsoll: [^\n]*$error[^\n]*\nhint: [^\n]+\n\z/, $what);
}

my $shop = Plimsoll::Workshop->new(dwarf => 1);

for my $args (['--flavour', 'chocolate'], ['--colour'], ['--jobs', '0'], ['--source'], ['bake'], ['path'])
{
	my ($code, $out, $err) = $shop->run($args);
	is($code, 2, "bad usage: @$args");
	one_line($err, '', '... in one line with a hint');
}

my ($code, $out, $err) = $shop->run([], env => { PLIMSOLL_CACHE => '/proc/plimsoll' });
is($code, 4, 'a cache that cannot be written');
one_line($err, 'cannot write to /proc/plimsoll', '... is named');

# A PATH without bison.
my $bin = "$shop->{dir}/bin";
mkdir $bin;
for my $dir (grep { -d } split /:/, $ENV{PATH})
{
	symlink $_, "$bin/" . s{.*/}{}r for grep { !m{/bison$} && !-e "$bin/" . s{.*/}{}r } glob("$dir/*");
}
($code, $out, $err) = $shop->run([], env => { PATH => $bin });
is($code, 4, 'a missing tool');
one_line($err, 'lacks bison', '... is named');
like($err, qr{^hint: run setup/install engine$}m, '... with what installs it');

SKIP: {
	skip 'a full disk needs root and mount', 3 unless $> == 0 && system('unshare', '-m', 'true') == 0;
	my $full = "$shop->{dir}/full";
	mkdir $full;
	my $mount = "mount -t tmpfs -o size=2m none $full"
		. " && PLIMSOLL_CACHE=$full SOURCE=$shop->{source} $shop->{engine}/build 2>&1";
	one_line(scalar `unshare -m sh -c '$mount'`, 'too little free space', 'a disk too small is seen beforehand');

	# The same disk, filled by the build itself.
	system('sed', '-i', 's/^ROOM_MB=.*/ROOM_MB=0/', "$shop->{engine}/lib/core.sh");
	my $makefile = Plimsoll::Workshop::slurp("$shop->{tree}/Makefile");
	Plimsoll::Workshop::spew("$shop->{tree}/Makefile", $makefile =~ s{^world-bin: gate}{world-bin: fill gate}mr
		. "fill:\n\thead -c 8m /dev/zero >filler\n");
	$shop->pack;
	my $said = `unshare -m sh -c '$mount; echo code \$?; ls $full/engine/work 2>/dev/null | wc -l'`;
	one_line($said =~ s/^code.*//msr, 'is full', 'a disk that fills up while compiling is named');
	like($said, qr/^code 4\n0$/m, '... with its exit code, and nothing stays on it');
	Plimsoll::Workshop::spew("$shop->{tree}/Makefile", $makefile);
	$shop->pack;
}

Plimsoll::Workshop::spew("$shop->{engine}/overlay/src/backend/plimsoll/extra.c", "int plimsoll_extra = oops;\n");
($code, $out, $err) = $shop->run([]);
is($code, 1, 'an error of the compiler');
like($err, qr/oops.*undeclared/, "... shows the log's last lines");
like($err, qr/^plimsoll: plimsoll: compile failed\nhint: the full log: (\S+)$/m, '... and names the log');
ok($err =~ /log: (\S+)/ && -s $1, '... which is there');
like($out, qr/^vanilla: /, '... and what was built before stays');
is(join(' ', $shop->debris), '', '... without debris');

done_testing();
