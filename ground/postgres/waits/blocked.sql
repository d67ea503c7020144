-- Who waits for a lock, since when, on what, and for whom. pg_locks is read once; a row's lock is seen by the tuple
-- that the first in its queue holds or waits for. Names are known in the connected database only.
WITH blocked AS MATERIALIZED (
    SELECT pid, coalesce(wait_event, '') AS event FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND backend_type IN ('client backend', 'parallel worker') LIMIT 200
), held AS MATERIALIZED (
    SELECT l.* FROM pg_locks l JOIN blocked USING (pid)
    WHERE NOT l.granted OR l.locktype = 'tuple'
), what AS (
    SELECT DISTINCT ON (pid) pid, locktype, database, relation, page, tuple
    FROM held WHERE relation IS NOT NULL ORDER BY pid, granted
), key AS (
    -- An advisory lock has one key of 64 bits or two of 32.
    SELECT DISTINCT ON (pid) pid, CASE
        WHEN locktype = 'advisory' AND objsubid = 1 THEN ((classid::bigint << 32) | objid::bigint)::text
        WHEN locktype = 'advisory' THEN format('%s, %s', classid::int, objid::int)
        WHEN locktype = 'object' AND classid = 'pg_database'::regclass AND objid = 0 THEN 'the queue of NOTIFY'
        WHEN locktype = 'object' AND classid = 'pg_database'::regclass THEN 'database ' || coalesce(
            (SELECT datname FROM pg_database d WHERE d.oid = objid), objid::text)
        WHEN locktype = 'object' AND classid = 'pg_authid'::regclass THEN 'role ' || pg_get_userbyid(objid)
        WHEN locktype = 'object' THEN format('object %s of %s', objid, classid::regclass)
        ELSE '' END AS name
    FROM held WHERE NOT granted ORDER BY pid
), since AS (
    SELECT pid, min(waitstart) AS waitstart FROM held WHERE NOT granted GROUP BY pid
)
SELECT b.pid, b.event, coalesce(pg_blocking_pids(b.pid), '{}'),
    coalesce(extract(epoch FROM clock_timestamp() - s.waitstart), 0)::float8,
    coalesce(w.locktype, ''),
    CASE WHEN w.database = (SELECT oid FROM pg_database WHERE datname = current_database()) OR w.database = 0
        THEN coalesce((SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n
            ON n.oid = c.relnamespace WHERE c.oid = w.relation), w.relation::text, '')
        ELSE coalesce('table ' || w.relation || ' of database ' || w.database, '') END,
    coalesce(w.page, -1)::int, coalesce(w.tuple, -1)::int, coalesce(k.name, '')
FROM blocked b LEFT JOIN what w USING (pid) LEFT JOIN since s USING (pid) LEFT JOIN key k USING (pid)
