--
-- No message about own temporary relations reaches the shared queue.
--
CREATE EXTENSION plimsoll_temp;

-- The first temporary table of a session makes its schema: that is news.
CREATE TEMP TABLE first (a int);
DROP TABLE first;

CREATE PROCEDURE note_messages() LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.messages', shared_invalidations()::text, false);
END $$;
CREATE FUNCTION messages_since() RETURNS bigint LANGUAGE sql AS $$
  SELECT shared_invalidations() - current_setting('test.messages')::bigint
$$;

-- The counter counts.
CALL note_messages();
CREATE TABLE permanent (a int);
SELECT messages_since() > 10 AS counted;
DROP TABLE permanent;

-- One cycle of everything a table may have, statement by statement.
CALL note_messages();
CREATE TEMP TABLE t (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" DEFAULT 'x' CHECK (name <> ''),
  amount numeric(15, 2) NOT NULL,
  at timestamp, body bytea, up text GENERATED ALWAYS AS (upper(name)) STORED);
CREATE INDEX t_name ON t (name, amount) INCLUDE (at) WHERE amount > 0;
CREATE UNIQUE INDEX t_expr ON t ((lower(name) || id));
INSERT INTO t (name, amount) SELECT 'n' || g, g FROM generate_series(1, 500) g;
COMMENT ON TABLE t IS 'a table';
COMMENT ON COLUMN t.name IS 'a name';
CREATE STATISTICS pg_temp.t_stat ON name, amount FROM t;
ANALYZE t;
VACUUM t;
SELECT count(*) FROM t WHERE name = 'n7';
ALTER TABLE t ADD COLUMN extra int DEFAULT 5;
ALTER TABLE t ALTER COLUMN extra TYPE bigint;
ALTER TABLE t RENAME COLUMN extra TO more;
ALTER TABLE t RENAME TO u;
ALTER TABLE u SET (fillfactor = 50);
ALTER TABLE u DROP COLUMN more;
TRUNCATE u;
REINDEX TABLE u;
CREATE TEMP TABLE child (LIKE u INCLUDING ALL);
CREATE TEMP TABLE copied AS SELECT * FROM u;
CREATE TEMP VIEW v AS SELECT id, name FROM u;
CREATE TEMP SEQUENCE s;
SELECT nextval('s');
CREATE TEMP TABLE referring (id int REFERENCES u (id) ON DELETE CASCADE);
CREATE TEMP TABLE parted (a int, b text) PARTITION BY LIST (a);
CREATE TEMP TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE INDEX ON parted (b);
INSERT INTO parted VALUES (1, 'one');
CREATE TEMP TABLE dropped (a text) ON COMMIT DROP;
CREATE TEMP TABLE emptied (a text PRIMARY KEY) ON COMMIT DELETE ROWS;
INSERT INTO emptied VALUES ('x');
DROP TABLE parted, referring, copied, child, emptied;
DROP SEQUENCE s;
DROP VIEW v;
DROP TABLE u;
SELECT messages_since() AS messages;

-- A transaction, its savepoints, and what they take back.
CALL note_messages();
BEGIN;
CREATE TEMP TABLE t (a int, b text DEFAULT 'b');
SAVEPOINT one;
ALTER TABLE t ADD COLUMN c int;
CREATE TEMP TABLE t2 (a int PRIMARY KEY);
ROLLBACK TO one;
INSERT INTO t VALUES (1);
TABLE t;
SELECT to_regclass('t2') IS NULL AS gone;
SAVEPOINT two;
DROP TABLE t;
ROLLBACK TO two;
TABLE t;
SAVEPOINT three;
ALTER TABLE t RENAME b TO bb;
RELEASE three;
COMMIT;
SELECT bb FROM t;
BEGIN;
DROP TABLE t;
ROLLBACK;
TABLE t;
DO $$
BEGIN
  FOR i IN 1 .. 20 LOOP
    BEGIN
      CREATE TEMP TABLE loop (a int, b text);
      INSERT INTO loop VALUES (i, 'x');
      IF i % 2 = 0 THEN
        RAISE EXCEPTION 'back';
      END IF;
      DROP TABLE loop;
    EXCEPTION WHEN raise_exception THEN
      NULL;
    END;
  END LOOP;
END $$;
SELECT to_regclass('loop') IS NULL AS gone;
DROP TABLE t;
SELECT messages_since() AS messages;

-- A row of anyone else's is still news, if only its name lies in our schema.
CALL note_messages();
CREATE TYPE pg_temp.mood AS ENUM ('good', 'bad');
SELECT messages_since() > 0 AS told;
CALL note_messages();
DROP TYPE pg_temp.mood;
SELECT messages_since() > 0 AS told;

-- So is a temporary table that inherits from a permanent one.
CREATE TABLE parent (a int);
CREATE TEMP TABLE child () INHERITS (parent);
CALL note_messages();
ALTER TABLE child ADD COLUMN b int;
SELECT messages_since() > 0 AS told;
CALL note_messages();
DROP TABLE child;
SELECT messages_since() > 0 AS told;
CREATE TEMP TABLE child (a int);
ALTER TABLE child INHERIT parent;
CALL note_messages();
DROP TABLE child;
SELECT messages_since() > 0 AS told;
DROP TABLE parent;

-- Messages that a session defers to itself outlive an error of the one before them.
CREATE TABLE failing (a int);
CREATE TABLE awaited (a int);
SELECT deferred_after_error('failing', 'awaited');
DROP TABLE failing, awaited;

DROP FUNCTION messages_since;
DROP PROCEDURE note_messages;
DROP EXTENSION plimsoll_temp;
