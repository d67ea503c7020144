-- What a document or a report does with temporary tables of :rows rows. Each part begins with the line "part NAME".
SET enable_mergejoin = off;
SET cpu_operator_cost = 0.001;
SET join_collapse_limit = 20;
SET from_collapse_limit = 20;
SET max_parallel_workers_per_gather = 0;
\timing on
\echo part fill
CREATE TEMP TABLE tt_keys (key int, n int);
CREATE INDEX ON tt_keys (key);
CREATE TEMP TABLE tt_lines (key int, part int, quantity numeric(15, 3));
CREATE INDEX ON tt_lines (key, part);
CREATE TEMP TABLE tt_parts (part int);
CREATE INDEX ON tt_parts (part);
INSERT INTO tt_keys SELECT 1 + g * (:keys / :rows), g FROM generate_series(0, :rows - 1) g;
INSERT INTO tt_lines
SELECT 1 + g % (:rows / 4 + 1) * (:keys / :rows), 1 + g % 3, 1 + g % 7 FROM generate_series(1, :rows) g;
INSERT INTO tt_parts SELECT g FROM generate_series(1, 3) g;
\echo part balance
SELECT count(*), sum(q) FROM (
	SELECT key, sum(quantity) q FROM register
	WHERE key IN (SELECT key FROM tt_keys) AND part IN (SELECT part FROM tt_parts) GROUP BY key) b;
\echo part last
SELECT count(*), sum(r.amount) FROM (
	SELECT key, max(period) AS period FROM register WHERE key IN (SELECT key FROM tt_keys) GROUP BY key) l
JOIN register r ON r.key = l.key AND r.period = l.period;
\echo part lines
SELECT count(*), sum(l.quantity * r.amount) FROM tt_lines l
JOIN tt_keys k ON k.key = l.key
JOIN register r ON r.key = k.key AND r.part = l.part;
\echo part temps
SELECT count(*), sum(l.quantity) FROM tt_keys k
JOIN tt_lines l ON l.key = k.key
JOIN tt_parts p ON p.part = l.part
LEFT JOIN tt_keys other ON other.key = l.key + 1 AND other.n = k.n;
