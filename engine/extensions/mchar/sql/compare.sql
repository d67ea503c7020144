-- case and trailing blanks, in all four pairings of the types
SELECT l || ' ' || r AS types, a = b AS eq, a <> b AS ne, NOT a < b AS lt, a <= b AS le, NOT a > b AS gt, a >= b AS ge
  FROM (SELECT 'mchar' AS l, 'mchar' AS r) n, (SELECT 'Ёлка  '::mchar AS a, 'ёЛКА'::mchar(9) AS b) v;
SELECT 'Ёлка '::mchar = 'ёлкА'::mvarchar AS cv, 'Ёлка'::mvarchar = 'ёлкА '::mchar AS vc,
    'Ёлка '::mvarchar = 'ёлкА'::mvarchar AS vv,
       'Ёлка'::mchar &= 'ёлкА'::mvarchar AS cv_case, 'Ёлка'::mvarchar &= 'Ёлка '::mchar AS vc_case,
       'а'::mvarchar &< 'А'::mvarchar AS lower_first, 'а'::mvarchar &<> 'А'::mchar AS differ;
-- accents tell letters apart, and й is no и
SELECT 'е'::mvarchar = 'ё' AS yo, 'и'::mvarchar = 'й' AS i, 'e'::mvarchar = 'é' AS e, 'ß'::mvarchar = 'SS' AS sz;
-- a key of blanks, and what ICU ignores
SELECT ''::mvarchar = '   ' AS blanks, ' a'::mvarchar = 'a' AS leading, '😀'::mvarchar = '😀 ' AS emoji,
    '😀'::mvarchar = '😁' AS other;

-- every operator of every pairing says what the comparison function says
CREATE TABLE words (id serial, w text);
INSERT INTO words (w) VALUES (''), (' '), ('a'), ('A'), ('a '), ('á'), ('b'), ('B '), ('ab'), ('Ab'), ('а'), ('А'),
    ('я'), ('Ё'), ('ё'), ('е'), ('й'), ('и'), ('1'), ('10'), ('9'), ('-'), ('_'),
    ('a b'), ('a-b'), ('😀'), ('😁 '), ('z'), ('ß'),
    ('SS'), ('ss');
