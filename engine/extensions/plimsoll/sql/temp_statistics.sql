-- Two expected files: temp_statistics.out is a patched server, temp_statistics_1.out a stock one.
CREATE EXTENSION plimsoll;
SELECT set_config('temp_live_statistics', 'on', false) FROM pg_settings WHERE name = 'temp_live_statistics';

CREATE TEMP TABLE counted (a int, b text, c numeric);
SELECT count(*) FROM plimsoll_temp_statistics;
INSERT INTO counted SELECT g, 'name ' || g % 2, nullif(g % 4, 0) FROM generate_series(1, 40) g;
SELECT * FROM plimsoll_temp_statistics ORDER BY attname;
ALTER TABLE counted DROP COLUMN c;
SELECT attname FROM plimsoll_temp_statistics ORDER BY attname;
BEGIN;
DELETE FROM counted WHERE a > 10;
SELECT DISTINCT rows FROM plimsoll_temp_statistics;
ROLLBACK;
SELECT DISTINCT rows FROM plimsoll_temp_statistics;

-- a session sees its own; anybody may look
CREATE ROLE regress_plimsoll_reader;
SET ROLE regress_plimsoll_reader;
SELECT count(*) FROM plimsoll_temp_statistics;
RESET ROLE;
DROP ROLE regress_plimsoll_reader;
DROP TABLE counted;
SELECT count(*) FROM plimsoll_temp_statistics;
DROP EXTENSION plimsoll;
