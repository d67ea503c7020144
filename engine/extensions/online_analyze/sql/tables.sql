-- Which tables are analyzed.
LOAD 'online_analyze';
SET online_analyze.min_interval = 0;
CREATE FUNCTION pg_temp.rows(VARIADIC names text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(name || ' ' || reltuples, ', ' ORDER BY n)
	FROM unnest(names) WITH ORDINALITY AS u (name, n) JOIN pg_class ON oid = name::regclass
$$;
CREATE TABLE perm (a int) WITH (autovacuum_enabled = off);
CREATE UNLOGGED TABLE unlogged (a int) WITH (autovacuum_enabled = off);
CREATE TEMP TABLE temp (a int);

-- a permanent table has to pass the threshold
INSERT INTO perm SELECT generate_series(1, 49);
SELECT pg_stat_force_next_flush();
SELECT pg_temp.rows('perm');
BEGIN;
INSERT INTO perm VALUES (50);
SELECT pg_temp.rows('perm') AS together;
INSERT INTO perm SELECT generate_series(51, 104);
SELECT pg_temp.rows('perm') AS not_yet;
INSERT INTO perm VALUES (105);
SELECT pg_temp.rows('perm') AS again;
COMMIT;
SELECT pg_stat_force_next_flush();
INSERT INTO perm SELECT generate_series(106, 110);
SELECT pg_temp.rows('perm') AS next_transaction;
TRUNCATE perm;
INSERT INTO perm SELECT generate_series(1, 200);
SELECT pg_temp.rows('perm');

-- and the interval
SET online_analyze.min_interval = 3600000;
INSERT INTO perm SELECT generate_series(1, 200);
SELECT pg_temp.rows('perm');
SET online_analyze.min_interval = 0;

-- table_type
SET online_analyze.table_type = 'temporary';
INSERT INTO perm SELECT generate_series(1, 1000);
INSERT INTO unlogged SELECT generate_series(1, 1000);
INSERT INTO temp SELECT generate_series(1, 1000);
SELECT pg_temp.rows('perm', 'unlogged', 'temp');
SET online_analyze.table_type = 'persistent';
INSERT INTO perm SELECT generate_series(1, 1000);
INSERT INTO unlogged SELECT generate_series(1, 1000);
INSERT INTO temp SELECT generate_series(1, 1000);
SELECT pg_temp.rows('perm', 'unlogged', 'temp');
SET online_analyze.table_type = 'none';
INSERT INTO perm SELECT generate_series(1, 10000);
INSERT INTO temp SELECT generate_series(1, 10000);
SELECT pg_temp.rows('perm', 'temp');
SET online_analyze.table_type = 'some';

-- include_tables outranks exclude_tables and table_type; names need not exist
SET online_analyze.include_tables = 'missing, pg_temp.temp, "Mixed.Name"';
INSERT INTO perm SELECT generate_series(1, 10000);
INSERT INTO temp SELECT generate_series(1, 10000);
SELECT pg_temp.rows('perm', 'temp');
SET online_analyze.table_type = 'all';
SET online_analyze.exclude_tables = 'public.perm, temp';
INSERT INTO perm SELECT generate_series(1, 100000);
INSERT INTO temp SELECT generate_series(1, 100000);
SELECT pg_temp.rows('perm', 'temp');
RESET online_analyze.include_tables;
CREATE TEMP TABLE "Mixed.Name" (a int);
INSERT INTO "Mixed.Name" VALUES (1);
SET online_analyze.exclude_tables = '"Mixed.Name"';
INSERT INTO "Mixed.Name" SELECT generate_series(1, 1000);
SELECT pg_temp.rows('"Mixed.Name"');
RESET online_analyze.exclude_tables;
SET online_analyze.exclude_tables = 'a,,b';
SET online_analyze.include_tables = 'a.b.c';
SET online_analyze.nothing = 1;

-- partitions get their share of the rows; the parent has none; views, catalogs and others are left alone
CREATE TABLE parts (a int) PARTITION BY RANGE (a);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (1000) WITH (autovacuum_enabled = off);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT generate_series(970, 1029);
SELECT pg_temp.rows('parts1', 'parts2');
INSERT INTO parts SELECT generate_series(500, 1499);
SELECT pg_temp.rows('parts', 'parts1', 'parts2');
CREATE VIEW over AS SELECT * FROM perm;
TRUNCATE perm;
INSERT INTO over SELECT generate_series(1, 300);
SELECT pg_temp.rows('perm');
CREATE MATERIALIZED VIEW made AS SELECT * FROM perm;
SELECT pg_temp.rows('made');

-- a role that may insert but not analyze: no word of it
CREATE ROLE regress_online_analyze;
GRANT INSERT ON perm TO regress_online_analyze;
SET ROLE regress_online_analyze;
INSERT INTO perm SELECT generate_series(1, 3000);
CREATE TEMP TABLE theirs AS SELECT generate_series(1, 30) AS a;
SELECT relname, reltuples FROM pg_class WHERE relname IN ('perm', 'theirs') ORDER BY 1;
RESET ROLE;

DROP VIEW over;
DROP MATERIALIZED VIEW made;
DROP TABLE perm, unlogged, parts;
DISCARD TEMP;
DROP ROLE regress_online_analyze;
