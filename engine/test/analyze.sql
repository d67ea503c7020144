-- Tables whose statistics must be the same whatever ANALYZE does inside. All have fewer rows than a sample, so that
-- the sample is the table. The values are the same in each run.
SET client_min_messages = warning;
SET timezone = 'UTC';

CREATE FUNCTION pick(row_number int, column_number int, among int) RETURNS int IMMUTABLE LANGUAGE sql
	RETURN (hashint8extended(row_number * 1000003::bigint + column_number, 7) & 2147483647) % among;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN short_text AS varchar(20) CHECK (length(VALUE) < 20);
CREATE DOMAIN numbers AS int[];
CREATE COLLATION same_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- Each type, in several orders of alignment, with nulls. What is dropped stays in the rows.
CREATE TABLE types (
	c_bool bool, c_gone1 text, c_int2 int2, c_char "char", c_int4 int4, c_text text, c_int8 int8, c_float4 float4,
	c_float8 float8, c_numeric numeric, c_varchar varchar(30), c_bpchar char(5), c_name name, c_bytea bytea,
	c_date date, c_time time, c_timetz timetz, c_timestamp timestamp, c_timestamptz timestamptz, c_interval interval,
	c_uuid uuid, c_inet inet, c_cidr cidr, c_mac macaddr, c_mac8 macaddr8, c_point point, c_box box, c_path path,
	c_json json, c_jsonb jsonb, c_gone2 int8, c_tsvector tsvector, c_tsquery tsquery, c_ints int[], c_texts text[],
	c_range int4range, c_tsrange tsrange, c_multirange int8multirange, c_domain short_text, c_numbers numbers,
	c_enum mood, c_pair pair, c_bit bit(12), c_varbit varbit, c_money money, c_lsn pg_lsn, c_oid oid, c_tid tid,
	c_xid xid, c_xid8 xid8, c_class regclass, c_oidvector oidvector, c_c text COLLATE "C",
	c_case text COLLATE same_case, c_only_null int, c_no_statistics int, c_last bool);
INSERT INTO types SELECT
	p % 3 = 0, 'gone ' || r, p % 300, chr(65 + p % 20)::"char", p % 50, 'text ' || p % 40, p::int8 << 20,
	(ARRAY['NaN', '-0', '0', 'Infinity', '1.5'])[1 + p % 5]::float4, (ARRAY['NaN', '-0', '0', '-1e300'])[1 + p % 4]::float8,
	(ARRAY['1', '1.0', '1.00', '-2', 'NaN', '1e50', '0.1'])[1 + p % 7]::numeric, 'v' || r, 'b' || p % 9, 'name' || p % 77,
	decode(md5((p % 200)::text), 'hex'), date '2020-01-01' + p % 900, time '00:00' + make_interval(secs => p % 5000),
	timetz '00:00+02' + make_interval(secs => p % 50), timestamp '2020-01-01' + make_interval(secs => p),
	timestamptz '2020-01-01 00:00Z' + make_interval(mins => p % 10), make_interval(days => p % 40, hours => 24 * (p % 3)),
	md5((p % 500)::text)::uuid, ('10.0.' || p % 200 || '.' || p % 7)::inet, ('10.0.' || p % 20 || '.0/24')::cidr,
	('08:00:2b:01:02:' || to_hex(16 + p % 100))::macaddr, ('08:00:2b:01:02:03:04:' || to_hex(16 + p % 9))::macaddr8,
	point(p % 9, r), box(point(0, 0), point(p % 9, 1)), path(polygon(box(point(0, 0), point(p % 9, 1)))),
	json_build_object('a', p % 4), jsonb_build_object('a', p % 4, 'b', r % 3), p, to_tsvector('simple',
	'word' || p % 30 || ' other' || p % 5), to_tsquery('simple', 'w' || p % 6), ARRAY[p % 5, p % 11, NULL],
	ARRAY['a' || p % 5, 'b'], int4range(p % 20, 20 + p % 30), tsrange('2020-01-01', timestamp '2020-01-02' +
	make_interval(days => p % 9)), int8multirange(int8range(p % 5, 6), int8range(10, 11 + p % 4)), 'd' || p % 12,
	ARRAY[p % 3], (ARRAY['sad', 'ok', 'happy'])[1 + p % 3]::mood, ROW(p % 4, 'x')::pair, (p % 4096)::bit(12),
	(p % 16)::bit(4)::varbit, p % 1000, ('0/' || to_hex(p % 5000))::pg_lsn, (p % 60)::oid, format('(%s,%s)', p % 9, 1)::tid,
	(p % 30)::text::xid, (p % 30)::text::xid8, (ARRAY['pg_class', 'pg_type'])[1 + p % 2]::regclass,
	(p % 4 || ' 5')::oidvector, 'c' || p % 60, (ARRAY['Abc', 'aBC', 'x', 'X', 'ABD'])[1 + p % 5], NULL, p % 3, p % 2 = 0
