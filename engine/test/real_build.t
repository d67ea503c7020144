# PostgreSQL's real build, killed and interrupted in the middle of compiling. That a whole build succeeds is
# shown by the flavours that engine/test/run makes before the tests.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use POSIX qw(WNOHANG);
use Test::More;
use Plimsoll::Workshop;

my $shop = Plimsoll::Workshop->new;
my $real_cache = `bash -c '. $shop->{engine}/lib/dirs.sh; cache_dir'`;
chomp $real_cache;
plan skip_all => 'no source in the cache: run engine/build first' unless glob("$real_cache/engine/source/*/archive");
system('mkdir', '-p', "$shop->{cache}/engine");
system('cp', '-R', "$real_cache/engine/source", "$shop->{cache}/engine/");

# Two builds, but what configure finds out is the same.
open my $site, '>', "$shop->{dir}/site" or die "site: $!";
print $site "cache_file=$shop->{dir}/config.cache\n";
close $site;
$ENV{CONFIG_SITE} = "$shop->{dir}/site";
# Temporary files of compilers that are killed are the builds' own.
$ENV{TMPDIR} = "$shop->{dir}/tmp";
mkdir $ENV{TMPDIR};

sub compilations
{
	my $log = join '', map { Plimsoll::Workshop::slurp($_) } glob("$shop->{cache}/engine/log/plimsoll-*.log");
	return scalar(() = $log =~ / -c -o /g);
}

# compiling waits until the build is inside compiling; false if it ends before, or after half an hour.
sub compiling
{
	my $pid = shift;
	for (1 .. 9000)
	{
		return 1 if compilations() >= 5;
		return 0 if waitpid($pid, WNOHANG) == $pid;
		select undef, undef, undef, 0.2;
	}
	return 0;
}

my $pid = $shop->start(['--flavour', 'plimsoll']);
ok(compiling($pid), 'a build compiles');
kill KILL => $pid;
waitpid $pid, 0;
is(scalar($shop->prefixes('plimsoll')), 0, 'killed, it has published nothing');

unlink glob("$shop->{cache}/engine/log/*");
my $err = "$shop->{dir}/err";
$pid = $shop->start(['--flavour', 'plimsoll'], err => $err);
ok(compiling($pid), 'the next run gets as far');
unlike(Plimsoll::Workshop::slurp($err), qr/waiting/, '... and did not wait for the dead');
kill INT => $pid;
waitpid $pid, 0;
is($? >> 8, 130, 'interrupted, it ends with the code of an interruption');
is(join(' ', $shop->workers), '', '... no compiler works on');
is(join(' ', $shop->debris), '', '... nothing is left');
is(join(' ', glob("$ENV{TMPDIR}/*")), '', '... and no temporary file of either');

done_testing();
