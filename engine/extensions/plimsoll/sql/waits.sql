-- Two expected files: waits.out is a patched server, waits_1.out a stock one.
SET client_min_messages = warning;
CREATE EXTENSION plimsoll;
CREATE ROLE regress_waits_reader;
CREATE ROLE regress_waits_monitor IN ROLE pg_monitor;

-- off: nothing is timed
SELECT pg_sleep(0.01);
SELECT count(*) FROM plimsoll_waits WHERE pid = pg_backend_pid();

-- on: each sleep counts, for as long as it was asked for at the least
SELECT set_config('track_wait_timing', 'on', false) AS timed FROM pg_settings WHERE name = 'track_wait_timing';
SELECT pg_sleep(0.02);
SELECT pg_sleep(0.03);
SELECT wait_event_type, wait_event, waits >= 2 AS all_waits, wait_time >= 50 AS all_time
  FROM plimsoll_waits WHERE pid = pg_backend_pid() AND wait_event = 'PgSleep';

-- off again: the figures stay as they are
SELECT coalesce(sum(waits), 0) AS before
  FROM plimsoll_waits WHERE pid = pg_backend_pid() AND wait_event = 'PgSleep' \gset
SELECT set_config('track_wait_timing', 'off', false) AS timed FROM pg_settings WHERE name = 'track_wait_timing';
SELECT pg_sleep(0.01);
SELECT waits - :before AS more FROM plimsoll_waits WHERE pid = pg_backend_pid() AND wait_event = 'PgSleep';

-- who may see it: a role sees its own sessions, pg_monitor all
SET ROLE regress_waits_reader;
SELECT count(*) FROM plimsoll_waits;
SET ROLE regress_waits_monitor;
SELECT count(*) > 0 AS seen FROM plimsoll_waits WHERE wait_event = 'PgSleep';
RESET ROLE;

-- nothing is lost when a session ends
SELECT pg_backend_pid() AS former \gset
SELECT coalesce(sum(wait_time), 0) AS slept FROM plimsoll_waits WHERE wait_event = 'PgSleep' \gset
\c
SELECT set_config('plimsoll.former', :'former', false) <> '' AS known;
DO $$BEGIN
	FOR i IN 1..60000 LOOP
		EXIT WHEN NOT EXISTS (SELECT FROM plimsoll_waits WHERE pid = current_setting('plimsoll.former')::int);
		PERFORM pg_sleep(0.01);
	END LOOP;
END$$;
SELECT count(*) AS left_behind FROM plimsoll_waits WHERE pid = :former;
SELECT sum(wait_time) >= :slept - 0.001 AS kept, sum(wait_time) FILTER (WHERE pid IS NULL) >= 50 AS in_the_sum
  FROM plimsoll_waits WHERE wait_event = 'PgSleep';

DROP ROLE regress_waits_reader, regress_waits_monitor;
DROP EXTENSION plimsoll;
