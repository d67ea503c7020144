# docs/engine/settings.md against the built servers: what ours knows and stock does not, and the defaults.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
my $list = q{select name || '=' || case when boot_val = '' then 'empty'
	when unit = 'kB' then pg_size_pretty(boot_val::bigint * 1024) else boot_val || coalesce(unit, '') end
	from pg_settings};

# settings returns name => default of a flavour's server, with the libraries of our extensions loaded.
sub settings
{
	my ($flavour) = @_;
	chomp(my $prefix = `$engine/build path $flavour`);
	chomp(my $libraries = `$prefix/bin/pg_config --pkglibdir`);
	my $server = Plimsoll::Server->new($prefix);
	my $load = join '', map { "load '$_';\n" } grep { -e "$libraries/$_.so" } qw(online_analyze plantuner mchar);
	my $known = $server->psql('postgres', $flavour eq 'plimsoll' ? "$load$list;" : "$list;");
	my %default;
	for (split /\n/, $known)
	{
		my ($name, $value) = /^([a-z_.]+)=(.*)$/ or next;
		$default{$name} = $value =~ s/ (?=[kMG]B$)//r;
	}
	return %default;
}

my %stock = settings('vanilla');
my %ours = settings('plimsoll');
delete @ours{ keys %stock };
cmp_ok(scalar keys %ours, '>', 20, 'ours knows more than stock');

my %documented = map { /^\| `([a-z_.]+)` \| ([^|]*?) \|/ ? ($1 => $2) : () }
  split /\n/, Plimsoll::Workshop::slurp("$engine/../docs/engine/settings.md");
$documented{plimsoll_patchset} = $ours{plimsoll_patchset}; # of the build

is(join(' ', grep { !exists $documented{$_} } sort keys %ours), '', 'each is in the document');
is(join(' ', grep { !exists $ours{$_} } sort keys %documented), '', '... and no other');
is($documented{$_}, $ours{$_}, "default of $_") for grep { exists $documented{$_} } sort keys %ours;

done_testing();
