-- A report that joins a temporary table of 1,000,000 rows with a permanent one. A connection's first run makes both.
\if :made = 0
CREATE UNLOGGED TABLE IF NOT EXISTS entries AS SELECT g % 1000 AS account, g % 12 AS month, g AS amount FROM generate_series(1, 6000000) g;
VACUUM (ANALYZE) entries;
CREATE TEMP TABLE chosen AS SELECT g AS amount, g % 50 AS kind FROM generate_series(1, 1000000) g;
ANALYZE chosen;
\set made 1
\endif
SELECT kind, month, count(*), sum(e.amount) FROM entries e JOIN chosen c USING (amount) GROUP BY kind, month;
