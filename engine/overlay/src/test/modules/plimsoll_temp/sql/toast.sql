--
-- The toast table of a table in memory is made when the first value needs it,
-- in the midst of whatever goes on.  Values that do not compress are made by
-- long(), those that do by repeat().
--
CREATE EXTENSION amcheck;
SET enable_temp_memory_catalog = on;
SET temp_lazy_toast = on;
CREATE FUNCTION long(seed int, bytes int DEFAULT 10000) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT left(string_agg(md5((seed * 1000 + g)::text), '' ORDER BY g), bytes) FROM generate_series(1, bytes / 32 + 1) g$$;

-- What a table looks like: has it a toast table, its name, where both are, and values out of line?
CREATE FUNCTION look(t regclass) RETURNS TABLE (toast text, in_memory bool, toast_in_memory bool, depends bool, "rows" bigint, outside bigint, sum text)
  LANGUAGE plpgsql AS $$
BEGIN
  SELECT replace(k.relname, c.oid::text, 'OID'), c.ctid > '(3758096383,1)', k.ctid > '(3758096383,1)',
    (SELECT count(*) = 1 FROM pg_depend d WHERE d.objid = k.oid AND d.refobjid = c.oid AND d.deptype = 'i')
    INTO toast, in_memory, toast_in_memory, depends
    FROM pg_class c LEFT JOIN pg_class k ON k.oid = c.reltoastrelid WHERE c.oid = t;
  depends := CASE WHEN toast IS NOT NULL THEN depends END;
  EXECUTE format('SELECT count(*), count(pg_column_toast_chunk_id(b)), md5(string_agg(b, %L ORDER BY a)) FROM %s', '', t) INTO "rows", outside, sum;
  RETURN NEXT;
END $$;
CREATE FUNCTION toasts() RETURNS bigint LANGUAGE sql AS
  $$SELECT count(*) FROM pg_class WHERE relkind = 't' AND relpersistence = 't'$$;

-- None at first, nor for what fits or what compression makes fit.
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t VALUES (1, 'short'), (2, repeat('x', 100000));
SELECT * FROM look('t');
SELECT pg_table_size('t') > 0, pg_total_relation_size('t') - pg_indexes_size('t') = pg_table_size('t');
-- The first that needs it, among others of its command.
INSERT INTO t SELECT g, CASE WHEN g % 2 = 0 THEN long(g) ELSE 'short' END FROM generate_series(3, 10) g RETURNING a, length(b);
SELECT * FROM look('t');
SELECT a, length(b), b = long(a) AS right FROM t WHERE length(b) > 9000 ORDER BY a;
SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 't'::regclass);
DROP TABLE t;
SELECT toasts();

-- UPDATE, and MERGE, of rows that are there; HOT or not.
CREATE TEMP TABLE t (a int PRIMARY KEY, b text, c int DEFAULT 0);
INSERT INTO t SELECT g, 'b' || g FROM generate_series(1, 6) g;
UPDATE t SET b = long(a), c = c + 1 WHERE a > 3;
SELECT * FROM look('t');
SELECT sum(c) FROM t;
DROP TABLE t;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t SELECT g, 'b' || g FROM generate_series(1, 3) g;
MERGE INTO t USING generate_series(2, 5) g ON a = g
  WHEN MATCHED THEN UPDATE SET b = long(g) WHEN NOT MATCHED THEN INSERT VALUES (g, long(g + 1));
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t VALUES (1, 'x');
INSERT INTO t VALUES (1, 'x'), (2, 'x') ON CONFLICT (a) DO UPDATE SET b = long(7);
SELECT * FROM look('t');
-- A command sees neither its own rows nor its toast table's.
WITH w AS (INSERT INTO t SELECT 10 + g, long(g) FROM generate_series(1, 2) g RETURNING a)
  SELECT (SELECT count(*) FROM w), (SELECT count(*) FROM t);
DROP TABLE t;
CREATE TEMP TABLE t (a int, b text);
WITH w AS (INSERT INTO t SELECT g, long(g) FROM generate_series(1, 2) g RETURNING a)
  SELECT (SELECT count(*) FROM w), (SELECT count(*) FROM t), toasts();
