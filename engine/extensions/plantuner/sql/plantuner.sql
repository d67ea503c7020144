-- What the settings take from the planner.
LOAD 'plantuner';
SELECT name, setting, context FROM pg_settings WHERE name LIKE 'plantuner.%' ORDER BY name;

CREATE TABLE pt (id int NOT NULL, a int, b text);
CREATE UNIQUE INDEX pt_id ON pt (id);
CREATE INDEX pt_a ON pt (a);
CREATE INDEX pt_ab ON pt (a, b);
INSERT INTO pt SELECT g, g % 100, 'b' || g FROM generate_series(1, 2000) g;
ANALYZE pt;
CREATE TABLE other (a int);
CREATE INDEX other_a ON other (a);
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- what a query, or what is below its top, reads: an index, or the kind of scan
CREATE FUNCTION used(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	plan := coalesce(plan -> 0 -> 'Plan' -> 'Plans' -> 0, plan -> 0 -> 'Plan');
	RETURN coalesce(plan ->> 'Index Name', plan ->> 'Node Type');
END $$;

SELECT used('SELECT * FROM pt WHERE a = 1'), used('SELECT * FROM pt WHERE id = 1');
SET plantuner.disable_index = 'pt_a';
SELECT used('SELECT * FROM pt WHERE a = 1'), used('SELECT * FROM pt WHERE id = 1');
SET plantuner.disable_index = 'pt_a, public.pt_ab';
SELECT used('SELECT * FROM pt WHERE a = 1'), used('SELECT * FROM pt WHERE id = 1');

-- the former name counts as well, and enable_index takes back
SET plantuner.disable_index = 'pt_a';
SET plantuner.forbid_index = 'pt_ab';
SELECT used('SELECT * FROM pt WHERE a = 1');
SET plantuner.enable_index = 'pt_ab';
SELECT used('SELECT * FROM pt WHERE a = 1');
SHOW plantuner.disable_index;
SHOW plantuner.forbid_index;
RESET plantuner.enable_index;

-- only_index outranks all, in every table but the catalogs
SET plantuner.only_index = 'pt_a';
SELECT used('SELECT * FROM pt WHERE a = 1'), used('SELECT * FROM pt WHERE id = 1'),
       used('SELECT * FROM other WHERE a = 1'), used('SELECT oid FROM pg_class WHERE oid = 1');
RESET plantuner.only_index;
RESET plantuner.disable_index;
RESET plantuner.forbid_index;

-- a constraint does not ask the planner
SET plantuner.disable_index = 'pt_id';
INSERT INTO pt VALUES (1);
INSERT INTO pt VALUES (1) ON CONFLICT (id) DO NOTHING;
RESET plantuner.disable_index;

-- plans that are cached are made anew
PREPARE by_a AS SELECT count(*) FROM pt WHERE a = 1;
SET plan_cache_mode = force_generic_plan;
SELECT used('EXECUTE by_a');
SET plantuner.only_index = 'pt_a';
SELECT used('EXECUTE by_a');
RESET plantuner.only_index;
BEGIN;
SET LOCAL plantuner.disable_index = 'pt_a, pt_ab';
SELECT used('EXECUTE by_a');
ROLLBACK;
SELECT used('EXECUTE by_a');
RESET plan_cache_mode;

-- partitions: each has an index with a name of its own
CREATE TABLE parts (a int) PARTITION BY RANGE (a);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE INDEX parts_a ON parts (a);
SET plantuner.disable_index = 'parts_a';
SELECT used('SELECT * FROM parts WHERE a = 1');
SET plantuner.disable_index = 'parts1_a_idx';
SELECT used('SELECT * FROM parts WHERE a = 1');
RESET plantuner.disable_index;

-- a table without a page
CREATE FUNCTION estimated(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
CREATE TEMP TABLE empty (id int PRIMARY KEY, a int, tags int[]);
CREATE INDEX ON empty USING gin (tags);
CREATE INDEX ON empty USING hash (a);
CREATE INDEX ON empty USING brin (id);
SELECT estimated('SELECT * FROM empty') > 1000 AS guessed;
SET plantuner.fix_empty_table = on;
SELECT estimated('SELECT * FROM empty') AS all, estimated('SELECT * FROM empty WHERE id = 1') AS one,
       estimated('SELECT * FROM empty WHERE tags @> ARRAY[1]') AS gin,
       estimated('SELECT * FROM empty WHERE a = 1') AS hash,
       estimated('SELECT * FROM empty e JOIN pt USING (id)') AS joined;
SET enable_seqscan = on;
EXPLAIN SELECT id FROM empty;
INSERT INTO empty VALUES (1, 1, '{1}');
SELECT estimated('SELECT * FROM empty') > 1000 AS guessed;
DELETE FROM empty;
VACUUM empty;
SELECT estimated('SELECT * FROM empty') AS vacuumed;
SELECT estimated('SELECT * FROM pt') AS others;
SELECT estimated('SELECT * FROM parts') AS partitions, estimated('SELECT * FROM generate_series(1, 7)') AS functions;
RESET plantuner.fix_empty_table;

DROP TABLE pt, other, parts;
DROP FUNCTION used, estimated;
