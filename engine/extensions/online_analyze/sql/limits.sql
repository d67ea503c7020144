-- Limits, errors, and what happens while ANALYZE runs.
LOAD 'online_analyze';
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.rows(VARIADIC names text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(name || ' ' || reltuples, ', ' ORDER BY n)
	FROM unnest(names) WITH ORDINALITY AS u (name, n) JOIN pg_class ON oid = name::regclass
$$;

SET online_analyze.min_interval = 3600000;

-- a table must have lower_limit rows
SET online_analyze.lower_limit = 100;
CREATE TEMP TABLE small (a int);
INSERT INTO small SELECT generate_series(1, 99);
SELECT pg_temp.rows('small');
INSERT INTO small VALUES (1);
SELECT pg_temp.rows('small');
TRUNCATE small;
INSERT INTO small SELECT generate_series(1, 60);
TRUNCATE small;
INSERT INTO small SELECT generate_series(1, 60);
SELECT pg_temp.rows('small');
RESET online_analyze.lower_limit;

-- a session remembers so many tables; what is forgotten is analyzed sooner than it had to be
SET online_analyze.capacity_threshold = 3;
SET online_analyze.local_tracking = on;
DO $$ BEGIN
	FOR i IN 1..100 LOOP
		EXECUTE format('CREATE TEMP TABLE many%s (a int)', i);
		EXECUTE format('INSERT INTO many%s SELECT generate_series(1, 100)', i);
	END LOOP;
END $$;
SELECT count(*) FROM pg_class WHERE relname LIKE 'many%' AND reltuples = 100;
SELECT total_bytes < 20000 AS small FROM pg_backend_memory_contexts WHERE name = 'tables of online_analyze';
INSERT INTO many1 SELECT generate_series(1, 100);
SELECT pg_temp.rows('many1');
INSERT INTO many1 SELECT generate_series(1, 100);
SELECT pg_temp.rows('many1');
RESET online_analyze.capacity_threshold;
RESET online_analyze.local_tracking;

-- dropped tables are forgotten
SET client_min_messages = warning;
SELECT total_bytes AS bytes FROM pg_backend_memory_contexts WHERE name = 'tables of online_analyze' \gset
DO $$ BEGIN
	FOR i IN 1..400 LOOP
		CREATE TEMP TABLE one AS SELECT 1 AS a;
		DROP TABLE one;
	END LOOP;
END $$;
SELECT total_bytes = :bytes AS same FROM pg_backend_memory_contexts WHERE name = 'tables of online_analyze';
RESET client_min_messages;

-- an error in ANALYZE ends the statement, as it would end an ANALYZE, and that is all
CREATE FUNCTION pg_temp.not_analyzed(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_stat_clear_snapshot();
	IF EXISTS (SELECT FROM pg_stat_progress_analyze WHERE pid = pg_backend_pid()) THEN
		RAISE 'ANALYZE is at work';
	END IF;
	RETURN $1;
END $$;
CREATE TEMP TABLE failing (a int);
CREATE INDEX failing_index ON failing (pg_temp.not_analyzed(a));
SET online_analyze.enable = off;
INSERT INTO failing VALUES (1);
RESET online_analyze.enable;
ANALYZE failing;
INSERT INTO failing VALUES (2);
SELECT count(*) FROM failing;
SELECT pg_temp.rows('failing');
DO $$ BEGIN
	INSERT INTO failing VALUES (1);
EXCEPTION WHEN raise_exception THEN
	RAISE NOTICE 'caught: %', sqlerrm;
END $$;
DROP INDEX failing_index;
INSERT INTO failing SELECT generate_series(1, 5);
SELECT pg_temp.rows('failing');

-- functions that ANALYZE calls change tables, which are not analyzed meanwhile
CREATE TABLE notes (a int) WITH (autovacuum_enabled = off);
CREATE FUNCTION note(n int) RETURNS int VOLATILE LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO public.notes SELECT generate_series(1, 100);
	RETURN n;
END $$;
CREATE FUNCTION noted(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	RETURN public.note(n);
END $$;
CREATE TABLE indexed (a int) WITH (autovacuum_enabled = off);
SET online_analyze.enable = off;
INSERT INTO indexed VALUES (1);
CREATE INDEX ON indexed (noted(a));
RESET online_analyze.enable;
SET online_analyze.min_interval = 0;
ANALYZE indexed;
SELECT pg_temp.rows('notes', 'indexed');
SET online_analyze.table_type = 'none';
SET online_analyze.include_tables = 'indexed, notes';
INSERT INTO indexed SELECT generate_series(1, 100);
SELECT pg_temp.rows('indexed');
SELECT reltuples > 1000 AS by_insert FROM pg_class WHERE oid = 'notes'::regclass;
RESET online_analyze.include_tables;
RESET online_analyze.table_type;
DROP TABLE notes, indexed;
DROP FUNCTION noted, note;

-- nothing in a transaction that has failed, nothing for a plan with workers
BEGIN;
SELECT 1 / 0;
INSERT INTO small VALUES (1);
ROLLBACK;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
CREATE TABLE many WITH (autovacuum_enabled = off) AS SELECT generate_series(1, 20000) AS a;
CREATE TABLE counted WITH (autovacuum_enabled = off) AS SELECT count(*) FROM many;
SELECT pg_temp.rows('many', 'counted');
DROP TABLE many, counted;

-- the values that settings take
SET online_analyze.scale_factor = 1.5;
SET online_analyze.threshold = -1;
SET online_analyze.min_interval = -1;
DISCARD TEMP;