-- ... nor changes a row twice.
UPDATE t SET a = a + 10, b = long(a + 10) FROM generate_series(1, 3) g;
SELECT * FROM look('t');
DROP TABLE t;

-- COPY, CREATE TABLE AS, SELECT INTO.
CREATE TEMP TABLE t (a int, b text);
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/toast.data'
COPY (SELECT g, CASE WHEN g > 290 THEN long(g) ELSE 'x' END FROM generate_series(1, 300) g) TO :'file';
COPY t FROM :'file';
SELECT * FROM look('t');
SELECT length(b), count(*) FROM t GROUP BY 1 ORDER BY 1;
DROP TABLE t;
CREATE TEMP TABLE t AS SELECT g AS a, CASE WHEN g > 3 THEN long(g) ELSE 'x' END AS b FROM generate_series(1, 5) g;
SELECT * FROM look('t');
DROP TABLE t;
SELECT g AS a, 'x' AS b INTO TEMP t FROM generate_series(1, 5) g;
SELECT * FROM look('t');
DROP TABLE t;
-- ... from a plan that would have workers.
CREATE TABLE permanent AS SELECT g AS a FROM generate_series(1, 100) g;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TEMP TABLE t AS SELECT a, long(a) AS b FROM permanent WHERE a < 4;
SELECT * FROM look('t');
DROP TABLE t;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE permanent;

-- Which tables never get one, and which have it at once.
CREATE TEMP TABLE small (a int, b varchar(100));
INSERT INTO small SELECT g, 'x' FROM generate_series(1, 5) g;
CREATE TEMP TABLE plain (a int, b text);
ALTER TABLE plain ALTER b SET STORAGE PLAIN;
INSERT INTO plain VALUES (1, long(1));
INSERT INTO plain VALUES (1, long(1, 4000));
SELECT * FROM look('plain');
ALTER TABLE plain ALTER b SET STORAGE EXTENDED;
UPDATE plain SET b = b || long(2);
SELECT toast, "rows", outside FROM look('plain');
CREATE TEMP TABLE options (a int, b text) WITH (fillfactor = 50, toast.autovacuum_enabled = off);
SELECT toast FROM look('options');
SELECT reloptions FROM pg_class WHERE oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'options'::regclass);
CREATE TEMP TABLE later (a int, b text);
ALTER TABLE later SET (fillfactor = 50);
ALTER TABLE later RESET (toast.autovacuum_enabled);
SELECT toast FROM look('later');
ALTER TABLE later SET (toast.fillfactor = 50);
SELECT toast FROM look('later');
ALTER TABLE later ADD c text, SET (fillfactor = 60, toast.autovacuum_enabled = off), ADD d text;
SELECT toast FROM look('later');
SELECT reloptions FROM pg_class WHERE oid IN (SELECT unnest(ARRAY[oid, reltoastrelid]) FROM pg_class WHERE oid = 'later'::regclass) ORDER BY relname;
INSERT INTO later VALUES (1, long(1));
SELECT * FROM look('later');
DROP TABLE small, plain, options, later;
SET temp_lazy_toast = off;
CREATE TEMP TABLE t (a int, b text);
SELECT toast FROM look('t');
SET temp_lazy_toast = on;
DROP TABLE t;
SET enable_temp_memory_catalog = off;
CREATE TEMP TABLE t (a int, b text);
SELECT toast, in_memory FROM look('t');
SET enable_temp_memory_catalog = on;
DROP TABLE t;
-- What was put off is made later whatever the settings are then.
CREATE TEMP TABLE t (a int, b text);
SET temp_lazy_toast = off;
SET enable_temp_memory_catalog = off;
INSERT INTO t VALUES (1, long(1));
SELECT * FROM look('t');
SET temp_lazy_toast = on;
SET enable_temp_memory_catalog = on;
DROP TABLE t;

