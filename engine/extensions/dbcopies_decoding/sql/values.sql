-- How each type is written.
DO $$ BEGIN
	PERFORM set_config(name, 'dbcopies_decoding', false) FROM pg_settings WHERE name = 'output_plugin_libraries';
END $$;
SELECT 'made' FROM pg_create_logical_replication_slot('copies', 'dbcopies_decoding');
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German';
SET lc_monetary = 'C';
CREATE TYPE mood AS ENUM ('it''s ok');
CREATE DOMAIN named AS text;

-- a table for each type
CREATE FUNCTION written(type text, VARIADIC literals text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE literal text;
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS v; CREATE TABLE v (value %s)', type);
	FOREACH literal IN ARRAY literals LOOP
		EXECUTE format('INSERT INTO v VALUES (%L)', literal);
	END LOOP;
END $$;
SET client_min_messages = warning;
SELECT written('smallint', '-32768', '7');
SELECT written('int', '-1');
SELECT written('bigint', '9223372036854775807');
SELECT written('oid', '4294967295');
SELECT written('real', '1.5', '-0', 'NaN', 'Infinity', '1e30');
SELECT written('double precision', '0.1', '1e300');
SELECT written('numeric', '12345678901234567890123456789.50', 'NaN', '-0.01');
SELECT written('numeric(10, 2)', '1');
SELECT written('money', '12.34', '-0.05', '1234567.8', '0');
SELECT written('boolean', 'true', 'false');
SELECT written('date', '2026-01-31', '0001-01-01', '9999-12-31', '10000-01-01', '0044-03-15 BC', 'infinity');
SELECT written('timestamp', '2026-01-31 23:59:59.999999', '0001-01-01 00:00:00', '9999-12-31 23:59:59',
	'10000-01-01 00:00:00', '0044-03-15 00:00:00 BC', '-infinity');
SELECT written('timestamptz', '2026-01-31 23:59:59+00', '2026-02-01 08:59:59+09', 'infinity');
SELECT written('time', '23:59:59.5', '00:00:00', '24:00:00');
SELECT written('timetz', '23:59:59+03');
SELECT written('interval', '1 day 02:03:04');
SELECT written('bit(4)', '0101');
SELECT written('bit varying', '', '1');
SELECT written('bytea', '', '\x00ff', 'it''s\\');
SELECT written('text', '', '''', '''''', 'it''s', 'a\b', E'two\nlines', 'ends with !', U&'\0414\043E\043C \+01F600');
SELECT written('varchar(10)', 'x  ', 'null');
SELECT written('char(5)', 'x');
SELECT written('"char"', '''');
SELECT written('name', 'n');
SELECT written('named', 'it''s');
SELECT written('mood', 'it''s ok');
SELECT written('uuid', '00000000-0000-0000-0000-000000000001');
SELECT written('int[]', '{1,NULL}');
SELECT written('text[]', '{"it''s"}');
SELECT written('json', '{"a": "it''s"}');
SELECT written('jsonb', '{"a": 1}');
SELECT written('point', '1,2');
SELECT written('int4range', '[1,5)');
SELECT written('inet', '10.0.0.1');
SELECT written('pg_lsn', '0/1');
RESET client_min_messages;
SET client_encoding = 'UTF8';
SELECT data FROM pg_logical_slot_get_changes('copies', NULL, NULL, 'include-xids', 'off') WHERE data LIKE 'I %';
SELECT pg_drop_replication_slot('copies');
DROP FUNCTION written;
DROP TABLE v;
DROP TYPE mood;
DROP DOMAIN named;
