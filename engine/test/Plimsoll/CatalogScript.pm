# For random sessions: SQL that reads and changes catalogs, and what other sessions may do to objects that a temporary
# table depends on.
package Plimsoll::CatalogScript;

use strict;
use warnings;

# Objects that temporary tables depend on. touch changes a row that the surrounding command is about to change.
sub objects
{
	return <<'END';
CREATE TYPE pair AS (a int, b text);
CREATE TYPE shape AS (c0 int, c1 text);
CREATE SCHEMA kept;
CREATE FUNCTION seven() RETURNS int LANGUAGE sql AS 'SELECT 7';
CREATE TABLE parent (c0 int, c1 text);
CREATE FUNCTION touch(oid) RETURNS int LANGUAGE plpgsql AS
  $$BEGIN UPDATE pg_class SET relpages = 3 WHERE oid = $1; RETURN 4; END $$;
END
}

# hanging is DDL that makes a table depend on such an object, or no longer.
sub hanging
{
	my $self = shift;
	my ($t, $c) = ($self->table, $self->column);
	return $self->pick(
		"CREATE TEMP TABLE $t (c0 int, c1 text, c2 regnamespace DEFAULT 'kept');",
			"ALTER TABLE $t ADD COLUMN $c regnamespace DEFAULT 'kept';",
		"ALTER TABLE $t ALTER COLUMN c0 SET DEFAULT seven();", "ALTER TABLE $t ALTER COLUMN $c DROP DEFAULT;",
			"ALTER TABLE $t ADD COLUMN $c shape;",
		map({ $self->fresh($t) . " ALTER TABLE $t OF shape;" } 1 .. 2), "CREATE TEMP TABLE $t OF shape;",
			"ALTER TABLE $t OF shape;", "ALTER TABLE $t NOT OF;",
		map({ $self->fresh($t) . " ALTER TABLE $t INHERIT parent;" } 1 .. 2), "ALTER TABLE $t INHERIT parent;",
			"ALTER TABLE $t NO INHERIT parent;");
}

# elsewhere is what another session does to an object, mostly one that a table has just begun to depend on. It does not
# see uncommitted changes.
sub elsewhere
{
	my $self = shift;
	return $self->hanging if $self->{in};
	my $t = $self->table;
	my $fresh = $self->fresh($t);
	my ($hangs, @does) = @{ $self->pick(
		[ "ALTER TABLE $t ADD COLUMN c2 regnamespace DEFAULT 'kept';", 'DROP SCHEMA kept', 'CREATE SCHEMA kept' ],
		[ "ALTER TABLE $t ALTER COLUMN c0 SET DEFAULT seven();", 'DROP FUNCTION seven()',
			"CREATE FUNCTION seven() RETURNS int LANGUAGE sql AS 'SELECT 7'" ],
		[ "ALTER TABLE $t OF shape;", 'ALTER TYPE shape ALTER ATTRIBUTE c1 TYPE text' ], [ "ALTER TABLE $t OF shape;",
			'DROP TYPE shape', 'CREATE TYPE shape AS (c0 int, c1 text)' ],
		[ "ALTER TABLE $t ADD COLUMN c2 shape;", 'ALTER TYPE shape ALTER ATTRIBUTE c1 TYPE text' ],
		[ "ALTER TABLE $t INHERIT parent;", 'DROP TABLE parent', 'CREATE TABLE parent (c0 int, c1 text)' ]) };
	my $elsewhere = '\! psql -XAtq -v VERBOSITY=sqlstate' . join '', map { qq{ -c "$_"} } @does;
	return $self->pick("$fresh $hangs\n$elsewhere", "$fresh $hangs\n$elsewhere", "BEGIN;
		$fresh $hangs\nROLLBACK;\n$elsewhere", "$fresh $hangs\nDROP TABLE $t;\n$elsewhere", $elsewhere);
}

# undone is a change of a table that is rolled back, after which the table is dropped.
sub undone
{
	my $self = shift;
	return $self->hanging if $self->{in};
	my $t = $self->table;
	return $self->fresh($t) . "\nBEGIN;\n" . $self->pick("ALTER TABLE $t INHERIT parent;", "ALTER TABLE $t OF shape;",
		"CREATE TEMP VIEW undone AS SELECT * FROM $t;", $self->ddl) . "\nROLLBACK;\nDROP TABLE $t;";
}

# changed_twice changes rows that the command sees once or twice.
sub changed_twice
{
	my $self = shift;
	my ($mine, $series) = ("to_regclass('" . $self->table . "')", 'generate_series(1, ' . $self->pick(1, 2, 2) . ') g');
	my $n = $self->pick(1 .. 9);
	return $self->pick(
		"UPDATE pg_class SET relpages = $n FROM $series WHERE oid = $mine RETURNING relname, relpages;",
		"UPDATE pg_attribute SET attstattarget = coalesce(attstattarget, 0) + 1 FROM $series WHERE attrelid = $mine
			AND attname = 'c0' RETURNING attname, attstattarget;",
		"UPDATE pg_description SET description = description || '+' FROM $series WHERE objoid = $mine
			AND objsubid = 0 RETURNING description;",
		"DELETE FROM pg_description USING $series WHERE objoid = $mine AND objsubid = 0 RETURNING description;",
		"DELETE FROM pg_statistic USING $series WHERE starelid = $mine AND staattnum = 1 RETURNING staattnum;",
		"MERGE INTO pg_class USING $series ON oid = $mine WHEN MATCHED THEN UPDATE SET relpages = $n RETURNING relname,
			relpages;",
		"MERGE INTO pg_description USING $series ON objoid = $mine AND objsubid = 0 WHEN MATCHED THEN "
			. $self->pick('DELETE', 'DO NOTHING', 'UPDATE SET description = g::text') . ';',
		"UPDATE pg_class SET relpages = touch(oid) WHERE oid = $mine RETURNING relpages;",
		"WITH u AS (UPDATE pg_class SET relpages = $n WHERE oid = $mine RETURNING oid) UPDATE pg_class c SET relpages
			= 0 FROM u WHERE c.oid = u.oid RETURNING relname, relpages;",
	);
}

# by_tid is a condition on ctid that does not print where a row is.
sub by_tid
{
	my $self = shift;
	my ($mine, $n) = ("to_regclass('" . $self->table . "')", $self->pick(1 .. 9));
	my $tid = "(SELECT ctid FROM pg_class WHERE oid = $mine)";
	return $self->pick(
		"SELECT relname FROM pg_class WHERE ctid = $tid;",
			"SELECT relname FROM pg_class WHERE ctid BETWEEN $tid AND $tid;",
			"SELECT count(*) > 0 FROM pg_class WHERE ctid >= $tid;",
		"SELECT count(*) = (SELECT count(*) FROM pg_class) FROM pg_class WHERE ctid >= '(0,0)';",
			"SELECT relname FROM pg_class WHERE ctid > '(0,0)' AND oid = $mine;",
		"SELECT (SELECT count(*) FROM pg_class WHERE ctid < g) + (SELECT count(*) FROM pg_class
			WHERE ctid >= g) = (SELECT count(*) FROM pg_class) FROM (SELECT $tid) s(g) WHERE g IS NOT NULL;",
		q{SELECT count(*) FROM pg_class WHERE ctid IN ('(3758096384,0)', '(3758096385,0)', '(3758096384,257)',
			'(4294967294,1)');},
		"SELECT attname FROM pg_attribute WHERE ctid = ANY (ARRAY(SELECT ctid FROM pg_attribute WHERE attrelid = $mine
			AND attnum > 0)) ORDER BY attnum;",
		"UPDATE pg_class SET relpages = $n WHERE ctid = $tid RETURNING relname;",
			"UPDATE pg_class SET relpages = $n WHERE ctid >= $tid AND ctid <= $tid RETURNING relname;",
		"DELETE FROM pg_description WHERE ctid IN (SELECT ctid FROM pg_description WHERE objoid = $mine)
			AND objsubid = 0 RETURNING description;",
		"SELECT relname FROM pg_class WHERE oid = $mine FOR " . $self->pick('UPDATE', 'SHARE', 'KEY SHARE') . ';');
}

