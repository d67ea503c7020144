# Tables on their way from memory to the catalogs, case by case: what sends them there × ON COMMIT × index × what
# follows × how transactions go. Each case must say the same on stock PostgreSQL and with everything on.
#
#   PREFIX=DIR   the server to test; defaults to the built plimsoll flavour
#   STOCK=DIR    the one to compare it with; defaults to the built vanilla flavour, else to the first, everything off
#   CASES=all    all cases; otherwise one of each pair of a way and a command
#   CASE=N       this one alone, and what was said
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Plimsoll::Server;
use Plimsoll::Workshop;

my $engine = Plimsoll::Workshop->home;
chomp(my $prefix = $ENV{PREFIX} // `$engine/build path plimsoll`);
chomp(my $stock = $ENV{STOCK} // `$engine/build path vanilla 2>/dev/null`);
$stock = $prefix if !-x "$stock/bin/postgres";

# What sends the table t (i int, t text) to the catalogs, if it does.
my @ways = (
	[ 'nothing', '' ],
	[ 'view', 'CREATE TEMP VIEW v AS SELECT * FROM t;' ],
	[ 'trigger', 'CREATE TRIGGER g BEFORE UPDATE
		ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();' ],
	[ 'rule', 'CREATE RULE r AS ON DELETE TO t DO ALSO NOTIFY gone;' ],
	[ 'policy', 'CREATE POLICY p ON t USING (true);' ],
	[ 'INHERIT', 'ALTER TABLE t INHERIT parent;' ],
	[ 'child', 'CREATE TEMP TABLE c () INHERITS (t);' ],
	[ 'statistics', 'CREATE STATISTICS pg_temp.x ON i, t FROM t;' ],
	[ 'sequence', 'CREATE TEMP SEQUENCE s OWNED BY t.i;' ],
	[ 'foreign key', 'ALTER TABLE t ADD UNIQUE (i); CREATE TEMP TABLE f (i int REFERENCES t (i))
		ON COMMIT DELETE ROWS;' ],
	[ 'function', 'CREATE FUNCTION pg_temp.f(t) RETURNS int LANGUAGE sql AS $$SELECT 1$$;' ],
	[ 'OF', 'ALTER TABLE t OF shape;' ],
	[ 'a row by SQL', q{INSERT INTO pg_description SELECT 't'::regclass, 'pg_class'::regclass, 1, 'x'
		FROM (SELECT count(*) FROM t) x;} ],
	[ 'a row by SQL, after ANALYZE', q{INSERT INTO pg_description SELECT 't'::regclass, 'pg_class'::regclass, 1,
		filled();} ],
);
my @kept = ('ON COMMIT PRESERVE ROWS', 'ON COMMIT DELETE ROWS', 'ON COMMIT DROP');
my @indexes = ('', 'CREATE INDEX t_i ON t (i);', 'ALTER TABLE t ADD CONSTRAINT t_pk PRIMARY KEY (i);
	CREATE INDEX t_t ON t (t);');
my @commands = (
	'VACUUM FULL t;', 'VACUUM (FREEZE, ANALYZE) t;', 'CLUSTER t;', 'CLUSTER t USING t_i;', 'ANALYZE t;', 'TRUNCATE t;',
		'REINDEX TABLE t;',
	'CREATE INDEX t_late ON t (t, i);', 'CREATE INDEX CONCURRENTLY t_late ON t (i);', 'DROP INDEX t_i;',
		'ALTER INDEX t_i RENAME TO t_j;',
	'ALTER TABLE t ALTER i TYPE bigint USING i + 1;', 'ALTER TABLE t ADD a text DEFAULT (random() >= 0)::text;',
		q{ALTER TABLE t ADD a text DEFAULT 'z';}, 'ALTER TABLE t DROP t;',
	'ALTER TABLE t ADD CHECK (i > 0);', 'ALTER TABLE t ADD UNIQUE (i);', 'ALTER TABLE t ALTER i SET NOT NULL;',
		q{ALTER TABLE t ALTER t SET DEFAULT 'd';}, 'ALTER TABLE t ALTER t SET STORAGE EXTERNAL;',
	'ALTER TABLE t SET (toast.autovacuum_enabled = false);', 'ALTER TABLE t SET (fillfactor = 50);',
		'ALTER TABLE t RENAME TO t2; ALTER TABLE t2 RENAME TO t;', 'ALTER TABLE t RENAME i TO j;',
	'ALTER TABLE t OWNER TO other;', 'GRANT SELECT ON t TO PUBLIC;', q{COMMENT ON COLUMN t.i IS 'y';},
		q{INSERT INTO t VALUES (3, repeat(md5('x'), 10000)) ON CONFLICT DO NOTHING;},
	q{UPDATE t SET t = (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 300) g);}, 'DELETE FROM t;',
		'CREATE TEMP TABLE copied AS SELECT * FROM t;', 'DROP TABLE t;', 'DROP TABLE t CASCADE;', 'DISCARD TEMP;',
);
# Statements with {way} and {command}; what a transaction block cannot hold stands alone.
my @modes = (
	[ 'auto', '{way} {command}' ],
	[ 'transaction', 'BEGIN; {way} {command} COMMIT;' ],
	[ 'savepoint', 'BEGIN; {way} SAVEPOINT s; {command} RELEASE s; COMMIT;' ],
	[ 'rollback to', 'BEGIN; SAVEPOINT s; {way} {command} ROLLBACK TO s; {command} COMMIT;' ],
	[ 'rollback', 'BEGIN; {way} {command} ROLLBACK; {command}' ],
	[ 'one command', '{do}' ],
);

my $setup = <<'END';
CREATE ROLE other;
CREATE TYPE shape AS (i int, t text);
CREATE TABLE parent (i int, t text);
CREATE FUNCTION filled() RETURNS text LANGUAGE plpgsql AS
  $$BEGIN INSERT INTO t SELECT g, 'f' FROM generate_series(100, 400) g; ANALYZE t; RETURN 'x'; END $$;
END

# script is one case: the table, what happens to it, and what it and the catalogs look like then.
sub script
{
	my ($n, $way, $kept, $index, $command, $mode) = @_;
	my $make = "CREATE TEMP TABLE t (i int, t text) $kept;
		$index INSERT INTO t VALUES (1, 'a'), (2, repeat('b', 5000));";
	my $drop = $kept =~ /DROP/;
	my $do = "DO \$do\$ BEGIN " . ($drop ? $make : '') . " $way->[1] $command END \$do\$;";
	my $play = $mode->[1] =~ s/\{way\}/$way->[1]/gr =~ s/\{command\}/$command/gr =~ s/\{do\}/$do/r;
	# A table that goes with the first transaction is made in it.
	$play =~ s/BEGIN;/BEGIN; $make/
		or $play = $mode->[0] eq 'auto' ? "BEGIN; $make $way->[1] COMMIT; $command" : $play if $drop;
	return join "\n", "\\echo === $n", $drop ? () : $make, $play, <<'END';
INSERT INTO t VALUES (7, 'after') RETURNING *;
SELECT * FROM (SELECT relname, relkind, relnatts, relhasindex, relhastriggers, relhasrules, relhassubclass,
  relrowsecurity, reloptions FROM pg_class WHERE relnamespace = pg_my_temp_schema()) c ORDER BY relname COLLATE "C";
SELECT attname, attnum, format_type(atttypid, atttypmod), attnotnull, atthasdef, attstorage,
  col_description(attrelid, attnum) FROM pg_attribute
  WHERE attrelid = to_regclass('pg_temp.t') AND attnum > 0 ORDER BY attnum;
SELECT count(*), count(DISTINCT classid) FROM pg_depend LEFT JOIN pg_class c ON c.oid = objid
  WHERE refobjid = to_regclass('pg_temp.t') AND relkind IS DISTINCT FROM 't';
SELECT count(*), sum(length(t)), md5(string_agg(t, ',' ORDER BY t COLLATE "C")) FROM t;
VACUUM FULL t;
SELECT count(*) FROM t;
DISCARD TEMP;
DROP FUNCTION IF EXISTS pg_temp.f;
END
}

# cases are all, or one of each pair of a way and a command, which take turns in the rest.
sub cases
{
	my ($n, $turn, @cases) = (0, 0);
	my $others = @kept * @indexes * @modes;
	for my $way (0 .. $#ways)
	{
		for my $command (0 .. $#commands)
		{
			my $at = ($turn++ * 23) % $others;
			for my $other (0 .. $others - 1)
			{
				my ($kept, $index, $mode) = ($other % @kept, int($other / @kept) % @indexes,
					int($other / @kept / @indexes));
				my $wanted = defined $ENV{CASE} ? $n == $ENV{CASE} : ($ENV{CASES} // '') eq 'all' || $other == $at;
				# Stock refuses a savepoint after such an INSERT ("unprocessed inval messages").
				$wanted = 0 if $ways[$way][0] =~ /ANALYZE/ && $modes[$mode][0] eq 'savepoint';
				push @cases, [ $n, $ways[$way], $kept[$kept], $indexes[$index], $commands[$command], $modes[$mode] ]
					if $wanted;
				$n++;
			}
		}
	}
	return @cases;
}

# said plays cases in one session; the answer is what each case says, by number.
sub said
{
	my ($server, $cases, $settings) = @_;
	my $text = $server->psql('postgres', "\\set VERBOSITY terse\nSET client_min_messages = warning;\n" . join('',
		map { script(@$_) } @$cases), %$settings);
	$text =~ s/^psql:[^ ]*: //mg;
	$text =~ s/pg_(toast_)?temp_\d+/pg_$1temp/g;
	my (undef, @parts) = split /^=== (\d+)\n/m, $text;
	return @parts;
}

my %everything = (enable_temp_memory_catalog => 'on',
	map { ("temp_$_" => 'on') }
		qw(local_invalidation skip_locks async_commit buffers_by_relation lazy_files lazy_toast));
my @common = (autovacuum => 'off', max_locks_per_transaction => 256);
my %server = (off => Plimsoll::Server->new($stock, @common), on => Plimsoll::Server->new($prefix, @common));
$server{$_}->psql('postgres', $setup) for sort keys %server;

my @cases = cases();
my ($same, @batch) = (0);
for my $case (@cases, undef)
{
	push @batch, $case if $case;
	next unless @batch == 100 || (!$case && @batch);
	my %off = said($server{off}, \@batch, {});
	my %on = said($server{on}, \@batch, \%everything);
	for my $played (@batch)
	{
		my ($n, $way, $kept, $index, $command, $mode) = @$played;
		my $name = join ', ', "case $n", "$way->[0]: $kept", $index || 'no index', $command, $mode->[0];
		my ($off, $on) = map { $_->{$n} // 'nothing' } \%off, \%on;
		if ($off eq $on) { $same++ }
		else { fail($name); diag "stock:\n${off}everything on:\n$on" }
		diag script(@$played), $on if defined $ENV{CASE};
	}
	@batch = ();
}
is($same, @cases, @cases . ' cases say the same as on stock PostgreSQL');
my $left = "SELECT (SELECT count(*) FROM pg_depend d WHERE classid = 'pg_class'::regclass
	AND NOT EXISTS (SELECT FROM pg_class WHERE oid = objid)), (SELECT count(*) FROM pg_type WHERE typrelid <> 0
	AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = typrelid)), (SELECT count(*) FROM pg_attribute
	WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = attrelid));";
is($server{on}->psql('postgres', $left), "0|0|0\n", 'no row is left alone in a catalog');
unlike($_->log, qr/TRAP|was terminated by signal|PANIC/, 'nothing crashed') for values %server;
done_testing();
