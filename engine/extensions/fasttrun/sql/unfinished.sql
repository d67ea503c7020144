-- An error while an index is made anew: the table has no rows then, and the index is no index. The next call mends it.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE EXTENSION IF NOT EXISTS fasttrun;

-- btree asks this function of its operator class when an index is built
CREATE FUNCTION fasttrun_equalimage(oid) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
	IF current_setting('fasttrun_test.fail', true) = 'on' THEN
		RAISE 'no index can be built now';
	END IF;
	RAISE WARNING 'asked as %', current_user;
	RETURN true;
END $$;
CREATE OPERATOR CLASS fasttrun_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=,
	OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int), FUNCTION 4 fasttrun_equalimage(oid);

CREATE TEMP TABLE tt (a int, b int);
SET client_min_messages = error;
CREATE INDEX tt_a ON tt (a fasttrun_ops);
RESET client_min_messages;
CREATE INDEX tt_b ON tt (b);
CREATE ROLE regress_fasttrun_owner;
ALTER TABLE tt OWNER TO regress_fasttrun_owner;
INSERT INTO tt SELECT g, g FROM generate_series(1, 1000) g;
SET fasttrun_test.fail = 'on';
SELECT fasttruncate('tt');
SELECT pg_relation_size('tt_a') AS broken;
SELECT fasttruncate('tt');
RESET fasttrun_test.fail;
SELECT fasttruncate('tt');
SELECT pg_relation_size('tt_a') > 0 AS mended, pg_relation_size('tt_b') > 0 AS mended;
INSERT INTO tt SELECT g, g FROM generate_series(1, 1000) g;
SET enable_seqscan = off;
SELECT count(*) FROM tt WHERE a = 7;
SELECT count(*) FROM tt WHERE b = 7;

-- in a subtransaction as well
DO $$ BEGIN
	SET fasttrun_test.fail = 'on';
	BEGIN
		PERFORM fasttruncate('tt');
	EXCEPTION WHEN raise_exception THEN
		RAISE WARNING '%', sqlerrm;
	END;
	SET fasttrun_test.fail = 'off';
	PERFORM fasttruncate('tt');
	INSERT INTO tt VALUES (7, 7);
END $$;
SELECT count(*) FROM tt WHERE a = 7;
SELECT count(*) FROM tt WHERE b = 7;
DISCARD TEMP;
DROP OPERATOR FAMILY fasttrun_ops USING btree;
DROP FUNCTION fasttrun_equalimage;
DROP ROLE regress_fasttrun_owner;
