-- ==, with NULL equal to NULL; it ignores case as = does
SELECT 'a'::mchar == 'A ' AS c, 'a'::mvarchar == 'A' AS v, 'a'::mchar == NULL AS one_null,
    NULL::mvarchar == NULL AS both;
CREATE TABLE l (c mchar(10), v mvarchar);
INSERT INTO l SELECT nullif('К' || g % 5, 'К0'), nullif('к' || g % 3, 'к0') FROM generate_series(1, 30) g;
CREATE TABLE r AS SELECT lower(c) AS c, upper(v) AS v FROM l;
ANALYZE l, r;
SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM l JOIN r ON l.c == r.c AND l.v == r.v;
SELECT count(*) FROM l JOIN r ON l.c == r.c AND l.v == r.v;
RESET enable_nestloop;
SET enable_hashjoin = off;
SELECT count(*) FROM l JOIN r ON l.c == r.c AND l.v == r.v;
RESET ALL;
DROP TABLE l, r;
