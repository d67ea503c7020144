--
-- No heavyweight lock on own temporary relations, nor on what belongs to them.
--
CREATE VIEW locks AS
  SELECT locktype, mode, count(*)
  FROM pg_locks
  WHERE pid = pg_backend_pid()
    AND locktype NOT IN ('virtualxid', 'transactionid')
    AND NOT (locktype = 'relation' AND relation < 16384)
    AND NOT (locktype = 'relation' AND relation::regclass::text = 'locks')
  GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TABLE permanent (a int);

-- What a lock looks like, to see that the view sees them.
BEGIN;
LOCK TABLE permanent IN SHARE MODE;
TABLE locks;
COMMIT;

-- The first temporary table makes the schema, and finds no need for locks.
BEGIN;
CREATE TEMP TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text DEFAULT 'x' CHECK (name <> ''), amount numeric NOT NULL);
CREATE INDEX ON t (name);
INSERT INTO t (amount) VALUES (1), (2);
ANALYZE t;
COMMENT ON COLUMN t.name IS 'a name';
TABLE locks;
COMMIT;

BEGIN;
SELECT count(*) FROM t;
UPDATE t SET amount = 5 WHERE id = 1;
SELECT * FROM t ORDER BY id FOR UPDATE;
LOCK TABLE t IN ACCESS EXCLUSIVE MODE;
LOCK TABLE t IN SHARE MODE NOWAIT;
ALTER TABLE t ADD COLUMN extra int DEFAULT 7;
ALTER TABLE t ALTER amount TYPE bigint;
CREATE TEMP VIEW v AS SELECT * FROM t;
CREATE TEMP SEQUENCE s;
SELECT nextval('s');
TRUNCATE t;
REINDEX TABLE t;
CLUSTER t USING t_pkey;
TABLE locks;
SAVEPOINT one;
DROP TABLE t CASCADE;
CREATE TEMP TABLE t2 AS SELECT 1 AS a;
ROLLBACK TO one;
SELECT count(*) FROM t;
TABLE locks;
DROP SEQUENCE s;
DROP TABLE t CASCADE;
TABLE locks;
COMMIT;

-- Commands with transactions of their own.
CREATE TEMP TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t SELECT g, repeat('x', g) FROM generate_series(1, 1000) g;
DELETE FROM t WHERE a > 100;
VACUUM t;
VACUUM FULL t;
VACUUM (ANALYZE) t;
CREATE INDEX CONCURRENTLY t_b ON t (b);
REINDEX INDEX CONCURRENTLY t_b;
DROP INDEX CONCURRENTLY t_b;
TABLE locks;
DROP TABLE t;

-- An error in VACUUM leaves nothing behind.
CREATE TEMP TABLE t (a int);
CREATE FUNCTION fails(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
  AS $$ BEGIN IF $1 > 1 THEN RAISE 'fails'; END IF; RETURN $1; END $$;
CREATE INDEX ON t (fails(a));
INSERT INTO t VALUES (1);
CREATE OR REPLACE FUNCTION fails(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
  AS $$ BEGIN RAISE 'fails'; END $$;
VACUUM FULL t;
TABLE locks;
DROP FUNCTION fails CASCADE;
VACUUM FULL t;
TABLE t;
DROP TABLE t;

-- PREPARE TRANSACTION refuses as ever, whatever was done to the table.
BEGIN;
CREATE TEMP TABLE t (a int);
PREPARE TRANSACTION 'p';
CREATE TEMP TABLE t (a int);
BEGIN;
LOCK TABLE t;
PREPARE TRANSACTION 'p';
BEGIN;
DROP TABLE t;
PREPARE TRANSACTION 'p';

-- A child of a permanent table is met by others: its locks are real, those
-- that were skipped before it became one included.
BEGIN;
CREATE TEMP TABLE child () INHERITS (permanent);
SELECT mode FROM pg_locks WHERE relation = 'child'::regclass ORDER BY 1;
COMMIT;
BEGIN;
SELECT count(*) FROM child;
SELECT mode FROM pg_locks WHERE relation = 'child'::regclass;
ROLLBACK;
BEGIN;
CREATE TEMP TABLE top (a int);
CREATE TEMP TABLE below () INHERITS (top);
SELECT mode FROM pg_locks WHERE relation IN ('top'::regclass, 'below'::regclass);
ALTER TABLE top INHERIT permanent;
SELECT relation::regclass, mode FROM pg_locks
  WHERE relation IN ('top'::regclass, 'below'::regclass) ORDER BY 1, 2;
COMMIT;
DROP TABLE top, below, child;
-- ... for the whole transaction, if it is a savepoint that makes it one.
CREATE TEMP TABLE top (a int);
CREATE TEMP TABLE below (b int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED) INHERITS (top);
BEGIN;
LOCK TABLE below;
INSERT INTO below (b) VALUES (1), (1);
SAVEPOINT one;
ALTER TABLE top INHERIT permanent;
ROLLBACK TO one;
SELECT mode FROM pg_locks WHERE relation = 'below'::regclass AND mode ~ 'Exclusive' ORDER BY 1;
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
DROP TABLE top, below;

-- The record of locks comes and goes with the transaction, however large.
DO $$
BEGIN
  FOR i IN 1 .. least(400, current_setting('plimsoll_temp.rounds', true)::int) LOOP
    EXECUTE format('CREATE TEMP TABLE many_%s (a int PRIMARY KEY)', i);
  END LOOP;
END $$;
BEGIN;
DO $$
BEGIN
  FOR i IN 1 .. least(400, current_setting('plimsoll_temp.rounds', true)::int) LOOP
    EXECUTE format('INSERT INTO many_%s VALUES (1)', i);
  END LOOP;
END $$;
TABLE locks;
COMMIT;
DISCARD TEMP;

DROP VIEW locks;
DROP TABLE permanent;
