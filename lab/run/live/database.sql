-- What only grows, of the database that is under load. The log is the whole server's; a standby writes none.
SELECT numbackends, xact_commit + xact_rollback, temp_bytes,
       CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint END
FROM pg_stat_database WHERE datname = current_database()
