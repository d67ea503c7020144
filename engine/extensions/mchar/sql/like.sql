-- case is ignored, also where the pattern is text, and in both types
SELECT 'Ёлка'::mvarchar LIKE '%ЛК%' AS v, 'Ёлка'::mchar LIKE 'ё%' AS c, 'Ёлка'::mchar(10) LIKE '%КА' AS padded,
       'Ёлка'::mvarchar LIKE '_л_а'::text AS text, 'Ёлка'::mvarchar NOT LIKE 'ё%' AS negated,
           '😀x'::mvarchar LIKE '_X' AS emoji;
-- blanks left over at the end of the value are ignored, those of the pattern count
SELECT p AS pattern, string_agg(format('[%s] %s', v, v::mvarchar LIKE p::mvarchar), ', ' ORDER BY i) AS values
  FROM unnest(ARRAY['abc', 'abc ', '%c', '%c ', '% ', 'a%c', '%', '', ' ', '_', 'ab_', '%b%']) WITH ORDINALITY p (p, o),
       unnest(ARRAY['abc', 'abc ', 'abc  ', ' ', '']) WITH ORDINALITY v (v, i)
 GROUP BY o, p ORDER BY o;
SELECT '   '::mvarchar LIKE ' % ' AS blanks, '   '::mvarchar LIKE '  %  ' AS too_many,
       'a   '::mvarchar LIKE 'a % ' AS behind;
-- escapes: the backslash, another one, none
SELECT 'a%b'::mvarchar LIKE 'A\%B' AS backslash, 'axb'::mvarchar LIKE 'a\%b' AS literal,
    'a_b'::mvarchar LIKE '%\_%' AS underscore,
       'a\b'::mvarchar LIKE '%\\%' AS itself;
SELECT 'ma%a'::mvarchar LIKE 'M%A%%A' ESCAPE '%' AS both_unknown,
    'ma%a'::mvarchar LIKE 'M%A%%A' ESCAPE '%'::mvarchar AS typed,
       'ma%a'::mvarchar LIKE 'M#%%'::mvarchar ESCAPE '#' AS pattern_typed,
           'a\b'::mvarchar LIKE 'A\_'::mvarchar ESCAPE '' AS none,
       'a\b'::mchar NOT LIKE 'A\\B' ESCAPE '\' AS negated;
SELECT 'a'::mvarchar LIKE 'a\';
SELECT 'a'::mvarchar LIKE 'a#' ESCAPE '#'::mvarchar;
SELECT 'a'::mvarchar LIKE 'a#' ESCAPE '##'::mvarchar;
-- the long s folds to s, ß to no two letters
SELECT 'ſ'::mvarchar LIKE '%S%' AS long_s, 'ß'::mvarchar LIKE '%SS%' AS sz, 'K'::mvarchar LIKE '%k%' AS kelvin,
    '𐐀'::mvarchar LIKE '%𐐨%' AS deseret;

-- regular expressions ignore case by the rules of Unicode
SELECT 'Ёлка'::mvarchar ~ '^ё.КА$' AS v, 'Ёлка'::mchar ~ 'ЛК'::mvarchar AS c, 'Ёлка'::mvarchar !~ 'ЛК'::text AS negated,
       'abc'::mchar ~ 'B'::mchar AS cc, 'abc'::mvarchar ~ 'B'::mchar AS vc, 'abc'::mchar ~ 'B'::text AS ct;
SELECT 'Abc'::mvarchar SIMILAR TO '%(B|d)%' AS unknown, 'Abc'::mvarchar SIMILAR TO '(b|c)%'::mvarchar AS typed,
       'h%'::mchar SIMILAR TO 'H#%' AS no_escape,
           'h%'::mvarchar SIMILAR TO 'H#%'::mvarchar ESCAPE '#'::mvarchar AS escape;
SELECT similar_escape('a%'::mvarchar, NULL), similar_escape('a#%'::mchar, '#'),
    similar_escape(NULL, '#'::mvarchar) IS NULL;
