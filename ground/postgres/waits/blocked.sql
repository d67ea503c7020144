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
    coalesce(w.page, -1)::int, coalesce(w.tuple, -1)::int
FROM blocked b LEFT JOIN what w USING (pid) LEFT JOIN since s USING (pid)
