# Random sessions on temporary tables, reproducible by seed. The tables and their content are shown after each step, and
# one of the other catalogs, or all of them by name.
package Plimsoll::TempScript;

use strict;
use warnings;
use parent -norequire, qw(Plimsoll::BlockScript Plimsoll::CatalogScript);
use Plimsoll::BlockScript;
use Plimsoll::CatalogScript;

my @TYPES = ('int', 'bigint', 'text', 'numeric(12,2)', 'timestamp', 'bytea', 'varchar(20)', 'boolean', 'int[]', 'uuid');

# Queries whose output must be the same wherever the rows are kept. They find objects through the session's own temp
# schema.
my $MINE = '(SELECT pg_my_temp_schema())';
my $NAME = q{regexp_replace(c.relname, '\d{4,}', 'N', 'g')};
my @SHOW = (
	qq{SELECT 'class', $NAME, relkind, relnatts, relhasindex, reltuples, relpages, toast(c.oid), contents(c.oid),
		relchecks, relhasrules, relhastriggers, relhassubclass, relpersistence FROM pg_class c
		WHERE relnamespace = $MINE ORDER BY relname COLLATE "C"},
	q{SELECT 'stray toast', relname FROM pg_class t WHERE relkind = 't' AND relpersistence = 't'
		AND NOT EXISTS (SELECT FROM pg_class c WHERE c.reltoastrelid = t.oid)},
	qq{SELECT 'attribute', $NAME, attname, attnum, atttypid::regtype, atttypmod, attnotnull, atthasdef, attisdropped
		FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = $MINE AND attnum > 0
		ORDER BY relname COLLATE "C", attnum},
	qq{SELECT 'index', $NAME, indnatts, indisunique, indisprimary, indisvalid, indkey, pg_get_indexdef(indexrelid)
		FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = $MINE ORDER BY relname COLLATE "C"},
	qq{SELECT 'constraint', $NAME, conname, contype, convalidated, pg_get_constraintdef(k.oid) FROM pg_constraint k
		JOIN pg_class c ON c.oid = conrelid WHERE connamespace = $MINE ORDER BY relname COLLATE "C",
		conname COLLATE "C"},
	qq{SELECT 'default', $NAME, adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef d JOIN pg_class c ON c.oid = adrelid
		WHERE relnamespace = $MINE ORDER BY relname COLLATE "C", adnum},
	qq{SELECT 'type', typname, typtype, typlen, typrelid <> 0, typelem <> 0 FROM pg_type WHERE typnamespace = $MINE
		ORDER BY typname COLLATE "C"},
	qq{SELECT 'stats', tablename, attname, null_frac, avg_width, n_distinct FROM pg_stats
		WHERE schemaname LIKE 'pg_temp%' ORDER BY tablename COLLATE "C", attname COLLATE "C"},
	qq{SELECT 'comment', $NAME, objsubid, description FROM pg_description d JOIN pg_class c ON c.oid = objoid
		AND classoid = 'pg_class'::regclass WHERE relnamespace = $MINE ORDER BY relname COLLATE "C", objsubid},
	q{SELECT 'depend', pg_describe_object(classid, objid, objsubid) AS o,
		pg_describe_object(refclassid, refobjid, refobjsubid) AS r, deptype FROM pg_depend
		WHERE (classid = 'pg_class'::regclass AND objid >= 16384 AND objid NOT IN (SELECT unnest(toasts(oid))
		FROM pg_class WHERE reltoastrelid <> 0 AND oid >= 16384)) OR (classid = 'pg_constraint'::regclass
		AND objid >= 16384) OR (classid = 'pg_attrdef'::regclass AND objid >= 16384) OR (classid = 'pg_type'::regclass
		AND objid >= 16384) ORDER BY 2, 3, 4},
	q{SELECT 'columns', table_name, column_name, ordinal_position, data_type FROM information_schema.columns
		WHERE table_schema LIKE 'pg_temp%' ORDER BY 2, 4},
);

