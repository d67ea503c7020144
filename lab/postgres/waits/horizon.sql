-- What holds back the horizon behind which vacuum may remove dead rows: the oldest of each kind, the oldest first.
SELECT * FROM (
    (SELECT 'session' AS kind, pid::text AS name, coalesce(application_name, '') AS application, coalesce(state, ''),
        greatest(age(backend_xmin), age(backend_xid)) AS xids,
        coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)::float8 AS seconds, left(query, 400) AS query
    FROM pg_stat_activity WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND pid <> pg_backend_pid()
        AND application_name <> $1 AND backend_type <> 'walsender'
    ORDER BY 5 DESC, 6 DESC LIMIT 1)
    UNION ALL
    (SELECT 'prepared transaction', gid, owner, '', age(transaction),
        extract(epoch FROM clock_timestamp() - prepared)::float8, ''
    FROM pg_prepared_xacts ORDER BY 5 DESC LIMIT 1)
    UNION ALL
    (SELECT 'replication slot', slot_name, coalesce(plugin, ''), CASE WHEN active THEN 'active' ELSE 'not used' END,
        greatest(age(xmin), age(catalog_xmin)), 0, ''
    FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL ORDER BY 5 DESC LIMIT 1)
    UNION ALL
    (SELECT 'standby', coalesce(client_addr::text, 'socket'), application_name, state, age(backend_xmin), 0, ''
    FROM pg_stat_replication WHERE backend_xmin IS NOT NULL ORDER BY 5 DESC LIMIT 1)
) AS all_kinds ORDER BY xids DESC, seconds DESC
