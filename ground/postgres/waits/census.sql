-- All of the server's client processes, how many of them are idle, and how many belong to clients of other machines.
SELECT coalesce(array_agg(pid), '{}'), count(*)::int, count(*) FILTER (WHERE state = 'idle')::int,
    current_setting('max_connections')::int,
    count(*) FILTER (WHERE NOT (client_addr <<= '127.0.0.0/8' OR client_addr = '::1'))::int
FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> $1
