-- Statistics of temporary tables without ANALYZE: what the planner expects, row by row.
SET enable_temp_memory_catalog = on;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION expected(query text, what text = 'Plan Rows') RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> what;
END $$;
-- the rows of a table, the different values of a column, the rows where it is null
CREATE FUNCTION known(tab text, col text = 'a') RETURNS text LANGUAGE sql AS $$
  SELECT format('%s rows, %s values, %s null', expected('SELECT FROM ' || tab),
                expected(format('SELECT DISTINCT %I FROM %I', col, tab)),
                expected(format('SELECT FROM %I WHERE %I IS NULL', tab, col)))
$$;
CREATE FUNCTION near(n bigint, wanted bigint) RETURNS bool LANGUAGE sql AS $$
  SELECT n BETWEEN wanted * 0.9 AND wanted * 1.1
$$;

-- off, a table that was never analyzed has ten pages
CREATE TEMP TABLE t (a int, b text);
INSERT INTO t SELECT g % 7, 'x' FROM generate_series(1, 100) g;
SELECT expected('SELECT FROM t') > 1000 AS guessed;

-- on, what happened before is not known, until the table is emptied
SET temp_live_statistics = on;
INSERT INTO t SELECT g % 7, 'x' FROM generate_series(1, 100) g;
SELECT expected('SELECT FROM t') > 1000 AS guessed;
TRUNCATE t;
SELECT expected('SELECT FROM t') > 1000 AS guessed_while_empty;
INSERT INTO t SELECT nullif(g % 7, 0), 'x' FROM generate_series(1, 70) g;
SELECT known('t'), known('t', 'b');
SELECT reltuples, (SELECT count(*) FROM pg_statistic WHERE starelid = oid) AS columns
  FROM pg_class WHERE oid = 't'::regclass;

-- each way to write
INSERT INTO t VALUES (10, 'y'), (11, 'y');
SELECT known('t'), known('t', 'b');
COPY t FROM STDIN;
12	z
13	\N
\.
SELECT known('t'), known('t', 'b');
UPDATE t SET a = 20 WHERE a > 9;
SELECT known('t');
DELETE FROM t WHERE a IS NULL;
SELECT expected('SELECT FROM t');
MERGE INTO t USING generate_series(20, 21) g ON a = g WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (g);
SELECT count(*) = expected('SELECT FROM t') AS exact FROM t;
DELETE FROM t;
INSERT INTO t VALUES (1);
SELECT known('t'), known('t', 'b');
CREATE TEMP TABLE u (a int PRIMARY KEY, b int);
INSERT INTO u SELECT g, g % 3 FROM generate_series(1, 40) g;
INSERT INTO u SELECT g, 5 FROM generate_series(31, 50) g ON CONFLICT (a) DO UPDATE SET b = 5;
SELECT known('u'), known('u', 'b');
INSERT INTO u SELECT g, 6 FROM generate_series(1, 60) g ON CONFLICT DO NOTHING;
SELECT expected('SELECT FROM u');
CREATE TEMP TABLE ctas AS SELECT g AS a, repeat('long', 10) AS b FROM generate_series(1, 5000) g;
SELECT expected('SELECT FROM ctas'), near(expected('SELECT DISTINCT a FROM ctas'), 5000) AS different,
       known('ctas', 'b');
-- the width of what passes up, too
SELECT expected('SELECT b FROM ctas', 'Plan Width') AS width;

-- rollbacks
BEGIN;
INSERT INTO u SELECT g, 100 + g FROM generate_series(1001, 1100) g;
SELECT known('u', 'b');
SAVEPOINT one;
INSERT INTO u SELECT g, NULL FROM generate_series(2001, 2100) g;
SAVEPOINT two;
DELETE FROM u WHERE a < 2000;
SELECT expected('SELECT FROM u');
ROLLBACK TO two;
SELECT expected('SELECT FROM u'), expected('SELECT FROM u WHERE b IS NULL');
RELEASE two;
UPDATE u SET b = 7 WHERE a = 1;
ROLLBACK TO one;
SELECT known('u', 'b');
SAVEPOINT three;
INSERT INTO u VALUES (3001);
RELEASE three;
SELECT expected('SELECT FROM u');
ROLLBACK;
SELECT known('u'), known('u', 'b');
DO $$ BEGIN
  FOR i IN 1..50 LOOP
    BEGIN
      INSERT INTO u VALUES (100 + i);
      IF i % 2 = 0 THEN RAISE 'back'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;
INSERT INTO u SELECT 200 + g % 10 FROM generate_series(1, 20) g;
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;

