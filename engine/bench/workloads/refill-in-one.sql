-- A table kept for reuse, emptied and filled twenty times in one transaction; a figure counts all twenty as one.
\if :made = 0
CREATE TEMP TABLE work (id int, item text, name text, number text, quantity numeric(15, 3), price numeric(15, 2), amount numeric(15, 2), made timestamp, changed timestamp, ref bytea);
CREATE INDEX work_item ON work (item);
\set made 1
\endif
DO $$
BEGIN
  FOR i IN 1 .. 20 LOOP
    TRUNCATE work;
    INSERT INTO work SELECT g, 'item ' || g, 'name ' || g % 7, lpad(g::text, 9, '0'), g, 1.5, g * 1.5, '2026-01-01', '2026-01-02', '\x0102030405060708' FROM generate_series(1, 50) g;
    PERFORM sum(amount) FROM work WHERE item = 'item 17';
  END LOOP;
END $$;
