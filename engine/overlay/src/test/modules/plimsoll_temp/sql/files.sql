--
-- No file for a temporary relation that fits into the local buffers.
--
SET temp_buffers = '4MB';
SET client_min_messages = warning;
CREATE EXTENSION plimsoll_temp;
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM pg_ls_dir('base/' || (SELECT oid FROM pg_database WHERE datname = current_database())) f
  WHERE f ~ '^t\d+_'
$$;
CREATE FUNCTION written() RETURNS numeric LANGUAGE sql AS $$
  SELECT sum(writes + reads) FROM pg_stat_get_backend_io(pg_backend_pid()) WHERE object = 'temp relation'
$$;
-- the sizes of all forks of a table, its toast table and their indexes
CREATE FUNCTION sizes(name text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(format('%s %s %s %s', what, pg_relation_size(c, 'main'), pg_relation_size(c, 'fsm'), pg_relation_size(c, 'vm')), ', ' ORDER BY what)
  FROM (SELECT name::regclass AS c, 'table' AS what UNION ALL
        SELECT reltoastrelid, 'toast' FROM pg_class WHERE oid = name::regclass UNION ALL
        SELECT indexrelid, 'toast index' FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class WHERE oid = name::regclass) UNION ALL
        SELECT indexrelid, 'index ' || row_number() OVER (ORDER BY indexrelid) FROM pg_index WHERE indrelid = name::regclass) s
