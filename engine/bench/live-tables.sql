-- The first run of a connection makes tables that live on; put before each workload.
\if :ready = 0
DO $$
BEGIN
  FOR i IN 1 .. :live LOOP
    EXECUTE 'CREATE TEMP TABLE live_' || i || ' (id int PRIMARY KEY, name text)';
    EXECUTE 'INSERT INTO live_' || i || ' VALUES (1, ''one'')';
    IF i % 20 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$;
\set ready 1
\endif
