-- Two expected files: temp_catalog.out is a patched server, temp_catalog_1.out a stock one.

CREATE EXTENSION plimsoll;

SELECT count(*) AS sessions FROM plimsoll_temp_catalog;

SELECT set_config('enable_temp_memory_catalog', 'on', false) FROM pg_settings WHERE name = 'enable_temp_memory_catalog';
CREATE TEMP TABLE probe (id int PRIMARY KEY, name text);
CREATE TEMP TABLE other (id int);
SELECT tables, rows > 20 AS has_rows, bytes > 1000 AS has_bytes, datname = current_database() AS here
  FROM plimsoll_temp_catalog WHERE pid = pg_backend_pid();

-- how far it holds back the horizon of its database: as far as its oldest table
SELECT c.xid_age = age(c.frozenxid) AS age, c.mxid_age = mxid_age(c.minmxid) AS mxid_age,
       c.frozenxid = (SELECT relfrozenxid FROM pg_class WHERE relfrozenxid <> '0' AND relpersistence = 't'
                      ORDER BY age(relfrozenxid) DESC LIMIT 1) AS of_the_oldest
  FROM plimsoll_temp_catalog c WHERE pid = pg_backend_pid();
CREATE TABLE later (a int);
DROP TABLE later;
VACUUM FREEZE other;
VACUUM FREEZE probe;
SELECT c.frozenxid = (SELECT relfrozenxid FROM pg_class WHERE relfrozenxid <> '0' AND relpersistence = 't'
                      ORDER BY age(relfrozenxid) DESC LIMIT 1) AS of_the_oldest
  FROM plimsoll_temp_catalog c WHERE pid = pg_backend_pid();

DROP TABLE probe;
SELECT tables FROM plimsoll_temp_catalog WHERE pid = pg_backend_pid();
DROP TABLE other;
SELECT count(*) AS sessions FROM plimsoll_temp_catalog;

-- 0.3 knew five columns; an update keeps the views that others made of them
DROP EXTENSION plimsoll;
CREATE EXTENSION plimsoll VERSION '0.3';
CREATE VIEW watched AS SELECT pid, tables FROM plimsoll_temp_catalog;
SELECT count(*) FROM plimsoll_temp_catalog;
ALTER EXTENSION plimsoll UPDATE;
SELECT count(*) FROM watched;
SELECT count(xid_age) FROM plimsoll_temp_catalog;
DROP VIEW watched;
DROP EXTENSION plimsoll;