$$;
CREATE FUNCTION fill(name text, first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO %s SELECT g, repeat(chr(97 + g %% 26), 100), CASE WHEN g %% 50 = 0 THEN (SELECT string_agg(md5(i || %L || g), %L) FROM generate_series(1, 200) i) END FROM generate_series(%s, %s) g', name, ' ', '', first, last);
END $$;

-- every kind of relation and every access method
CREATE TEMP TABLE t (id int PRIMARY KEY, name text, long text);
SELECT fill('t', 1, 300);
CREATE INDEX ON t (name);
CREATE INDEX ON t USING hash (id);
CREATE INDEX ON t USING gin (to_tsvector('simple', name)) WITH (fastupdate = off);
CREATE INDEX ON t USING gist (point(id, id));
CREATE INDEX ON t USING spgist (name);
CREATE INDEX ON t USING brin (id);
CREATE TEMP SEQUENCE s;
SELECT nextval('s'), nextval('s');
CREATE TEMP TABLE serial_and_identity (a serial, b int GENERATED ALWAYS AS IDENTITY);
INSERT INTO serial_and_identity DEFAULT VALUES;
UPDATE t SET name = name || 'x' WHERE id % 3 = 0;
DELETE FROM t WHERE id % 7 = 0;
ANALYZE t;
VACUUM t;
SELECT fill('t', 301, 600);
SELECT count(*), sum(length(name)), sum(length(long)) FROM t;
SELECT files(), written();

-- sizes are those of a permanent twin
CREATE TABLE p (id int PRIMARY KEY, name text, long text);
CREATE TEMP TABLE twin (id int PRIMARY KEY, name text, long text);
SELECT fill('p', 1, 500), fill('twin', 1, 500);
CREATE INDEX ON p (name);
CREATE INDEX ON twin (name);
VACUUM p, twin;
SELECT sizes('p') = sizes('twin') AS same, sizes('twin');
SELECT pg_total_relation_size('p') = pg_total_relation_size('twin') AS same_total;
SELECT pg_relation_filepath('twin') ~ '^base/\d+/t\d+_\d+$' AS path;
-- ... in a plan with workers, too
SET debug_parallel_query = on;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT sum(pg_relation_size(oid)) = (SELECT pg_relation_size('twin')) AS same_in_parallel FROM pg_class WHERE oid = 'twin'::regclass;
-- ... whoever asks there, and how: a worker has no file to measure
CREATE FUNCTION measured(c regclass) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
  RETURN concat_ws(' ', pages(c), pg_relation_size(c) / 8192, pg_relation_size(c, 'fsm') / 8192,
                   pg_relation_size(c, 'vm') / 8192, pg_total_relation_size(c) / 8192);
END $$;
CREATE TEMP TABLE empty (a int);
SET debug_parallel_query = off;
SELECT c, measured(c), in_worker() INTO here FROM unnest(ARRAY['twin', 'twin_pkey', 'twin_name_idx', 'empty', 'p']::regclass[]) c;
SET debug_parallel_query = on;
SELECT c, measured(c), in_worker() INTO there FROM unnest(ARRAY['twin', 'twin_pkey', 'twin_name_idx', 'empty', 'p']::regclass[]) c;
SELECT c, here.measured, there.measured = here.measured AS same, here.in_worker AS here, there.in_worker AS there
  FROM here JOIN there USING (c) ORDER BY c::text;
DROP TABLE here, there, empty;
DROP EXTENSION plimsoll_temp CASCADE;
RESET debug_parallel_query;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP FUNCTION measured;
DROP TABLE p, twin;

-- rewrites
CLUSTER t USING t_pkey;
VACUUM FULL t;
REINDEX TABLE t;
ALTER TABLE t ALTER COLUMN id TYPE bigint;
SELECT count(*), sum(length(name)), sum(length(long)) FROM t;
SELECT files(), written();

-- storage is transactional
BEGIN;
TRUNCATE t;
SELECT fill('t', 1, 10);
SAVEPOINT one;
TRUNCATE t;
SELECT pg_relation_size('t');
SELECT fill('t', 1, 3);
ROLLBACK TO one;
SELECT count(*) FROM t;
CREATE TEMP TABLE gone (a int PRIMARY KEY);
INSERT INTO gone VALUES (1);
DROP TABLE t;
ROLLBACK;
SELECT count(*), sum(length(name)), sum(length(long)) FROM t;
SELECT id FROM t WHERE name = repeat('b', 100) ORDER BY id LIMIT 1;
BEGIN;
CREATE TEMP TABLE made (a int, b text);
INSERT INTO made SELECT g, g FROM generate_series(1, 100) g;
CREATE INDEX made_a ON made (a);
SAVEPOINT one;
CREATE INDEX made_b ON made (b);
ROLLBACK TO one;
DO $$
BEGIN
  FOR i IN 1 .. 20 LOOP
    BEGIN
      TRUNCATE made;
      INSERT INTO made VALUES (i, i);
      IF i % 2 = 0 THEN RAISE division_by_zero; END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
  END LOOP;
END $$;
COMMIT;
TABLE made;
SET enable_seqscan = off;
SELECT b FROM made WHERE a = 19;
RESET enable_seqscan;
CREATE TEMP TABLE forgetful (a int PRIMARY KEY, b text) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO forgetful SELECT g, g FROM generate_series(1, 500) g;
SELECT count(*) FROM forgetful WHERE a > 490;
COMMIT;
SELECT count(*), pg_relation_size('forgetful'), pg_relation_size('forgetful_pkey') FROM forgetful;
INSERT INTO forgetful VALUES (1);
SELECT files(), written();
DROP TABLE forgetful, made;

-- the tail goes
DELETE FROM t WHERE id > 100;
VACUUM t;
SELECT pg_relation_size('t') < 40000 AS truncated;
SELECT fill('t', 101, 200);
SELECT count(*), sum(length(name)) FROM t;
SELECT files(), written();

-- more than fits: what leaves the buffers has a file, of the full size
CREATE TEMP TABLE large (id int PRIMARY KEY, name text, long text);
SELECT fill('large', 1, 60000);
SELECT files() > 0 AS has_files;
SELECT count(*), sum(id), sum(length(name)), sum(length(long)) FROM large;
SELECT count(*), sum(length(name)) FROM t;
SELECT count(*) FROM serial_and_identity;
SELECT nextval('s');
SELECT pg_relation_size('large') = 8192 * (SELECT max((ctid::text::point)[0])::int + 1 FROM large) AS size;
DELETE FROM large WHERE id > 1000;
VACUUM large;
SELECT pg_relation_size('large') < 300000 AS truncated;
SELECT fill('large', 1001, 2000);
SELECT count(*), sum(id), sum(length(name)), sum(length(long)) FROM large;
BEGIN;
TRUNCATE large;
SELECT fill('large', 1, 100);
ROLLBACK;
SELECT count(*), sum(id), sum(length(name)) FROM large;
TRUNCATE large;
SELECT count(*), pg_relation_size('large') FROM large;
DROP TABLE large;
DROP TABLE t, serial_and_identity;
DROP SEQUENCE s;
SELECT files();

-- an index, built past the buffers, that is larger than its share of them: its
-- first page is written last
CREATE TEMP TABLE keys AS SELECT g AS a, md5(g::text) AS b FROM generate_series(1, 40000) g;
CREATE INDEX keys_a ON keys (a);
CREATE INDEX keys_b ON keys (b);
CREATE INDEX keys_point ON keys USING gist (point(a, a));
CREATE INDEX keys_hash ON keys USING hash (b);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), min(a), max(a) FROM keys WHERE a > 0;
SELECT count(*) FROM (SELECT b FROM keys ORDER BY b) k;
SELECT count(*) FROM keys WHERE point(a, a) <@ box '(100,100),(200,200)';
SELECT a FROM keys WHERE b = md5('777');
INSERT INTO keys SELECT g, md5(g::text) FROM generate_series(40001, 60000) g;
SELECT count(*), min(a), max(a) FROM keys WHERE a > 0;
SELECT count(*) FROM (SELECT b FROM keys ORDER BY b) k;
SELECT a FROM keys WHERE b = md5('55555');
DROP TABLE keys;
SELECT files();

