# The packages' recipe, without building them: each file of a whole build has a package, the package's name is one that
# the control file knows, and postgresql-common accepts the name of our version. Packages are installed and run by
# test/packages (make test-full).
use strict;
use warnings;
use FindBin;
use Test::More;

my $engine = "$FindBin::Bin/..";
my $major = `sed -n 's/^MAJOR=//p' $engine/build`;
chomp $major;

# bash COMMAND: the shell functions of the build.
sub bash
{
	my $command = shift;
	my $prelude = "set -euo pipefail; ENGINE=$engine MAJOR=$major; EXTENSIONS=$engine/extensions; "
		. ". $engine/lib/extension.sh; . $engine/lib/deb.sh";
	open my $pipe, '-|', 'bash', '-c', "$prelude; $command" or die "bash: $!";
	my @lines = <$pipe>;
	close $pipe;
	chomp @lines;
	return wantarray ? @lines : $lines[0];
}

my $version = bash('echo $DEB_VERSION');
like($version, qr/^\d+\.?\d+$/, 'get_versions and pg_createcluster know the version');
like("$version main start", qr/^(\d+\.?\d) ([^'"\s]+) (start)$/, '... and pg_ctlcluster');
cmp_ok($version, '==', $major, '... and a data directory of the major version is taken as it is');
isnt($version, $major, "... but the folder is not the distribution's");

SKIP:
{
	skip 'postgresql-common is not installed', 1 unless eval { require '/usr/share/perl5/PgCommon.pm'; 1 };
	no warnings 'once';
	my $root = `mktemp -d`;
	chomp $root;
	system("mkdir -p $root/$version/bin $root/$major/bin && cp /bin/true $root/$version/bin/postgres && "
			. "cp /bin/true $root/$major/bin/postgres");
	$PgCommon::binroot = "$root/";
	$PgCommon::confroot = "$root/none";
	is(join(' ', sort(PgCommon::get_versions())), "$major $version", 'both are found side by side');
	system('rm', '-r', $root);
}

my %known = map { s/\@MAJOR\@/$major/r => 1 } `sed -n 's/^Package: //p' $engine/debian/control` =~ /(\S+)/g;
my $layout = "sed '/^#/d; /^\$/d' $engine/debian/layout";
for my $part (grep { $_ ne 'none' } split /\s+/, `$layout | cut -d' ' -f1 | sort -u` . 'extensions')
{
	my $name = bash("deb_name $part");
	ok($known{$name}, "$part: there is a package $name");
}

my $lib = "usr/lib/postgresql/$version/lib";
my $share = "usr/share/postgresql/$version";
my %want = ("$lib/mchar.so" => 'extensions', "$lib/pg_trgm.so" => 'contrib', "$lib/plpgsql.so" => 'server',
	"$lib/bitcode/mchar/mchar_io.bc" => 'jit', "$lib/hstore_plperl.so" => 'plperl',
	"$share/extension/jsonb_plpython3u.control" => 'plpython3', "$lib/utf8_and_win.so" => 'server',
	"usr/lib/postgresql/$version/bin/psql" => 'client', "usr/lib/postgresql/$version/bin/postgres" => 'server',
	"$share/extension/mchar.control" => 'extensions', "$share/locale/ru/LC_MESSAGES/psql-$major.mo" => 'client',
	"$share/locale/ru/LC_MESSAGES/postgres-$major.mo" => 'server', "$lib/libpq.so.5" => 'client',
	"usr/include/postgresql/$version/server/postgres.h" => 'dev', 'usr/bin/elsewhere' => '');
my @lines = "mapfile -t lines < <(layout_lines $engine/debian/layout)";
is(bash("@lines; part_of '$_' \"\${lines[\@]}\"") // '', $want{$_}, "$_: " . ($want{$_} || 'no package'))
	for sort keys %want;

done_testing();
