-- A snapshot of what an MS SQL Server (2016 or newer) has waited for since its start, from its documented views, as one
-- JSON value. It reads only; the login needs VIEW SERVER STATE. Take one before and one after an hour of work:
--   sqlcmd -S SERVER -E -d BASE -u -y 0 -i mssql-snapshot.sql -o before.json
--   sqlcmd -S SERVER -E -d BASE -u -y 0 -i mssql-snapshot.sql -o after.json
-- and hold a PostgreSQL server under the same load against it:
--   plimsoll diagnose --dsn postgres://… --against before.json,after.json
-- Waits, files and spin locks are those of the whole server. "queries" are those of BASE that took the most time, if
-- its Query Store is on; their texts may hold values that users wrote, and the report shows them without.
SET NOCOUNT ON;
SELECT 'mssql-snapshot-1' AS plimsoll,
  CONVERT(varchar(33), SYSUTCDATETIME(), 126) + 'Z' AS at,
  CONVERT(varchar(128), SERVERPROPERTY('ProductVersion')) AS version,
  CONVERT(varchar(33), (SELECT sqlserver_start_time FROM sys.dm_os_sys_info), 126) AS started,
  (SELECT cpu_count FROM sys.dm_os_sys_info) AS cpus,
  (SELECT SUM(total_cpu_usage_ms) FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE') AS cpu_ms,
  (SELECT MAX(cntr_value) FROM sys.dm_os_performance_counters
    WHERE counter_name = 'Transactions/sec' AND instance_name = '_Total') AS transactions,
  (SELECT MAX(cntr_value) FROM sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec') AS batches,
  (SELECT wait_type AS type, waiting_tasks_count AS tasks, wait_time_ms AS ms, signal_wait_time_ms AS signal_ms
    FROM sys.dm_os_wait_stats WHERE wait_time_ms > 0 FOR JSON PATH) AS waits,
  (SELECT DB_NAME(s.database_id) AS base, f.type_desc AS kind, s.num_of_reads AS reads, s.io_stall_read_ms AS read_ms,
      s.num_of_writes AS writes, s.io_stall_write_ms AS write_ms
    FROM sys.dm_io_virtual_file_stats(NULL, NULL) s
    JOIN sys.master_files f ON f.database_id = s.database_id AND f.file_id = s.file_id FOR JSON PATH) AS files,
  (SELECT name, collisions, spins, backoffs FROM sys.dm_os_spinlock_stats WHERE spins > 0 FOR JSON PATH) AS spinlocks,
  (SELECT TOP (300) CONVERT(varchar(18), q.query_hash, 1) AS hash,
      MIN(CONVERT(nvarchar(300), t.query_sql_text)) AS text, SUM(r.count_executions) AS calls,
      SUM(r.count_executions * r.avg_duration) / 1000 AS ms, SUM(r.count_executions * r.avg_cpu_time) / 1000 AS cpu_ms,
      SUM(r.count_executions * r.avg_logical_io_reads) AS pages
    FROM sys.query_store_runtime_stats r
    JOIN sys.query_store_plan p ON p.plan_id = r.plan_id
    JOIN sys.query_store_query q ON q.query_id = p.query_id
    JOIN sys.query_store_query_text t ON t.query_text_id = q.query_text_id
    GROUP BY q.query_hash ORDER BY SUM(r.count_executions * r.avg_duration) DESC FOR JSON PATH) AS queries
FOR JSON PATH, WITHOUT_ARRAY_WRAPPER;
