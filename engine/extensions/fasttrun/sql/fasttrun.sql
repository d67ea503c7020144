-- What fasttruncate() empties, and what it leaves as it is.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fasttrun;
RESET client_min_messages;

-- every kind of index, and values that lie in the TOAST table
CREATE TEMP TABLE tt1 (id int PRIMARY KEY, name text, tags int[], place point, body text);
ALTER TABLE tt1 ALTER body SET STORAGE EXTERNAL;
CREATE INDEX tt1_hash ON tt1 USING hash (name);
CREATE INDEX tt1_gin ON tt1 USING gin (tags);
CREATE INDEX tt1_gist ON tt1 USING gist (place);
CREATE INDEX tt1_spgist ON tt1 USING spgist (place);
CREATE INDEX tt1_brin ON tt1 USING brin (id);
CREATE INDEX tt1_part ON tt1 (lower(name)) WHERE id > 0;

CREATE FUNCTION pg_temp.fill(rows int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO tt1 SELECT g, 'Name ' || g, ARRAY[g, g + 1], point(g, g), repeat('x', 5000)
	FROM generate_series(1, rows) g
$$;

-- asks each index; a column for each
CREATE FUNCTION pg_temp.found(OUT pkey bigint, OUT hash bigint, OUT gin bigint, OUT gist bigint, OUT brin bigint,
	OUT part bigint, OUT length int) LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN
	SELECT count(*), max(octet_length(body)) INTO pkey, length FROM tt1 WHERE id = 7;
	SELECT count(*) INTO hash FROM tt1 WHERE name = 'Name 7';
	SELECT count(*) INTO gin FROM tt1 WHERE tags @> ARRAY[7];
	SELECT count(*) INTO gist FROM tt1 WHERE place <@ box '(6.5,6.5),(7.5,7.5)';
	SELECT count(*) INTO brin FROM tt1 WHERE id BETWEEN 7 AND 8;
	SELECT count(*) INTO part FROM tt1 WHERE lower(name) = 'name 7' AND id > 0;
END $$;

-- the storage of the table, of its TOAST table and of the indexes
CREATE FUNCTION pg_temp.storage() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(pg_relation_filenode(c.oid)::text, ' ' ORDER BY c.oid) FROM pg_class c
	WHERE c.oid = 'tt1'::regclass OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'tt1'::regclass)
		OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'tt1'::regclass)
$$;

SELECT pg_temp.fill(500);
ANALYZE tt1;
SELECT * FROM pg_temp.found();
SELECT pg_temp.storage() AS storage, ctid AS row FROM pg_class WHERE oid = 'tt1'::regclass \gset
SELECT fasttruncate('tt1');
SELECT count(*) FROM tt1;
SELECT * FROM pg_temp.found();
SELECT pg_relation_size('tt1') AS heap, pg_relation_size(reltoastrelid) AS toast,
       pg_relation_size('tt1_pkey') > 0 AS meta
  FROM pg_class WHERE oid = 'tt1'::regclass;

-- nothing new in the catalogs, and no count of rows that are gone
SELECT pg_temp.storage() = :'storage' AS same_files, ctid = :'row' AS same_row, relpages, reltuples, relhasindex
  FROM pg_class WHERE oid = 'tt1'::regclass;
SELECT relname, reltuples FROM pg_class WHERE oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'tt1'::regclass)
  AND reltuples > 0;
EXPLAIN (COSTS on) SELECT * FROM tt1;

-- it can be filled again, and its constraints hold
SELECT pg_temp.fill(100);
SELECT * FROM pg_temp.found();
INSERT INTO tt1 (id) VALUES (7) ON CONFLICT DO NOTHING RETURNING id;
SELECT fasttruncate('tt1');
SELECT fasttruncate('tt1');
INSERT INTO tt1 (id) VALUES (7);
SELECT count(*) FROM tt1;

