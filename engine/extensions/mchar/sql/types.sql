CREATE EXTENSION mchar;

-- mchar(n) is padded when it is read, cuts what is too long and strips blanks
SELECT '[' || 'abc'::mchar(5)::text || ']' AS padded, '[' || 'abc  '::mchar::text || ']' AS stripped,
       'abcdef'::mchar(3) AS cut, '[' || 'ab  cd'::mchar(4)::text || ']' AS blanks;
-- mvarchar(n) keeps blanks, refuses what is too long unless it is blanks, and a cast cuts
CREATE TABLE t (c mchar(5), v mvarchar(5), l mvarchar);
INSERT INTO t VALUES ('abcdefg', 'abc  ', 'no limit'), ('ab', 'abc      ', NULL);
INSERT INTO t (v) VALUES ('abcdef');
INSERT INTO t (v) VALUES ('abcdef'::mvarchar);
INSERT INTO t (v) VALUES ('abcdef'::mvarchar(5));
INSERT INTO t (v) VALUES ('abcdef'::text::mvarchar(4));
SELECT '[' || c::text || ']' AS c, '[' || v::text || ']' AS v, l FROM t;
SELECT c::mvarchar || '|' AS padded, v || '|' AS kept, c || v AS both FROM t;
DROP TABLE t;

-- what a type modifier may be; n is stored as it is
CREATE TABLE m (a mchar, b mchar(1), c mvarchar(10485760));
SELECT format_type(atttypid, atttypmod), atttypmod FROM pg_attribute WHERE attrelid = 'm'::regclass AND attnum > 0;
DROP TABLE m;
SELECT ''::mchar(0);
SELECT ''::mvarchar(-1);
SELECT ''::mchar(10485761);
SELECT ''::mvarchar(1, 2);

-- characters are code points, not units
SELECT '😀😀😀'::mchar(2) AS cut, length('😀😀 '::mvarchar) AS length, octet_length(mvarchar_send('😀a')) AS bytes,
       '[' || '😀'::mchar(3)::text || ']' AS padded;
SELECT '😀😀😀'::mvarchar(2) = '😀😀' AS explicit_cast;

-- casts
SELECT 'a  '::bpchar(3)::mvarchar || '|' AS bpchar, 'a  '::varchar::mvarchar || '|' AS varchar,
       'a  '::text::mchar || '|' AS text, 42::mvarchar AS number, '42'::mvarchar::int + 1 AS back,
       '[' || 'x'::mchar(3)::varchar || ']' AS padded, 'x'::mchar(3)::bpchar = 'x' AS blank;
SELECT pg_typeof('f'::mchar(1)) AS t UNION SELECT pg_typeof(x)
    FROM (SELECT 'f'::mchar(1) UNION SELECT 'o'::mvarchar(1)) u (x);

-- binary: UTF-16 in the server's byte order, which is little-endian in these tests
CREATE TABLE b (c mchar(4), v mvarchar(4));
INSERT INTO b VALUES ('яz', 'яz 😀'), ('', ''), (NULL, NULL);
SELECT mchar_send(c) AS c, mvarchar_send(v) AS v FROM b;
CREATE TABLE received (v mvarchar(10));
-- receive has COPY BINARY read a value of these bytes.
CREATE FUNCTION receive(units bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    file bytea := '\x5047434f50590aff0d0a0000000000000000000001'::bytea || int4send(length(units)) || units ||
                  '\xffff'::bytea;
    octal text;
BEGIN
    SELECT string_agg(format('\%s%s%s', b / 64, b / 8 % 8, b % 8), '' ORDER BY i) INTO octal
      FROM (SELECT i, get_byte(file, i) AS b FROM generate_series(0, length(file) - 1) i) bytes;
    TRUNCATE received;
    EXECUTE format('COPY received FROM PROGRAM %L BINARY', format($p$printf '%s'$p$, octal));
    RETURN (SELECT '[' || v::text || ']' FROM received);
END $$;
SELECT receive('\x4f047a0020003dd800de'), receive('\x');
\set VERBOSITY terse
-- too long, an odd byte, NUL, the character that ends ranges, halves of a pair
SELECT receive(decode(repeat('4100', 11), 'hex'));
SELECT receive('\x4f047a');
SELECT receive('\x41000000');
SELECT receive('\x4100ffff');
SELECT receive('\x41003dd8');
SELECT receive('\x00de4100');
SELECT receive('\x3dd83dd800de');
SELECT ('a' || chr(65535))::mvarchar;
SELECT ('a' || chr(65535))::text::mchar;
\set VERBOSITY default
DROP FUNCTION receive;
DROP TABLE b, received;

-- functions
SELECT length('abc  '::mvarchar), length('abc'::mchar(10)), upper('straße'::mvarchar), upper('яё'::mchar),
       lower('ЯЁ'::mvarchar), '[' || upper('ß'::mchar(1))::text || ']' AS cut;
SELECT substr('abcdef'::mvarchar, 3) AS a, substr('abcdef'::mchar, 2, 3) AS b, substr('abcdef'::mvarchar, -1, 3) AS c,
       substr('абв😀г'::mvarchar, 4, 1) AS d, substr('abc'::mvarchar, 10) AS e,
           substr('abc'::mvarchar, 2, 2147483647) AS f,
       substr('abc'::mvarchar, -2147483648, 2147483647) AS g;
SELECT substr('abc'::mvarchar, 1, -1);
SELECT pg_typeof('a'::mchar || 'b'::mchar) AS cc, pg_typeof('a'::mchar || 'b'::mvarchar) AS cv,
       pg_typeof('a'::mvarchar || 'b'::mchar) AS vc, pg_typeof('a'::mvarchar || 'b') AS vv;
SELECT 'asd'::mchar(5) || '123' AS a, 'asd'::mchar(5) || '1'::mvarchar AS b,
    'asd '::mvarchar || '1'::mchar(3) || '|' AS c;

-- values of every size survive storage: short headers, long ones, compressed, toasted
CREATE TABLE stored (n int, c mchar, v mvarchar);
INSERT INTO stored SELECT n, left(repeat('я', n), n)::mchar, substr(repeat(md5(n::text), 1 + n / 32), 1, n)::mvarchar
  FROM unnest(ARRAY[0, 1, 61, 62, 63, 64, 65, 127, 1000, 5000, 100000]) n;
SELECT bool_and(length(c) = n AND length(v) = n AND c::text = repeat('я', n)) AS whole FROM stored;
DROP TABLE stored;

-- errors of input can be caught by those who ask (16 and newer)
SELECT current_setting('server_version_num')::int < 160000 AS old \gset
\if :old
    SELECT false AS valid, true AS cut \gset
\else
    SELECT pg_input_is_valid('abc', 'mvarchar(2)') AS valid, pg_input_is_valid('abc', 'mchar(2)') AS cut \gset
\endif
\echo :valid :cut
