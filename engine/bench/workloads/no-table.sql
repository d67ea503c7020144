-- What the cycle asks, of no table at all.
SELECT sum(amount) FROM (SELECT g AS id, 'item ' || g AS item, 'name ' || g % 7 AS name, lpad(g::text, 9, '0') AS number, g AS quantity, 1.5 AS price, g * 1.5 AS amount, '2026-01-01' AS made, '2026-01-02' AS changed, '\x0102030405060708' AS ref FROM generate_series(1, 50) g) work WHERE item = 'item 17';
