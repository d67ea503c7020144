# A workshop is a copy of engine/ with a cache of its own, in which a test may change and break things.
#
# Most tests build a dwarf: a source tree with PostgreSQL's shape (configure, make world-bin, make
# install-world-bin DESTDIR, pg_config, PGXS) that compiles in a moment. What the dwarf cannot show is
# tested with PostgreSQL itself (real_*.t).
package Plimsoll::Workshop;

use strict;
use warnings;
use Cwd        qw(abs_path);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);

my $HOME = abs_path(__FILE__) =~ s{/test/Plimsoll/Workshop\.pm$}{}r;

# A test that dies ends the builds that it started: one may wait at a gate for ever.
my %started;
my $owner = $$;
$SIG{TERM} = $SIG{INT} = sub { exit 1 };
END
{
	my $status = $?;
	if ($$ == $owner) { kill TERM => $_ for grep { waitpid($_, 1) == 0 } keys %started }
	$? = $status;
}

# home is the engine folder under test.
sub home { $HOME }

# new lays out a workshop with the real series; dwarf => 1 puts a dwarf in PostgreSQL's place.
sub new
{
	my ($class, %option) = @_;
	my $dir = tempdir('plimsoll-engine-XXXXXX', TMPDIR => 1, CLEANUP => 1);
	chmod 0755, $dir;
	my $self = bless { dir => $dir, engine => "$dir/engine", cache => "$dir/cache" }, $class;
	make_path("$dir/engine");
	system('cp', '-R', map({ "$HOME/$_" } qw(build lib patches overlay extensions source.sha256 packages.integrity)),
		"$dir/engine") == 0
	  or die 'cannot copy the engine';
	$self->dwarf if $option{dwarf};
	return $self;
}

# A build that hangs must fail its test; none of these takes nearly so many seconds.
use constant HANGS => 900;

# run calls the workshop's build; returns exit code, stdout and stderr. env => {} adds to the environment.
sub run
{
	my ($self, $args, %option) = @_;
	my ($out, $err) = map { "$self->{dir}/$_" } qw(stdout stderr);
	my $pid = $self->start($args, out => $out, err => $err, %option);
	local $SIG{ALRM} = sub { kill TERM => $pid; die "hangs: build @$args\n" . slurp($err) };
	alarm HANGS;
	waitpid($pid, 0);
	my $status = $?;
	alarm 0;
	return ($status & 127 ? 128 + ($status & 127) : $status >> 8, slurp($out), slurp($err));
}

