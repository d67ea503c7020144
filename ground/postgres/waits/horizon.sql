-- What holds back the horizon behind which vacuum may remove dead rows of this database: the oldest of each kind, the
-- oldest first. Snapshots of other databases hold back only the few tables that all share. VACUUM holds back nothing,
-- nor do its workers: the server leaves them out. A logical slot holds back catalogs alone.
SELECT * FROM (
    (SELECT 'session' AS kind, a.pid::text AS name, coalesce(a.application_name, '') AS application,
        coalesce(a.state, ''), greatest(age(a.backend_xmin), age(a.backend_xid)) AS xids,
        coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8 AS seconds,
        left(a.query, 400) AS query, coalesce(a.usename, ''), a.backend_type, false
    FROM pg_stat_activity a
    WHERE (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL) AND a.pid <> pg_backend_pid()
        AND a.application_name <> $1 AND a.backend_type <> 'walsender' AND a.datname = current_database()
        AND a.leader_pid IS NULL AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = a.pid)
        AND NOT (a.state = 'active' AND a.query !~* '\mfull\M'
            AND a.query ~* '^(\s|/\*.*?\*/|--[^\n]*\n)*(autovacuum: )?vacuum\M')
    ORDER BY 5 DESC, 6 DESC LIMIT 5)
    UNION ALL
    (SELECT 'prepared transaction', gid, owner, '', age(transaction),
        extract(epoch FROM clock_timestamp() - prepared)::float8, '', owner, '', false
    FROM pg_prepared_xacts WHERE database = current_database() ORDER BY 5 DESC LIMIT 1)
    UNION ALL
    (SELECT 'replication slot', slot_name, coalesce(plugin, ''), CASE WHEN active THEN 'active' ELSE 'not used' END,
        coalesce(age(xmin), age(catalog_xmin)), 0, '', '', '', xmin IS NULL
    FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL ORDER BY 5 DESC LIMIT 5)
    UNION ALL
    (SELECT 'standby', coalesce(client_addr::text, 'socket'), application_name, state, age(backend_xmin), 0, '',
        usename, 'walsender', false
    FROM pg_stat_replication WHERE backend_xmin IS NOT NULL ORDER BY 5 DESC LIMIT 1)
) AS all_kinds ORDER BY xids DESC, seconds DESC
