-- Sessions of clients that are at work or within a transaction, everywhere on the server. Those that are idle outside a
-- transaction keep the wait event of their last statement, and are left out. The times are this server's. The function
-- behind pg_stat_activity is read alone: the view joins names of databases and users to every session, at each look.
SELECT pid, coalesce(application_name, ''),
    CASE WHEN application_name = '' THEN coalesce(pg_get_userbyid(usesysid)::text, '') ELSE '' END, state,
    coalesce(wait_event_type, ''), coalesce(wait_event, ''), left(query, 400),
    coalesce(extract(epoch FROM clock_timestamp() - state_change), 0)::float8,
    coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)::float8
FROM pg_stat_get_activity(NULL)
WHERE backend_type = 'client backend' AND state IN ('active', 'fastpath function call', 'idle in transaction',
    'idle in transaction (aborted)') AND pid <> pg_backend_pid() AND application_name <> $1
