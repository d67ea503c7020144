-- When a temporary table is analyzed, whichever statement changes it.
LOAD 'online_analyze';
SELECT name, setting, context FROM pg_settings WHERE name LIKE 'online_analyze.%' ORDER BY name;

-- longer than any machine takes for this
SET online_analyze.min_interval = 3600000;

-- what the catalogs say of a table: its rows when it was analyzed (-1: never), its columns with statistics
CREATE FUNCTION pg_temp.known(regclass) RETURNS text LANGUAGE sql AS $$
	SELECT reltuples || ' rows, ' || (SELECT count(*) FROM pg_statistic WHERE starelid = oid) || ' columns'
	FROM pg_class WHERE oid = $1
$$;

-- the first rows, however few; they begin no interval
CREATE TEMP TABLE t (a int, b text);
SELECT pg_temp.known('t');
INSERT INTO t VALUES (1, 'x');
SELECT pg_temp.known('t');
INSERT INTO t SELECT g, 'x' FROM generate_series(1, 49) g;
SELECT pg_temp.known('t');
INSERT INTO t SELECT g, 'x' FROM generate_series(1, 50) g;
SELECT pg_temp.known('t');

-- enough rows, but the interval is not over
INSERT INTO t SELECT g, 'x' FROM generate_series(1, 1000) g;
SELECT pg_temp.known('t');
SET online_analyze.min_interval = 0;
INSERT INTO t VALUES (1, 'x');
SELECT pg_temp.known('t');

-- threshold + scale_factor * rows
INSERT INTO t SELECT g, 'x' FROM generate_series(1, 160) g;
SELECT pg_temp.known('t');
INSERT INTO t VALUES (1, 'x');
SELECT pg_temp.known('t');
UPDATE t SET b = 'y';
SELECT pg_temp.known('t'), most_common_vals FROM pg_stats WHERE tablename = 't' AND attname = 'b';
DELETE FROM t WHERE a > 100;
SELECT pg_temp.known('t');
MERGE INTO t USING generate_series(1, 50) g ON a = 1000 + g WHEN NOT MATCHED THEN INSERT VALUES (1000 + g, 'm');
SELECT pg_temp.known('t');
DELETE FROM t WHERE a > 1000000;
INSERT INTO t SELECT a, b FROM t WHERE false;
SELECT pg_temp.known('t');
SET online_analyze.min_interval = 3600000;

-- a table of a pool: emptied and filled again within the interval
TRUNCATE t;
INSERT INTO t SELECT g, 'z' FROM generate_series(1, 26) g;
SELECT pg_temp.known('t'), most_common_vals FROM pg_stats WHERE tablename = 't' AND attname = 'b';
BEGIN;
TRUNCATE t;
INSERT INTO t SELECT g, 'z' FROM generate_series(1, 100) g;
SELECT pg_temp.known('t');
COMMIT;
-- what fasttruncate() does to pg_class; the test of all three extensions has the function itself
SELECT relfilenode AS storage FROM pg_class WHERE oid = 't'::regclass \gset
DELETE FROM t;
VACUUM t;
SELECT relfilenode = :storage AS same, reltuples, relpages FROM pg_class WHERE oid = 't'::regclass;
INSERT INTO t SELECT g, 'v' FROM generate_series(1, 26) g;
SELECT pg_temp.known('t');

