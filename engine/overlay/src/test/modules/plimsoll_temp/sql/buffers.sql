--
-- Local buffers by relation: drop and truncate find all of them, and no others.
--
SET temp_buffers = 100;
CREATE TEMP TABLE large (id int PRIMARY KEY, filler text);
CREATE TEMP TABLE small (id int PRIMARY KEY, long text);
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
  INSERT INTO large SELECT g, repeat(chr(97 + g % 26), 1000) FROM generate_series(first, last) g
$$;
CREATE VIEW state AS
  SELECT (SELECT format('%s %s %s', count(*), sum(id), count(DISTINCT filler)) FROM large) AS large,
         (SELECT format('%s %s %s', count(*), sum(id), sum(length(long))) FROM small) AS small;

-- more pages than buffers, and a small table with all forks and a toast table
SELECT fill(1, 1500);
INSERT INTO small SELECT g, (SELECT string_agg(md5(i || ' ' || g), '') FROM generate_series(1, 200) i)
  FROM generate_series(1, 20) g;
VACUUM small;
TABLE state;

-- the tail of a table goes, the rest stays
DELETE FROM large WHERE id > 700;
VACUUM large;
SELECT pg_relation_size('large') < 1000000 AS truncated;
TABLE state;
SELECT fill(701, 900);
TABLE state;

-- truncation, taken back and kept, by new storage and in place
BEGIN;
TRUNCATE small;
INSERT INTO small VALUES (1, 'x');
TABLE state;
ROLLBACK;
TABLE state;
BEGIN;
CREATE TEMP TABLE fresh (id int PRIMARY KEY, long text);
INSERT INTO fresh SELECT id, long FROM small;
TRUNCATE fresh;
INSERT INTO fresh SELECT id, long FROM small WHERE id <= 10;
SAVEPOINT one;
TRUNCATE large, small;
SELECT fill(1, 300);
ROLLBACK TO one;
TABLE state;
COMMIT;
SELECT count(*), sum(length(long)) FROM fresh;
TRUNCATE small;
TABLE state;

-- dropped buffers are used again, beside those that the clock sweep has taken
DO $$
BEGIN
  FOR i IN 1 .. least(150, current_setting('plimsoll_temp.rounds', true)::int) LOOP
    CREATE TEMP TABLE cycle (id int PRIMARY KEY, t text);
    INSERT INTO cycle SELECT g, i || ' ' || g FROM generate_series(1, 10 * (i % 40)) g;
    IF (SELECT count(*) <> 10 * (i % 40) OR bool_or(t <> i || ' ' || id) FROM cycle) THEN
      RAISE 'wrong content in cycle %', i;
    END IF;
    IF i % 7 = 0 THEN
      PERFORM count(filler) FROM large;
    END IF;
    IF i % 3 = 0 THEN
      BEGIN
        DROP TABLE cycle;
        RAISE division_by_zero;
      EXCEPTION WHEN division_by_zero THEN
        PERFORM count(t) FROM cycle;
      END;
    END IF;
    DROP TABLE cycle;
  END LOOP;
END $$;
TABLE state;
SELECT count(*), sum(length(long)) FROM fresh;

-- a table in use is not dropped, and its buffers are not either
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM fresh ORDER BY ctid;
FETCH 1 FROM c;
SAVEPOINT one;
DROP TABLE fresh;
ROLLBACK TO one;
FETCH 1 FROM c;
COMMIT;

DROP VIEW state;
DROP TABLE large, small, fresh;
DROP FUNCTION fill;
