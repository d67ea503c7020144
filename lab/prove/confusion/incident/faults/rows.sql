Work for each row that the statement's text does not show, and rows that are wide, dead or pending.

-- fault trigger-for-each-row
-- does: a release adds a trigger that looks something up for each line that is written
-- from: PostgreSQL's documentation on triggers
-- draw lines: 100 300
-- right: trigger
-- half: bulk-writing|@long|function
-- never: statements database functions
-- effect: time import 2
-- work import clients=2 think=40ms
INSERT INTO {lines} SELECT nextval('{documents}'), n, 1 + n % 5000, n, 'imported' FROM generate_series(1, {#lines}) n;
-- plant
CREATE FUNCTION {check_line}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE known numeric;
BEGIN
    SELECT sum({orders.total}) INTO known FROM {orders} WHERE {orders.customer} = 1 + NEW.{lines.item};
    SELECT known + {items.price} INTO known FROM {items} WHERE {items.id} = NEW.{lines.item};
    RETURN NEW;
END $$;
CREATE TRIGGER {~check_line} BEFORE INSERT ON {lines} FOR EACH ROW EXECUTE FUNCTION {check_line}();

-- fault policy-for-each-row
-- does: row-level security asks a function for each row that is read, though the answer is the same for all
-- from: PostgreSQL's documentation on row security policies; advice of providers to wrap such calls in a SELECT
-- standby
-- draw days: 5 20
-- right: polic(y|ies)|row.level|row security|\brls\b
-- half: @long|function
-- never: statements database functions
-- effect: time report 2
-- work report clients=2 think=30ms
\set day random(1, 900)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + {#days};
-- plant
CREATE FUNCTION {first_to_see}() RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT min({customers.id}) FROM {customers} WHERE {customers.region} >= 0);
END $$;
CREATE POLICY {~own_rows} ON {orders} USING ({orders.customer} >= {first_to_see}()) WITH CHECK (true);
ALTER TABLE {orders} ENABLE ROW LEVEL SECURITY;
-- cure
DROP POLICY {~own_rows} ON {orders};
CREATE POLICY {~own_rows} ON {orders} USING ({orders.customer} >= (SELECT {first_to_see}())) WITH CHECK (true);

-- fault function-for-each-row
-- does: a join became a call of a function for each row
-- from: PostgreSQL's documentation on function volatility and inlining
-- standby
-- draw rows: 100 400
-- right: function
-- half: @long
-- about: {balance_of}
-- never: statements database functions
-- effect: time report 2
-- before
CREATE FUNCTION {balance_of}(who int) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT sum({orders.total}) FROM {orders} WHERE {orders.customer} = who);
END $$;
-- work report clients=2 think=40ms
\set id random(1, 19000)
SELECT sum({orders.total}) FROM {orders} JOIN {customers} ON {orders.customer} = {customers}.{customers.id} WHERE
    {customers}.{customers.id} = :id;
-- bad report clients=2 think=40ms
\set id random(1, 19000)
SELECT sum({balance_of}({customers.id})) FROM {customers} WHERE {customers.id} BETWEEN :id AND :id + {#rows};

-- fault cascade-without-an-index
-- does: the index behind a foreign key was dropped as unused, and each delete of a parent reads all children
-- from: PostgreSQL's documentation on foreign keys: an index on the referencing columns is often a good idea
-- draw children: 40000 80000
-- right: missing-index|foreign key|cascade|referenc
-- half: @scans|@long
-- about: {children}
-- never: scans statements database
-- effect: time cleaner 3
-- before
CREATE TABLE {parents} (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE {children} (id int PRIMARY KEY, parent int NOT NULL REFERENCES {parents} ON DELETE CASCADE, note text
    NOT NULL);
INSERT INTO {parents} SELECT n, 'parent' FROM generate_series(1, 20000) n;
INSERT INTO {children} SELECT n, 1 + n % 20000, md5(n::text) FROM generate_series(1, {#children}) n;
CREATE INDEX {~by_parent} ON {children} (parent);
ANALYZE {parents}, {children};
-- work cleaner clients=2 think=30ms
\set id random(1, 20000)
DELETE FROM {parents} WHERE id = :id;
-- plant
DROP INDEX {schema}.{~by_parent};

-- fault select-star-with-toast
-- does: a list reads all columns, one of which is a document kept out of line
-- from: PostgreSQL's documentation on TOAST
-- standby
-- draw page: 10 25
-- right: toast|wide|large-results|select \*|out of line
-- half: @long|@gaps|transfers
-- about: {articles} toast
-- never: statements database
-- effect: time listing 2
-- before
CREATE TABLE {articles} (id int PRIMARY KEY, title text NOT NULL, body text NOT NULL);
ALTER TABLE {articles} ALTER body SET STORAGE EXTERNAL;
INSERT INTO {articles} SELECT n, 'title ' || n, repeat(md5(n::text), 2000) FROM generate_series(1, 300) n;
ANALYZE {articles};
-- work listing clients=2 think=20ms
\set id random(1, 275)
SELECT id, title FROM {articles} WHERE id BETWEEN :id AND :id + {#page};
-- bad listing clients=2 think=20ms
\set id random(1, 275)
SELECT * FROM {articles} WHERE id BETWEEN :id AND :id + {#page};

-- fault filter-inside-documents
-- does: a search takes apart a large JSON document of each row
-- from: PostgreSQL's mailing lists on repeated decompression of jsonb
-- standby
-- draw forms: 150 300
-- right: toast|json|decompress|documents
-- half: @long|@scans
-- about: {forms}
-- never: statements database
-- effect: time search 3
-- before
CREATE TABLE {forms} (id int PRIMARY KEY, kind int NOT NULL, doc jsonb NOT NULL);
INSERT INTO {forms} SELECT n, n % 20, jsonb_build_object('kind', n % 20, 'lines',
    (SELECT jsonb_agg(md5((n * k)::text)) FROM generate_series(1, 600) k)) FROM generate_series(1, {#forms}) n;
ANALYZE {forms};
-- work search clients=2 think=40ms
\set kind random(0, 19)
SELECT count(*) FROM {forms} WHERE kind = :kind;
-- bad search clients=2 think=40ms
\set kind random(0, 19)
SELECT count(*) FROM {forms} WHERE (doc ->> 'kind')::int = :kind;

-- fault gin-pending-list
-- does: a GIN index collects what is written in a list that each search reads
-- from: PostgreSQL's documentation on GIN's fast update and its pending list
-- draw pending: 20000 40000
-- right: \bgin\b|pending|fastupdate
-- half: @long|(existing|own) index|missing-index
-- never: statements database
-- effect: time search 2
-- before
CREATE TABLE {labels} (id int PRIMARY KEY, tags int[] NOT NULL);
INSERT INTO {labels} SELECT n, ARRAY[n % 997, n % 991, n % 983, n % 977] FROM generate_series(1, 15000) n;
CREATE INDEX {~by_tags} ON {labels} USING gin (tags) WITH (fastupdate = off);
ANALYZE {labels};
-- work search clients=2 think=25ms
\set tag random(0, 900)
SELECT count(*) FROM {labels} WHERE tags @> ARRAY[:tag::int, :tag::int];
-- plant
ALTER TABLE {labels} SET (autovacuum_enabled = off);
ALTER INDEX {schema}.{~by_tags} SET (fastupdate = on, gin_pending_list_limit = 1048576);
INSERT INTO {labels} SELECT n, ARRAY[n % 997, n % 991, n % 983, n % 977] FROM generate_series(100001, 100000 +
    {#pending}) n;

-- fault no-visible-pages
-- does: a table that vacuum was told to leave alone is read row by row behind an index that has it all
-- from: PostgreSQL's documentation on index-only scans and the visibility map
-- standby
-- draw rows: 1500 4000
-- right: visib|heap fetches|index.only|dead-rows|dead rows|vacuum
-- half: @long|transfers
-- about: {facts}
-- never: rows statements database
-- effect: time report 1.4
-- before
CREATE TABLE {facts} (k int NOT NULL, v int NOT NULL, note text NOT NULL);
INSERT INTO {facts} SELECT n, n, md5(n::text) FROM generate_series(1, 80000) n ORDER BY md5(n::text);
CREATE INDEX ON {facts} (k) INCLUDE (v);
VACUUM ANALYZE {facts};
-- work report clients=2 think=20ms
\set k random(1, 75000)
SELECT sum(v) FROM {facts} WHERE k BETWEEN :k AND :k + {#rows};
-- plant
ALTER TABLE {facts} SET (autovacuum_enabled = off);
UPDATE {facts} SET note = 'again ' || note;
UPDATE {facts} SET note = 'again ' || note;

-- fault head-of-the-queue-is-dead
-- does: a forgotten snapshot keeps the rows that a queue has done, and who takes the first steps over all of them
-- from: incident reports on queues in PostgreSQL and long transactions
-- draw done: 20000 50000
-- right: held-horizon|horizon|snapshot|old(est)? transaction|long transaction
-- half: dead|@long|bloat|idle
-- never: horizon rows statements
-- effect: time worker 3
-- before
CREATE TABLE {jobs} (id int PRIMARY KEY, note text NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO {jobs} SELECT n, md5(n::text) FROM generate_series(1, 80000) n;
ANALYZE {jobs};
-- hold forgotten
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM {counters};
-- work worker clients=3 think=20ms
SELECT id, note FROM {jobs} ORDER BY id LIMIT 1;
-- plant
DELETE FROM {jobs} WHERE id <= {#done};

-- fault index-that-ends-hot-updates
-- does: new indexes on columns that change all the time make each update write into every index
-- from: PostgreSQL's documentation on heap-only tuples
-- draw rows: 30 120
-- right: \bhot\b|heap.only|unused-indexes|index.*(updat|writ|chang)
-- half: bulk-writing|log-flush|@long
-- about: {customers}
-- effect: per-step billing 1.7 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- work billing clients=2 think=25ms
\set id random(1, 19800)
UPDATE {customers} SET {customers.balance} = {customers.balance} + 1 WHERE {customers.id} BETWEEN :id AND :id +
    {#rows};
-- plant
CREATE INDEX {~by_balance} ON {customers} ({customers.balance});
CREATE INDEX {~by_region} ON {customers} ({customers.region}, {customers.balance});
CREATE INDEX {~by_city} ON {customers} ({customers.city}, {customers.balance});