SELECT 'a'::mvarchar ~ '(';

-- The substring search and the generic matcher agree on random values and patterns. They are made of few characters, so
-- that they match often: case pairs, letters that look alike, three forms of s and k, letters and emoji beyond the
-- basic plane.
CREATE FUNCTION pick(seed text, n int, alphabet text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT left(translate(md5(seed) || md5(seed || 'x'), '0123456789abcdef', alphabet), n) $$;
CREATE TABLE pairs AS
SELECT g, pick('v' || g, g % 50, 'aAbBяЯёsſSkK 😀𐐨𐐀')::mvarchar AS v,
       CASE g % 4 WHEN 1 THEN '%' || pick('p' || g, 1 + g % 3, 'aAbBяЯёЁsSſkK 😀𐐨') || '%'
                  WHEN 2 THEN pick('p' || g, g % 5, 'aAbBЯЁsK%%%% 𐐨ss')
                  WHEN 3 THEN '%' || pick('p' || g, 1 + g % 2, 'aBЯёſk 𐐨aBЯёſk K') || '%' ||
                              pick('q' || g, 1 + g % 2, 'aBЯЁſk aBЯЁſk SK') || CASE g % 3 WHEN 0 THEN '' ELSE '%' END
                  ELSE pick('p' || g, g % 6, 'aAbЯёsK%%%%__%% ') END AS pattern
  FROM generate_series(1, 10000) g;
-- half of the patterns are cut from their value, so that they match
UPDATE pairs SET pattern = '%' || upper(substr(v::text, 1 + g % 40, 1 + g % 9)) || '%' WHERE g % 2 = 0;
CREATE TABLE answers AS SELECT g, v LIKE pattern AS searched, v::mchar LIKE pattern AS searched_c FROM pairs;
SET mchar.substring_search = off;
SELECT count(*) AS pairs, count(*) FILTER (WHERE searched) > 3000 AS many_match,
       count(*) FILTER (WHERE NOT searched) > 2000 AS many_not,
       count(*) FILTER (WHERE searched <> (v LIKE pattern)) AS differ,
       count(*) FILTER (WHERE searched_c <> (v::mchar LIKE pattern)) AS differ_c
  FROM pairs JOIN answers USING (g);
RESET mchar.substring_search;
-- the needle at every place of a value, and one too many
SELECT count(*) FILTER (WHERE (repeat('x', a) || 'НайДи' || repeat('y', b))::mvarchar LIKE '%НАЙДИ%') AS found,
       count(*) FILTER (WHERE (repeat('x', a) || 'НайД' || repeat('y', b))::mvarchar LIKE '%НАЙДИ%') AS wrong
  FROM generate_series(0, 40) a, generate_series(0, 40) b;
-- a pattern for each row
SELECT count(*) FROM pairs a JOIN pairs b ON a.g = b.g + 1 AND a.v LIKE b.pattern WHERE a.v LIKE '%a%';
DROP TABLE pairs, answers;
DROP FUNCTION pick;
-- a call site with other patterns: rows, parameters, PL/pgSQL's kept expressions
SELECT pattern, 'Накладная'::mvarchar LIKE pattern AS is_like
FROM unnest(ARRAY['%клад%', '%склад%', 'НАК%']::mvarchar[]) pattern;
PREPARE find (mvarchar) AS SELECT 'Накладная'::mvarchar LIKE $1 AS is_like;
EXECUTE find ('%клад%');
EXECUTE find ('%склад%');
DEALLOCATE find;
DO $$
DECLARE
	pattern mvarchar;
	found int := 0;
BEGIN
	FOREACH pattern IN ARRAY ARRAY['%клад%', '%склад%', 'НАК%', '%ная', '%'] LOOP
		IF 'Накладная'::mvarchar LIKE pattern THEN
			found := found + 1;
		END IF;
	END LOOP;
	RAISE NOTICE 'found by % of 5 patterns', found;
END $$;
