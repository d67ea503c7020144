-- What fasttruncate() refuses, and how it says so.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE EXTENSION IF NOT EXISTS fasttrun;
CREATE TABLE permanent (a int);
CREATE UNLOGGED TABLE unlogged (a int);
CREATE TEMP TABLE tt (id int PRIMARY KEY, n int);
INSERT INTO tt VALUES (1, 1), (2, 2);
CREATE TEMP VIEW tv AS SELECT * FROM tt;
CREATE TEMP SEQUENCE ts;
CREATE TEMP TABLE parts (a int) PARTITION BY LIST (a);
CREATE TEMP TABLE part1 PARTITION OF parts FOR VALUES IN (1);
CREATE MATERIALIZED VIEW mv AS SELECT 1 AS a;

-- not a temporary table
SELECT fasttruncate('permanent');
SELECT fasttruncate('public.permanent');
SELECT fasttruncate('unlogged');
SELECT fasttruncate('pg_class');
SELECT fasttruncate('tv');
SELECT fasttruncate('ts');
SELECT fasttruncate('tt_pkey');
SELECT fasttruncate('mv');
SELECT fasttruncate('parts');

-- a partition is a table
INSERT INTO parts VALUES (1);
SELECT fasttruncate('part1');
SELECT count(*) FROM parts;

-- no such table, no such schema, no name
SELECT fasttruncate('missing');
SELECT fasttruncate('pg_temp.missing');
SELECT fasttruncate('nowhere.tt');
SELECT fasttruncate('Tt"');
SELECT fasttruncate('"tt');
SELECT fasttruncate('');
SELECT fasttruncate('tt,tt');
SELECT fasttruncate('a.b.c.d');
SELECT fasttruncate('pg_temp..tt');

-- a lock is not left behind on what it refuses
BEGIN;
SAVEPOINT s;
SELECT fasttruncate('permanent');
ROLLBACK TO s;
SELECT count(*) FROM pg_locks WHERE relation = 'permanent'::regclass;
COMMIT;

-- rows that are being read
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM tt ORDER BY id;
FETCH c;
SAVEPOINT s;
SELECT fasttruncate('tt');
ROLLBACK TO s;
FETCH c;
CLOSE c;
COMMIT;
SELECT fasttruncate('tt') FROM tt;
CREATE FUNCTION pg_temp.from_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	PERFORM fasttruncate('tt');
	RETURN NEW;
END $$;
CREATE TRIGGER emptied AFTER UPDATE ON tt FOR EACH ROW EXECUTE FUNCTION pg_temp.from_trigger();
UPDATE tt SET n = 3;
DROP TRIGGER emptied ON tt;

-- events that wait for the end of the transaction
CREATE FUNCTION pg_temp.nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON tt INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
BEGIN;
INSERT INTO tt VALUES (3, 3);
SELECT fasttruncate('tt');
ROLLBACK;
DROP TRIGGER later ON tt;

-- rows of other tables that refer to it
CREATE TEMP TABLE refers (id int REFERENCES tt);
INSERT INTO refers VALUES (1);
SELECT fasttruncate('tt');
SELECT fasttruncate('refers');
DROP TABLE refers;

-- a role that may not TRUNCATE
CREATE ROLE regress_fasttrun;
GRANT SELECT, INSERT, UPDATE, DELETE ON tt TO regress_fasttrun;
SET ROLE regress_fasttrun;
SELECT fasttruncate('tt');
RESET ROLE;
GRANT TRUNCATE ON tt TO regress_fasttrun;
SET ROLE regress_fasttrun;
SELECT fasttruncate('tt');
RESET ROLE;

-- an empty table has nothing that could be in use
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM tt;
SELECT fasttruncate('tt');
COMMIT;
INSERT INTO tt VALUES (1, 1);
SELECT count(*) FROM tt;

DROP TABLE permanent, unlogged;
DROP MATERIALIZED VIEW mv;
DISCARD TEMP;
DROP ROLE regress_fasttrun;