# by_cursor repeatedly changes the row under a cursor; the table may move to the real catalogs meanwhile.
sub by_cursor
{
	my $self = shift;
	my $t = $self->table;
	my $mine = "to_regclass('$t')";
	my $change = sub {
		my $n = $self->pick(1 .. 9);
		return $self->pick("UPDATE pg_class SET relpages = $n WHERE CURRENT OF here RETURNING relname, relpages;",
			"UPDATE pg_class SET relpages = relpages + 1 WHERE CURRENT OF here RETURNING relpages;");
	};
	my $between = $self->pick('', '', "UPDATE pg_class SET relpages = 0 WHERE oid = $mine;",
		'CREATE TEMP VIEW v' . ++$self->{serial} . " AS SELECT 1 FROM $t;", "ANALYZE $t;");
	my @changes = ($change->(), $between, $self->pick($change->(),
		"SAVEPOINT within;\n" . $change->() . "\nROLLBACK TO within;"), $change->());
	my ($begin, $end) = $self->{in} ? ('', 'CLOSE here;') : ("BEGIN;\n", $self->pick('COMMIT;', 'COMMIT;',
		'ROLLBACK;'));
	return $begin . "DECLARE here CURSOR FOR SELECT relname FROM pg_class WHERE oid = $mine" . $self->pick('',
		' FOR UPDATE') . ";\nFETCH 1 FROM here;\n" . join("\n", @changes) . "\n$end";
}

# inserted is a row that SQL inserts into a catalog.
sub inserted
{
	my $self = shift;
	my $mine = "to_regclass('" . $self->table . "')";
	return $self->pick(
		"INSERT INTO pg_description SELECT $mine, 'pg_class'::regclass, 0, 'inserted'
			WHERE $mine IS NOT NULL RETURNING description;",
		"INSERT INTO pg_description SELECT attrelid, 'pg_class'::regclass, attnum, attname FROM pg_attribute
			WHERE attrelid = $mine AND attnum > 1 ORDER BY attnum RETURNING description;",
		"MERGE INTO pg_description d USING (SELECT $mine AS mine WHERE $mine IS NOT NULL) m ON objoid = mine
			AND objsubid = 0 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT
			VALUES (mine, 'pg_class'::regclass, 0, 'merged') RETURNING description;");
}

sub catalogs
{
	my $self = shift;
	my $kind = $self->pick(qw(changed_twice changed_twice by_tid by_cursor inserted));
	return $self->$kind;
}

1;