FROM generate_series(1, 700) r, LATERAL (SELECT pick(r, 0, 1000000) AS p) s;
DO $$
DECLARE
	col record;
BEGIN
	FOR col IN SELECT attname, attnum FROM pg_attribute WHERE attrelid = 'types'::regclass AND attnum > 0 LOOP
		EXECUTE format('UPDATE types t SET %I = NULL WHERE pick(%s, %s, %s) = 0',
			col.attname, '(t.ctid::text::point)[1]::int + 1000 * (t.ctid::text::point)[0]::int', col.attnum, 3 + col.attnum % 17);
	END LOOP;
END $$;
ALTER TABLE types DROP c_gone1, DROP c_gone2, ALTER c_no_statistics SET STATISTICS 0;
-- Columns that older rows lack; newer rows have them. What is missing reads as the default, or null.
ALTER TABLE types ADD later_int int DEFAULT 7, ADD later_text text DEFAULT 'seven', ADD later_null text,
	ADD later_ref numeric(10, 2) NOT NULL DEFAULT 3.5, ADD gone_later int DEFAULT 1, ADD later_array int[] DEFAULT '{1,2,2}',
	ADD stored int GENERATED ALWAYS AS (coalesce(c_int4, 0) % 7) STORED, ADD virtual int GENERATED ALWAYS AS (c_int4 * 2);
ALTER TABLE types DROP gone_later, ADD last_of_all text DEFAULT 'the default';
INSERT INTO types (c_int4, later_int, later_text, last_of_all)
	SELECT r, r % 5, CASE WHEN r % 3 > 0 THEN 'l' || r % 4 END, nullif(r % 2, 0) FROM generate_series(1, 200) r;
CREATE INDEX ON types (lower(c_text), (c_int4 + later_int), c_bool) WHERE c_int4 > 10;
CREATE INDEX ON types ((c_ints || 5));
CREATE STATISTICS types_together ON c_int4, c_enum, (c_int4 % 3) FROM types;
ALTER TABLE types ALTER c_int2 SET (n_distinct = -0.25);
ANALYZE types;

-- More than fits the arrays at once, in the table's order and not, and a part of it.
DO $$ BEGIN EXECUTE (SELECT format('CREATE TABLE wide (%s)', string_agg(format('c%s %s', n,
	(ARRAY['int', 'text', 'bool', 'int8', 'numeric', 'varchar(50)', 'timestamp', 'bytea'])[1 + pick(n, 1, 8)]), ', '))
	FROM generate_series(1, 300) n); END $$;
