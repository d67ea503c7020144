# fasttrun, online_analyze and plantuner together, preloaded, in sessions that keep a pool of temporary tables: what
# comes out is right, the planner knows what was stored, and what stays behind is what the extensions promise.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   STOCK=DIR    the one to compare it with; defaults to the built vanilla flavour
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
chomp(my $stock = $ENV{STOCK} // `$engine/build path vanilla`);
my %on = Plimsoll::Workshop::slurp("$FindBin::Bin/everything_on.conf") =~ /^(\w+) = (\w+)/mg;
my %loaded = (shared_preload_libraries => "'online_analyze,plantuner'", autovacuum => 'off', wal_level => 'replica',
	'online_analyze.table_type' => 'temporary', 'plantuner.fix_empty_table' => 'on',
	'plantuner.disable_index' => "'tt_hidden,pg_temp.tt_missing'");
my %server = (stock => Plimsoll::Server->new($stock, %loaded), ours => Plimsoll::Server->new($prefix, %loaded, %on));
$_->psql('postgres', 'CREATE EXTENSION fasttrun') for values %server;

# A pool of ten tables. A turn empties one, fills it, counts in two ways, and tells what is wrong.
my $pool = <<'END';
DO $$ BEGIN FOR i IN 1..10 LOOP
	EXECUTE format('CREATE TEMP TABLE tt%1$s (id int PRIMARY KEY, name text); CREATE INDEX ON tt%1$s (name)', i);
END LOOP; END $$;
CREATE FUNCTION pg_temp.turn(n int, rows int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE t text := 'tt' || n % 10 + 1; counted bigint; known real;
BEGIN
	PERFORM fasttruncate(t);
	EXECUTE format('INSERT INTO %I SELECT g, ''n'' || g FROM generate_series(1, %s) g', t, rows);
	EXECUTE format('SELECT count(*) FROM %1$I WHERE id IN (SELECT id FROM %1$I) AND name LIKE ''n%%''', t) INTO counted;
	SELECT reltuples INTO known FROM pg_class WHERE oid = t::regclass;
	RETURN CASE WHEN counted <> rows OR (rows > 0 AND known <> rows)
		THEN format('turn %s: %s rows, %s counted, %s known', n, rows, counted, known) END;
END $$;
END
my $wrong = 'SELECT string_agg(pg_temp.turn(n, (n * 37) % 120), E\'\n\') FROM generate_series(1, 400) n;';

# left_by plays statements three times and returns what the third time has left: records of the log, bytes of the
# catalogs. To count leaves records, too, once: pages of the catalogs are pruned by who reads them.
sub left_by
{
	my ($server, $statements) = @_;
	my $count = <<'END';
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT wal_records AS records, (SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE oid < 16384
	AND relkind IN ('r', 'i', 't')) AS bytes FROM pg_stat_get_backend_wal(pg_backend_pid())
END
	chomp $count;
	return $server->psql('postgres', $pool . "$statements $count \\gset\n" x 2 . "$statements $count \\gset now_\n"
		. 'SELECT :now_records - :records, :now_bytes - :bytes;');
}
my $silent = " \\g /dev/null\n";
my $empty = "SELECT fasttruncate('tt' || n % 10 + 1) FROM generate_series(1, 1000) n$silent";
my $turns = join '', map { "SELECT pg_temp.turn($_, 70)$silent" } 1 .. 100;

for my $which (qw(stock ours))
{
	my $server = $server{$which};
	my $ask = sub { return $server->psql('postgres', @_) =~ s/^psql:[^ ]*: //mgr };
	is($ask->("$pool $wrong BEGIN; $wrong SAVEPOINT s; $wrong ROLLBACK TO s; $wrong COMMIT; $wrong"), "\n" x 5,
		"$which: each turn counts what it stored, and the planner knows it");
	is(left_by($server, $empty), "0|0\n", "$which: a thousand calls for empty tables leave nothing");

	my $other = $ask->(<<'END');
CREATE TEMP TABLE mine (a int); INSERT INTO mine VALUES (1);
SELECT nspname AS schema FROM pg_namespace WHERE oid = pg_my_temp_schema() \gset
\setenv THEIRS :schema
\! psql -XAtq -c "SELECT fasttruncate('$THEIRS.mine')" 2>&1
SELECT count(*) FROM mine;
END
	like($other, $which eq 'stock' ?
		qr/^ERROR:  cannot fasttruncate "mine"\nDETAIL:  It is a temporary table of another session\.\n1\n\z/ :
		qr/^ERROR:  relation "pg_temp_\d+\.mine" does not exist\n1\n\z/,
		"$which: another session's table is not touched");

	is($ask->(<<'END') =~ s/^ *Disabled: true\n//mr, <<'END', "$which: a list of the configuration holds");
CREATE TEMP TABLE tt (a int); CREATE INDEX tt_hidden ON tt (a);
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS off) SELECT * FROM tt WHERE a = 1;
SET plantuner.disable_index = '';
EXPLAIN (COSTS off) SELECT * FROM tt WHERE a = 1;
END
Seq Scan on tt
  Filter: (a = 1)
Index Only Scan using tt_hidden on tt
  Index Cond: (a = 1)
END

	is($ask->(<<'END'), <<'END', "$which: parallel workers take the settings over and say nothing of them");
CREATE TABLE wide AS SELECT generate_series(1, 30000) AS a; CREATE INDEX ON wide (a); ANALYZE wide;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET debug_parallel_query = on;
SET plantuner.only_index = 'missing'; SET online_analyze.exclude_tables = 'wide';
SELECT count(*) FROM wide;
END
WARNING:  "missing" does not exist
DETAIL:  The setting keeps the name, and heeds it once there is such an index.
WARNING:  none of the indexes of "plantuner.only_index" exists
DETAIL:  The setting is ignored, for it would forbid every index.
30000
END

	like($ask->('SET online_analyze."verbose" = on; CREATE TEMP TABLE said AS SELECT generate_series(1, 60) AS a;'),
		qr/INFO:  analyzing "pg_temp_\d+\.said".*"said": scanned 1 of 1 pages, containing 60 live rows/s,
		"$which: verbose");
}
is(left_by($server{ours}, $turns), "100|0\n",
	'with tables in memory a hundred turns leave a hundred records, the ends of transactions that stored rows');

# A standby has the libraries loaded, too. Nothing can be changed there, and nothing is analyzed.
$server{ours}->psql('postgres', 'CREATE TABLE kept AS SELECT generate_series(1, 100) AS a; CREATE INDEX ON kept (a)');
my $signal = "$server{ours}{dir}/data/standby.signal";
$server{ours}->restart('fast', sub { open my $file, '>', $signal or die $! });
is($server{ours}->psql('postgres', <<'END') =~ s/^psql:[^ ]*: //mgr, <<'END', 'a standby');
SELECT pg_is_in_recovery();
SET plantuner.disable_index = 'kept_a_idx';
SELECT count(*) FROM kept WHERE a = 7;
INSERT INTO kept VALUES (1);
SELECT fasttruncate('kept');
END
t
1
ERROR:  cannot execute INSERT in a read-only transaction
ERROR:  cannot fasttruncate "kept"
DETAIL:  It is not a temporary table, and fasttruncate() cannot be rolled back.
HINT:  Use TRUNCATE.
END
for my $which (qw(stock ours))
{
	unlike($server{$which}->log, qr/was terminated by signal|PANIC|TRAP/, "$which: nothing has crashed");
	$server{$which}->stop;
}
done_testing;
