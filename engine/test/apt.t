# How source entries are derived from a machine's package configuration. The addresses are invented; the
# real configuration of this machine is used by real_source.t.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use File::Temp qw(tempdir);
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
my $n = 0;
my $dir = tempdir(CLEANUP => 1);

plan skip_all => 'no apt on this system' unless system('command -v apt-config >/dev/null') == 0;

# candidates runs the derivation on files of a package configuration; returns attempt => entries.
sub candidates
{
	my ($os, %file) = @_;
	my $etc = "$dir/" . ++$n;
	Plimsoll::Workshop::spew("$etc/os-release", $os);
	Plimsoll::Workshop::spew("$etc/$_", $file{$_}) for keys %file;
	Plimsoll::Workshop::spew("$etc/apt.conf",
		qq{Dir::Etc::sourcelist "$etc/sources.list";\nDir::Etc::sourceparts "$etc/sources.list.d";\n}
			. qq{Dir::State::lists "$etc/lists";\nDir::Cache "$etc/cache";\n});
	mkdir "$etc/out";
	local @ENV{qw(APT_CONFIG OS_RELEASE)} = ("$etc/apt.conf", "$etc/os-release");
	my $before = `cd $etc && find os-release sources.list* -type f | sort | xargs sha256sum`;
	my $candidates = "ENGINE=$engine MAJOR=18 LOCK_FD=; . $engine/lib/apt.sh; apt_candidates $etc/out";
	my $said = `bash -euo pipefail -c '$candidates' 2>&1`;
	is($?, 0, 'derives') or diag $said;
	is(`cd $etc && find os-release sources.list* -type f | sort | xargs sha256sum`, $before,
		'the configuration is as it was');
	return { map { m{/([^/]+)\.sources$} ? ($1 => Plimsoll::Workshop::slurp($_)) : () } glob("$etc/out/*.sources") };
}

my $bookworm = "ID=debian\nVERSION_CODENAME=bookworm\n";
my $noble = "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble\n";

subtest 'deb822' => sub {
	my $got = candidates($bookworm, 'sources.list.d/debian.sources' => <<'SOURCES');
# The mirror
Types: deb
URIs: http://mirror.example.org/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/archive.gpg

Types: deb
URIs: http://security.example.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/archive.gpg
SOURCES
	is($got->{'0-configured'}, '', 'no source entry is configured');
	is($got->{'1-unstable'}, <<'ENTRY', "the release's own entry, with a suite that carries our version");
Types: deb-src
URIs: http://mirror.example.org/debian
Suites: unstable
Components: main
Signed-By: /usr/share/keyrings/archive.gpg

ENTRY
};

subtest 'a key written into the entry' => sub {
	my $key = " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEYCQjIxYJKwYBBAHaRw8BAQdA\n"
		. " -----END PGP PUBLIC KEY BLOCK-----\n";
	my $got = candidates($bookworm, 'sources.list.d/d.sources' =>
		"Types: deb\nURIs: http://mirror.example.org/debian\nSuites: bookworm\nComponents: main\nSigned-By:\n$key");
	like($got->{'1-unstable'}, qr/^Signed-By: *\n\Q$key\E/m, 'is carried over whole');
};

subtest 'one-line entries' => sub {
	my $got = candidates($bookworm, 'sources.list' => <<'LIST');
# deb http://commented.example.org/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/archive.gpg trusted=yes] http://mirror.example.org/debian bookworm main non-free # ours
deb http://security.example.org/debian-security bookworm-security main
LIST
	is($got->{'1-unstable'}, <<'ENTRY', 'are understood; what would bypass the signatures is dropped');
Types: deb-src
URIs: http://mirror.example.org/debian
Suites: unstable
Components: main
Signed-By: /usr/share/keyrings/archive.gpg

ENTRY
};

subtest 'a configured source entry comes first, as it is' => sub {
	my $got = candidates($bookworm,
		'sources.list' => "deb http://mirror.example.org/debian bookworm main\n",
		'sources.list.d/pg.sources' => "Types: deb deb-src\nURIs: http://pg.example.org/apt\nSuites: bookworm-pg\n"
			. "Components: main 18\nSigned-By: /usr/share/keyrings/pg.gpg\nTrusted: yes\n");
	is($got->{'0-configured'}, "Types: deb-src\nURIs: http://pg.example.org/apt\nSuites: bookworm-pg\n"
		. "Components: main 18\nSigned-By: /usr/share/keyrings/pg.gpg\n\n",
		'as it is, without its leave to skip signatures');
	like($got->{'1-unstable'}, qr{^URIs: http://mirror\.example\.org/debian\nSuites: unstable$}m,
		'the derived entry stays the second attempt');
};

subtest 'entries that are switched off do not count' => sub {
	my $got = candidates($bookworm, 'sources.list.d/d.sources' =>
		"Types: deb deb-src\nURIs: http://off.example.org/debian\nSuites: bookworm\nComponents: main\nEnabled: no\n\n"
			. "Types: deb\nURIs: http://on.example.org/debian\nSuites: bookworm\nComponents: main\n");
	is($got->{'0-configured'}, '', 'not as they are');
	like($got->{'1-unstable'}, qr{^URIs: http://on\.example\.org/debian$}m, '... nor as a base');
};

subtest 'Ubuntu' => sub {
	my $got = candidates($noble, 'sources.list.d/ubuntu.sources' =>
		"Types: deb\nURIs: http://archive.example.org/ubuntu/\nSuites: noble noble-updates noble-backports\n"
			. "Components: main restricted universe multiverse\nSigned-By: /usr/share/keyrings/ubuntu.gpg\n");
	is_deeply([sort keys %$got], ['0-configured', '1-resolute', '2-devel'], 'has releases of its own');
	like($got->{'1-resolute'}, qr{^Suites: resolute\nComponents: main$}m, 'the first is the next long-term release');
};

subtest 'a foreign repository is never taken for the distribution' => sub {
	my $got = candidates($bookworm, 'sources.list' => "deb http://tools.example.org/apt tools main\n");
	is($got->{'1-unstable'}, '', 'nothing is derived from it');
};

done_testing();