-- a tablespace is not dropped under a relation that has no file there
RESET enable_seqscan;
RESET enable_bitmapscan;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE elsewhere LOCATION '';
CREATE TEMP TABLE far (a int PRIMARY KEY, b text) TABLESPACE elsewhere;
INSERT INTO far SELECT g, g FROM generate_series(1, 1000) g;
DROP TABLESPACE elsewhere;
ALTER TABLE far SET TABLESPACE pg_default;
SELECT count(*), sum(a) FROM far WHERE b <> '';
ALTER TABLE far SET TABLESPACE elsewhere;
SELECT count(*), sum(a) FROM far WHERE b <> '';
BEGIN;
DROP TABLE far;
ROLLBACK;
DROP TABLE far;
SET temp_tablespaces = elsewhere;
CREATE TEMP TABLE far AS SELECT 1 AS a;
CREATE TEMP TABLE far2 AS SELECT 1 AS a;
DROP TABLE far;
DROP TABLESPACE elsewhere;
DROP TABLE far2;
DROP TABLESPACE elsewhere;
SELECT files();

-- many at once
CREATE TEMP TABLE kept (a int);
DO $$
BEGIN
  FOR i IN 1 .. 200 LOOP
    EXECUTE format('CREATE TEMP TABLE many_%s (a int PRIMARY KEY, b text)', i);
    EXECUTE format('INSERT INTO many_%s VALUES (%s, %s)', i, i, i);
  END LOOP;
END $$;
SELECT (SELECT b FROM many_1), (SELECT b FROM many_100), (SELECT b FROM many_200);
SELECT files() > 0 AS some_have_files;
DISCARD TEMP;
SELECT files();

-- a rewrite whose last page finds no buffer free but one of its own
\c
SET temp_buffers = 100;
CREATE TEMP TABLE hot AS SELECT g AS a, repeat('x', 1000) AS b FROM generate_series(1, 60 * 7) g;
CREATE TEMP TABLE small (a int PRIMARY KEY, b text);
INSERT INTO small SELECT g, repeat('y', 1000) FROM generate_series(1, 8 * 7) g;
DO $$
BEGIN
  FOR pages IN 61 .. 100 LOOP
    INSERT INTO hot SELECT g, repeat('x', 1000) FROM generate_series(1, 7) g;
    FOR i IN 1 .. 6 LOOP
      PERFORM sum(length(b)) FROM hot;
      PERFORM sum(length(b)) FROM small;
    END LOOP;
    CLUSTER small USING small_pkey;
    IF (SELECT count(*) FROM small) <> 56 THEN
      RAISE 'rows are lost, with % pages of another table in the buffers', pages;
    END IF;
    COMMIT;
  END LOOP;
END $$;
DISCARD TEMP;
DROP FUNCTION files, written, sizes, fill;
