-- Joins of indexed temporary tables: what the planner expects without statistics, with those of this extension, with
-- those that Plimsoll Postgres counts by itself, and with both. live.out is a server that has the setting, live_1.out
-- one that has not.
LOAD 'online_analyze';
SET online_analyze.table_type = 'temporary';
SET online_analyze.min_interval = 0;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) = 0 AS stock FROM pg_settings WHERE name = 'temp_live_statistics' \gset
\if :stock
\quit
\endif

CREATE TABLE register (key int, part int, amount int) WITH (autovacuum_enabled = off);
INSERT INTO register SELECT g / 10, g % 50, g FROM generate_series(0, 99999) g;
CREATE INDEX ON register (key);
ANALYZE register;
CREATE TEMP TABLE keys (key int);
CREATE INDEX ON keys (key);
CREATE TEMP TABLE lines (key int, part int, kind int);
CREATE INDEX ON lines (key, part);
CREATE TEMP TABLE parts (part int);
CREATE INDEX ON parts (part);

CREATE TABLE questions (question text, query text);
INSERT INTO questions VALUES
	('a register by keys', 'SELECT FROM register JOIN keys USING (key)'),
	('... and parts', 'SELECT FROM register JOIN keys USING (key) JOIN parts USING (part)'),
	('the keys of a list', 'SELECT FROM register WHERE key IN (SELECT key FROM keys)'),
	('temporary tables', 'SELECT FROM keys JOIN lines USING (key) JOIN parts USING (part)'),
	('groups', 'SELECT part FROM lines GROUP BY part');

CREATE FUNCTION expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
CREATE FUNCTION there_are(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE rows bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO rows;
	RETURN rows;
END $$;
-- how far off: by less than a half, or by more than a factor of five
CREATE FUNCTION judged(query text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN r BETWEEN 1 / 1.5 AND 1.5 THEN 'right' WHEN r BETWEEN 0.2 AND 5 THEN 'near' ELSE 'wrong' END
	FROM (SELECT expected(query) / there_are(query) AS r) q
$$;
CREATE FUNCTION judged_with(live text, online bool) RETURNS TABLE (question text, verdict text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('online_analyze.enable', online::text, false);
	PERFORM set_config('temp_live_statistics', live, false) FROM pg_settings WHERE name = 'temp_live_statistics';
	TRUNCATE keys, lines, parts;
	INSERT INTO keys SELECT g * 3 FROM generate_series(1, 300) g;
	INSERT INTO lines SELECT 3 * (1 + g % 300), g % 50, g % 2 FROM generate_series(1, 3000) g;
	INSERT INTO parts SELECT g FROM generate_series(1, 5) g;
	RETURN QUERY SELECT q.question, judged(q.query) FROM questions q;
END $$;

SELECT * FROM judged_with('off', false);
SELECT * FROM judged_with('off', true);
SELECT * FROM judged_with('on', false);
SELECT * FROM judged_with('on', true);

-- what this extension has analyzed wins: the most common value is known
SELECT set_config('online_analyze.enable', 'on', false);
TRUNCATE lines;
INSERT INTO lines SELECT g, CASE WHEN g <= 900 THEN 7 ELSE g END, 0 FROM generate_series(1, 1000) g;
SELECT expected('SELECT FROM lines WHERE part = 7');
SELECT set_config('online_analyze.enable', 'off', false);
TRUNCATE lines;
INSERT INTO lines SELECT g, CASE WHEN g <= 900 THEN 7 ELSE g END, 0 FROM generate_series(1, 1000) g;
SELECT judged('SELECT FROM lines WHERE part = 7');
DROP TABLE register, questions;
DROP FUNCTION expected, there_are, judged, judged_with;
DISCARD TEMP;
