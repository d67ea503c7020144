--
-- What DDL on own temporary tables need not do, and must not leave undone.
--
SET enable_temp_memory_catalog = on;
CREATE ROLE regress_temp_owner;
CREATE ROLE regress_temp_reader;
CREATE VIEW hangs_on_objects AS
  SELECT 'comments' AS what, count(*) FROM pg_description WHERE objoid >= 16384
  UNION ALL
  SELECT 'roles', count(*) FROM pg_shdepend
  WHERE refobjid IN (SELECT oid FROM pg_roles WHERE rolname LIKE 'regress\_temp\_%');

-- Comments and roles go with the table, its columns and its parts.
SET ROLE regress_temp_owner;
CREATE TEMP TABLE t (id int CONSTRAINT t_key PRIMARY KEY, name text, extra int);
COMMENT ON TABLE t IS 'a table';
COMMENT ON COLUMN t.name IS 'a column';
COMMENT ON COLUMN t.extra IS 'another';
COMMENT ON INDEX t_key IS 'an index';
COMMENT ON CONSTRAINT t_key ON t IS 'a constraint';
GRANT SELECT ON t TO regress_temp_reader;
RESET ROLE;
SELECT ctid > '(3758096383,1)' AS in_memory FROM pg_class WHERE oid = 't'::regclass;
TABLE hangs_on_objects;
BEGIN;
ALTER TABLE t DROP COLUMN extra;
TABLE hangs_on_objects;
SAVEPOINT one;
DROP TABLE t;
TABLE hangs_on_objects;
ROLLBACK TO one;
TABLE hangs_on_objects;
COMMIT;
-- ... and from the real catalogs, when it has moved there.
CREATE TEMP TABLE parent (id int PRIMARY KEY);
CREATE TEMP TABLE moved (id int REFERENCES parent, name text);
COMMENT ON TABLE moved IS 'a table';
BEGIN;
COMMENT ON COLUMN moved.name IS 'a column';
CREATE VIEW pg_temp.on_moved AS SELECT * FROM moved;
TABLE hangs_on_objects;
DROP TABLE moved CASCADE;
TABLE hangs_on_objects;
COMMIT;
DROP TABLE t, parent;
TABLE hangs_on_objects;
DROP ROLE regress_temp_owner, regress_temp_reader;

-- Who listens is told what goes along.
CREATE TEMP TABLE t (a int, b int);
CREATE INDEX t_b ON t (b);
SET client_min_messages = debug2;
DROP TABLE t;
RESET client_min_messages;

-- Default operator classes: those of built-in types are remembered ...
CREATE DOMAIN label AS text;
CREATE TEMP TABLE t (a text, b label, c int, d money, e text[]);
CREATE INDEX t_a ON t (a);
CREATE INDEX t_a2 ON t (a, c, e);
CREATE INDEX t_b ON t (b);
CREATE INDEX t_hash ON t USING hash (a);
SELECT i.indexrelid::regclass, c.opcname
FROM pg_index i, unnest(i.indclass) WITH ORDINALITY u (class, n), pg_opclass c
WHERE i.indrelid = 't'::regclass AND c.oid = u.class ORDER BY i.indexrelid::regclass::text, u.n;
-- ... those of others come and go.
CREATE INDEX t_d ON t USING hash (d);
CREATE FUNCTION hash_money(money) RETURNS int LANGUAGE sql IMMUTABLE RETURN 1;
CREATE OPERATOR CLASS money_ops DEFAULT FOR TYPE money USING hash AS OPERATOR 1 =, FUNCTION 1 hash_money(money);
CREATE INDEX t_d ON t USING hash (d);
DROP INDEX t_d;
DROP OPERATOR FAMILY money_ops USING hash CASCADE;
CREATE INDEX t_d ON t USING hash (d);
DROP FUNCTION hash_money;
DROP TABLE t;
DROP DOMAIN label;

-- Locks of catalogs, taken and released by DDL before, are real when held.
CREATE VIEW catalog_locks AS
  SELECT relation::regclass, mode FROM pg_locks
  WHERE pid = pg_backend_pid() AND relation IN ('pg_depend'::regclass, 'pg_attribute'::regclass)
  ORDER BY relation::regclass::text, mode;
BEGIN;
CREATE TEMP TABLE t (a text);
DROP TABLE t;
TABLE catalog_locks;
LOCK TABLE pg_depend IN ROW EXCLUSIVE MODE;
TABLE catalog_locks;
SAVEPOINT one;
CREATE TEMP TABLE t (a text);
LOCK TABLE pg_depend IN SHARE MODE;
LOCK TABLE pg_attribute IN ACCESS SHARE MODE;
TABLE catalog_locks;
ROLLBACK TO one;
TABLE catalog_locks;
COMMIT;
TABLE catalog_locks;
DROP VIEW catalog_locks, hangs_on_objects;

-- Names of many columns: one that is there twice is refused as among few.
SELECT string_agg('c' || g || ' int', ', ') AS wide FROM generate_series(1, 100) g \gset
CREATE TEMP TABLE twice (:wide, c37 text);
CREATE TEMP TABLE twice (c0 int, :wide, c0 int);
CREATE TYPE many AS (:wide);
CREATE TYPE more AS (:wide, c64 int);
CREATE TEMP TABLE typed OF many (c70 WITH OPTIONS NOT NULL DEFAULT 5);
INSERT INTO typed (c1) VALUES (1) RETURNING c1, c70;
DROP TABLE typed;
DROP TYPE many;
