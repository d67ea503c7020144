-- A record that is longer than slice_size comes in slices; put together they are the record.
DO $$ BEGIN
	PERFORM set_config(name, 'dbcopies_decoding', false) FROM pg_settings WHERE name = 'output_plugin_libraries';
END $$;
SELECT 'made' FROM pg_create_logical_replication_slot('copies', 'dbcopies_decoding');
CREATE FUNCTION slices(size text) RETURNS TABLE (n bigint, data text) LANGUAGE sql AS $$
	SELECT row_number() OVER (), data
	FROM pg_logical_slot_peek_changes('copies', NULL, NULL, 'include-xids', '0', 'slice_size', size)
$$;
-- as a reader puts them together, a line for each record
CREATE FUNCTION joined(size text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE WHEN data LIKE '%!' THEN left(data, -1) ELSE data || E'\n' END, '' ORDER BY n)
	FROM slices(size)
$$;

CREATE TABLE t (id int, a text, b bytea, c bit varying, d numeric, e text[]);
INSERT INTO t (id, a) VALUES (1, repeat('x', 1000));
SELECT n, length(data), left(data, 8), right(data, 3) FROM slices('256');

-- cut at every place: quotes, characters of two to four bytes, bytes, bits, digits, other types, short values
INSERT INTO t (id, a) SELECT g, repeat('y', g) || repeat('''', 100) FROM generate_series(200, 260) g;
INSERT INTO t (id, a) SELECT g, repeat('y', g) || repeat(U&'\0416\20AC\+01F600', 100) FROM generate_series(200, 260) g;
INSERT INTO t (id, a) SELECT g, repeat('y', g) || repeat('!', 300) FROM generate_series(200, 260) g;
INSERT INTO t (id, b) SELECT g, decode(repeat('0f', g), 'hex') FROM generate_series(90, 400, 7) g;
INSERT INTO t (id, b) VALUES (5, decode(repeat('a5', 20000), 'hex'));
INSERT INTO t (id, c) SELECT g, repeat('01', g)::bit varying FROM generate_series(90, 400, 7) g;
INSERT INTO t (id, d) VALUES (6, repeat('7', 1000)::numeric);
INSERT INTO t (id, e) SELECT g, ARRAY(SELECT 'it''s ' || i FROM generate_series(1, g) i) FROM generate_series(10, 60) g;
INSERT INTO t (id, a, d) SELECT g, repeat('z', g), 12345678 FROM generate_series(200, 260) g;
DELETE FROM t;
SELECT joined('256') = joined('1000000') AS same, joined('257') = joined('1000000') AS same,
       joined('333') = joined('1000000') AS same;
SELECT max(octet_length(data)) <= 256 AS within, count(*) FILTER (WHERE data LIKE '%!') > 300 AS cut FROM slices('256');
SELECT count(*) FILTER (WHERE data LIKE '%!') AS cut FROM slices('1000000');
SELECT md5(joined('256')) = md5(string_agg(data || E'\n', '' ORDER BY n)) AS same FROM slices('1000000');

-- the default takes two megabytes
SELECT pg_drop_replication_slot('copies');
SELECT 'made' FROM pg_create_logical_replication_slot('copies', 'dbcopies_decoding');
INSERT INTO t (id, b) VALUES (7, decode(repeat('00', 1500000), 'hex'));
SELECT length(data), right(data, 1) FROM pg_logical_slot_get_changes('copies', NULL, NULL, 'include-xids', '0');

SELECT pg_drop_replication_slot('copies');
DROP FUNCTION joined, slices;
DROP TABLE t;
