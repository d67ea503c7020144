# Extensions that were compiled for stock PostgreSQL, as those of a distribution are, in a server of ours with
# everything on: they load, and see temporary tables in memory as they see others. headers.t says why; this shows it.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   STOCK=DIR    what the extensions are compiled for; defaults to the built vanilla flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::SHA qw(sha256_hex);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
chomp(my $stock = $ENV{STOCK} // `$engine/build path vanilla`);
my ($archive) = glob(`bash -c '. $engine/lib/dirs.sh; cache_dir'` =~ s/\n/\/engine\/source\/*\/archive/r);
plan skip_all => 'no source in the cache: run engine/build first' unless defined $archive;

# The stock build has these; the others are compiled here, for it.
my @installed = qw(pg_stat_statements auto_explain pageinspect pgstattuple pg_visibility pg_buffercache amcheck);
my @compiled = qw(bloom btree_gist hstore pg_trgm postgres_fdw);

# They are compiled once for each build, source and compiler's options, and kept in the cache.
my $options = "USE_PGXS=1 PG_CONFIG=$stock/bin/pg_config COPT=-O0";
my $key = sha256_hex(join "\0", $stock, $archive, $options, map { Plimsoll::Workshop::slurp($_) }
	sort glob("$FindBin::Bin/stock_extension/*"));
my $home = $archive =~ s{/engine/source/.*}{/test/stock_extensions}r;
my $kept = "$home/" . substr($key, 0, 12);
compile() unless -d $kept;

# compile makes the folder whole or not at all.
sub compile
{
	make_path($home);
	my $dir = tempdir('new-XXXXXX', DIR => $home, CLEANUP => 1);
	chmod 0755, $dir;
	system('tar', '-xf', $archive, '-C', $dir, '--wildcards', '--strip-components=1',
		map { "*/contrib/$_" } @compiled) == 0
		or die 'cannot unpack the source';
	system('cp', '-R', "$FindBin::Bin/stock_extension", "$dir/contrib/") == 0 or die;
	for my $name (@compiled, 'stock_extension')
	{
		my $said = `make -s -j2 -C $dir/contrib/$name $options DESTDIR=$dir/root install 2>&1`;
		die "$name does not compile for stock: $said" if $?;
	}
	my ($lib, $share) = map { "$dir/root$stock/$_" } 'lib/postgresql', 'share/postgresql';
	system("cp $stock/lib/postgresql/$_.so $lib/ && " .
		"cp $stock/share/postgresql/extension/$_* $share/extension/ 2>/dev/null") for @installed;
	rename("$dir/root", $kept) or -d $kept or die "cannot keep $kept: $!"; # another test may have made it
}
my ($lib, $share) = map { "$kept$stock/$_" } 'lib/postgresql', 'share/postgresql';
ok(-e "$lib/$_.so", "$_ is there, compiled for stock") for @installed, @compiled, 'stock_extension';

my %on = Plimsoll::Workshop::slurp("$FindBin::Bin/everything_on.conf") =~ /^(\w+) = (\w+)/mg;
my $server = Plimsoll::Server->new($prefix, %on, dynamic_library_path => $lib, extension_control_path => $share,
	shared_preload_libraries => "'pg_stat_statements,auto_explain'", 'auto_explain.log_min_duration' => 0);
my $ask = sub { $server->psql('postgres', @_) };

my $loaded = $ask->(join '', map { "CREATE EXTENSION $_;" } grep { $_ ne 'auto_explain' } @installed, @compiled);
is($loaded, '', 'all of them load');

my $functions = "SET client_min_messages = warning;" . join '', map {
	"CREATE FUNCTION $_->[0]($_->[1]) RETURNS bigint AS 'stock_extension', '$_->[0]' LANGUAGE C STRICT;" }
	[ 'heap_rows', 'regclass' ], [ 'index_rows', 'regclass' ], [ 'catalog_rows', 'oid' ], [ 'copied_relations', '' ];
is($ask->($functions), '', 'so does one of ours');

# What a session does with its tables; each line is a question, and what it must say.
my $tables = q{CREATE TEMP TABLE t (id int PRIMARY KEY, name text, h hstore, span int4range);
	INSERT INTO t SELECT g, 'name ' || g, hstore('k', g::text), int4range(g, g + 1) FROM generate_series(1, 1000) g;
	CREATE INDEX t_name ON t USING gin (name gin_trgm_ops); CREATE INDEX t_h ON t USING gist (h);
	CREATE INDEX t_bloom ON t USING bloom (id); ALTER TABLE t ADD EXCLUDE USING gist (id WITH =, span WITH &&);
	ANALYZE t; SET enable_seqscan = off;};
my @questions = (
	[ 'SELECT heap_rows(\'t\')', '1000' ],
	[ 'SELECT index_rows(\'t_pkey\')', '1000' ],
	[ 'SELECT heap_rows(\'pg_class\') = (SELECT count(*) FROM pg_class WHERE relpersistence <> \'t\')', 't' ],
	[ 'SELECT index_rows(\'pg_class_oid_index\') = heap_rows(\'pg_class\')', 't' ],
	[ 'SELECT catalog_rows(\'t\'::regclass), catalog_rows(\'pg_class\'::regclass), catalog_rows(0)', '1|1|0' ],
	[ 'SELECT copied_relations() IS NULL; SELECT count(*) FROM t a JOIN t b USING (id); SELECT copied_relations() > 0',
		"f\n1000\nt" ],
	[ 'SELECT count(*) FROM t WHERE name LIKE \'%99%\'', '19' ],
	[ 'SELECT h -> \'k\' FROM t WHERE h @> \'k=>7\'', '7' ],
	[ 'SET enable_indexscan = off; SELECT name FROM t WHERE id = 7; RESET enable_indexscan', 'name 7' ],
	[ 'INSERT INTO t VALUES (7, \'again\', NULL, \'[7,8)\') ON CONFLICT DO NOTHING', '' ],
	[ 'SELECT tuple_count FROM pgstattuple(\'t\')', '1000' ],
	[ 'SELECT tuple_count > 300 FROM pgstattuple(\'pg_class\')', 't' ],
	[ 'SELECT tree_level FROM pgstatindex(\'t_pkey\')', '1' ],
	[ 'SELECT pg_relpages(\'t\') = pg_relation_size(\'t\') / 8192', 't' ],
	[ 'SELECT count(*) > 0 FROM heap_page_items(get_raw_page(\'t\', 0))', 't' ],
	[ 'SELECT count(*) FROM bt_metap(\'t_pkey\')', '1' ],
	[ 'SELECT count(*) > 0 FROM heap_page_items(get_raw_page(\'pg_class\', 0))', 't' ],
	[ 'SELECT bt_index_check(\'pg_class_oid_index\', true) IS NULL', 'f' ],
	[ 'SELECT count(*) FROM verify_heapam(\'pg_class\')', '0' ],
	[ 'SELECT bt_index_check(\'t_pkey\', true) IS NULL', 'f' ],
	[ 'SELECT count(*) FROM pg_check_visible(\'pg_class\')', '0' ],
	[ 'SELECT count(*) > 0 FROM pg_buffercache', 't' ],
	[ 'SELECT calls >= 1 FROM pg_stat_statements WHERE query LIKE \'CREATE TEMP TABLE t %\'', 't' ],
	[ 'DROP TABLE t', '' ]);
my ($made, @said) = split /^==\n/m, $ask->($tables . join '', map { "\n\\echo ==\n$_->[0];" } @questions), -1;
is($made, '', 'tables with their types and access methods');
for my $i (0 .. $#questions)
{
	my ($question, $answer) = @{ $questions[$i] };
	is($said[$i] // 'no answer', $answer eq '' ? '' : "$answer\n", $question);
}

my $loop = "CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'postgres', host '$server->{dir}');";
is($ask->($loop . q{
	CREATE USER MAPPING FOR probe SERVER loop OPTIONS (user 'probe');
	CREATE TABLE here (a int); INSERT INTO here VALUES (1), (2);
	CREATE FOREIGN TABLE there (a int) SERVER loop OPTIONS (table_name 'here');
	CREATE TEMP TABLE mine AS SELECT a FROM there; INSERT INTO there SELECT a + 10 FROM mine;
	SELECT count(*), sum(a) FROM there JOIN mine USING (a); SELECT sum(a) FROM here;}), "2|3\n26\n", 'a foreign table');
like($server->log, qr/Query Text: SELECT count\(\*\) FROM t a JOIN t b/, 'plans in the log');
unlike($server->log, qr/was terminated by signal|PANIC/, 'nothing has crashed');
$server->stop;
done_testing;
