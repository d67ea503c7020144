-- Active sessions, by what they wait for; no wait is the processor, or the queue for it.
SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state = 'active'
GROUP BY 1, 2
