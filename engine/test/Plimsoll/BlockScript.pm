# PL/pgSQL for random sessions: values that a variable, an array, a row or a set of rows carries out of an exception
# block, and functions that fill a table during a command on it.
package Plimsoll::BlockScript;

use strict;
use warnings;

# Each stores long values in an exception block, which it rolls back if m is even, and returns what it read there: as
# one value, as a set that outlives the block, as rows of columns it assigned.
sub functions
{
	return <<'END';
CREATE FUNCTION stored(n int, tab text, m int) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE kept text;
  BEGIN
    BEGIN
      EXECUTE format('INSERT INTO %I (c0, c1) VALUES (%s, long(%s))', tab, n + 5000, n);
      EXECUTE format('SELECT c1 FROM %I ORDER BY c0 DESC, c1 LIMIT 1', tab) INTO kept;
      IF m % 2 = 0 THEN RAISE division_by_zero; END IF;
    EXCEPTION WHEN division_by_zero THEN
      IF m = 2 THEN RETURN kept; END IF;
    END;
    RETURN coalesce(kept, 'x') || long(n + m);
  END $$;
CREATE FUNCTION storing(n int, tab text, m int) RETURNS SETOF text LANGUAGE plpgsql AS $$
  BEGIN
    BEGIN
      EXECUTE format('INSERT INTO %I (c0, c1) VALUES (%s, long(%s))', tab, n + 6000, n);
      RETURN QUERY EXECUTE format('SELECT c1::text FROM %I ORDER BY c0 DESC, c1 LIMIT 2', tab);
      RETURN NEXT stored(n + 10, tab, m);
      IF m % 2 = 0 THEN RAISE division_by_zero; END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
    RETURN NEXT stored(n + 20, tab, m + 1);
  END $$;
CREATE FUNCTION rows_of(n int, tab text, m int) RETURNS TABLE (c0 int, c1 text) LANGUAGE plpgsql AS $$
  BEGIN
    BEGIN
      EXECUTE format('UPDATE %I SET c1 = long(%s)', tab, n);
      RETURN QUERY EXECUTE format('SELECT c0::int, c1::text FROM %I ORDER BY c0 DESC, c1 LIMIT 2', tab);
      FOR c0, c1 IN EXECUTE format('SELECT c0, c1 FROM %I ORDER BY c0, c1 LIMIT 2', tab) LOOP RETURN NEXT; END LOOP;
      IF m % 2 = 0 THEN RAISE division_by_zero; END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
    RETURN QUERY SELECT n, stored(n + 30, tab, m + 1);
  END $$;
END
}

# In stock, a toast pointer in a variable dangles after its toast table was truncated, rewritten or dropped, or when
# that is rolled back ("missing chunk number 0"); with temp_lazy_toast the value may have been fetched. So all values
# are fetched before.
my $FETCH = q{kept := kept || ''; pair.b := pair.b || ''; SELECT r.c0, r.c1 || '' AS c1 INTO r; };

# fresh is a table that has no toast table yet; the default of its text may store some, too.
sub fresh
{
	my ($self, $t) = @_;
	my $default = $self->pick(('') x 3, " DEFAULT stored(7, '$t', " . $self->pick(0 .. 3) . ')');
	return "DROP TABLE IF EXISTS $t CASCADE; CREATE TEMP TABLE $t (c0 int, c1 text$default);";
}

sub value
{
	my $self = shift;
	return $self->pick("'s' || i", 'long(i)', 'long(i + ' . $self->pick(1 .. 9) . ')', "repeat('z', 5000)",
		q{coalesce(kept, 'n')}, q{coalesce(r.c1, 'q')}, q{coalesce(many[1], 'k')}, q{coalesce(pair.b, 'p')});
}

