-- Names of indexes that are not there, and lists that are none.
SET plantuner.disable_index = 'set before the library is there';
LOAD 'plantuner';
SHOW plantuner.disable_index;
SET plantuner.nothing = 1;

CREATE SCHEMA "Own";
CREATE TABLE nt (id int, a int);
CREATE TABLE "Own".nt (id int);
INSERT INTO nt SELECT g FROM generate_series(1, 1000) g;
INSERT INTO "Own".nt SELECT g FROM generate_series(1, 1000) g;
CREATE INDEX nt_id ON nt (id);
CREATE INDEX "N,t.""i" ON nt (a);
CREATE INDEX nt_id ON "Own".nt (id);
ANALYZE;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- the index that a query reads, or the kind of its scan
CREATE FUNCTION used(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	RETURN coalesce(plan ->> 'Index Name', plan ->> 'Node Type');
END $$;

-- who sets the list is told; the query is not
SET plantuner.disable_index = 'nt_id, missing, nowhere.nt_id, nt, pg_temp.x';
SELECT used('SELECT * FROM nt WHERE id = 1');
ALTER ROLE CURRENT_USER SET plantuner.disable_index = 'missing';
ALTER ROLE CURRENT_USER RESET plantuner.disable_index;

-- schemas and quotes
SET plantuner.disable_index = '"Own".nt_id';
SELECT used('SELECT * FROM nt WHERE id = 1');
SELECT used('SELECT * FROM "Own".nt WHERE id = 1');
SET plantuner.disable_index = '  NT_ID ,"N,t.""i"';
SELECT used('SELECT * FROM nt WHERE id = 1');
SELECT used('SELECT * FROM nt WHERE a = 1');
SELECT used('SELECT * FROM "Own".nt WHERE id = 1');
SET search_path = "Own", public;
SELECT used('SELECT * FROM public.nt WHERE id = 1');
SELECT used('SELECT * FROM "Own".nt WHERE id = 1');
RESET search_path;

-- a temporary index
CREATE TEMP TABLE tt AS SELECT g AS id FROM generate_series(1, 1000) g;
SET plantuner.disable_index = 'pg_temp.tt_id';
CREATE INDEX tt_id ON tt (id);
SELECT used('SELECT * FROM tt WHERE id = 1');
RESET plantuner.disable_index;
SELECT used('SELECT * FROM tt WHERE id = 1');

-- dropped, made again, renamed
SET plantuner.disable_index = 'nt_id';
DROP INDEX nt_id;
SELECT used('SELECT * FROM nt WHERE id = 1');
CREATE INDEX nt_id ON nt (id);
SELECT used('SELECT * FROM nt WHERE id = 1');
ALTER INDEX nt_id RENAME TO nt_new;
SELECT used('SELECT * FROM nt WHERE id = 1');
RESET plantuner.disable_index;

-- only_index: what is gone is passed over; when all are gone, the setting is, with one warning
SET plantuner.only_index = 'gone, nt_new';
SELECT used('SELECT * FROM nt WHERE id = 1');
DROP INDEX nt_new;
SELECT used('SELECT * FROM "Own".nt WHERE id = 1');
SELECT used('SELECT * FROM "Own".nt WHERE id = 1');
RESET plantuner.only_index;

-- a role that may not look into the schema may name it
CREATE ROLE regress_plantuner;
GRANT SELECT ON nt TO regress_plantuner;
SET ROLE regress_plantuner;
SET plantuner.disable_index = '"Own".nt_id, "Own".none';
SELECT count(*) FROM nt WHERE id = 1;
RESET ROLE;
RESET plantuner.disable_index;

-- not a list of names
SET plantuner.disable_index = 'a,,b';
SET plantuner.disable_index = ',a';
SET plantuner.disable_index = 'a b';
SET plantuner.disable_index = '"a';
SET plantuner.disable_index = 'a.b.c';
SET plantuner.disable_index = '"a".';
SET plantuner.disable_index = '""x';
SHOW plantuner.disable_index;
SET plantuner.disable_index = '   ';
SET plantuner.disable_index = '';

-- a name that is as long as names may be, and longer
DO $$ BEGIN PERFORM set_config('plantuner.disable_index', repeat('n', 100) || '.' || repeat('m', 100), false); END $$;
RESET plantuner.disable_index;

DROP FUNCTION used;
DROP TABLE nt, "Own".nt;
DROP SCHEMA "Own";
DROP ROLE regress_plantuner;