-- the statistics are there for the next statement of the transaction
CREATE TEMP TABLE big AS SELECT g AS a, 'name ' || g AS b FROM generate_series(1, 20000) g;
SELECT pg_temp.known('big');
CREATE FUNCTION pg_temp.estimated(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
BEGIN;
CREATE TEMP TABLE few (a int);
SELECT pg_temp.estimated('SELECT * FROM few') > 1000 AS guessed;
INSERT INTO few SELECT g FROM generate_series(1, 3) g;
SELECT pg_temp.estimated('SELECT * FROM few'), pg_temp.estimated('SELECT * FROM few JOIN big USING (a)');
COMMIT;

-- COPY, SELECT INTO, CREATE TABLE AS
CREATE TEMP TABLE copied (a int, b text);
COPY copied FROM STDIN;
1	x
2	y
3	z
\.
SELECT pg_temp.known('copied');
SELECT * INTO TEMP into1 FROM copied;
SELECT pg_temp.known('into1');
CREATE TEMP TABLE as1 AS TABLE copied WITH NO DATA;
SELECT pg_temp.known('as1');
PREPARE rows (int) AS SELECT g AS a FROM generate_series(1, $1) g;
CREATE TEMP TABLE as2 AS EXECUTE rows (70);
SELECT pg_temp.known('as2');
SET client_min_messages = warning;
CREATE TEMP TABLE IF NOT EXISTS as2 AS EXECUTE rows (7000);
RESET client_min_messages;
SELECT pg_temp.known('as2');
COPY (SELECT 1) TO STDOUT;

-- prepared statements, functions of each kind, triggers, foreign keys, rules
PREPARE fill (int) AS INSERT INTO as1 SELECT g, 'x' FROM generate_series(1, $1) g;
SET plan_cache_mode = force_generic_plan;
EXECUTE fill (3);
SELECT pg_temp.known('as1');
EXECUTE fill (60);
SELECT pg_temp.known('as1');
RESET plan_cache_mode;
CREATE TEMP TABLE f1 (a int);
CREATE TEMP TABLE f2 (a int);
CREATE FUNCTION pg_temp.fill_both(rows int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE seen text := '';
BEGIN
	INSERT INTO f1 SELECT g FROM generate_series(1, rows) g;
	seen := pg_temp.known('f1');
	EXECUTE 'INSERT INTO f2 SELECT * FROM f1';
	RETURN seen || '; ' || pg_temp.known('f2');
END $$;
SELECT pg_temp.fill_both(60);
CREATE FUNCTION pg_temp.refill(rows int) RETURNS text LANGUAGE sql AS $$
	TRUNCATE f1;
	INSERT INTO f1 SELECT g FROM generate_series(1, rows) g;
	SELECT pg_temp.known('f1')
$$;
SELECT pg_temp.refill(70);
CREATE TEMP TABLE logged (a int);
CREATE FUNCTION pg_temp.log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO logged SELECT a FROM new_rows;
	RETURN NULL;
END $$;
CREATE TEMP TABLE source (a int PRIMARY KEY);
CREATE TRIGGER log AFTER INSERT ON source REFERENCING NEW TABLE AS new_rows
	FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.log();
INSERT INTO source SELECT generate_series(1, 80);
SELECT pg_temp.known('source'), pg_temp.known('logged');
CREATE TEMP TABLE refers (a int REFERENCES source ON DELETE CASCADE);
INSERT INTO refers SELECT a FROM source;
SELECT pg_temp.known('refers');
SET online_analyze.min_interval = 0;
DELETE FROM source WHERE a <= 70;
SELECT pg_temp.known('source'), pg_temp.known('refers');
SET online_analyze.min_interval = 3600000;

-- EXPLAIN that runs the statement, RETURNING, a cursor that stays open
TRUNCATE f1;
EXPLAIN INSERT INTO f1 SELECT generate_series(1, 90) \g /dev/null
SELECT pg_temp.known('f1');
EXPLAIN ANALYZE INSERT INTO f1 SELECT generate_series(1, 90) \g /dev/null
SELECT pg_temp.known('f1');
TRUNCATE f1;
BEGIN;
DECLARE c CURSOR FOR SELECT a FROM logged ORDER BY a;
FETCH c;
WITH added AS (SELECT 5 AS a) INSERT INTO f1 SELECT a FROM added RETURNING a;
SELECT pg_temp.known('f1');
FETCH c;
COMMIT;

-- a rollback takes statistics of columns back, and then they are made again, whatever the interval says
CREATE TEMP TABLE again (a int);
BEGIN;
SAVEPOINT s;
INSERT INTO again SELECT generate_series(1, 100);
SELECT pg_temp.known('again');
ROLLBACK TO s;
SELECT count(*) FROM pg_statistic WHERE starelid = 'again'::regclass;
INSERT INTO again SELECT generate_series(1, 5);
SELECT pg_temp.known('again');
COMMIT;
CREATE TEMP TABLE later (a int);
BEGIN;
INSERT INTO later SELECT generate_series(1, 100);
ROLLBACK;
INSERT INTO later SELECT generate_series(1, 5);
SELECT pg_temp.known('later');
BEGIN;
TRUNCATE later;
INSERT INTO later SELECT generate_series(1, 100);
ROLLBACK;
INSERT INTO later SELECT generate_series(1, 5);
SELECT pg_temp.known('later');

-- what the user has analyzed is known
CREATE TEMP TABLE own (a int);
SET online_analyze.enable = off;
INSERT INTO own SELECT generate_series(1, 1000);
SELECT pg_temp.known('own');
RESET online_analyze.enable;
SET online_analyze.local_tracking = on;
ANALYZE own;
SET online_analyze.min_interval = 0;
INSERT INTO own SELECT generate_series(1, 149);
SELECT pg_temp.known('own');
INSERT INTO own VALUES (1);
SELECT pg_temp.known('own');
INSERT INTO own SELECT generate_series(1, 100);
ANALYZE own;
INSERT INTO own SELECT generate_series(1, 100);
SELECT pg_temp.known('own');
RESET online_analyze.local_tracking;
SET online_analyze.min_interval = 3600000;

-- a table without columns, one that is dropped by the statement that fills it
CREATE TEMP TABLE nothing ();
INSERT INTO nothing DEFAULT VALUES;
SELECT pg_temp.known('nothing');
DO $$ BEGIN
	CREATE TEMP TABLE gone AS SELECT generate_series(1, 100) AS a;
	DROP TABLE gone;
END $$;

DISCARD TEMP;
