-- Sessions of clients that are active or within a transaction, everywhere on the server. Those that are idle outside a
-- transaction keep the wait event of their last statement, and are left out. Times are this server's, as it keeps them.
-- The function behind pg_stat_activity is read alone: the view joins names of databases and users to every session. A
-- statement is cut by bytes: left() would count its characters.
SELECT a.pid, a.application_name,
    CASE WHEN a.application_name = '' THEN pg_get_userbyid(a.usesysid)::text END, a.state,
    a.wait_event_type, a.wait_event, substr(textsend(a.query), 1, 1023),
    a.state_change, a.xact_start, clock_timestamp(), a.usesysid, a.datid
FROM pg_stat_get_activity(NULL) AS a
WHERE a.backend_type = 'client backend' AND a.state IN ('active', 'fastpath function call', 'idle in transaction',
    'idle in transaction (aborted)') AND a.pid <> pg_backend_pid() AND a.application_name <> $1::text
