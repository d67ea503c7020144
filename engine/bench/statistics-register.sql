-- A register of :movements movements of :keys keys, as an accounting system keeps them: of goods, by warehouse (part)
-- and moment.
DROP TABLE IF EXISTS register;
CREATE TABLE register (
	period timestamp NOT NULL, recorder int NOT NULL, line int NOT NULL,
	key int NOT NULL, part int NOT NULL, quantity numeric(15, 3) NOT NULL, amount numeric(15, 2) NOT NULL
) WITH (autovacuum_enabled = off);
INSERT INTO register
SELECT timestamp '2024-01-01' + n / 10 * interval '1 second', n / 10, n % 10,
	1 + abs(hashint4(n)::bigint) % :keys, 1 + n % 50, 1 + n % 9, 10 + n % 991
FROM generate_series(1, :movements) n;
CREATE INDEX register_by_key ON register (key, period);
CREATE INDEX register_by_period ON register (period, recorder, line);
VACUUM ANALYZE register;
