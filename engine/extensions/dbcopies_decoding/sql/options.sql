-- What a client may ask for, and what it is told when it asks for something else.
DO $$ BEGIN
	PERFORM set_config(name, 'dbcopies_decoding', false) FROM pg_settings WHERE name = 'output_plugin_libraries';
END $$;
SELECT 'made' FROM pg_create_logical_replication_slot('copies', 'dbcopies_decoding');
CREATE TABLE t (a int);
INSERT INTO t VALUES (1);

SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'include-xids', 'off');
SELECT regexp_replace(data, '\d+$', 'N') FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'include-xids', 'yes');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'include-xids', 'perhaps');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'skip-change', '2');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'slice_size', '255');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'slice_size', '256', 'include-xids', '0');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'slice_size', '1000000000');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'slice_size', '-1');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'slice_size', 'large');
SELECT data FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'include_xids', '0');
SELECT data FROM pg_logical_slot_peek_binary_changes('copies', NULL, NULL, 'include-xids', '0');

-- skip-change: all of it is passed over
SELECT data FROM pg_logical_slot_get_changes('copies', NULL, NULL, 'skip-change', 'on');
SELECT data FROM pg_logical_slot_get_changes('copies', NULL, NULL);
INSERT INTO t VALUES (2);
SELECT data FROM pg_logical_slot_get_changes('copies', NULL, NULL, 'include-xids', '0');
SELECT pg_drop_replication_slot('copies');
DROP TABLE t;

-- a server that knows output_plugin_libraries refuses what is not on its list, whoever asks
DO $$
DECLARE refused bool := true;
BEGIN
	PERFORM set_config(name, 'pgoutput', true) FROM pg_settings WHERE name = 'output_plugin_libraries';
	IF FOUND THEN
		refused := false;
		PERFORM pg_create_logical_replication_slot('copies', 'dbcopies_decoding');
	END IF;
	RAISE NOTICE '%', CASE WHEN refused THEN 'refused' ELSE 'taken' END;
EXCEPTION WHEN insufficient_privilege THEN
	RAISE NOTICE 'refused';
END $$;
