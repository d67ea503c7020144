-- All of the server's client processes, and how many of them are idle.
SELECT coalesce(array_agg(pid), '{}'), count(*)::int, count(*) FILTER (WHERE state = 'idle')::int,
    current_setting('max_connections')::int
FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> $1
