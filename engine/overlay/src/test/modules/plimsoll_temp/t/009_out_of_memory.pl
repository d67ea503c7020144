# Memory runs out in the middle of what a session does with its temporary tables:
# each allocation of each part fails once.  The command fails, and nothing else:
# the next ones find tables, rows and pages as they were.

use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nallow_in_place_tablespaces = on\n"
	  . join '', map { "$_ = on\n" } 'enable_temp_memory_catalog',
	map { "temp_$_" } qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));
$node->start;
$node->safe_psql('postgres', q{CREATE EXTENSION plimsoll_temp;
	CREATE TABLESPACE elsewhere LOCATION ''; CREATE FUNCTION seven() RETURNS int LANGUAGE sql AS 'SELECT 7';
	DO $$ BEGIN FOR i IN 1..300 LOOP
		EXECUTE 'CREATE FUNCTION f' || i || '() RETURNS int LANGUAGE sql RETURN 1'; END LOOP; END $$});
my $many = join '+', map { "f$_()" } 1 .. 300;

# Makes, fills, moves and drops tables.
my $work = qq{CREATE TEMP TABLE hangs (a int DEFAULT $many);
	CREATE TEMP TABLE made (a int PRIMARY KEY, b text DEFAULT 'x', c int DEFAULT seven(), CHECK (a > 0));
	INSERT INTO made SELECT g, repeat('b', 300) FROM generate_series(1, 300) g; ANALYZE made;
	COMMENT ON TABLE made IS 'made'; CREATE INDEX ON made (b); ALTER TABLE made ADD d bigint;
	CREATE TEMP TABLE away TABLESPACE elsewhere AS SELECT 1 AS n; CREATE TEMP TABLE n1 (a int);
	CREATE TEMP TABLE n2 (a int); CREATE TEMP TABLE n3 (a int); CREATE TEMP TABLE n4 (a int);
	CREATE TEMP VIEW seen AS SELECT * FROM made; UPDATE made SET c = c + 1;};
my $clean = 'DROP TABLE IF EXISTS hangs, made, away, n1, n2, n3, n4 CASCADE;';
my $lies = q{SELECT 'sum', count(*), sum(a), min(length(b)), max(length(b)) FROM kept;
	SELECT 'left', relname FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relname !~ '^kept';
	SELECT 'columns', relname FROM pg_class c WHERE relnamespace = pg_my_temp_schema()
		AND relnatts <> (SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0);
	SELECT 'attribute', attrelid FROM pg_attribute WHERE attrelid >= 16384
		AND NOT EXISTS (SELECT FROM pg_class WHERE oid = attrelid);
	SELECT 'type', typname FROM pg_type WHERE typrelid >= 16384
		AND NOT EXISTS (SELECT FROM pg_class WHERE oid = typrelid);
	SELECT 'index', indexrelid FROM pg_index WHERE indexrelid >= 16384
		AND NOT EXISTS (SELECT FROM pg_class WHERE oid = indexrelid);
	SELECT 'depend', d FROM pg_depend d WHERE classid = 'pg_class'::regclass AND objid >= 16384
		AND NOT EXISTS (SELECT FROM pg_class WHERE oid = objid);};
my $rows = 4000;
my $truth = "sum|$rows|" . $rows * ($rows + 1) / 2 . '|300|300';

# The session's first work fails early, too.
my $start = "SET client_min_messages = error; SET temp_buffers = '4MB'; CREATE TEMP TABLE kept0 (a int DEFAULT seven());";
my $kept = "CREATE TEMP TABLE kept (a int, b text); INSERT INTO kept SELECT g, repeat('k', 300)
	FROM generate_series(1, $rows) g;
	DO \$\$ BEGIN FOR i IN 1..112 LOOP EXECUTE 'CREATE TEMP TABLE kept_of' || i || ' AS SELECT 1 AS n';
	END LOOP; END \$\$;";

# Rows of pg_attribute have a context of their own, as all rows of that size.
foreach my $context ('memory catalog', '320 bytes', 'memory catalog references', 'Plimsoll temp relations',
	'Plimsoll temp storage', 'Plimsoll temp buffers')
{
	my ($failed, $wrong) = (0, '');
	# What is kept by relation grows by doubling, so the allocations that matter are rare: as many tables live
	# as nearly fill it.
	foreach my $way ('a subtransaction', 'a transaction', 'no transaction')
	{
		my $script = "$start $kept";
		foreach my $n (0 .. 40)
		{
			my $after = $context eq 'memory catalog' ? $n * $n / 2 : $n;
			my $one = $work =~ s/'/''/gr;
			$script .= "SELECT fail_allocation('$context', $after);\n";
			$script .= $way eq 'a subtransaction'
			  ? "DO \$\$ BEGIN EXECUTE '$one'; EXCEPTION WHEN out_of_memory THEN NULL; END \$\$;\n"
			  : $way eq 'a transaction' ? "BEGIN; $work COMMIT;\nROLLBACK;\n" : "$work\n";
			$script .= "SELECT 'failed' WHERE allocation_failed();\n$clean\n$lies\n";
			# what lives on makes the tables of each part grow
			$script .= "CREATE TEMP TABLE kept_$n (a int);\n" if $n % 2;
		}
		my ($code, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0);
		$failed++ while $out =~ /^failed$/mg;
		$wrong .= "$_\n" foreach grep { !/^(t|f||failed|\Q$truth\E)$/ } split /\n/, $out;
		my $sums = () = $out =~ /^\Q$truth\E$/mg;
		$wrong .= "$way: $sums of 41 sums\n" if $sums != 41;
		$wrong .= "$_\n" foreach grep { /ERROR/ && !/out of memory|is aborted|does not exist/ } split /\n/, $err;
		$wrong .= "$way: exit $code\n" if $code != 0 && $code != 3;
	}
	is($wrong, '', "$context: nothing but the command fails");
	cmp_ok($failed, '>', 0, "$context: allocations failed");
}
$node->safe_psql('postgres', 'DROP TABLESPACE elsewhere');

# A page cannot be read, because its table cannot be remembered as one that has pages in
# local buffers.  Reading it again, and others in between, finds the right ones.
my $tables = 130;
my $evict = 'DO $$ BEGIN FOR i IN 1..8 LOOP PERFORM count(*) FROM large; END LOOP; END $$;';
my $create = sub { join '', map { "CREATE TEMP TABLE one$_ AS SELECT $_ AS n;\n" } @_ };
my $read = 'DO $$ DECLARE v int; BEGIN FOR i IN 1..' . $tables . q{ LOOP BEGIN
	EXECUTE 'SELECT n FROM one' || i INTO v; IF v <> i THEN RAISE '% in table %', v, i; END IF;
	EXCEPTION WHEN out_of_memory THEN NULL; END; END LOOP; END $$;};
my ($code, $out, $err) = $node->psql('postgres', "SET temp_buffers = '2MB';
	CREATE TEMP TABLE large AS SELECT g, repeat('l', 500) AS l FROM generate_series(1, 6000) g;\n"
	  . $create->(1 .. 65) . $evict . $create->(66 .. $tables) . $evict
	  . "SELECT fail_allocation('Plimsoll temp buffers', 0);\n$read\nSELECT 'failed' WHERE allocation_failed();\n"
	  . "$read\n$evict\n$read\nSELECT sum(g) FROM large;\n");
is($err, '', 'each table has its page');
like($out, qr/^failed\n18003000$/m, '... although there was no memory for one of them');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal/, 'nothing crashed');
$node->stop;
done_testing();
