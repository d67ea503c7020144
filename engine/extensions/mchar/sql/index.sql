-- Plans without a scan of the table look dear enough to be compiled.
SET jit = off;
CREATE TABLE goods (id int, v mvarchar, c mchar(40));
INSERT INTO goods SELECT g, w, w FROM (
    SELECT g, ((ARRAY['Болт', 'БОЛТ М', 'гайка', 'Шайба', 'Ёмкость', 'ёж', 'иголка', 'ИГРА', 'bolt', 'Nut', 'l·', 'ſ',
        'straße', 'КНИ'])[1 + g % 14]
               || ' ' || (g * 7919 % 100))::mvarchar AS w FROM generate_series(1, 1400) g) s;
INSERT INTO goods VALUES (5001, '', ''), (5002, '   ', '   '),
    (5003, 'и' || U&'\0306' || 'од', 'и' || U&'\0306' || 'од'),
    (5004, 'cafe' || U&'\0301', 'cafe' || U&'\0301'), (5005, 'Кни' || U&'\0306', 'Кни' || U&'\0306'),
        (5006, '😀 smile', '😀 smile'),
    (5007, 'a' || U&'\0345' || 'b', 'a' || U&'\0345' || 'b'), (5008, '100%', '100%'),
        (5009, 'a' || U&'\0001' || 'b', 'a' || U&'\0001' || 'b');
CREATE INDEX goods_v ON goods (v);
CREATE INDEX goods_c ON goods (c);
CREATE INDEX goods_v_case ON goods (v mvarchar_case_ops);
ANALYZE goods;

SET enable_seqscan = off;
SET enable_bitmapscan = off;
-- conditions that LIKE gives to an index, also where the pattern is text, has an escape or no wildcard
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v LIKE 'БОЛТ М%1';
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE c LIKE 'болт 1%'::text;
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE c LIKE 'болт 1%';
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v LIKE '100#%' ESCAPE '#';
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v LIKE 'гайка 1';
-- a prefix ends where the collation has units of more than one character, or other rules for case
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v LIKE 'кни%';
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v LIKE 'café_';
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v LIKE U&'a\0345%';
-- comparisons use an index of their own case, of either type
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v = 'БОЛТ 1'::mchar;
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE v &> 'Ш'::mvarchar;
EXPLAIN (COSTS OFF) SELECT * FROM goods WHERE c BETWEEN 'б'::mvarchar AND 'в'::mvarchar;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- an index finds what a scan finds, for every beginning there is and for some that are not
CREATE TABLE patterns AS
    SELECT DISTINCT pattern FROM (
        SELECT replace(replace(upper(substr(v::text, 1, n)), '\', '\\'), '%', '\%') || tail AS pattern
          FROM (SELECT DISTINCT v FROM goods WHERE id % 61 = 0 OR id > 5000) v,
               generate_series(0, 7) n, unnest(ARRAY['%', '', '_%', '% ']) WITH ORDINALITY t (tail, i)
         WHERE tail = '%' OR (n + i) % 3 = 0) p;
INSERT INTO patterns VALUES ('и%'), ('й%'), ('caf%'), ('cafe%'), ('café%'), ('L%'), ('l·%'), ('s%'), ('S%'),
    ('strass%'), ('a%'), ('ab%'), ('😀%'), (' %');
CREATE FUNCTION found(col text, pattern text, setting text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    ids text;
BEGIN
    PERFORM set_config('enable_seqscan', CASE setting WHEN 'seq' THEN 'on' ELSE 'off' END, true),
            set_config('enable_indexscan', CASE setting WHEN 'seq' THEN 'off' ELSE 'on' END, true),
            set_config('enable_bitmapscan', CASE setting WHEN 'seq' THEN 'off' ELSE 'on' END, true);
    EXECUTE format('SELECT string_agg(id::text, '','' ORDER BY id) FROM goods WHERE %s LIKE %L', col, pattern) INTO ids;
    RETURN ids;
END $$;
SELECT count(*) > 100 AS patterns,
       count(*) FILTER (WHERE found('v', pattern, 'seq') IS DISTINCT FROM found('v', pattern, 'index')) AS differ_v,
       count(*) FILTER (WHERE found('c', pattern, 'seq') IS DISTINCT FROM found('c', pattern, 'index')) AS differ_c
  FROM patterns;

-- trigrams find a part; LIKE is checked again, and short parts read the index whole
CREATE INDEX goods_v_parts ON goods USING gin (v mvarchar_trigram_ops);
CREATE INDEX goods_c_parts ON goods USING gin (c mchar_trigram_ops);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM goods WHERE v LIKE '%ОЛТ%7%';
SELECT count(*) FROM goods WHERE v LIKE '%ОЛТ%7%';
EXPLAIN (COSTS OFF) SELECT count(*) FROM goods WHERE c LIKE '%ЁМК%'::text;
SELECT count(*) FROM goods WHERE c LIKE '%ЁМК%'::text;
SELECT count(*) FROM goods WHERE v LIKE '%ЁЖ%';
SELECT count(*) FROM goods WHERE v LIKE '%😀 S%';
RESET enable_seqscan;
TRUNCATE patterns;
INSERT INTO patterns
SELECT DISTINCT '%' || upper(substr(v::text, 1 + id % 4, 1 + id % 5)) ||
                CASE id % 3 WHEN 0 THEN '%' WHEN 1 THEN '_%' ELSE '' END
  FROM goods WHERE v::text !~ '%' AND id % 3 = 0;
DROP INDEX goods_v, goods_c;
SELECT count(*) > 100 AS patterns,
       count(*) FILTER (WHERE found('v', pattern, 'seq') IS DISTINCT FROM found('v', pattern, 'index')) AS differ_v,
       count(*) FILTER (WHERE found('c', pattern, 'seq') IS DISTINCT FROM found('c', pattern, 'index')) AS differ_c
  FROM patterns;
INSERT INTO goods VALUES (6001, 'новый болт', 'НОВЫЙ БОЛТ');
SET enable_seqscan = off;
SELECT id FROM goods WHERE v LIKE '%Й БОЛ%' AND c LIKE '%новый%';
RESET enable_seqscan;
DROP TABLE goods, patterns;
DROP FUNCTION found;

-- hash indexes
CREATE TABLE hashed AS SELECT ('Ключ ' || g)::mvarchar AS v FROM generate_series(1, 1000) g;
CREATE INDEX ON hashed USING hash (v);
ANALYZE hashed;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT v FROM hashed WHERE v = 'ключ 17 '::mchar;
SELECT v FROM hashed WHERE v = 'ключ 17 '::mchar;
RESET enable_seqscan;
DROP TABLE hashed;

-- uniqueness ignores case and trailing blanks
CREATE TABLE keys (k mvarchar(10) PRIMARY KEY);
INSERT INTO keys VALUES ('Ключ'), (''), ('😀');
INSERT INTO keys VALUES ('КЛЮЧ  ');
INSERT INTO keys VALUES ('   ');
INSERT INTO keys VALUES ('😁');
DROP TABLE keys;