sub statement
{
	my ($self, $t, $depth) = @_;
	my ($value, $m, $n, $order) = ($self->value, $self->pick(0 .. 3), $self->pick(1 .. 3),
		$self->pick('c0, c1', 'c0 DESC, c1'));
	my $u = $self->pick($t, $t, $t, $self->table);
	my $kind = $self->pick(qw(keep keep keep change change change call call remake),
		$depth < 3 ? qw(block block block block loop) : ());
	return $self->block($t, $depth + 1) if $kind eq 'block';
	return "FOR r IN SELECT * FROM $t ORDER BY c0, c1 LIMIT 2 LOOP kept := r.c1; " . $self->statement($t, $depth + 1)
		. ' END LOOP;' if $kind eq 'loop';
	return $self->pick(
		"SELECT c1 INTO kept FROM $t ORDER BY $order LIMIT 1;", "SELECT c0, c1 INTO r FROM $t ORDER BY $order LIMIT 1;",
		"kept := (SELECT c1 FROM $t ORDER BY $order LIMIT 1);",
			"many[$n] := (SELECT c1 FROM $t ORDER BY $order LIMIT 1);",
		"SELECT array_agg(c1 ORDER BY c0, c1) INTO many FROM (SELECT c0, c1::text FROM $t ORDER BY $order LIMIT 4) s;",
		"pair.b := (SELECT c1 FROM $t ORDER BY $order LIMIT 1);",
			"SELECT c0, c1 INTO pair FROM $t ORDER BY $order LIMIT 1;",
		'kept := r.c1;', 'kept := pair.b;', 'pair.b := kept;', 'many := many || kept;',
	) if $kind eq 'keep';
	return $self->pick(
		map({ "INSERT INTO $t (c0, c1) VALUES (i, $value);" } 1 .. 3), "INSERT INTO $t (c0) VALUES (i);",
			"UPDATE $t SET c1 = $value WHERE c0 % 2 = " . $self->pick(0, 1) . ';',
		"DELETE FROM $t WHERE c0 % 3 = 1;", "WITH w AS (INSERT INTO $t (c0, c1) VALUES (i, $value) RETURNING c1)
			SELECT c1 INTO kept FROM w;",
	) if $kind eq 'change';
	return $self->pick(
		"PERFORM stored(i, '$t', $m);", "kept := stored(i, '$t', $m);",
			"INSERT INTO $t (c0, c1) SELECT g, stored(g, '$u', $m) FROM generate_series(1, 2) g;",
		"UPDATE $t SET c1 = stored(c0::int, '$u', $m) WHERE c0 < 4;", "SELECT string_agg(x, '' ORDER BY x) INTO kept
			FROM storing(i, '$u', $m) x;",
		"SELECT sum(length(x.c1))::text INTO kept FROM rows_of(i, '$u', $m) x;",
			"INSERT INTO $t (c0, c1) SELECT * FROM rows_of(i, '$u', $m);",
	) if $kind eq 'call';
	return $FETCH . $self->pick(
		"TRUNCATE $t;", "DROP TABLE $t; CREATE TEMP TABLE $t (c0 int, c1 text);",
			"ALTER TABLE $t ADD COLUMN c9 text DEFAULT long(9); ALTER TABLE $t DROP COLUMN c9;",
		"ALTER TABLE $t ALTER COLUMN c1 TYPE text USING stored(c0::int, '$u', $m);");
}

sub statements
{
	my ($self, $t, $depth) = @_;
	return join ' ', map { $self->statement($t, $depth) } 1 .. $self->pick(1 .. 4);
}

# block is an exception block that now and then is rolled back.
sub block
{
	my ($self, $t, $depth) = @_;
	my $end = $self->pick('', 'PERFORM 1/0;', 'PERFORM 1/0;', 'IF i % 2 = 0 THEN PERFORM 1/0; END IF;');
	my $statements = $self->statements($t, $depth);
	$end = $FETCH . $end if $statements =~ /\Q$FETCH/;
	return "BEGIN $statements $end EXCEPTION WHEN division_by_zero THEN kept := coalesce(kept, '') || '!'; END;";
}

# program is an anonymous block on one table, and what its variables hold in the end.
sub program
{
	my $self = shift;
	my $t = $self->table;
	my $script = $self->pick(1, 1, 0) ? $self->fresh($t) . "\n" : '';
	$script .= "DO \$\$ DECLARE kept text; many text[]; pair pair; r record;
		BEGIN SELECT 1 AS c0, 'b'::text AS c1 INTO r; FOR i IN 1 .. " . $self->pick(1 .. 3) . ' LOOP '
		. $self->statements($t, 1) . ' ' . $self->pick($self->block($t, 1), '') . ' END LOOP; '
		. "RAISE WARNING 'kept % % % %', md5(kept), md5(array_to_string(many, ',')), md5(pair.b), md5(r.c1); END \$\$;";
	return $script . $self->pick('', "\n" . $self->query($t));
}

# query is a command whose functions store what it is about to store or to show.
sub query
{
	my $self = shift;
	my $t = shift // $self->table;
	my ($m, $n) = ($self->pick(0 .. 3), $self->pick(1 .. 50));
	return $self->pick(
		"SELECT md5(x) FROM storing($n, '$t', $m) x;", "SELECT c0, md5(c1) FROM rows_of($n, '$t', $m);",
			"SELECT md5(storing($n, '$t', $m));", "SELECT md5(stored(g, '$t', $m)) FROM generate_series(1, 3) g;",
		"INSERT INTO $t (c0, c1) SELECT g, stored(g, '$t', $m) FROM generate_series(1, 3) g;",
			"UPDATE $t SET c1 = stored(c0::int, '$t', $m) WHERE c0 < 6;",
		"COPY $t (c0) FROM STDIN;\n1\n2\n\\.", "INSERT INTO $t (c0) VALUES (1), (2);",
			"CREATE TEMP TABLE IF NOT EXISTS t4 AS SELECT g AS c0, stored(g, '$t', $m) AS c1
			FROM generate_series(1, 2) g;");
}

1;