DO $$ BEGIN EXECUTE (SELECT format('INSERT INTO wide SELECT %s FROM generate_series(1, 3600) r', string_agg(format(
	CASE pick(n, 1, 8) WHEN 0 THEN '%2$s %% 100' WHEN 1 THEN $v$repeat('x', %2$s %% 20) || %2$s %% 9$v$ WHEN 2 THEN '%2$s %% 2 = 0'
		WHEN 3 THEN '%2$s' WHEN 4 THEN '%2$s %% 1000 / 10.0' WHEN 5 THEN $v$'v' || %2$s %% 5$v$
		WHEN 6 THEN $v$timestamp '2020-01-01' + make_interval(hours => %2$s %% 300)$v$
		ELSE $v$decode(md5((%2$s %% 50)::text), 'hex')$v$ END, n,
	CASE WHEN n % 10 = 0 THEN 'nullif((r * ' || 7919 + n || ') % 5003, ' || n || ')' ELSE '((r * ' || 7919 + n || ') % 5003)' END),
	', ')) FROM generate_series(1, 300) n); END $$;
CREATE TABLE wide_backwards AS TABLE wide;
CREATE TABLE wide_in_part AS TABLE wide;
ANALYZE wide;
DO $$ BEGIN EXECUTE (SELECT format('ANALYZE wide_backwards (%s)', string_agg('c' || n, ', ' ORDER BY n DESC))
	FROM generate_series(1, 300) n); END $$;
ANALYZE wide_in_part (c299, c3, c150, c149, c1);

-- Fixed widths only, where offsets are known in advance, with and without nulls.
CREATE TABLE fixed (a bool, b int8, c int2, d int4, e "char", f float8, g uuid, h text, i int);
INSERT INTO fixed SELECT r % 2 = 0, r, r % 4, nullif(r % 9, 3), 'x', r, md5(r::text)::uuid, nullif('h' || r % 5, 'h1'), r % 6
	FROM generate_series(1, 500) r;
UPDATE fixed SET b = NULL WHERE c = 1;
ANALYZE fixed (i, b), fixed (d, f, g, h, a);

-- Toasted: compressed, external, too wide to be looked at, and all alike.
CREATE TABLE toasted (id int, compressed text, outside text, wide text, mixed bytea, after int);
ALTER TABLE toasted ALTER outside SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT r, repeat('abc' || r % 7, 700), repeat(md5((r % 5)::text), 100), repeat('w' || r, 20000),
	decode(repeat(md5((r % 3)::text), 1 + (r % 4) * 30), 'hex'), r % 3 FROM generate_series(1, 150) r;
ALTER TABLE toasted ALTER outside SET STORAGE MAIN;
INSERT INTO toasted SELECT id, left(compressed, 900), left(outside, 900), 'short' || id % 2, mixed, after FROM toasted;
ANALYZE toasted;

-- Values that repeat, seldom and often; that are equal and differ in their bits; of each way to be passed.
CREATE TABLE repeated (few int, half int, third int8, most int, once int, clustered int, equal_numeric numeric,
	equal_float float8, equal_case text COLLATE same_case, equal_interval interval, few_text text, third_text text,
	long_text text, few_name name, few_uuid uuid, few_bytea bytea, few_bool bool, one_value text, empty text, late int);
INSERT INTO repeated SELECT pick(r, 1, 20), pick(r, 2, 4200), pick(r, 3, 2000), pick(r, 4, 60000), r, r / 40,
	(pick(r, 5, 300) || repeat('.', pick(r, 6, 4) / 3) || repeat('0', (pick(r, 6, 4) / 3) * (1 + r % 3)))::numeric,
	(ARRAY['0', '-0', 'NaN', '1'])[1 + pick(r, 7, 4)]::float8, (ARRAY['a', 'A', 'aB', 'Ab', 'AB'])[1 + pick(r, 8, 5)] ||
	pick(r, 9, 50), make_interval(days => pick(r, 10, 9), hours => 24 * pick(r, 11, 9)), 'f' || pick(r, 12, 30),
	't' || pick(r, 13, 2000), repeat('long', 200) || pick(r, 14, 40), 'n' || pick(r, 15, 80),
	md5(pick(r, 16, 90)::text)::uuid, decode(md5(pick(r, 17, 9)::text), 'hex'), pick(r, 18, 2) = 0, 'one', '',
	CASE WHEN r > 5000 THEN pick(r, 19, 5) ELSE r END
	FROM generate_series(1, 6000) r;
