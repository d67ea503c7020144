-- Catalogs of a session with many tables in memory: what is looked at, and what a
-- table takes.
SET enable_temp_memory_catalog = on;
SET temp_lazy_toast = on;
DO $$ BEGIN FOR i IN 1..200 LOOP
  EXECUTE format('CREATE TEMP TABLE t%s (id int PRIMARY KEY, name text, b int)', i);
END LOOP; END $$;

-- Rows in memory that a node of the plan of this query looked at in vain.  Those of
-- the system columns of the tables asked for may be among them.
CREATE FUNCTION looked_at_in_vain(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; rows bigint := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) ' || query LOOP
    IF line ~ 'Rows Removed by Index Recheck' THEN
      rows := rows + substring(line FROM '\d+')::bigint;
    END IF;
  END LOOP;
  RETURN rows;
END $$;

SET enable_seqscan = off;
CREATE TABLE questions (query text);
INSERT INTO questions VALUES
  ($$SELECT attname FROM pg_attribute WHERE attrelid = 'pg_class'::regclass AND attnum > 0$$),
  ($$SELECT attname FROM pg_attribute WHERE 't7'::regclass = attrelid AND attnum > 0$$),
  ($$SELECT attname FROM pg_attribute WHERE attrelid = ANY (ARRAY['pg_class', 't7', 't8', 't7']::regclass[]) AND attnum > 0$$),
  ($$SELECT attname FROM pg_attribute WHERE attrelid = 't7'::regclass AND attnum = ANY ('{1,3,1,99}')$$),
  ($$SELECT relname FROM pg_class WHERE oid = ANY (ARRAY['pg_class', 't7']::regclass[])$$),
  ($$SELECT relname FROM pg_class WHERE oid = ANY ('{}'::oid[])$$),
  ($$SELECT relname FROM pg_class WHERE oid = ANY (NULL::oid[])$$),
  ($$SELECT relname FROM pg_class WHERE relname = 't7' AND relnamespace = pg_my_temp_schema()$$),
  ($$SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = 't7'::regclass$$),
  ($$SELECT a.attname FROM (VALUES ('t7'::regclass), ('pg_index')) v (r), LATERAL (SELECT attname FROM pg_attribute
     WHERE attrelid = v.r AND attnum > 0 OFFSET 0) a$$);
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT looked_at_in_vain(query) <= 12 AS few_by_bitmap, query FROM questions WHERE query !~ 'NULL';
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;
SELECT looked_at_in_vain(query) <= 12 AS few_by_index, query FROM questions WHERE query !~ 'NULL';
RESET enable_bitmapscan;

-- each way finds the same
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE text text;
BEGIN
  EXECUTE 'SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM (' || query || ') r' INTO text;
  RETURN md5(coalesce(text, 'none'));
END $$;
CREATE TABLE answers AS SELECT answer(query) AS by_index, query FROM questions;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) AS by_bitmap FROM answers WHERE answer(query) = by_index;
SET enable_seqscan = on;
SET enable_bitmapscan = off;
SELECT count(*) AS by_sequence FROM answers WHERE answer(query) = by_index;
RESET ALL;
SELECT answer(query) = md5('none') AS empty FROM questions;

-- parameters, and a bitmap that is read again and again
PREPARE columns_of (oid) AS SELECT count(*) FROM pg_attribute WHERE attrelid = $1 AND attnum > 0;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
EXECUTE columns_of('t7'::regclass);
EXECUTE columns_of('pg_index'::regclass);
EXECUTE columns_of(NULL);
SELECT sum((SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0))
  FROM pg_class c WHERE relname ~ '^t\d+$' AND relkind = 'r' AND relpersistence = 't';
RESET ALL;

-- what a table takes: a third less than if each row was rounded up to a power of two
SELECT sum(total_bytes) / 200 < 14000 AS small FROM pg_backend_memory_contexts WHERE name LIKE 'memory catalog%';
DROP TABLE questions, answers;
DROP FUNCTION looked_at_in_vain, answer;
DISCARD TEMP;
SELECT count(*) FROM pg_class WHERE relpersistence = 't';