-- ALTER TABLE: what makes a value long, and what rewrites the table.
CREATE TEMP TABLE t (a int, b varchar(20));
INSERT INTO t SELECT g, g FROM generate_series(1, 4) g;
ALTER TABLE t ALTER b TYPE text;
SELECT toast FROM look('t');
ALTER TABLE t ALTER b TYPE text USING long(b::int);
SELECT * FROM look('t');
ALTER TABLE t ALTER a TYPE bigint, ADD d text DEFAULT 'x' || random()::text;
SELECT * FROM look('t');
ALTER TABLE t DROP b, ADD b text;
SELECT toast FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int);
INSERT INTO t SELECT generate_series(1, 4);
ALTER TABLE t ADD b text;
UPDATE t SET b = long(a);
SELECT * FROM look('t');
DROP TABLE t;
SELECT toasts();

-- A rewrite that needs a toast table where none was.
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t SELECT g, long(g, 1500) FROM generate_series(1, 4) g;
INSERT INTO t SELECT g, repeat('x', 3000) FROM generate_series(5, 8) g;
ALTER TABLE t SET (toast_tuple_target = 128);
VACUUM FULL t;
SELECT * FROM look('t');
ALTER TABLE t ALTER b SET STORAGE EXTERNAL;
VACUUM FULL t;
SELECT * FROM look('t');
CLUSTER t USING t_pkey;
SELECT * FROM look('t');
SELECT toasts();
DROP TABLE t;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text STORAGE PLAIN);
INSERT INTO t SELECT g, long(g, 3000) FROM generate_series(1, 4) g;
SELECT toast, outside FROM look('t');
ALTER TABLE t ALTER b SET STORAGE EXTERNAL;
CLUSTER t USING t_pkey;
SELECT * FROM look('t');
TRUNCATE t;
SELECT * FROM look('t');
INSERT INTO t VALUES (1, long(1));
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text STORAGE PLAIN);
INSERT INTO t SELECT g, long(g, 3000) FROM generate_series(1, 4) g;
ALTER TABLE t ALTER b SET STORAGE EXTERNAL, SET (toast_tuple_target = 4000);
BEGIN;
CLUSTER t USING t_pkey;
SELECT toast, outside FROM look('t');
ALTER TABLE t SET (toast_tuple_target = 128);
SAVEPOINT one;
CLUSTER t;
SELECT toast, outside FROM look('t');
ROLLBACK TO one;
SELECT toast, outside FROM look('t');
CLUSTER t;
SELECT toast, outside FROM look('t');
COMMIT;
SELECT * FROM look('t');
DROP TABLE t;
SELECT toasts();

-- A toast table goes with the rows that needed it, and comes again.
CREATE TEMP TABLE t (a int, b text);
INSERT INTO t VALUES (1, 'x');
BEGIN;
SAVEPOINT one;
INSERT INTO t VALUES (2, long(2));
SELECT * FROM look('t');
ROLLBACK TO one;
SELECT * FROM look('t');
UPDATE t SET b = long(3);
SELECT * FROM look('t');
SAVEPOINT two;
INSERT INTO t VALUES (4, long(4));
DELETE FROM t WHERE a = 1;
RELEASE two;
SELECT * FROM look('t');
ROLLBACK;
SELECT * FROM look('t');
BEGIN;
SAVEPOINT one;
SAVEPOINT two;
INSERT INTO t VALUES (2, long(2));
RELEASE two;
COMMIT;
SELECT * FROM look('t');
-- ... rows that a rollback left behind do not disturb.
DROP TABLE t;
CREATE TEMP TABLE t (a int, b text);
BEGIN;
SAVEPOINT one;
INSERT INTO t SELECT g, long(g) FROM generate_series(1, 5) g;
ROLLBACK TO one;
CREATE INDEX ON t (a);
CREATE INDEX t_b ON t (md5(b));
CLUSTER t USING t_b;
INSERT INTO t VALUES (7, long(7));
SELECT * FROM look('t');
COMMIT;
SELECT * FROM verify_heapam('t', check_toast => true);
VACUUM t;
ANALYZE t;
VACUUM FULL t;
SELECT * FROM look('t');
DROP TABLE t;
SELECT toasts();

