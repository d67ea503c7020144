-- Which prepared transaction holds what a session waits for, by the same lock. It has no process; the lock of its own
-- number tells its virtual transaction. What it holds besides is named in the connected database only.
WITH locks AS MATERIALIZED (SELECT * FROM pg_locks)
SELECT DISTINCT ON (w.pid) w.pid, p.gid, p.owner::text, p.database::text,
    greatest(0, extract(epoch FROM clock_timestamp() - p.prepared))::float8, age(p.transaction)::bigint,
    coalesce((SELECT string_agg(held.name, ', ') FROM (
        SELECT DISTINCT format('%s of %s', l.mode, l.relation::regclass) AS name FROM locks l
        WHERE l.virtualtransaction = h.virtualtransaction AND l.relation IS NOT NULL AND l.database =
            (SELECT oid FROM pg_database WHERE datname = current_database())
        ORDER BY 1 LIMIT 5) AS held), '')
FROM locks w JOIN locks h ON h.granted AND h.pid IS NULL AND h.locktype = w.locktype
    AND (h.database, h.relation, h.page, h.tuple, h.virtualxid, h.transactionid, h.classid, h.objid, h.objsubid)
        IS NOT DISTINCT FROM
        (w.database, w.relation, w.page, w.tuple, w.virtualxid, w.transactionid, w.classid, w.objid, w.objsubid)
    JOIN locks own ON own.virtualtransaction = h.virtualtransaction AND own.pid IS NULL AND own.granted
        AND own.locktype = 'transactionid'
    JOIN pg_prepared_xacts p ON p.transaction = own.transactionid
WHERE NOT w.granted AND w.pid IS NOT NULL
ORDER BY w.pid, p.prepared
