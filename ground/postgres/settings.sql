-- Settings on which speed and durability depend. A server without one of them (another
-- version, another flavour) has no row for it.
select name, current_setting(name)
from pg_settings
where name in (
    'fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method', 'commit_delay', 'commit_siblings',
    'wal_level', 'wal_buffers', 'max_wal_size', 'checkpoint_timeout', 'checkpoint_completion_target',
    'shared_buffers', 'temp_buffers', 'work_mem', 'effective_cache_size', 'max_connections',
    'max_locks_per_transaction',
    'autovacuum', 'default_statistics_target', 'jit', 'max_parallel_workers_per_gather', 'random_page_cost',
    'io_method', 'huge_pages', 'data_checksums', 'enable_temp_memory_catalog', 'temp_local_invalidation',
    'temp_skip_locks',
    'temp_async_commit', 'temp_buffers_by_relation', 'temp_lazy_files', 'temp_lazy_toast', 'temp_live_statistics')
   or name like 'plimsoll.%'
union all
-- Set where flushes are slowed on purpose; pg_settings does not list it.
select 'storage.flush_latency', current_setting('storage.flush_latency', true)
where current_setting('storage.flush_latency', true) is not null
order by name
