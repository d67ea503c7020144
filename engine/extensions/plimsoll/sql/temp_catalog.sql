-- Two expected files: temp_catalog.out is a patched server, temp_catalog_1.out a stock one.

CREATE EXTENSION plimsoll;

SELECT count(*) AS sessions FROM plimsoll_temp_catalog;

SELECT set_config('enable_temp_memory_catalog', 'on', false) FROM pg_settings WHERE name = 'enable_temp_memory_catalog';
CREATE TEMP TABLE probe (id int PRIMARY KEY, name text);
CREATE TEMP TABLE other (id int);
SELECT tables, rows > 20 AS has_rows, bytes > 1000 AS has_bytes, datname = current_database() AS here
  FROM plimsoll_temp_catalog WHERE pid = pg_backend_pid();

DROP TABLE probe;
SELECT tables FROM plimsoll_temp_catalog WHERE pid = pg_backend_pid();
DROP TABLE other;
SELECT count(*) AS sessions FROM plimsoll_temp_catalog;

DROP EXTENSION plimsoll;
