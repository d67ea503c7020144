-- The cycle as one transaction: its catalog rows are waited for once, at the end.
BEGIN;
CREATE TEMP TABLE work (id int, item text, name text, number text, quantity numeric(15, 3), price numeric(15, 2), amount numeric(15, 2), made timestamp, changed timestamp, ref bytea);
INSERT INTO work SELECT g, 'item ' || g, 'name ' || g % 7, lpad(g::text, 9, '0'), g, 1.5, g * 1.5, '2026-01-01', '2026-01-02', '\x0102030405060708' FROM generate_series(1, 50) g;
CREATE INDEX work_item ON work (item);
ANALYZE work;
SELECT sum(amount) FROM work WHERE item = 'item 17';
DROP TABLE work;
COMMIT;
