-- The same on Plimsoll Postgres with its temporary tables in memory; stock PostgreSQL lacks the settings.
DO $$
DECLARE setting text;
BEGIN
	FOR setting IN SELECT name FROM pg_settings WHERE context = 'user' AND name IN ('enable_temp_memory_catalog',
		'temp_local_invalidation', 'temp_skip_locks', 'temp_buffers_by_relation', 'temp_lazy_files', 'temp_lazy_toast')
	LOOP
		PERFORM set_config(setting, 'on', false);
	END LOOP;
END $$;
\i sql/fasttrun.sql
