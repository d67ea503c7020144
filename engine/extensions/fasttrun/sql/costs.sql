-- What a call leaves outside the table's own files.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fasttrun;

-- what EXPLAIN says of the log that a statement has written: nothing if there is none
CREATE FUNCTION pg_temp.written(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, WAL, COSTS off, TIMING off, SUMMARY off, BUFFERS off) ' || query LOOP
		IF line LIKE '%WAL%' THEN
			RETURN NEXT regexp_replace(line, '\d+', 'N', 'g');
		END IF;
	END LOOP;
END $$;
CREATE TABLE permanent (a int);
SELECT pg_temp.written('INSERT INTO permanent VALUES (1)');
DROP TABLE permanent;
CREATE TEMP TABLE tt (id int PRIMARY KEY, name text);
CREATE INDEX ON tt (name);

-- an empty table
BEGIN;
SELECT pg_temp.written($$SELECT fasttruncate('tt')$$);
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
SELECT DISTINCT mode FROM pg_locks
  WHERE relation = 'tt'::regclass AND mode NOT IN ('RowExclusiveLock', 'AccessShareLock');
COMMIT;

-- one with rows of earlier transactions that was not analyzed
INSERT INTO tt SELECT g, 'name ' || g FROM generate_series(1, 1000) g;
SELECT max(ctid::text || xmin::text) AS rows FROM pg_class WHERE relname LIKE 'tt%' \gset
BEGIN;
SELECT pg_temp.written($$SELECT fasttruncate('tt')$$);
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND pid = pg_backend_pid();
COMMIT;
SELECT max(ctid::text || xmin::text) = :'rows' AS same_rows FROM pg_class WHERE relname LIKE 'tt%';

-- pg_class does not grow, whatever the number of calls
SELECT pg_relation_size('pg_class') AS size \gset
DO $$ BEGIN
	FOR i IN 1..300 LOOP
		INSERT INTO tt VALUES (1, 'x'), (2, 'y');
		ANALYZE tt;
		PERFORM fasttruncate('tt');
	END LOOP;
END $$;
SELECT pg_relation_size('pg_class') = :size AS same_size;
DISCARD TEMP;