-- Cursors keep what they saw, of the table and of the catalogs.
CREATE TEMP TABLE t (a int, b text);
INSERT INTO t SELECT g, 'x' FROM generate_series(1, 3) g;
BEGIN;
DECLARE seen SCROLL CURSOR FOR SELECT a, length(b) FROM t;
DECLARE catalog SCROLL CURSOR FOR SELECT relname, reltoastrelid <> 0 AS toast FROM pg_class WHERE relnamespace = pg_my_temp_schema();
FETCH 1 FROM seen;
UPDATE t SET b = long(a);
SELECT * FROM look('t');
FETCH ALL FROM seen;
FETCH ALL FROM catalog;
DECLARE after CURSOR WITH HOLD FOR SELECT a, b = long(a) FROM t ORDER BY a;
COMMIT;
FETCH ALL FROM after;
CLOSE after;
DROP TABLE t;
CREATE TEMP TABLE t (a int, b text);
INSERT INTO t SELECT g, 'x' FROM generate_series(1, 3) g;
BEGIN;
DECLARE here CURSOR FOR SELECT * FROM t FOR UPDATE;
FETCH 2 FROM here;
UPDATE t SET b = long(a) WHERE CURRENT OF here;
FETCH 1 FROM here;
UPDATE t SET b = long(a) WHERE CURRENT OF here;
COMMIT;
SELECT * FROM look('t');
DROP TABLE t;

-- PL/pgSQL: loops, exceptions, and a variable that outlives the toast table; in a
-- transaction block, for outside PL/pgSQL keeps no toast pointers anyway.
CREATE TEMP TABLE t (a int, b text);
BEGIN;
DO $$
DECLARE
  v text; r record; s t; l text; f text[];
BEGIN
  FOR i IN 1 .. 3 LOOP
    BEGIN
      INSERT INTO t VALUES (i, long(i));
      SELECT b INTO v FROM t WHERE a = i;
      SELECT * INTO r FROM t WHERE a = i;
      SELECT * INTO s FROM t WHERE a = i;
      FOR s IN SELECT * FROM t LOOP NULL; END LOOP;
      l := (SELECT b FROM t WHERE a = i);
      f[i] := (SELECT b FROM t WHERE a = i);
      IF i <> 2 THEN PERFORM 1 / 0; END IF;
    EXCEPTION WHEN division_by_zero THEN
      RAISE NOTICE '%: % % % % % in %', i, v = long(i), r.b = long(i), s.b = long(i), l = long(i), f[i] = long(i), (SELECT array_agg(a) FROM t);
    END;
  END LOOP;
END $$;
COMMIT;
SELECT * FROM look('t');
DROP TABLE t;
-- A function that is called in mid-command needs it before its caller does, or the other way round.
CREATE TEMP TABLE t (a int, b text);
CREATE FUNCTION add(n int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (100 + n, long(n)); RETURN long(n + 1); END $$;
INSERT INTO t SELECT g, CASE g WHEN 1 THEN long(1) ELSE add(g) END FROM generate_series(1, 2) g;
SELECT a, length(b) FROM t ORDER BY a;
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int, b text);
UPDATE t SET b = add(a);
INSERT INTO t VALUES (1, 'x'), (2, 'x');
UPDATE t SET b = add(a);
SELECT a, length(b) FROM t ORDER BY a;
DROP FUNCTION add;
DROP TABLE t;
-- ... and takes it along with its exception block, under the command that goes on.
CREATE FUNCTION try(n int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (100 + n, long(n));
  PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN RETURN long(n);
END $$;
CREATE TEMP TABLE t (a int, b text DEFAULT try(7));
INSERT INTO t SELECT g, try(g) FROM generate_series(1, 2) g;
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int, b text DEFAULT try(7));
INSERT INTO t VALUES (1, 'x'), (2, 'x');
UPDATE t SET b = try(a);
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int, b text DEFAULT try(7));
COPY t (a) FROM stdin;
1
2
\.
SELECT * FROM look('t');
-- ... after it was there for good.
INSERT INTO t SELECT g, try(g) FROM generate_series(3, 4) g;
SELECT * FROM look('t');
DROP TABLE t;
DROP FUNCTION try;
-- Results that outlive the exception block in which the toast table was made.
CREATE TEMP TABLE t (a int, gone int, b text);
ALTER TABLE t DROP gone;
CREATE FUNCTION add(n int) RETURNS text LANGUAGE sql AS $$INSERT INTO t VALUES (n, long(n)); SELECT b FROM t WHERE a = n$$;
CREATE FUNCTION texts() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT add(g) FROM generate_series(1, 2) g;
  RETURN NEXT add(3);
  PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN NULL;