-- TRUNCATE gives a table another storage, a rollback the former one
BEGIN;
TRUNCATE u;
INSERT INTO u VALUES (1), (2);
SELECT expected('SELECT FROM u');
SAVEPOINT s;
TRUNCATE u;
INSERT INTO u SELECT generate_series(1, 9);
SELECT expected('SELECT FROM u');
ROLLBACK TO s;
SELECT expected('SELECT FROM u');
ROLLBACK;
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;
-- cut in place: the storage is as new as the transaction; and no rollback brings rows back
BEGIN;
CREATE TEMP TABLE v (a int);
INSERT INTO v SELECT generate_series(1, 30);
SAVEPOINT s;
INSERT INTO v SELECT generate_series(1, 30);
TRUNCATE v;
INSERT INTO v VALUES (1);
SELECT expected('SELECT FROM v');
ROLLBACK TO s;
SELECT count(*) = expected('SELECT FROM v') AS exact FROM v;
TRUNCATE v;
INSERT INTO v VALUES (1), (2), (3);
COMMIT;
SELECT expected('SELECT FROM v');
CREATE TEMP TABLE w (a int) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO w SELECT generate_series(1, 30);
SELECT expected('SELECT FROM w');
COMMIT;
BEGIN;
INSERT INTO w SELECT generate_series(1, 5);
SELECT expected('SELECT FROM w');
SAVEPOINT s;
INSERT INTO w SELECT generate_series(1, 5);
ROLLBACK TO s;
SELECT expected('SELECT FROM w');
COMMIT;

-- commands that rewrite the table
ALTER TABLE u ALTER b TYPE bigint;
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;
ALTER TABLE u ADD COLUMN c int DEFAULT 5;
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;
INSERT INTO u VALUES (10001, 1, 2);
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;
ALTER TABLE u DROP COLUMN b;
INSERT INTO u VALUES (10002, 1);
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;
-- CLUSTER counts itself, and is not followed
CLUSTER u USING u_pkey;
SELECT count(*) = expected('SELECT FROM u') AS exact FROM u;

-- ANALYZE wins until the table changes a lot
CREATE TEMP TABLE n (a int, b int);
INSERT INTO n SELECT g, CASE WHEN g <= 900 THEN 1 ELSE g END FROM generate_series(1, 1000) g;
SELECT expected('SELECT FROM n WHERE b = 1') < 100 AS evenly;
BEGIN;
ANALYZE n;
SELECT expected('SELECT FROM n WHERE b = 1');
ROLLBACK;
SELECT expected('SELECT FROM n WHERE b = 1') < 100 AS evenly;
ANALYZE n (b);
SELECT expected('SELECT FROM n WHERE b = 1'), near(expected('SELECT DISTINCT a FROM n'), 1000) AS of_the_other;
INSERT INTO n SELECT g, 1 FROM generate_series(1, 150) g;
SELECT near(expected('SELECT FROM n WHERE b = 1'), 1035) AS analyzed;
INSERT INTO n VALUES (1, 1);
SELECT expected('SELECT FROM n WHERE b = 1') < 100 AS evenly;
TRUNCATE n;
INSERT INTO n SELECT g, g FROM generate_series(1, 20) g;
SELECT known('n', 'b');

-- the first columns, the first rows and one in sixteen of the others
SELECT 'CREATE TEMP TABLE wide (' || string_agg('c' || g || ' int', ', ') || ')' FROM generate_series(1, 33) g \gexec
INSERT INTO wide (c1, c32, c33) SELECT g, g % 3, g % 3 FROM generate_series(1, 3000) g;
SELECT expected('SELECT DISTINCT c32 FROM wide') AS c32, expected('SELECT DISTINCT c33 FROM wide') AS c33;
CREATE TEMP TABLE big AS
  SELECT g AS a, g % 100 AS b, CASE WHEN g > 100000 THEN g % 1000 ELSE 1 END AS c, NULL::int AS d
  FROM generate_series(1, 300000) g;
SELECT expected('SELECT FROM big') AS rows, near(expected('SELECT DISTINCT a FROM big'), 300000) AS a,
       near(expected('SELECT DISTINCT b FROM big'), 100) AS b,
       expected('SELECT DISTINCT c FROM big') BETWEEN 50 AND 1100 AS c,
       expected('SELECT FROM big WHERE d IS NULL') AS d;

-- values of every kind
CREATE TEMP TABLE kinds (a name, b uuid, c numeric, d bytea, e text[], f timestamp, g bool, h float8, i text);
INSERT INTO kinds SELECT 'n' || g % 5, md5((g % 6)::text)::uuid, g % 7, decode(md5((g % 8)::text), 'hex'),
       ARRAY[(g % 9)::text], timestamp '2000-01-01' + g % 10 * interval '1 day', g % 2 = 0, g % 11, repeat('w', 3000) || g % 12
  FROM generate_series(1, 1000) g;
SELECT attname, expected(format('SELECT DISTINCT %I FROM kinds', attname))
  FROM pg_attribute WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attnum;
-- values out of line, and expanded ones
ALTER TABLE kinds ALTER i SET STORAGE EXTERNAL;
INSERT INTO kinds (i) SELECT repeat('w', 30000) || g FROM generate_series(1, 3) g;
CREATE TEMP TABLE moved AS SELECT i FROM kinds WHERE length(i) > 10000;
SELECT known('moved', 'i');
CREATE TEMP TABLE arrays (a int[]);
DO $$
DECLARE numbers int[] := '{}';
BEGIN
  FOR i IN 1..5 LOOP
    numbers[i] := i;
    INSERT INTO arrays VALUES (numbers);
  END LOOP;
