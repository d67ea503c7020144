-- A report over a permanent table, by a plan with parallel workers. The first run of a connection makes the table.
\if :made = 0
CREATE UNLOGGED TABLE IF NOT EXISTS entries AS SELECT g % 1000 AS account, g % 12 AS month, g AS amount FROM generate_series(1, 6000000) g;
VACUUM (ANALYZE) entries;
\set made 1
\endif
SELECT account, month, count(*), sum(amount) FROM entries GROUP BY account, month;