END $$;
CREATE FUNCTION rows() RETURNS SETOF t LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (1, long(1));
  RETURN QUERY SELECT * FROM t;
  RETURN QUERY EXECUTE 'SELECT a + 1, b FROM t';
  RETURN NEXT (SELECT t FROM t);
  PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN NULL;
END $$;
BEGIN;
SELECT length(x) FROM texts() x;
SELECT a, length(b), b = long(1) AS right FROM rows();
COMMIT;
DROP FUNCTION add, texts, rows;
DROP TABLE t;
-- ... or the savepoint, in a portal that was opened before.
CREATE TEMP TABLE t (a int, b text);
CREATE FUNCTION opened(query text) RETURNS refcursor LANGUAGE plpgsql AS $$
DECLARE c refcursor := 'c'; BEGIN OPEN c FOR EXECUTE query; RETURN c; END $$;
CREATE FUNCTION two_of(c refcursor) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  FOR i IN 1 .. 2 LOOP
    FETCH c INTO r;
    RETURN NEXT r.a || ' ' || length(r.b) || ' ' || (r.b = long(r.a));
  END LOOP;
END $$;
BEGIN;
SELECT opened('UPDATE t SET b = b RETURNING a, b');
SAVEPOINT one;
INSERT INTO t SELECT g, long(g) FROM generate_series(1, 3) g;
MOVE 1 FROM c;
ROLLBACK TO one;
SELECT * FROM two_of('c');
ROLLBACK;
BEGIN;
SELECT opened('WITH w AS (UPDATE t SET b = b RETURNING *) SELECT * FROM w');
SAVEPOINT one;
INSERT INTO t SELECT g, long(g) FROM generate_series(1, 3) g;
MOVE 1 FROM c;
ROLLBACK TO one;
SELECT * FROM two_of('c');
ROLLBACK;
DROP FUNCTION opened, two_of;
DROP TABLE t;

-- Statements that fail.
CREATE TEMP TABLE t (a int PRIMARY KEY, b text CHECK (b <> 'bad'));
INSERT INTO t SELECT g, CASE g WHEN 3 THEN 'bad' ELSE long(g) END FROM generate_series(1, 3) g;
SELECT * FROM look('t');
INSERT INTO t VALUES (1, long(1)), (1, long(1));
SELECT * FROM look('t');
BEGIN READ ONLY;
INSERT INTO t VALUES (1, long(1));
SELECT toast FROM look('t');
COMMIT;
DROP TABLE t;
-- ... for want of memory.
CREATE TEMP TABLE t (a int, b text);
SET temp_memory_catalog_limit = '64kB';
\set VERBOSITY terse
DO $$
DECLARE
  n int := 0;
BEGIN
  LOOP
    BEGIN
      EXECUTE format('CREATE TEMP TABLE more%s (a int)', n);
    EXCEPTION WHEN configuration_limit_exceeded THEN EXIT;
    END;
    n := n + 1;
  END LOOP;
END $$;
INSERT INTO t SELECT g, long(g) FROM generate_series(1, 2) g;
\set VERBOSITY default
RESET temp_memory_catalog_limit;
SELECT * FROM look('t');
INSERT INTO t SELECT g, long(g) FROM generate_series(1, 2) g;
SELECT * FROM look('t');
DISCARD TEMP;
SELECT toasts();

-- ON COMMIT, TRUNCATE.
CREATE TEMP TABLE t (a int, b text) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO t VALUES (1, long(1));
SELECT * FROM look('t');
COMMIT;
SELECT * FROM look('t');
BEGIN;
INSERT INTO t VALUES (2, long(2));
SELECT * FROM look('t');
COMMIT;
SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 't'::regclass;
DROP TABLE t;
BEGIN;
CREATE TEMP TABLE t (a int, b text) ON COMMIT DROP;
INSERT INTO t VALUES (1, long(1));
SELECT * FROM look('t');
COMMIT;
SELECT toasts();
CREATE TEMP TABLE t (a int, b text);
BEGIN;
INSERT INTO t VALUES (1, long(1));
TRUNCATE t;
SAVEPOINT one;
INSERT INTO t VALUES (2, long(2));
TRUNCATE t;
INSERT INTO t VALUES (3, long(3));
ROLLBACK TO one;
INSERT INTO t VALUES (4, long(4));
COMMIT;
SELECT * FROM look('t');
DROP TABLE t;

