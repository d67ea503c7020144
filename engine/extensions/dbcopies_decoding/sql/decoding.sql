-- The records of transactions. Servers since 18.6 must be told that the plugin may be used.
DO $$ BEGIN
	PERFORM set_config(name, 'dbcopies_decoding', false) FROM pg_settings WHERE name = 'output_plugin_libraries';
END $$;
SET synchronous_commit = on;
SELECT 'made' FROM pg_create_logical_replication_slot('copies', 'dbcopies_decoding');
CREATE FUNCTION changes(VARIADIC options text[] DEFAULT '{include-xids,off}') RETURNS SETOF text LANGUAGE sql AS $$
	SELECT data FROM pg_logical_slot_get_changes('copies', NULL, NULL, VARIADIC options)
$$;

CREATE TABLE reference12 (id int PRIMARY KEY, name text, n numeric);
INSERT INTO reference12 VALUES (1, 'one', 1.50), (2, NULL, NULL);
SELECT changes();
UPDATE reference12 SET n = n + 1 WHERE id = 1;
UPDATE reference12 SET id = 3 WHERE id = 2;
DELETE FROM reference12 WHERE id = 1;
SELECT changes();

-- what a DELETE tells depends on the replica identity
ALTER TABLE reference12 REPLICA IDENTITY FULL;
INSERT INTO reference12 VALUES (4, 'four', NULL);
DELETE FROM reference12 WHERE id = 4;
SELECT changes();
ALTER TABLE reference12 REPLICA IDENTITY NOTHING;
DELETE FROM reference12;
SELECT changes();
ALTER TABLE reference12 REPLICA IDENTITY DEFAULT;

-- one record for a TRUNCATE; names stand as they are
CREATE TABLE "Mixed Name" (a int);
INSERT INTO "Mixed Name" VALUES (1);
TRUNCATE reference12, "Mixed Name";
SELECT changes();

-- nothing of transactions that change nothing, of rollbacks, of temporary and unlogged tables, of messages
CREATE TEMP TABLE temp (a int);
INSERT INTO temp VALUES (1);
CREATE UNLOGGED TABLE unlogged (a int);
INSERT INTO unlogged VALUES (1);
BEGIN;
INSERT INTO reference12 VALUES (5);
ROLLBACK;
SELECT 'sent' FROM pg_logical_emit_message(true, 'prefix', 'message');
SELECT changes();
BEGIN;
INSERT INTO reference12 VALUES (6);
SAVEPOINT s;
INSERT INTO reference12 VALUES (7);
ROLLBACK TO s;
INSERT INTO reference12 VALUES (8);
COMMIT;
SELECT changes();

-- columns that were dropped, added, generated
ALTER TABLE reference12 DROP COLUMN name;
ALTER TABLE reference12 ADD COLUMN twice int GENERATED ALWAYS AS (id * 2) STORED;
INSERT INTO reference12 (id) VALUES (9);
ALTER TABLE reference12 ALTER COLUMN n TYPE text;
INSERT INTO reference12 (id, n) VALUES (10, 'ten');
SELECT changes();

-- COPY, INSERT … ON CONFLICT, and rows that one statement changes in two tables
COPY reference12 (id) FROM STDIN;
11
12
\.
INSERT INTO reference12 (id) VALUES (11) ON CONFLICT (id) DO UPDATE SET n = 'conflict';
WITH d AS (DELETE FROM reference12 WHERE id = 12 RETURNING id) INSERT INTO "Mixed Name" SELECT id FROM d;
SELECT changes();

-- with transaction IDs, which is the default: the same one for all
INSERT INTO reference12 (id) VALUES (20), (21);
SELECT count(*), count(DISTINCT substr(data, 3)) FILTER (WHERE data ~ '^[BC] [0-9]+$') AS ids,
       bool_and(data = substr(data, 1, 2) || xid) FILTER (WHERE data ~ '^[BC]') AS its_own
  FROM pg_logical_slot_get_changes('copies', NULL, NULL);

-- a value in the TOAST table that does not change
CREATE TABLE toasted (id int PRIMARY KEY, n int, body text);
ALTER TABLE toasted ALTER body SET STORAGE EXTERNAL;
INSERT INTO toasted VALUES (1, 1, repeat('it''s ', 2000));
UPDATE toasted SET n = 2;
SELECT length(c), left(c, 40), right(c, 12) FROM changes() c;

-- a large transaction that is spilled to disk
SET logical_decoding_work_mem = '64kB';
INSERT INTO toasted SELECT g, g, 'x' FROM generate_series(2, 5000) g;
SELECT count(*), min(c), max(c) FROM changes() c;
RESET logical_decoding_work_mem;

SELECT pg_drop_replication_slot('copies');
DROP TABLE reference12, "Mixed Name", unlogged, toasted;
DROP FUNCTION changes;