CREATE FUNCTION compare_check() RETURNS TABLE (types text, signs text, pairs bigint, wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
    l text; r text; sign text; prefix text;
BEGIN
    FOR l, r, prefix IN VALUES ('mchar', 'mchar', 'mchar'), ('mvarchar', 'mvarchar', 'mvarchar'),
                               ('mchar', 'mvarchar', 'mc_mv'), ('mvarchar', 'mchar', 'mv_mc') LOOP
        FOREACH sign IN ARRAY ARRAY['', '&'] LOOP
            RETURN QUERY EXECUTE format($q$
                SELECT '%1$s %2$s', '%3$s=', count(*),
                       count(*) FILTER (WHERE (a %3$s= b) <> (c = 0) OR (a %3$s<> b) <> (c <> 0)
                                           OR (a %3$s< b) <> (c < 0) OR (a %3$s<= b) <> (c <= 0)
                                           OR (a %3$s> b) <> (c > 0) OR (a %3$s>= b) <> (c >= 0)
                                           OR sign(c) <> -sign(d))
                  FROM (SELECT x.w::%1$s AS a, y.w::%2$s AS b, %4$s_cmp(x.w::%1$s, y.w::%2$s) AS c,
                               %5$s_cmp(y.w::%2$s, x.w::%1$s) AS d FROM words x, words y) p $q$,
                l, r, sign, prefix || CASE sign WHEN '' THEN '_icase' ELSE '_case' END,
                replace(replace(replace(prefix, 'mc_mv', 'x'), 'mv_mc', 'mc_mv'), 'x', 'mv_mc')
                    || CASE sign WHEN '' THEN '_icase' ELSE '_case' END);
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM compare_check();
DROP FUNCTION compare_check;

-- sorting: with and without abbreviated keys it is one order, that of ICU's root here
SELECT string_agg('[' || w || ']', ' ' ORDER BY w::mvarchar, id) FROM words;
SELECT string_agg('[' || w || ']', ' ' ORDER BY w::mchar USING &<, id) FROM words;
CREATE TABLE sorted AS SELECT g AS id, ('Документ ' || md5(g::text))::mvarchar AS v, md5(g::text)::mchar AS c
  FROM generate_series(1, 3000) g;
SELECT count(*) FILTER (WHERE v < before) AS v, count(*) FILTER (WHERE c < c_before) AS c
  FROM (SELECT v, lag(v) OVER (ORDER BY v) AS before, c, lag(c) OVER (ORDER BY c) AS c_before FROM sorted) s;

-- equal values hash alike, also across the types
SELECT count(*) FILTER (WHERE x.w::mvarchar = y.w::mchar) AS equal,
       count(*) FILTER (WHERE x.w::mvarchar = y.w::mchar
           AND mvarchar_hash(x.w::mvarchar) <> mchar_hash(y.w::mchar)) AS unlike,
       count(*) FILTER (WHERE x.w::mvarchar = y.w::mchar AND mvarchar_hash_extended(x.w::mvarchar, 7) <>
                              mchar_hash_extended(y.w::mchar, 7)) AS unlike_extended
  FROM words x, words y;
SELECT mvarchar_hash_extended('a', 0)::bit(32) = mvarchar_hash('a')::bit(32) AS seed_0;

-- DISTINCT, GROUP BY and joins of both types by hash and by merge
SELECT count(DISTINCT w::mvarchar) AS v, count(DISTINCT w::mchar) AS c FROM words;
CREATE TABLE lefts AS SELECT w::mchar AS a FROM words;
CREATE TABLE rights AS SELECT upper(w)::mvarchar AS b FROM words;
ANALYZE lefts, rights;
SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM lefts JOIN rights ON a = b;
SELECT count(*) FROM lefts JOIN rights ON a = b;
SET enable_hashjoin = off;
SET enable_mergejoin = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM lefts JOIN rights ON a = b;
SELECT count(*) FROM lefts JOIN rights ON a = b;
SELECT count(*) FROM lefts JOIN rights ON a &= b;
SET enable_nestloop = on;
SET enable_mergejoin = off;
SELECT count(*) FROM lefts JOIN rights ON a = b;
SELECT count(*) FROM lefts JOIN rights ON a &= b;
RESET ALL;

-- aggregates, also by an index and by parallel workers
SELECT min(w::mvarchar) || '|', max(w::mvarchar), min(w::mchar) || '|', max(w::mchar) FROM words WHERE w <> '';
CREATE INDEX sorted_v ON sorted (v);
ANALYZE sorted;
SELECT max(v) = (SELECT v FROM sorted ORDER BY v DESC LIMIT 1) AS by_index FROM sorted;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT max(c), min(c) FROM sorted;
SELECT max(c) = (SELECT c FROM sorted ORDER BY c DESC LIMIT 1) AS by_workers FROM sorted;
RESET ALL;

-- partitions by hash
CREATE TABLE parts (v mvarchar) PARTITION BY HASH (v);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT w::mvarchar FROM words;
SELECT count(*) = 0 AS together FROM parts_0 JOIN parts_1 USING (v);
DROP TABLE parts, lefts, rights, sorted, words;

-- a function that no one should see as something else than it is
SELECT count(*) FILTER (WHERE provolatile <> 'i'), count(*) FILTER (WHERE proparallel <> 's')
  FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
       JOIN pg_extension e ON e.oid = d.refobjid
 WHERE extname = 'mchar' AND prokind = 'f' AND proname NOT LIKE 'mchar\_collation%'
     AND proname NOT LIKE 'mchar\_refresh%'
   AND proname <> 'mchar_indexes';
-- families are complete and consistent
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname LIKE 'm%char\_%' ORDER BY 1, opcmethod;
