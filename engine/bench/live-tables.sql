-- Temporary tables that live on in a session, :live of them.
DO $$
BEGIN
  FOR i IN 1 .. :live LOOP
    EXECUTE 'CREATE TEMP TABLE live_' || i || ' (id int PRIMARY KEY, name text)';
    EXECUTE 'INSERT INTO live_' || i || ' VALUES (1, ''one'')';
    IF i % 20 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$;