-- names: folded, quoted, qualified, found on the search path
SELECT fasttruncate('TT1');
INSERT INTO tt1 (id) VALUES (1);
SELECT fasttruncate(' pg_temp . "tt1" ');
SELECT count(*) FROM tt1;
CREATE TEMP TABLE "Mixed ""Name""" (a int);
INSERT INTO "Mixed ""Name""" VALUES (1);
SELECT fasttruncate('"Mixed ""Name"""');
SELECT count(*) FROM "Mixed ""Name""";
CREATE TABLE dual (a int);
INSERT INTO dual VALUES (1);
CREATE TEMP TABLE dual (a int);
INSERT INTO dual VALUES (2);
SELECT fasttruncate('dual');
SELECT (SELECT count(*) FROM public.dual) AS permanent, (SELECT count(*) FROM pg_temp.dual) AS temporary;
DROP TABLE pg_temp.dual, public.dual;
SELECT fasttruncate(NULL) IS NULL AS strict;

-- a rollback brings nothing back
SELECT pg_temp.fill(10);
BEGIN;
SELECT fasttruncate('tt1');
SELECT pg_temp.fill(20);
ROLLBACK;
SELECT count(*) FROM tt1;
SELECT pg_temp.fill(10);
BEGIN;
INSERT INTO tt1 (id) VALUES (1000);
SAVEPOINT s;
SELECT fasttruncate('tt1');
INSERT INTO tt1 (id) VALUES (7);
ROLLBACK TO s;
SELECT count(*) FROM tt1;
INSERT INTO tt1 (id, name) VALUES (7, 'Name 7');
COMMIT;
SELECT * FROM pg_temp.found();

-- ... not even after a TRUNCATE, for the older storage is not the one it empties
BEGIN;
TRUNCATE tt1;
INSERT INTO tt1 (id) VALUES (8);
SELECT fasttruncate('tt1');
ROLLBACK;
SELECT count(*) FROM tt1;

-- in functions, again and again, with an exception on the way
CREATE FUNCTION pg_temp.cycle(turns int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
	FOR i IN 1..turns LOOP
		PERFORM fasttruncate('tt1');
		PERFORM pg_temp.fill(i);
		BEGIN
			INSERT INTO tt1 (id) VALUES (1);
		EXCEPTION WHEN unique_violation THEN
			CONTINUE WHEN i % 2 = 0;
			PERFORM fasttruncate('tt1');
			PERFORM pg_temp.fill(i);
		END;
	END LOOP;
	RETURN count(*) FROM tt1;
END $$;
SELECT pg_temp.cycle(50);
SELECT * FROM pg_temp.found();

-- a prepared statement goes on
PREPARE count_it AS SELECT count(*) FROM tt1 WHERE id > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE count_it(0);
SELECT fasttruncate('tt1');
EXECUTE count_it(0);
SELECT pg_temp.fill(3);
EXECUTE count_it(0);
RESET plan_cache_mode;

-- what a holdable cursor has read stays read
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM tt1 ORDER BY id;
COMMIT;
SELECT fasttruncate('tt1');
FETCH ALL FROM held;
CLOSE held;

-- a table that the end of the transaction empties, and one that it drops
CREATE TEMP TABLE kept (a int PRIMARY KEY) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO kept VALUES (1);
SELECT fasttruncate('kept');
INSERT INTO kept VALUES (1);
SELECT count(*) FROM kept;
COMMIT;
SELECT fasttruncate('kept');
BEGIN;
CREATE TEMP TABLE dropped (a int PRIMARY KEY, b text) ON COMMIT DROP;
INSERT INTO dropped VALUES (1, 'x');
SELECT fasttruncate('dropped');
INSERT INTO dropped VALUES (1, 'y');
SELECT * FROM dropped;
COMMIT;

-- only the table that is named, not those that inherit from it
CREATE TEMP TABLE parent (a int);
CREATE TEMP TABLE child () INHERITS (parent);
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (2);
SELECT fasttruncate('parent');
SELECT tableoid::regclass, a FROM parent;
SELECT fasttruncate('child');
SELECT count(*) FROM parent;

-- a foreign key to itself is no obstacle
CREATE TEMP TABLE tree (id int PRIMARY KEY, up int REFERENCES tree);
INSERT INTO tree VALUES (1, NULL), (2, 1);
SELECT fasttruncate('tree');
SELECT count(*) FROM tree;

-- the statistics of the session count it as TRUNCATE
SELECT pg_temp.fill(50);
SELECT fasttruncate('tt1');
SELECT pg_stat_force_next_flush();
SELECT n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE relid = 'tt1'::regclass;

DISCARD TEMP;
