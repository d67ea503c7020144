--
-- A transaction that wrote only temporary tables does not wait for the disk.
--
-- A backend that commits synchronously writes WAL out itself; one that does not
-- leaves that to the WAL writer.  (Whether it is synced then does not show
-- here: the tests' server runs with fsync off.)
CREATE FUNCTION wal_writes() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT sum(writes) FROM pg_stat_get_backend_io(pg_backend_pid())
          WHERE object = 'wal');
END $$;
CREATE PROCEDURE note_writes() LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.writes', wal_writes()::text, false);
END $$;
CREATE FUNCTION wrote() RETURNS bool LANGUAGE sql AS $$
  SELECT wal_writes() > current_setting('test.writes')::bigint
$$;
CREATE TABLE permanent (a int);
CREATE SEQUENCE numbers;

-- The first temporary table of a session makes its schema.
CREATE TEMP TABLE first (a int);

-- What has to be kept is written.
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
INSERT INTO permanent VALUES (1);
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();

-- What has not, is not; statement by statement.
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
CREATE TEMP TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text DEFAULT 'x' CHECK (name <> ''), amount numeric NOT NULL, body bytea);
CREATE INDEX ON t (name);
INSERT INTO t (name, amount)
  SELECT string_agg(md5(g * 1000 + i || ''), ''), g
  FROM generate_series(1, 300) g, generate_series(1, 30) i GROUP BY g;
COMMENT ON TABLE t IS 'a table';
-- statistics wide enough for the toast table of pg_statistic
ANALYZE t;
SELECT count(*) > 0 AS toasted FROM pg_statistic
  WHERE starelid = 't'::regclass AND pg_column_toast_chunk_id(stavalues1) IS NOT NULL;
UPDATE t SET amount = amount + 1;
ALTER TABLE t ADD COLUMN extra int DEFAULT 3;
ALTER TABLE t ALTER extra TYPE bigint;
ALTER TABLE t RENAME TO u;
VACUUM u;
VACUUM FULL u;
TRUNCATE u;
CREATE TEMP VIEW v AS SELECT id FROM u;
CREATE TEMP SEQUENCE s;
SELECT nextval('s');
DROP SEQUENCE s;
DROP TABLE u CASCADE;
BEGIN;
CREATE TEMP TABLE t (a int PRIMARY KEY, b text) ON COMMIT DROP;
SAVEPOINT one;
INSERT INTO t VALUES (1, 'x');
ROLLBACK TO one;
SELECT count(*) FROM permanent;
COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();

-- Many OIDs are logged on the way.
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
DO $$
BEGIN
  FOR i IN 1 .. least(1100, current_setting('plimsoll_temp.rounds', true)::int) LOOP
    CREATE TEMP TABLE t (a int PRIMARY KEY, b text, c text DEFAULT 'c');
    DROP TABLE t;
    COMMIT;
  END LOOP;
END $$;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();

-- A rolled-back catalog change counts until the transaction ends, no longer.
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN;
CREATE TEMP TABLE t (a int);
SAVEPOINT one;
INSERT INTO permanent VALUES (2);
ROLLBACK TO one;
COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
DROP TABLE t;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();

-- An error while a row is written leaves the next transaction alone.
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
CREATE TEMP TABLE t (a int, b int);
CREATE TEMP TABLE t (a int);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0), ADD CONSTRAINT c CHECK (b > 0);
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
INSERT INTO permanent VALUES (3);
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();

-- Everything else has to be kept, beside temporary tables as well.
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN; INSERT INTO t VALUES (1); INSERT INTO permanent VALUES (4); COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN; CREATE TEMP TABLE t2 (a int); SELECT nextval('numbers'); COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN; DROP TABLE t2; COMMENT ON TABLE permanent IS 'kept'; COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
CREATE TYPE pg_temp.mood AS ENUM ('good');
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN; CREATE TEMP TABLE t2 (a int); SELECT 1 FROM pg_logical_emit_message(true, 'a', 'b'); COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN; LOCK TABLE permanent; COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN; DROP TABLE t2; SELECT a FROM permanent WHERE a = 1 FOR UPDATE; COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
CREATE TEMP TABLE child () INHERITS (permanent);
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
SET synchronous_commit = off;
INSERT INTO permanent VALUES (5);
RESET synchronous_commit;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();

-- What a worker wrote counts, whatever its leader writes after it: here the
-- image of a page for its first hint bit.
CREATE FUNCTION in_worker(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS
  $$ BEGIN PERFORM pg_create_restore_point('by a worker'); RETURN $1; END $$;
CREATE FUNCTION in_leader(int) RETURNS bigint LANGUAGE plpgsql PARALLEL RESTRICTED AS
  $$ BEGIN RETURN (SELECT count(*) FROM fresh); END $$;
CREATE TABLE one (a int) WITH (parallel_workers = 2);
INSERT INTO one VALUES (1);
CREATE TABLE fresh (a int) WITH (parallel_workers = 0);
INSERT INTO fresh VALUES (1);
CHECKPOINT;
SET parallel_leader_participation = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT pg_stat_force_next_flush() \gset
CALL note_writes();
BEGIN;
CREATE TEMP TABLE t3 (a int);
INSERT INTO t3 VALUES (1);
SELECT in_leader(n) FROM (SELECT in_worker(a) AS n FROM one OFFSET 0) AS workers;
COMMIT;
SELECT pg_stat_force_next_flush() \gset
SELECT wrote();
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE one, fresh, t3;
DROP FUNCTION in_worker, in_leader;

DROP TYPE pg_temp.mood;
DROP TABLE child, t, first, permanent;
DROP SEQUENCE numbers;
DROP FUNCTION wrote, wal_writes;
DROP PROCEDURE note_writes;
