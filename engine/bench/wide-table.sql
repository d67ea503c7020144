-- A table wide_:columns of :rows rows with as many columns, most of variable length, so that where a column begins
-- follows only from those before it. Of five columns, three have few values, as columns of such tables mostly do; one
-- of ten has nulls.
SET client_min_messages = warning;
DO $wide$
DECLARE
	types text[] := ARRAY['text', 'numeric', 'int', 'varchar(50)', 'bool'];
	vals text[] := ARRAY[$v$'v' || r * %1$s %% 20$v$, '(r * %1$s %% 10007) / 10.0', 'r * %1$s %% 20', $v$'r' || r * %1$s %% 50021$v$, 'r * %1$s %% 3 = 0'];
	columns text;
	target text;
BEGIN
	SELECT string_agg(format('c%s %s', n, types[1 + n % 5]), ', ' ORDER BY n),
		string_agg(CASE WHEN n % 10 = 3 THEN format('CASE WHEN r %% 7 > 0 THEN %s END', format(vals[1 + n % 5], 2 * n + 1))
			ELSE format(vals[1 + n % 5], 2 * n + 1) END, ', ' ORDER BY n)
	INTO columns, target FROM generate_series(1, :columns) n;
	EXECUTE 'DROP TABLE IF EXISTS wide_:columns';
	EXECUTE format('CREATE TABLE wide_:columns (%s) WITH (autovacuum_enabled = off)', columns);
	EXECUTE format('INSERT INTO wide_:columns SELECT %s FROM generate_series(1, :rows) r', target);
END
$wide$;