# A toast table is shown with its table, since it may be created later than in stock: toasts lists the table and its
# indexes, toast describes them, contents shows the number of values and the table's content. long makes values that do
# not compress.
my $FUNCTIONS = <<'END';
CREATE FUNCTION long(seed int) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$SELECT string_agg(md5((seed * 1000 + g)::text), '' ORDER BY g) FROM generate_series(1, 100 + seed % 7 * 50) g$$;
CREATE FUNCTION toasts(oid) RETURNS oid[] LANGUAGE sql STABLE AS
  $$SELECT reltoastrelid || array(SELECT indexrelid FROM pg_index WHERE indrelid = reltoastrelid)
    FROM pg_class WHERE oid = $1 AND reltoastrelid <> 0$$;
CREATE FUNCTION toast(oid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN toasts($1) IS NULL THEN 'no toast' ELSE 'toast '
    || (SELECT string_agg(k.relkind::text || ' ' || replace(k.relname, $1::text, 'OID'), ', ' ORDER BY k.relname)
      FROM pg_class k WHERE k.oid = ANY (toasts($1)))
    || ', ' || (SELECT string_agg(pg_describe_object(classid, objid, objsubid) || ' ' || deptype::text || ' '
        || pg_describe_object(refclassid, refobjid, refobjsubid), ', ' ORDER BY objid, refobjsubid)
      FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = ANY (toasts($1))) END $$;
CREATE FUNCTION contents(oid) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE outside text; said text;
  BEGIN
    IF (SELECT relkind <> 'r' FROM pg_class WHERE oid = $1) THEN RETURN '0'; END IF;
    SELECT string_agg(format('count(pg_column_toast_chunk_id(%I))', attname), ' + ') INTO outside FROM pg_attribute
      WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND attlen = -1;
    EXECUTE format(
      'SELECT %s || %L || coalesce(md5(string_agg(t::text, %L ORDER BY t::text COLLATE "C")), %L) FROM ONLY %s t',
      coalesce(outside, '0'), ' outside, ', '', 'empty', $1::regclass) INTO said;
    RETURN said;
  END $$;
END

# What a session sets so that each query that may have parallel workers has some.
our %PARALLEL = (parallel_setup_cost => 0, parallel_tuple_cost => 0, min_parallel_table_scan_size => 0,
	min_parallel_index_scan_size => 0, max_parallel_workers_per_gather => 2);

# new(SEED, STEPS, parallel => 1): with queries that may have parallel workers after each step.
sub new
{
	my ($class, $seed, $steps, %more) = @_;
	my $self = bless { state => $seed * 2654435761 % 2**32 || 1, steps => $steps, in => 0, open => [], serial => 0,
		%more }, $class;
	return $self;
}

# Our own random generator: the same numbers wherever Perl runs.
sub pick
{
	my ($self, @from) = @_;
	my $x = $self->{state};
	$x ^= ($x << 13) & 0xffffffff; $x ^= $x >> 17; $x ^= ($x << 5) & 0xffffffff;
	$self->{state} = $x;
	return $from[$x % @from];
}

sub table { 't' . $_[0]->pick(0 .. 4) }
sub column { 'c' . $_[0]->pick(0 .. 4) }

# create is a CREATE TABLE, of the table named if one is.
sub create
{
	my $self = shift;
	my $t = shift // $self->table;
	my $n = $self->pick(2 .. 4);
	my @column = map {
		my $type = $self->pick(@TYPES, $_ == 1 ? ('text') x 30 : ());
		"c$_ $type" . ($type =~ /^(int|bigint)$/ ? $self->pick('', '', ' DEFAULT 7', ' NOT NULL DEFAULT 1',
			' CHECK (c' . $_ . ' > -1000)', ' GENERATED ALWAYS AS (c0::int + 1) STORED') : $self->pick('', '',
			' UNIQUE'))
	} 1 .. $n;
	unshift @column, 'c0 ' . $self->pick(('int') x 5, ('int PRIMARY KEY') x 5, 'int UNIQUE', 'int UNIQUE DEFERRABLE',
		'serial', 'int GENERATED BY DEFAULT AS IDENTITY', 'int REFERENCES t0 (c0)');
	my $exists = $self->pick('', 'IF NOT EXISTS ');
	return "CREATE TEMP TABLE $exists$t (" . join(', ', @column) . ')' . $self->pick('', '', '',
		' ON COMMIT DELETE ROWS', ' ON COMMIT DROP', ' WITH (fillfactor=50)', ' WITH (toast.autovacuum_enabled=off)')
		. ';';
}

sub exception
{
	my $self = shift;
	my ($one, $two) = map { s/;$//r =~ s/'/''/gr } $self->pick(0, 1) ? $self->ddl : $self->long, $self->ddl;
	my $bad = $self->pick("PERFORM 1/0;", 'NULL;');
	return "DO \$\$ BEGIN BEGIN EXECUTE '$one'; $bad EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'caught %', SQLSTATE; END;
		BEGIN EXECUTE '$two'; EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'caught %', SQLSTATE; END; END \$\$;";
}

# Commands that move a table to the real catalogs, or create it there.
sub moving
{
	my $self = shift;
	my ($t, $u) = ($self->table, $self->table);
	my $n = ++$self->{serial};
	return $self->pick(
		"CREATE TEMP TABLE $t () INHERITS ($u);", "CREATE TEMP TABLE $t (c0 int, c1 text) PARTITION BY RANGE (c0);",
		"ALTER TABLE $t ADD FOREIGN KEY (c0) REFERENCES $u;", "ALTER TABLE $t INHERIT $u;",
		"CREATE TEMP VIEW v$n AS SELECT * FROM $t;", "CREATE STATISTICS pg_temp.x$n ON c0, c1 FROM $t;",
		"CREATE TRIGGER g$n BEFORE UPDATE ON $t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();",
		"CREATE RULE r$n AS ON DELETE TO $t DO INSTEAD NOTHING;",
	);
}

sub ddl
{
	my $self = shift;
	my ($t, $u, $c, $d) = ($self->table, $self->table, $self->column, $self->column);
	my $type = $self->pick(@TYPES);
	my $n = ++$self->{serial};
	return $self->pick(
		map({ $self->create } 1 .. 12), $self->moving, map({ $self->hanging } 1 .. 4),
		"CREATE TEMP TABLE $t AS SELECT g AS c0, g::text AS c1 FROM generate_series(1, 20) g;",
		"CREATE TEMP TABLE $t (LIKE $u INCLUDING ALL);", "CREATE TEMP TABLE $t (c0 $u, c1 int);",
		"DROP TABLE $t;", "DROP TABLE IF EXISTS $t, $u;", "DROP TABLE IF EXISTS $t CASCADE;", "DROP TABLE $t CASCADE;",
		"CREATE INDEX ON $t ($c);", "CREATE INDEX i$n ON $t ($c, $d);", "CREATE UNIQUE INDEX ON $t (c0);",
			"CREATE INDEX ON $t (($c IS NULL));",
		'DROP INDEX IF EXISTS i' . ($n - 1) . ';',
		"ALTER TABLE $t ADD COLUMN $c $type;", "ALTER TABLE $t ADD COLUMN $c text DEFAULT 'x';",
			"ALTER TABLE $t DROP COLUMN $c;",
		"ALTER TABLE $t ALTER COLUMN $c TYPE text;", "ALTER TABLE $t RENAME TO $u;",
			"ALTER TABLE $t RENAME COLUMN $c TO $d;",
		"ALTER TABLE $t ALTER COLUMN $c SET DEFAULT NULL;", "ALTER TABLE $t ALTER COLUMN $c DROP DEFAULT;",
		"ALTER TABLE $t ADD CONSTRAINT k$n CHECK (c0 IS NOT NULL);", "ALTER TABLE $t DROP CONSTRAINT IF EXISTS k"
			. ($n - 1) . ';',
		"ALTER TABLE $t ADD PRIMARY KEY (c0);", "ALTER TABLE $t SET (fillfactor = 70);",
			"ALTER TABLE $t ALTER COLUMN $c SET STATISTICS 5;",
		"COMMENT ON TABLE $t IS 'about $n';", "COMMENT ON COLUMN $t.$c IS 'column $n';", "COMMENT ON TABLE $t IS NULL;",
		"TRUNCATE $t;", "CLUSTER $t;", "CLUSTER $t USING ${t}_pkey;", "REINDEX TABLE $t;", "VACUUM FULL $t;",
		map({ "ALTER TABLE $t ALTER COLUMN $c SET STORAGE $_;" } 'PLAIN', 'EXTERNAL', 'EXTENDED', 'MAIN'),
		map({ "ALTER TABLE $t SET ($_);" } 'toast_tuple_target = 128', 'toast_tuple_target = 4080',
			'toast.autovacuum_enabled = off'),
		"ALTER TABLE $t ALTER COLUMN $c TYPE text USING long(c0::int);",
			"CREATE TEMP TABLE $t AS SELECT g AS c0, long(g) AS c1 FROM generate_series(1, 5) g;",
	);
}

# long is a command with values that are too long for a row.
sub long
{
	my $self = shift;
	my ($t, $u, $c) = ($self->table, $self->table, $self->pick(('c1') x 4, $self->column));
	return $self->pick(
		"INSERT INTO $t (c0, $c) SELECT g, long(g) FROM generate_series(1, 3) g;",
			"INSERT INTO $t (c0, $c) VALUES (" . $self->pick(1 .. 100) . ', long(' . $self->pick(1 .. 100) . '));',
		"INSERT INTO $t (c0, $c) VALUES (6, repeat('x', 30000));", "UPDATE $t SET $c = long(c0::int);",
			"UPDATE $t SET $c = long(c0::int) WHERE c0 < 4;",
		"UPDATE $t SET c0 = c0 + 1, $c = NULL;", "INSERT INTO $t SELECT * FROM $u;",
			"UPDATE $t SET $c = u.c1 FROM $u u WHERE u.c0 = $t.c0;",
	);
}

sub dml
{
	my $self = shift;
	my ($t, $c) = ($self->table, $self->column);
	return $self->pick(
		"INSERT INTO $t (c0) SELECT g FROM generate_series(1, 30) g;",
			"INSERT INTO $t (c0) VALUES (" . $self->pick(1 .. 100) . ');',
		"INSERT INTO $t (c0, $c) VALUES (5, NULL);", "DELETE FROM $t WHERE c0 > 10;", "UPDATE $t SET c0 = c0 + 1000;",
		"SELECT count(*) FROM $t;", "SELECT c0 FROM $t WHERE c0 = 5;", "ANALYZE $t;", "VACUUM $t;",
			"COPY $t (c0) FROM STDIN;\n1\n2\n\\.",
	);
}

# control changes the nesting of transactions; it knows the current savepoints.
sub control
{
	my $self = shift;
	if (!$self->{in})
	{
		@$self{qw(in open)} = (1, []);
		return 'BEGIN' . $self->pick('', '', ' ISOLATION LEVEL REPEATABLE READ') . ';';
	}
	my $open = $self->{open};
	my $what = $self->pick(qw(set set set set back back back back release commit rollback));
	$what = 'set' if !@$open && $what =~ /back|release/ && $what ne 'rollback';
	if ($what eq 'set')
	{
		push @$open, 's' . @$open;
		return "SAVEPOINT $open->[-1];";
	}
	if ($what =~ /^(back|release)$/)
	{
		my $n = $self->pick(0 .. $#$open);
		my $name = $open->[$n];
		$#$open = $what eq 'back' ? $n : $n - 1;
		return $what eq 'back' ? "ROLLBACK TO $name;" : "RELEASE $name;";
	}
	$self->{in} = 0;
	return uc("$what;");
}

sub cursor
{
	my $self = shift;
	my $n = $self->pick(0, 1);
	return $self->pick(
		qq{DECLARE u$n SCROLL CURSOR FOR SELECT relname, relkind FROM pg_class WHERE relnamespace = $MINE
			AND relname !~ '\\d{4}' ORDER BY relname COLLATE "C";},
		qq{DECLARE u$n SCROLL CURSOR FOR SELECT count(*) OVER (), attname FROM pg_attribute a JOIN pg_class c
			ON c.oid = attrelid WHERE relnamespace = $MINE ORDER BY relname COLLATE "C", attnum;},
		"FETCH 2 FROM u$n;", "FETCH BACKWARD 1 FROM u$n;", "FETCH ALL FROM u$n;", "CLOSE u$n;",
	);
}

sub plan
{
	my $self = shift;
	my @scans = qw(seq index bitmap indexonly tid);
	return join ' ', map { "SET enable_${_}scan = " . $self->pick('on', 'on', 'off') . ';' } @scans;
}

sub step
{
	my $self = shift;
	my $kind = $self->pick(qw(ddl ddl ddl ddl ddl dml dml long long
		control control control control cursor cursor exception plan program program query catalogs elsewhere undone));
	return $self->$kind;
}

# reading is queries of the tables, alone, joined, grouped, by an index and with values out of line.
sub reading
{
	my $self = shift;
	my ($t, $u) = ($self->table, $self->table);
	return (map { "SELECT 'rows', count(*), sum(hashtext(x::text)::bigint) FROM t$_ x;\n" } 0 .. 4),
		$self->pick(
		"SELECT 'joined', count(*), sum(a.c0::bigint) FROM $t a JOIN $u b ON a.c0 = b.c0;\n",
		"SELECT 'grouped', c0, count(*), max(c1::text) FROM $t GROUP BY c0 ORDER BY c0, 3, 4;\n",
		"SELECT 'range', count(*), sum(length(c1::text)) FROM $t WHERE c0 BETWEEN 2 AND 40;\n",
		"SELECT 'with another', count(*) FROM $t LEFT JOIN (SELECT c0 FROM $u WHERE c0 > 3) b USING (c0);\n",
		"SELECT 'semi', count(*) FROM $t WHERE c0 IN (SELECT c0 FROM $u);\n",
		"SELECT 'sorted', c0, md5(c1::text) FROM $t ORDER BY c0, c1::text COLLATE \"C\" LIMIT 5;\n",
		"SELECT 'catalogs', count(*), sum(length(pg_table_is_visible(x.oid)::text)) FROM pg_proc x, $t y
			WHERE x.oid < 100;\n");
}

# text is the whole script; each step prints its number, so that a difference can be located.
sub text
{
	my $self = shift;
	my $script = "SET client_min_messages = warning;\n$FUNCTIONS" . $self->objects . $self->functions;
	# a savepoint before each statement, by psql; without it an error ends the transaction
	$script .= "\\set ON_ERROR_ROLLBACK on\n" if $self->pick(1, 1, 1, 1, 1, 0);
	$script .= $self->create("t$_") . "\n" for 0 .. 3;
	for my $n (1 .. $self->{steps})
	{
		my $step = $self->step;
		$script .= "\\qecho === $n\n$step\n";
		$script .= join '', $self->reading if $self->{parallel};
		$script .= "$_;\n" for $self->pick(0, 1, 2) ? @SHOW[0, $self->pick(1 .. $#SHOW)] : @SHOW;
	}
	return $script . "ROLLBACK;\n\\qecho === end\n" . join('', map { "$_;\n" } @SHOW);
}

1;
