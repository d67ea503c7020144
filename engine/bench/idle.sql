-- A session that has used a temporary table, and waits for its user.
CREATE TEMP TABLE IF NOT EXISTS idle (id int PRIMARY KEY, name text);
SELECT count(*) FROM idle;
\sleep 1000 s