-- Other owners, other places.
CREATE ROLE regress_temp_owner;
CREATE ROLE regress_temp_writer;
GRANT ALL ON SCHEMA public TO regress_temp_owner, regress_temp_writer;
SET ROLE regress_temp_owner;
CREATE TEMP TABLE t (a int, b text);
GRANT INSERT ON t TO regress_temp_writer;
SET ROLE regress_temp_writer;
INSERT INTO t VALUES (1, long(1));
RESET ROLE;
SELECT * FROM look('t');
SELECT c.relowner = k.relowner, c.relowner::regrole FROM pg_class c JOIN pg_class k ON k.oid = c.reltoastrelid WHERE c.oid = 't'::regclass;
DROP TABLE t;
REVOKE ALL ON SCHEMA public FROM regress_temp_owner, regress_temp_writer;
DROP ROLE regress_temp_owner, regress_temp_writer;

-- A table that has moved to the real catalogs makes its toast table there ...
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
CREATE VIEW pg_temp.v AS SELECT * FROM t;
SELECT * FROM look('t');
INSERT INTO t VALUES (1, 'x');
BEGIN;
SAVEPOINT one;
INSERT INTO t VALUES (2, long(2));
SELECT * FROM look('t');
ROLLBACK TO one;
SELECT * FROM look('t');
UPDATE t SET b = long(a);
COMMIT;
SELECT * FROM look('t');
DROP TABLE t CASCADE;
-- ... a rewrite, too ...
CREATE TEMP TABLE t (a int PRIMARY KEY, b text STORAGE PLAIN);
INSERT INTO t SELECT g, long(g, 3000) FROM generate_series(1, 4) g;
CREATE VIEW pg_temp.v AS SELECT a FROM t;
ALTER TABLE t ALTER b SET STORAGE EXTERNAL;
SELECT toast, outside FROM look('t');
VACUUM FULL t;
SELECT * FROM look('t');
DROP TABLE t CASCADE;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
CREATE VIEW pg_temp.v AS SELECT a FROM t;
INSERT INTO t VALUES (1, 'x');
ALTER TABLE t ALTER b TYPE text USING long(1);
SELECT * FROM look('t');
DROP TABLE t CASCADE;
-- ... or takes it along, or moves in the transaction that made it.
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t VALUES (1, long(1));
BEGIN;
CREATE VIEW pg_temp.v AS SELECT * FROM t;
SELECT * FROM look('t');
ROLLBACK;
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
BEGIN;
CREATE VIEW pg_temp.v AS SELECT * FROM t;
INSERT INTO t VALUES (1, long(1));
SELECT * FROM look('t');
ROLLBACK;
SELECT * FROM look('t');
INSERT INTO t VALUES (1, long(1));
SELECT * FROM look('t');
DROP TABLE t;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t VALUES (1, 'x');
CREATE TEMP TABLE child (c int) INHERITS (t);
INSERT INTO child VALUES (2, long(2));
UPDATE t SET b = b || long(1);
SELECT * FROM look('t');
SELECT toast, in_memory, outside FROM look('child');
DROP TABLE t CASCADE;
SELECT toasts();

-- The toaster's work of stock: values out of line are taken over, shared, fetched in slices.
CREATE TEMP TABLE one (a int, b text);
CREATE TEMP TABLE two (LIKE one INCLUDING ALL);
INSERT INTO one VALUES (1, long(1)), (2, 'x');
INSERT INTO two SELECT * FROM one;
SELECT * FROM look('two');
UPDATE two SET a = a + 1;
SELECT substr(b, 5000, 10) = substr(long(1), 5000, 10) FROM two WHERE a = 2;
INSERT INTO two SELECT a, b FROM one WHERE a = 2;
DELETE FROM one;
SELECT * FROM look('two');
SELECT * FROM verify_heapam('two', check_toast => true);
DROP TABLE one, two;

SELECT toasts();
DROP FUNCTION look, long, toasts;
DROP EXTENSION amcheck;
