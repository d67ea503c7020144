Twenty incidents that were written when those of the other files had been played and answered; they are answered, too.

-- fault text-search-without-a-stored-vector
-- does: a release searches the text itself: each row's words are taken apart for each search
-- from: PostgreSQL's documentation on text search, tables and indexes: a separate tsvector column
-- standby
-- draw notices: 1500 4000
-- right: tsvector|text.search|(function|expression).*(column|index|row)|(existing|own) index
-- half: @scans|@long
-- about: {notices}
-- never: scans statements database
-- effect: time search 3
-- before
CREATE TABLE {notices} (id int PRIMARY KEY, body text NOT NULL, words tsvector NOT NULL);
INSERT INTO {notices} SELECT n, body, to_tsvector('simple', body) FROM (SELECT n, (SELECT string_agg('w' || (n * k) %
    4001, ' ') FROM generate_series(1, 25) k) AS body FROM generate_series(1, {#notices}) n) made;
CREATE INDEX ON {notices} USING gin (words) WITH (fastupdate = off);
-- work search clients=2 think=30ms
\set word random(1, 4000)
SELECT count(*) FROM {notices} WHERE words @@ to_tsquery('simple', 'w' || :word::int);
-- bad search clients=2 think=30ms
\set word random(1, 4000)
SELECT count(*) FROM {notices} WHERE to_tsvector('simple', body) @@ to_tsquery('simple', 'w' || :word::int);

-- fault regular-expression-on-every-row
-- does: a search by address became one by a regular expression, whatever the case
-- from: PostgreSQL's documentation on pattern matching: regular expressions and what they cost
-- standby
-- draw clients: 1 3
-- right: regular expression|regex|pattern|wildcard|trigram|\blike\b
-- half: @scans|@long
-- about: {customers}
-- never: scans index statements database
-- effect: time login 3
-- work login clients={#clients} think=20ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE {customers.email} = md5(:id::int::text) || '@shop.example';
-- bad login clients={#clients} think=20ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE {customers.email} ~* ('(^|[.+])' || substr(md5(:id::int::text), 1, 10) ||
    '[a-f0-9]+@shop');

-- fault list-of-thousands-of-values
-- does: a program reads the keys of a list first, and sends them all back as IN (…)
-- from: PostgreSQL's mailing lists on IN lists of thousands of values
-- standby
-- draw listed: 1500 4000
-- right: planning|pars(e|ing)|lists? of|\bIN\b.*(list|values)|long (list|text)|many (values|constants)
-- half: @long
-- never: statements database planning
-- effect: time basket 2
-- work basket clients=2 think=40ms
\set day random(1, 980)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + 8;
-- bad basket clients=2 think=40ms
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.id} IN (3
\repeat {#listed}
 , {i}7
);

-- fault page-costs-of-a-role
-- does: somebody set a role's cost of a random page to what a tape would need, so that indexes seem too dear
-- from: PostgreSQL's documentation on random_page_cost and seq_page_cost
-- standby
-- draw cost: 4000 9000
-- draw clients: 1 3
-- right: page_cost|costs? (of|setting|parameter)|planner'?s? (switch|setting|cost)|settings? (of|that)
-- half: @scans|@long|(existing|own) index
-- never: scans index statements database settings
-- effect: time branch 3
-- work branch clients={#clients} think=20ms
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET random_page_cost = {#cost};

-- fault subselect-for-each-row
-- does: a running total is a subselect of each row, and reads all rows before it
-- from: questions on running totals; PostgreSQL's tutorial on window functions
-- standby
-- draw clients: 1 3
-- right: sub-?(quer|select|plan)|correlated|for each row|\bloops?\b|rows? (read|visited).*return
-- half: @long
-- about: {orders}
-- never: statements database
-- effect: time account 3
-- work account clients={#clients} think=30ms
\set day random(1, 990)
SELECT max(running) FROM (SELECT sum({orders.total}) OVER (ORDER BY {orders.id}) AS running FROM {orders} WHERE
    {orders.day} = :day) made;
-- bad account clients={#clients} think=30ms
\set day random(1, 990)
SELECT max(running) FROM (SELECT (SELECT sum(p.{orders.total}) FROM {orders} p WHERE p.{orders.day} = o.{orders.day}
    AND p.{orders.id} <= o.{orders.id}) AS running FROM {orders} o WHERE o.{orders.day} = :day) made;

-- fault distinct-hides-a-product
-- does: a condition of a join is missing, and DISTINCT hides the copies
-- from: reports on DISTINCT that masks a product of two tables
-- standby
-- draw days: 2 5
-- right: distinct|cartesian|cross (join|product)|(without|missing|no) (a |its )?(join )?condition|nested loop|product
-- half: @long|join|rows? (read|visited).*return
-- about: {orders} {customers}
-- never: statements database
-- effect: time filter 3
-- work filter clients=2 think=40ms
\set day random(1, 980)
\set region random(0, 49)
SELECT DISTINCT o.{orders.state} FROM {orders} o, {customers} c WHERE o.{orders.day} BETWEEN :day AND :day + {#days}
    AND c.{customers.region} = :region AND c.{customers.id} = o.{orders.customer};
-- bad filter clients=2 think=40ms
\set day random(1, 980)
\set region random(0, 49)
SELECT DISTINCT o.{orders.state} FROM {orders} o, {customers} c WHERE o.{orders.day} BETWEEN :day AND :day + {#days}
    AND c.{customers.region} = :region;

-- fault rank-over-all-rows
-- does: a page shows the place of one customer, and all are ranked for it
-- from: PostgreSQL's documentation on window functions: conditions outside do not reach inside
-- standby
-- draw clients: 1 3
-- right: window|\brank|row_number|\bover\b|\bsort(s|ed|ing)?\b
-- half: @scans|@long
-- about: {customers}
-- never: scans statements database
-- effect: time profile 3
-- work profile clients={#clients} think=30ms
\set id random(1, 20000)
SELECT {customers.name} FROM {customers} WHERE {customers.id} = :id;
-- bad profile clients={#clients} think=30ms
\set id random(1, 20000)
SELECT place FROM (SELECT {customers.id} AS who, rank() OVER (ORDER BY {customers.balance}, {customers.name}) AS place
    FROM {customers}) ranked WHERE who = :id;

-- fault tree-walked-from-the-root
-- does: a recursive query walks the whole tree, and takes one branch of it afterwards
-- from: PostgreSQL's documentation on WITH RECURSIVE
-- standby
-- draw parts: 4000 12000
-- right: recursi|\bcte\b|\bwith\b (quer|clause)|\btree|hierarch
-- half: @scans|@long|sub-?quer|join|\bloops?\b
-- about: {parts}
-- never: statements database
-- effect: time explosion 3
-- before
CREATE TABLE {parts} (id int PRIMARY KEY, parent int, name text NOT NULL);
INSERT INTO {parts} SELECT n, CASE WHEN n > 40 THEN 1 + (n - 41) / 5 END, md5(n::text) FROM generate_series(1,
    {#parts}) n;
CREATE INDEX ON {parts} (parent);
-- work explosion clients=2 think=40ms
\set root random(1, 40)
WITH RECURSIVE tree AS (SELECT id FROM {parts} WHERE id = :root UNION ALL SELECT p.id FROM {parts} p JOIN tree ON
    p.parent = tree.id) SELECT count(*) FROM tree;
-- bad explosion clients=2 think=40ms
\set root random(1, 40)
WITH RECURSIVE tree AS (SELECT id, id AS root FROM {parts} WHERE parent IS NULL UNION ALL SELECT p.id, tree.root FROM
    {parts} p JOIN tree ON p.parent = tree.id) SELECT count(*) FROM tree WHERE root = :root;

-- fault view-that-sums-everything
-- does: a program reads one customer of a view that groups all orders before it joins
-- from: PostgreSQL's mailing lists: conditions are not pushed through GROUP BY of a joined subquery
-- standby
-- draw clients: 1 2
-- right: \bviews?\b|aggregat|\bgroup(s|ed|ing)?\b
-- half: @scans|@long
-- about: {orders} {totals}
-- never: scans statements database
-- effect: time card 3
-- before
CREATE VIEW {totals} AS SELECT c.{customers.id} AS who, c.{customers.email} AS mail, t.total FROM {customers} c JOIN
    (SELECT {orders.customer} AS customer, sum({orders.total}) AS total FROM {orders} GROUP BY 1) t ON
    t.customer = c.{customers.id};
-- work card clients={#clients} think=40ms
\set id random(1, 20000)
SELECT sum(o.{orders.total}) FROM {customers} c JOIN {orders} o ON o.{orders.customer} = c.{customers.id} WHERE
    c.{customers.email} = md5(:id::int::text) || '@shop.example';
-- bad card clients={#clients} think=40ms
\set id random(1, 20000)
SELECT total FROM {totals} WHERE mail = md5(:id::int::text) || '@shop.example';

-- fault foreign-table-filtered-here
-- does: a table moved to another database, and a condition that cannot be sent there fetches all of its rows
-- from: PostgreSQL's documentation on postgres_fdw: only built-in functions and operators are sent
-- direct
-- library: postgres_fdw
-- draw rows: 20000 60000
-- right: foreign|\bfdw\b|remote
-- half: @scans|@long|extension
-- never: statements database
-- effect: time branch 3
-- before
CREATE TABLE {moved} (id int PRIMARY KEY, branch int NOT NULL, total int NOT NULL);
INSERT INTO {moved} SELECT n, n % 500, n FROM generate_series(1, {#rows}) n;
CREATE INDEX ON {moved} (branch);
-- work branch clients=2 think=40ms
\set id random(0, 499)
SELECT count(*), sum(total) FROM {moved} WHERE branch = :id;
-- plant
CREATE EXTENSION postgres_fdw;
CREATE ROLE {~reader} LOGIN SUPERUSER;
DO $$ BEGIN EXECUTE format('CREATE SERVER {~office} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %L, host %L,
    port %L)', '{database}', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'));
END $$;
CREATE USER MAPPING FOR {role} SERVER {~office} OPTIONS (user '{~reader}', password_required 'false');
CREATE FOREIGN TABLE {far} (id int, branch int, total int) SERVER {~office} OPTIONS (schema_name '{schema}', table_name
    '{~moved}');
CREATE FUNCTION {branch_of}(which int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN which % 500; END';
GRANT SELECT ON {far} TO {role};
-- bad branch clients=2 think=40ms
\set id random(0, 499)
SELECT count(*), sum(total) FROM {far} WHERE {branch_of}(branch) = :id;
-- remove
DROP EXTENSION postgres_fdw CASCADE;
DROP ROLE {~reader};

-- fault check-digit-in-a-loop
-- does: a function of the application was made anew, and computes in a loop what was one expression
-- from: PostgreSQL's documentation on PL/pgSQL: each expression is a query of its own
-- standby
-- draw rounds: 20000 60000
-- right: function|plpgsql
-- half: @long
-- about: {check_digit}
-- never: statements database functions
-- effect: time label 3
-- before
CREATE FUNCTION {check_digit}(code text) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ascii(right(code, 1)) % 10;
END $$;
-- work label clients=2 think=30ms
\set id random(1, 150000)
SELECT {check_digit}({orders.note}) FROM {orders} WHERE {orders.id} = :id;
-- plant
CREATE OR REPLACE FUNCTION {check_digit}(code text) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE digit int := 0;
BEGIN
    FOR k IN 1 .. {#rounds} LOOP
        digit := (digit * 7 + ascii(right(code, 1 + k % 20))) % 97;
    END LOOP;
    RETURN digit % 10;
END $$;

-- fault index-on-a-slow-function
-- does: an index on a function that somebody wrote makes each change of a row compute it
-- from: PostgreSQL's documentation on indexes on expressions: they are dear to keep
-- draw rounds: 500 1200
-- draw rows: 40 100
-- right: (expression|function).*index|index.*(function|expression|updat|writ)|function|\bhot\b|unused-indexes
-- half: @long|bulk-writing
-- about: {graded} {~by_grade}
-- never: statements database functions
-- effect: time billing 2
-- work billing clients=2 think=30ms
\set id random(1, 19800)
UPDATE {customers} SET {customers.balance} = {customers.balance} + 1 WHERE {customers.id} BETWEEN :id AND :id +
    {#rows};
-- plant
CREATE FUNCTION {graded}(amount numeric) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE grade int := 0;
BEGIN
    FOR k IN 1 .. {#rounds} LOOP
        grade := (grade + k) % 101;
    END LOOP;
    RETURN grade + amount::int % 10;
END $$;
CREATE INDEX {~by_grade} ON {customers} ({graded}({customers.balance}));

-- fault constraint-that-looks-up
-- does: a CHECK calls a function that reads two tables, for each row that is written
-- from: PostgreSQL's documentation on check constraints: they should not read other rows
-- draw lines: 100 300
-- right: check constraint|constraint|function
-- half: bulk-writing|@long|trigger
-- about: {known_line}
-- never: statements database functions
-- effect: time import 1.8
-- work import clients=2 think=40ms
INSERT INTO {lines} SELECT nextval('{documents}'), n, 1 + n % 5000, n, 'imported' FROM generate_series(1, {#lines}) n;
-- plant
CREATE FUNCTION {known_line}(which int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM {items} WHERE {items.id} = which) AND (SELECT sum({orders.total}) FROM {orders} WHERE
        {orders.customer} = 1 + which) >= 0;
END $$;
ALTER TABLE {lines} ADD CONSTRAINT {~line_is_known} CHECK ({known_line}({lines.item})) NOT VALID;

-- fault document-rewritten-for-a-field
-- does: a counter moved into a large JSON document, which each change writes anew
-- from: PostgreSQL's mailing lists on updates of large jsonb values; its documentation on TOAST
-- draw profiles: 200 400
-- right: toast|jsonb?\b|\bwide\b|large (value|row|document)|documents?\b|WAL (per|for|of)|log (per|for each)
-- half: log-flush|bulk-writing|@long
-- about: {profiles}
-- effect: per-step visit 5 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {profiles} (id int PRIMARY KEY, seen int NOT NULL, doc jsonb NOT NULL) WITH (fillfactor = 70);
INSERT INTO {profiles} SELECT n, 0, jsonb_build_object('seen', 0, 'likes', (SELECT jsonb_agg(md5((n * k)::text)) FROM
    generate_series(1, 900) k)) FROM generate_series(1, {#profiles}) n;
-- work visit clients=3 think=20ms
\set id random(1, 200)
UPDATE {profiles} SET seen = seen + 1 WHERE id = :id;
-- bad visit clients=3 think=20ms
\set id random(1, 200)
UPDATE {profiles} SET doc = jsonb_set(doc, ARRAY['seen'], to_jsonb((doc ->> 'seen')::int + 1)) WHERE id = :id;

-- fault cursor-row-by-row
-- does: a program fetches its rows from a cursor one at a time
-- from: PostgreSQL's documentation on FETCH; drivers' fetch sizes
-- draw rows: 40 120
-- right: cursor|fetch|n ?\+ ?1|(one|row) by (one|row)|repeat|statements (per|in each|for each|a)|chatty|round
--     trips|many (small )?statements
-- half: @gaps|@long
-- never: clients network
-- effect: time export 2.5
-- work export clients=2 think=30ms
\set day random(1, 990)
SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.day} = :day LIMIT {#rows};
-- bad export clients=2 think=30ms mode=simple
\set day random(1, 990)
BEGIN;
DECLARE found CURSOR FOR SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.day} = :day;
\repeat {#rows}
FETCH 1 FROM found;
COMMIT;

-- fault savepoint-before-each-statement
-- does: a driver sets a savepoint before each statement, so that an error ends that one alone
-- from: documentation of drivers on "autosave" and statement-level rollback
-- draw rows: 20 60
-- right: savepoint|subtrans|n ?\+ ?1|one by one|statements (per|in each|for each|a)|chatty|round trips|many (small
--     )?statements
-- half: @gaps|@long|log-flush
-- never: clients network
-- effect: time sync 1.5
-- work sync clients=2 think=30ms
\set item random(1, 4900)
BEGIN;
\repeat {#rows}
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item + {i};
COMMIT;
-- bad sync clients=2 think=30ms
\set item random(1, 4900)
BEGIN;
\repeat {#rows}
SAVEPOINT s; UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item + {i}; RELEASE s;
COMMIT;

-- fault table-locked-for-a-number
-- does: a program locks a table to find its next free number, and works on before it commits
-- from: PostgreSQL's documentation on explicit locking; questions on numbers without gaps
-- draw clients: 5 9
-- draw work: 3 8
-- right: lock-contention|lock-held|wait for (a )?locks?|LOCK TABLE|table lock
-- half: @gaps|@locks
-- about: {series}
-- never: locks idle-locks
-- effect: time cashier 2
-- before
CREATE TABLE {series} (number bigint PRIMARY KEY);
CREATE SEQUENCE {next_number};
-- work cashier clients={#clients} think=15ms
BEGIN;
INSERT INTO {series} VALUES (nextval('{next_number}'));
\sleep {#work} ms
COMMIT;
-- bad cashier clients={#clients} think=15ms
BEGIN;
LOCK TABLE {series} IN EXCLUSIVE MODE;
INSERT INTO {series} SELECT coalesce(max(number), 0) + 1 FROM {series};
\sleep {#work} ms
COMMIT;

-- fault vacuum-full-in-the-day
-- does: a job rewrites a table again and again "to keep it small", and nobody can read it meanwhile
-- from: PostgreSQL's documentation on VACUUM FULL
-- draw rows: 40000 80000
-- draw pause: 50 150
-- right: vacuum full|lock-contention|maintenance
-- half: @locks|@long
-- about: {journal} VACUUM
-- never: locks
-- effect: time page 2
-- before
CREATE TABLE {journal} (id int PRIMARY KEY, note text NOT NULL);
INSERT INTO {journal} SELECT n, md5(n::text) FROM generate_series(1, {#rows}) n;
-- work page clients=4 think=20ms
\set id random(1, 40000)
SELECT note FROM {journal} WHERE id = :id;
-- hold keeper every={#pause}ms
VACUUM FULL {journal};

-- fault temporary-table-for-each-call
-- does: a report keeps what it finds in a temporary table of its own, each time it is called
-- from: reports on bloat of pg_attribute by temporary tables
-- draw days: 1 3
-- right: catalog|temporary table|create temp|temp tables?
-- half: @long|log-flush|bulk-writing|transfers
-- never: catalogs
-- effect: time report 2
-- work report clients=3 think=25ms
\set day random(1, 980)
SELECT {orders.state}, count(*) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + {#days} GROUP BY 1;
-- bad report clients=3 think=25ms
\set day random(1, 980)
BEGIN;
CREATE TEMPORARY TABLE picked (state text, n bigint) ON COMMIT DROP;
INSERT INTO picked SELECT {orders.state}, count(*) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + {#days}
    GROUP BY 1;
SELECT state, n FROM picked;
COMMIT;

-- fault distinct-of-wide-rows-spills
-- does: a DISTINCT over whole rows, to be safe, keeps them all in files
-- from: PostgreSQL's documentation on work_mem; the log's "temporary file"
-- standby
-- draw rows: 40000 80000
-- right: temporary-files|work_mem|\bspill|distinct
-- half: @long|transfers
-- never: sorts statements database
-- effect: time export 2
-- work export clients=2 think=60ms
SELECT count(*) FROM (SELECT *, repeat({orders.note}, 8) FROM {orders} WHERE {orders.id} <= {#rows}) made;
-- bad export clients=2 think=60ms
SELECT count(*) FROM (SELECT DISTINCT *, repeat({orders.note}, 8) FROM {orders} WHERE {orders.id} <= {#rows}) made;