END $$;
SELECT known('arrays');

-- joins of indexed temporary tables with a large one
CREATE TABLE register (key int, part int, amount int);
INSERT INTO register SELECT g / 10, g % 50, g FROM generate_series(0, 99999) g;
CREATE INDEX ON register (key);
ANALYZE register;
CREATE TEMP TABLE keys (key int);
CREATE INDEX ON keys (key);
CREATE TEMP TABLE parts (part int);
CREATE INDEX ON parts (part);
SET temp_live_statistics = off;
INSERT INTO keys SELECT g * 3 FROM generate_series(1, 300) g;
INSERT INTO parts SELECT g % 5 FROM generate_series(1, 50) g;
SELECT expected('SELECT FROM register JOIN keys USING (key)') > 10000 AS register_keys,
       expected('SELECT FROM register JOIN keys USING (key) JOIN parts USING (part)') > 100000 AS and_parts;
SET temp_live_statistics = on;
TRUNCATE keys, parts;
INSERT INTO keys SELECT g * 3 FROM generate_series(1, 300) g;
INSERT INTO parts SELECT g % 5 FROM generate_series(1, 50) g;
SELECT near(expected('SELECT FROM register JOIN keys USING (key)'), 3000) AS register_keys,
       near(expected('SELECT FROM register JOIN keys USING (key) JOIN parts USING (part)'), 3000) AS and_parts;
SELECT (SELECT count(*) FROM register JOIN keys USING (key)) AS register_keys,
       (SELECT count(*) FROM register JOIN keys USING (key) JOIN parts USING (part)) AS and_parts;
SET temp_live_statistics = off;
SELECT expected('SELECT FROM keys') > 1000 AS not_told;
SET temp_live_statistics = on;
SELECT expected('SELECT FROM keys') AS told;
-- what happens meanwhile is not counted
SET temp_live_statistics = off;
DELETE FROM keys WHERE key > 100;
SET temp_live_statistics = on;
SELECT expected('SELECT FROM keys') > 100 AS not_told;

-- a cached plan is made again when the table has become much larger, not before
SET plan_cache_mode = force_generic_plan;
CREATE TEMP TABLE cached (a int);
INSERT INTO cached VALUES (1);
PREPARE look AS SELECT count(*) FROM cached JOIN register ON key = a;
EXPLAIN (COSTS off) EXECUTE look;
SELECT generic_plans FROM pg_prepared_statements WHERE name = 'look';
INSERT INTO cached SELECT generate_series(2, 8);
EXPLAIN (COSTS off) EXECUTE look;
INSERT INTO cached SELECT generate_series(9, 9000);
EXPLAIN (COSTS off) EXECUTE look;
DEALLOCATE look;
RESET plan_cache_mode;

-- partitions, and children of permanent tables
CREATE TEMP TABLE parted (a int, b int) PARTITION BY RANGE (a);
CREATE TEMP TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TEMP TABLE parted2 PARTITION OF parted FOR VALUES FROM (100) TO (200);
INSERT INTO parted SELECT g, g % 4 FROM generate_series(1, 150) g;
UPDATE parted SET a = a + 60 WHERE a BETWEEN 60 AND 80;
SELECT expected('SELECT FROM parted1'), expected('SELECT FROM parted2'), expected('SELECT FROM parted');
CREATE TABLE parent (a int);
CREATE TEMP TABLE child () INHERITS (parent);
INSERT INTO child SELECT generate_series(1, 77);
SELECT known('child');

-- a table of another role
CREATE ROLE regress_statistics;
GRANT CREATE, TEMP ON DATABASE :"DBNAME" TO regress_statistics;
SET ROLE regress_statistics;
CREATE TEMP TABLE own (a int);
INSERT INTO own SELECT g % 4 FROM generate_series(1, 40) g;
RESET ROLE;
SELECT known('own');

-- nothing stays of tables that are gone
SELECT total_bytes < 1000000 AS little FROM pg_backend_memory_contexts WHERE name = 'Plimsoll temp statistics';
SELECT used_bytes AS before FROM pg_backend_memory_contexts WHERE name = 'Plimsoll temp statistics' \gset
DO $$ BEGIN
  FOR i IN 1..200 LOOP
    CREATE TEMP TABLE short AS SELECT g AS a, g AS b FROM generate_series(1, 200) g;
    BEGIN
      CREATE TEMP TABLE shorter AS SELECT g AS a FROM generate_series(1, 200) g;
      RAISE 'back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    TRUNCATE short;
    INSERT INTO short VALUES (1, 1);
    DROP TABLE short;
  END LOOP;
END $$;
SELECT used_bytes - :before < 10000 AS same FROM pg_backend_memory_contexts WHERE name = 'Plimsoll temp statistics';
DISCARD TEMP;
DROP TABLE parent, register;
DROP OWNED BY regress_statistics;
DROP ROLE regress_statistics;
DROP FUNCTION known, expected, near;