# start calls the build and does not wait for it; returns its pid.
sub start
{
	my ($self, $args, %option) = @_;
	my $pid = fork() // die "fork: $!";
	return $started{$pid} = $pid if $pid;
	%started = ();
	delete @ENV{qw(SOURCE ENGINE JOBS)};
	$ENV{PLIMSOLL_CACHE} = $self->{cache};
	$ENV{SOURCE} = $self->{source} if $self->{source};
	my %env = %{ $option{env} // {} };
	@ENV{ keys %env } = values %env;
	# Who runs the tests may have them ignored, as nohup does, and no shell could trap them.
	$SIG{$_} = 'DEFAULT' for qw(INT TERM HUP QUIT);
	open STDIN,  '<', '/dev/null'           or die;
	open STDOUT, '>', $option{out} // '/dev/null' or die;
	open STDERR, '>', $option{err} // '/dev/null' or die;
	exec "$self->{engine}/build", @$args;
	die "exec: $!";
}

# dwarf replaces the source, the series, the overlay and the extensions by tiny ones.
sub dwarf
{
	my $self = shift;
	my ($dir, $engine) = @$self{qw(dir engine)};
	remove_tree(map { "$engine/$_" } qw(patches overlay extensions));
	my $tree = $self->{tree} = "$dir/postgresql-18.6";
	spew("$tree/configure", <<'SH', 0755);
#!/bin/sh
PACKAGE_VERSION='18.6'
for a; do case $a in --prefix=*) echo "prefix = ${a#*=}" >config.mk ;; esac; done
SH
	spew("$tree/Makefile", <<'MAKE');
-include config.mk
OBJECTS = src/backend/main.o $(patsubst %.c,%.o,$(wildcard src/backend/plimsoll/*.c))
world-bin: gate $(OBJECTS)
	cc -o postgres $(OBJECTS)
# A test that wants to act in the middle of a build gives two pipes.
gate:
	if [ -n "$$GATE" ]; then echo reached >"$$GATE/reached"; read go <"$$GATE/go"; fi
%.o: %.c
	cc -O0 -c -o $@ $<
install-world-bin:
	mkdir -p $(DESTDIR)$(prefix)/bin $(DESTDIR)$(prefix)/lib
	cp postgres $(DESTDIR)$(prefix)/bin/
	printf 'install:\n\tmkdir -p $$(DESTDIR)%s/lib\n\tcp $$(MODULE).c $$(DESTDIR)%s/lib/\n' $(prefix) $(prefix) \
		>$(DESTDIR)$(prefix)/lib/pgxs.mk
	printf '#!/bin/sh\necho %s/lib/pgxs.mk\n' $(prefix) >$(DESTDIR)$(prefix)/bin/pg_config
	chmod +x $(DESTDIR)$(prefix)/bin/pg_config
MAKE
	spew("$tree/src/backend/main.c", qq{#include <stdio.h>\nint main(void)\n{\n\tputs("stock");\n\treturn 0;\n}\n});
	spew("$engine/overlay/src/backend/plimsoll/extra.c", "int plimsoll_extra = 1;\n");
	spew("$engine/overlay/src/include/plimsoll/patchset.h", "#define PLIMSOLL_PATCHSET 7\n");
	spew("$engine/patches/18/series", "greeting.patch\n");
	spew("$engine/patches/18/greeting.patch", <<'PATCH');
greeting: say what it is

--- a/src/backend/main.c
+++ b/src/backend/main.c
@@ -1,6 +1,6 @@
 #include <stdio.h>
 int main(void)
 {
-	puts("stock");
+	puts("patched");
 	return 0;
 }
PATCH
	for my $name (qw(one two))
	{
		spew("$engine/extensions/$name/$name.c", "int $name;\n");
		spew("$engine/extensions/$name/Makefile", "MODULE = $name\ninclude \$(shell \$(PG_CONFIG) --pgxs)\n");
	}
	$self->pack;
	return $self;
}

# pack makes the dwarf's tarball and records its checksum.
sub pack
{
	my $self = shift;
	$self->{source} = "$self->{dir}/postgresql-18.6.tar.bz2";
	system('tar', '-cjf', $self->{source}, '-C', $self->{dir}, 'postgresql-18.6') == 0 or die 'cannot pack';
	my ($sum) = split ' ', `sha256sum $self->{source}`;
	spew("$self->{engine}/source.sha256", "$sum  postgresql-18.6.tar.bz2\n");
}

# gate makes the pipes at which the dwarf's build stops; returns the value of GATE.
sub gate
{
	my $self = shift;
	my $gate = tempdir('gate-XXXXXX', DIR => $self->{dir});
	system('mkfifo', "$gate/reached", "$gate/go") == 0 or die 'mkfifo';
	return $gate;
}

# reached waits until a build stops at the gate; open_gate lets it continue.
sub reached
{
	local $SIG{ALRM} = sub { die "no build comes to the gate\n" };
	alarm HANGS;
	my $line = slurp("$_[1]/reached");
	alarm 0;
	return $line eq "reached\n";
}
sub open_gate { spew("$_[1]/go", "go\n") }

# prefixes lists the finished builds of a flavour.
sub prefixes
{
	my ($self, $flavour) = @_;
	return grep { -e "$_/plimsoll-engine.json" } glob("$self->{cache}/engine/18.6-$flavour-*");
}

# debris lists leftovers: files that should not exist when no build runs.
sub debris
{
	my $self = shift;
	my $cache = "$self->{cache}/engine";
	return (glob("$cache/work/*"), glob("$cache/source/.[0-9]*"),
		grep { !-e "$_/plimsoll-engine.json" } glob("$cache/18.6-*"));
}

# workers lists the processes that work inside the cache.
sub workers
{
	my $self = shift;
	return grep { my $cwd = readlink("/proc/$_/cwd"); defined $cwd && index($cwd, "$self->{cache}/") == 0 }
	  map { m{(\d+)$} ? $1 : () } glob('/proc/[0-9]*');
}

sub slurp
{
	open my $handle, '<', $_[0] or return '';
	local $/;
	return <$handle> // '';
}

sub spew
{
	my ($path, $text, $mode) = @_;
	make_path($path =~ s{/[^/]*$}{}r);
	open my $handle, '>', $path or die "$path: $!";
	print $handle $text;
	close $handle or die "$path: $!";
	chmod $mode, $path if $mode;
}

1;
