CREATE EXTENSION fulleq;

-- true or false, never NULL
SELECT 1 == 1 AS same, 1 == 2 AS other, 1 == NULL AS one_null, NULL::int == 1 AS other_null,
       NULL::int == NULL AS both;

-- the types that have it, and a class for hashing each
SELECT string_agg(t.typname, ' ' ORDER BY t.typname COLLATE "C") AS types
  FROM pg_operator o JOIN pg_type t ON t.oid = o.oprleft
 WHERE o.oprname = '==' AND o.oprleft = o.oprright AND o.oprcanhash;
SELECT string_agg(opcname, ' ' ORDER BY opcname COLLATE "C") AS classes
  FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
 WHERE amname = 'hash' AND opcname LIKE '%\_fill\_ops';

-- each is = for values, and equal values hash alike: all that differs is listed
CREATE FUNCTION fulleq_check(type regtype, a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
    name text;
BEGIN
    SELECT t.typname INTO name FROM pg_type t WHERE t.oid = type;
    EXECUTE format('SELECT concat_ws('' '', a == a, a == b, a == NULL, NULL == a, NULL::%1$s == NULL,
                       (a == b) = (a = b), fullhash_%2$s(a) = fullhash_%2$s(a))
                      FROM (SELECT %3$L::%1$s AS a, %4$L::%1$s AS b) v', type, name, a, b) INTO answer;
    RETURN answer;
END $$;
SELECT answer, count(*), string_agg(type::text, ', ') FILTER (WHERE answer <> 't f f f t t t') AS wrong
  FROM (VALUES ('bool', 't', 'f'), ('bytea', '\x00', '\x0001'), ('"char"', 'a', 'b'), ('name', 'a', 'b'),
               ('int2', '1', '2'), ('int4', '1', '-1'), ('int8', '1', '10000000000'), ('text', 'a', 'A'),
               ('oid', '1', '2'), ('xid', '1', '2'), ('cid', '1', '2'), ('oidvector', '1 2', '1 2 3'),
               ('float4', '1.5', 'NaN'), ('float8', '-0.5', 'inf'),
               ('macaddr', '08:00:2b:01:02:03', '08:00:2b:01:02:04'),
               ('inet', '10.0.0.1', '10.0.0.1/8'), ('cidr', '10.0.0.0/8', '10.0.0.0/9'), ('varchar', 'a', 'a '),
               ('date', '2026-01-01', 'infinity'), ('time', '10:00', '10:01'),
               ('timestamp', '2026-01-01 10:00', '2026-01-01 10:01'),
               ('timestamptz', '2026-01-01 10:00+00', '2026-01-01 10:00+01'),
               ('interval', '1 day', '25 hours'), ('timetz', '10:00+00', '10:00+01')) v (type, a, b),
       fulleq_check(type::regtype, a, b) AS answer
 GROUP BY answer;

-- what is equal though it looks different hashes alike
SELECT fullhash_float8('0') = fullhash_float8('-0') AS zero, '0'::float8 == '-0' AS zeros,
       fullhash_interval('1 day') = fullhash_interval('24 hours') AS day,
       fullhash_float8('NaN') = fullhash_float8('NaN'::float4) AS nan;

-- a join keeps the rows with NULL, in each way of joining
CREATE TABLE l (a int, b text);
CREATE TABLE r (a int, b text);
INSERT INTO l SELECT nullif(g % 10, 0), nullif('t' || g % 3, 't0') FROM generate_series(1, 100) g;
INSERT INTO r SELECT nullif(g % 7, 0), nullif('t' || g % 5, 't0') FROM generate_series(1, 100) g;
ANALYZE l, r;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM l JOIN r ON l.a == r.a AND l.b == r.b;
SELECT count(*) FROM l JOIN r ON l.a == r.a AND l.b == r.b;
SELECT count(*), count(r.a) FROM l LEFT JOIN r ON l.a == r.a AND l.b == r.b;
SELECT count(*) FROM l FULL JOIN r ON l.a == r.a;
RESET enable_nestloop;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*) FROM l JOIN r ON l.a == r.a AND l.b == r.b;
SELECT count(*) FROM l JOIN r ON l.a IS NOT DISTINCT FROM r.a AND l.b IS NOT DISTINCT FROM r.b;
SELECT count(*), count(r.a) FROM l LEFT JOIN r ON l.a == r.a AND l.b == r.b;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- a batched hash join and parallel workers keep them, too
CREATE TABLE many AS SELECT nullif(g % 5000, 0) AS a, repeat('x', 100) AS filler FROM generate_series(1, 50000) g;
ANALYZE many;
SET work_mem = '64kB';
SET enable_nestloop = off;
SELECT count(*), count(*) FILTER (WHERE m.a IS NULL) AS nulls FROM many m
    JOIN (SELECT DISTINCT a FROM many) d ON m.a == d.a;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), count(*) FILTER (WHERE m.a IS NULL) AS nulls FROM many m
    JOIN (SELECT DISTINCT a FROM many) d ON m.a == d.a;
RESET ALL;

-- IN with NULL, a sub-query that hashes
SELECT count(*) FROM l WHERE a == ANY (ARRAY[1, NULL]);
SELECT count(*) FROM l WHERE EXISTS (SELECT FROM r WHERE r.a == l.a);

-- an index for it
CREATE INDEX l_b ON l USING hash (b text_fill_ops);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM l WHERE b == 't1';
SELECT count(*) FROM l WHERE b == 't1';
RESET ALL;

-- collations of a caller apply
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT 'a'::text == 'A' COLLATE ignore_case AS equal,
       fullhash_text('a' COLLATE ignore_case) = fullhash_text('A' COLLATE ignore_case) AS alike;

DROP TABLE l, r, many;
DROP FUNCTION fulleq_check;
DROP COLLATION ignore_case;
DROP EXTENSION fulleq;
