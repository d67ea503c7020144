-- All of the server's client processes, how many of them are idle, how many belong to clients of other machines, where
-- those of them are that work or have just worked (others may be on another network), which are of this database, and
-- how many of the idle ones began to idle a moment ago; the server's other processes; and who has how many of the
-- client processes, with the age of the oldest transaction.
WITH a AS MATERIALIZED (
    SELECT pid, datname, usename, application_name, client_addr, client_port, backend_type, state, state_change,
        wait_event_type, wait_event,
        CASE WHEN backend_type = 'autovacuum worker' THEN left(query, 200) END AS query, xact_start
    FROM pg_stat_activity WHERE pid <> pg_backend_pid()
), c AS (
    SELECT *, NOT (client_addr <<= '127.0.0.0/8' OR client_addr = '::1') AS remote
    FROM a WHERE backend_type = 'client backend' AND application_name <> $1
)
SELECT coalesce(array_agg(pid), '{}'), count(*)::int, count(*) FILTER (WHERE state = 'idle')::int,
    current_setting('max_connections')::int,
    count(*) FILTER (WHERE remote)::int,
    coalesce(array_agg(host(client_addr) || ' ' || client_port) FILTER (WHERE remote AND
        (state <> 'idle' OR clock_timestamp() - state_change < '2s')), '{}'),
    current_setting('port')::int,
    coalesce(array_agg(pid) FILTER (WHERE datname = current_database()), '{}'), current_database(),
    count(*) FILTER (WHERE state = 'idle' AND clock_timestamp() - state_change < '100ms')::int,
    coalesce((SELECT jsonb_agg(jsonb_build_object('pid', pid, 'kind', backend_type, 'database', coalesce(datname, ''),
        'type', coalesce(wait_event_type, ''), 'event', coalesce(wait_event, ''), 'query', coalesce(query, ''),
        'for_s', coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)))
        FROM a WHERE backend_type <> 'client backend'), '[]'),
    coalesce((SELECT jsonb_agg(u) FROM (SELECT application_name AS application, coalesce(usename, '') AS user,
        coalesce(datname, '') AS database, count(*) AS all, count(*) FILTER (WHERE state = 'idle') AS idle,
        coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) AS for_s
        FROM c GROUP BY 1, 2, 3 ORDER BY count(*) DESC, 1, 2, 3 LIMIT 50) u), '[]')
FROM c
