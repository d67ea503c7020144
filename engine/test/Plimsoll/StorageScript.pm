# Random sessions that move the pages of temporary tables: more of them than local buffers, truncated, rewritten, rolled
# back. The content of each table, index and fork is shown after each step.
package Plimsoll::StorageScript;

use strict;
use warnings;
use parent -norequire, 'Plimsoll::TempScript';
use Plimsoll::TempScript;

my @TABLES = map { "t$_" } 0 .. 3;
my @METHODS = ('btree (id)', 'btree (name)', 'btree (long)', 'hash (id)', 'hash (name)', 'brin (id)',
	'gist (point(id, id))', 'spgist (name)',
	q{gin (string_to_array(name, ' '))}, q{gin (string_to_array(name, ' ')) WITH (fastupdate = off)});

# Temporary tables, their toast tables and all their indexes, by names that do not depend on OIDs. GiST and SP-GiST
# place entries at random, so that their sizes may differ.
my $RELATIONS = q{(WITH mine AS (SELECT c.oid, relname::text AS name FROM pg_class c LEFT JOIN pg_am a ON a.oid = relam
		WHERE relnamespace = pg_my_temp_schema() AND relkind IN ('r', 'i',
			'S') AND amname IS DISTINCT FROM 'gist' AND amname IS DISTINCT FROM 'spgist'),
	toast AS (SELECT t.oid, mine.name || ' toast' AS name
		FROM mine JOIN pg_class c ON c.oid = mine.oid JOIN pg_class t ON t.oid = c.reltoastrelid)
	SELECT * FROM mine UNION ALL SELECT * FROM toast UNION ALL SELECT indexrelid,
		name || ' index' FROM toast JOIN pg_index ON indrelid = toast.oid) r};

sub show
{
	my $self = shift;
	return (
		qq{SELECT name, pg_relation_size(oid) AS main, pg_relation_size(oid, 'fsm') AS fsm,
			pg_relation_size(oid, 'vm') AS vm FROM $RELATIONS ORDER BY name COLLATE "C";},
		map { "SELECT '$_', count(*), sum(id), md5(string_agg(name || coalesce(md5(long), ''), ','
			ORDER BY id, name, long)) FROM $_;" } @TABLES);
}

sub fill
{
	my ($self, $t) = @_;
	my $rows = $self->pick(1, 5, 20, 100, 100, 500, 2000, 5000, 5000);
	my $first = $self->pick(0 .. 20) * 500;
	my $wide = $self->pick(1, 1, 20);
	my $long = $self->pick('NULL', 'NULL', q{CASE WHEN g % 50 = 0 THEN (SELECT string_agg(md5(i || ' ' || g), '')
		FROM generate_series(1, 150) i) END});
	return "INSERT INTO $t SELECT g, repeat('n' || g % 97 || ' ', $wide), $long
		FROM generate_series($first, $first + $rows) g;";
}

sub data
{
	my $self = shift;
	my ($t, $u) = ($self->pick(@TABLES), $self->pick(@TABLES));
	my $from = $self->pick(0 .. 20) * 500;
	return $self->pick(
		map({ $self->fill($t) } 1 .. 6),
		"INSERT INTO $t SELECT * FROM $u LIMIT 3000;", "COPY $t FROM STDIN;\n1\tone\t\\N\n2\ttwo\tzwei\n\\.",
		"UPDATE $t SET name = name || 'u' WHERE id % 5 = 0;", "DELETE FROM $t WHERE id >= $from;",
			"DELETE FROM $t WHERE id % 3 = 0;", "DELETE FROM $t;",
		"SELECT nextval('s');", "SELECT setval('s', $from + 1);",
			"SELECT count(*) FROM $t WHERE id BETWEEN $from AND $from + 50;");
}

sub storage
{
	my $self = shift;
	my ($t, $u) = ($self->pick(@TABLES), $self->pick(@TABLES));
	my $n = ++$self->{serial};
	my $method = $self->pick(@METHODS);
	return $self->pick(
		map({ "TRUNCATE $t;" } 1 .. 4), "TRUNCATE $t, $u;", "TRUNCATE $t RESTART IDENTITY;",
		map({ "CREATE INDEX i$n ON $t USING $method;" } 1 .. 3), 'DROP INDEX IF EXISTS i' . ($n - 1) . ', i' . ($n - 3)
			. ';',
		"VACUUM $t;", "VACUUM (FREEZE) $t;", "VACUUM FULL $t;", "ANALYZE $t;", "REINDEX TABLE $t;",
			"CLUSTER $t USING ${t}_id;",
		"ALTER TABLE $t ALTER COLUMN id TYPE " . $self->pick('bigint', 'int') . ';',
			"ALTER TABLE $t SET (fillfactor = " . $self->pick(30, 100) . ');',
		# Not in a transaction: rolled back, stock PostgreSQL keeps index entries of rows that went into the new file.
		"COMMIT; ALTER TABLE $t SET TABLESPACE " . $self->pick('probe_elsewhere', 'pg_default') . ';',
			"ALTER INDEX ${t}_id SET TABLESPACE " . $self->pick('probe_elsewhere', 'pg_default') . ';',
		"DROP TABLE $t; " . $self->create($t), "DROP SEQUENCE s; CREATE TEMP SEQUENCE s;",
		'SET temp_tablespaces = ' . $self->pick(q{''}, 'probe_elsewhere') . ';');
}