ALTER TABLE repeated ALTER third SET STATISTICS 3000, ALTER few_text SET STATISTICS 5;
ANALYZE repeated;

-- Rows of children, in another order of columns, go over into the parent's.
CREATE TABLE parent (a int, b text, gone int, c numeric);
CREATE TABLE child (c numeric, extra text, b text, gone int, a int);
ALTER TABLE child INHERIT parent;
CREATE TABLE child_alike () INHERITS (parent);
INSERT INTO parent SELECT r % 8, 'p' || r, r, r / 3.0 FROM generate_series(1, 90) r;
INSERT INTO child SELECT r / 2.0, 'extra', nullif('c' || r % 4, 'c2'), r, r FROM generate_series(1, 80) r;
INSERT INTO child_alike SELECT r, 'alike', r, 5 FROM generate_series(1, 40) r;
ALTER TABLE parent DROP gone, ADD d text DEFAULT 'added';
ANALYZE parent, child, child_alike;
CREATE TABLE partitioned (k int, a text, b int8) PARTITION BY LIST (k);
CREATE TABLE partition1 PARTITION OF partitioned FOR VALUES IN (1);
CREATE TABLE partition2 (b int8, gone int, k int, a text);
ALTER TABLE partition2 DROP gone;
ALTER TABLE partitioned ATTACH PARTITION partition2 FOR VALUES IN (2);
INSERT INTO partitioned SELECT 1 + r % 2, 'a' || r % 6, r % 33 FROM generate_series(1, 300) r;
ALTER TABLE partitioned ADD c int DEFAULT 4;
ANALYZE partitioned;

-- Rows that a foreign table's own function samples; here they come from a local file.
\if :foreign
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
SELECT current_setting('data_directory') || '/analyze.csv' AS file \gset
COPY (SELECT r, nullif(r % 4, 1), 'f' || r % 7 FROM generate_series(1, 200) r) TO :'file' (FORMAT csv);
CREATE FOREIGN TABLE foreign_rows (a int, gone text, b text) SERVER files OPTIONS (filename :'file', format 'csv');
ALTER FOREIGN TABLE foreign_rows DROP gone, ADD c text;
ANALYZE foreign_rows;
\endif

-- Few rows, none, only nulls, no column at all.
CREATE TABLE one AS SELECT 1 AS a, 'x' AS b, NULL::int AS c;
CREATE TABLE none (a int);
CREATE TABLE nulls AS SELECT NULL::int AS a, NULL::text AS b FROM generate_series(1, 20);
CREATE TABLE columnless ();
INSERT INTO columnless SELECT FROM generate_series(1, 5);
CREATE MATERIALIZED VIEW materialized AS SELECT c1, c2 FROM wide;
CREATE TEMP TABLE temporary AS SELECT a, b, d FROM fixed;
CREATE INDEX ON temporary ((a::int + b));
ANALYZE one, none, nulls, columnless, materialized, temporary, pg_proc;

-- What ANALYZE has written. Rows in memory are not compressed.
SELECT starelid::regclass, (SELECT attname FROM pg_attribute WHERE attrelid = starelid AND attnum = staattnum), stainherit,
	stanullfrac, stawidth, stadistinct, stakind1, stakind2, stakind3, stakind4, stakind5, staop1, staop2, staop3, staop4,
	staop5, stanumbers1, stanumbers2, stanumbers3, stanumbers4, stanumbers5, stavalues1, stavalues2, stavalues3, stavalues4,
	stavalues5, CASE WHEN relpersistence = 'p' THEN pg_column_size(stavalues1) + pg_column_size(stavalues2) END
FROM pg_statistic JOIN pg_class ON pg_class.oid = starelid WHERE starelid >= 16384 ORDER BY starelid::regclass::text COLLATE "C", staattnum, stainherit;
SELECT stxdinherit, stxdndistinct, stxddependencies, stxdmcv::text, stxdexpr FROM pg_statistic_ext_data;
SELECT oid::regclass, reltuples FROM pg_class WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace ORDER BY 1;
