-- Two expected files: temp_references.out is a patched server, temp_references_1.out a stock one.
SET client_min_messages = warning;
CREATE EXTENSION plimsoll;
SELECT set_config('enable_temp_memory_catalog', 'on', false) FROM pg_settings WHERE name = 'enable_temp_memory_catalog';
CREATE TYPE mood AS ENUM ('ok');
CREATE TEMP TABLE probe (m mood);
SELECT pid = pg_backend_pid() AS mine, datname = current_database() AS here, classid, object
  FROM plimsoll_temp_references;

-- a table in the catalogs is in pg_depend
CREATE TEMP VIEW moved AS SELECT 1 AS one FROM probe;
SELECT count(*) FROM plimsoll_temp_references;

DROP TYPE mood CASCADE;
DROP EXTENSION plimsoll;