sub create
{
	my ($self, $t) = @_;
	return "CREATE TEMP TABLE $t (id int, name text, long text)" . $self->pick(('') x 8, ' ON COMMIT DELETE ROWS')
		. "; CREATE INDEX ${t}_id ON $t (id);";
}

# crowded fills the buffers with recently used pages, one more each time, until the rest is about as large as a small
# table and its copy: 8 rows of it and 7 of the crowd are a page. Then the whole table is written, and its pages evict
# each other.
sub crowded
{
	my $self = shift;
	my ($t, $pages) = ($self->pick(@TABLES), $self->pick(2 .. 12));
	my $crowd = $self->{buffers} - 2 * $pages - $self->pick(4 .. 9);
	my $whole = $self->pick("VACUUM FULL $t;", "CLUSTER $t USING ${t}_id;", "REINDEX INDEX ${t}_id;",
		"REINDEX TABLE $t;");
	my $hot = "SELECT count(name) FROM crowd;\nSELECT count(name) FROM $t;\n" x 6;
	return "TRUNCATE $t, crowd;\nINSERT INTO $t SELECT g, repeat('small ', 150)
		FROM generate_series(1, 8 * $pages) g;\nINSERT INTO crowd SELECT 0, repeat('x', 1000)
		FROM generate_series(1, 7 * $crowd);\n"
		. "INSERT INTO crowd SELECT 0, repeat('x', 1000) FROM generate_series(1, 7);\n$hot$whole\nSELECT count(*),
			sum(id), count(name) FROM $t;\n" x 8
		. 'TRUNCATE crowd;';
}

sub failing
{
	my $self = shift;
	my ($one, $two) = map { s/;$//r =~ s/'/''/gr }
		map { $self->pick($self->fill($_), "TRUNCATE $_;", "REINDEX TABLE $_;") }
		$self->pick(@TABLES), $self->pick(@TABLES);
	return "DO \$\$ BEGIN BEGIN EXECUTE '$one'; EXECUTE '$two'; PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL;
		END; EXECUTE '$two'; END \$\$;";
}

sub cursor
{
	my $self = shift;
	my ($n, $t) = ($self->pick(0, 1), $self->pick(@TABLES));
	return $self->pick("DECLARE u$n SCROLL CURSOR FOR SELECT id, name FROM $t ORDER BY ctid;", "FETCH 3 FROM u$n;",
		"FETCH BACKWARD 2 FROM u$n;", "MOVE ALL FROM u$n;", "CLOSE u$n;");
}

sub step
{
	my $self = shift;
	my $kind = $self->pick(qw(data data data data storage storage storage
		control control control failing cursor plan crowded));
	return $self->$kind;
}

sub text
{
	my $self = shift;
	my $buffers = $self->{buffers} = $self->pick(100, 100, 100, 150, 300, 1024);
	my $script = "SET client_min_messages = warning;\nSET temp_buffers = $buffers;\n\\set ON_ERROR_ROLLBACK on\n";
	$script .= $self->create($_) . "\n" for @TABLES;
	$script .= "CREATE TEMP SEQUENCE s;\nCREATE TEMP TABLE crowd (id int, name text);\n";
	my $each = $self->pick(0, 1);
	for my $n (1 .. $self->{steps})
	{
		$script .= "\\qecho === $n\n" . $self->step . "\n";
		my @show = $self->show;
		$script .= "$_\n" for $each || !$self->pick(0, 1, 2) ? @show : $show[$self->pick(0 .. $#show)];
	}
	return $script . "ROLLBACK;\n\\qecho === end\n" . join('', map { "$_\n" } $self->show) . $self->check;
}

# The indexes lead to what is in the tables.
sub check
{
	return q{SELECT count(*) FROM (SELECT bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c
		ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
		WHERE a.amname = 'btree' AND c.relnamespace = pg_my_temp_schema()) checked;
	SELECT count(*) FROM pg_class c, verify_heapam(c.oid) WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r';
	} . "DISCARD TEMP;\n";
}

1;
