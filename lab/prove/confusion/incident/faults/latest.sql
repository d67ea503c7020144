Twenty incidents whose author knew none of the causes that a diagnosis can name. They were played once unseen.

-- fault numeric-compared-with-int
-- does: a new driver binds keys as decimal numbers, so that the column is converted and not the value
-- from: questions on BigDecimal and indexes on integers; PostgreSQL's documentation on operator type resolution
-- standby
-- draw clients: 1 3
-- right: \bcasts?\b|type mismatch|numeric|decimal|data ?types?|(other|another|different|wrong) types?|conver(t|sion)
-- right: (existing|own) index|index.*(not|never) used|condition.*no index
-- half: @scans|@long
-- about: {orders}
-- never: scans index statements database
-- effect: time account 3
-- work account clients={#clients} think=30ms
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- bad account clients={#clients} think=30ms
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id::numeric;
-- cured account clients={#clients} think=30ms
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;

-- fault latest-of-each-by-distinct-on
-- does: the newest reading of each device is found by DISTINCT ON, which reads all readings that there ever were
-- from: PostgreSQL's wiki on loose index scans; questions on the greatest row of each group
-- standby
-- draw readings: 40000 90000
-- right: distinct|skip.scan|loose|lateral|latest|newest|greatest|(last|first) (row|one) (of|for|per) each
-- right: rows? (are )?(read|visited|sorted).*(return|kept|discard|thrown)|\bsort(s|ed|ing)?\b
-- half: @scans|@long
-- also: temporary.files|\bspill
-- about: {readings}
-- never: scans statements database
-- effect: time board 3
-- before
CREATE TABLE {devices} (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO {devices} SELECT n, 'device ' || n FROM generate_series(0, 39) n;
CREATE TABLE {readings} (id int PRIMARY KEY, device int NOT NULL, moment int NOT NULL, amount int NOT NULL);
INSERT INTO {readings} SELECT n, n % 40, n, n % 977 FROM generate_series(1, {#readings}) n;
CREATE INDEX ON {readings} (device, moment);
-- work board clients=2 think=60ms
SELECT d.name, l.amount FROM {devices} d CROSS JOIN LATERAL (SELECT r.amount FROM {readings} r WHERE r.device = d.id
    ORDER BY r.moment DESC LIMIT 1) l;
-- bad board clients=2 think=60ms
SELECT d.name, l.amount FROM {devices} d JOIN (SELECT DISTINCT ON (device) device, amount FROM {readings} ORDER BY
    device, moment DESC) l ON l.device = d.id;
-- cured board clients=2 think=60ms
SELECT d.name, l.amount FROM {devices} d CROSS JOIN LATERAL (SELECT r.amount FROM {readings} r WHERE r.device = d.id
    ORDER BY r.moment DESC LIMIT 1) l;

-- fault limit-hopes-for-an-early-row
-- does: a list is sorted by number now, and LIMIT lets the planner walk the key; the branch's rows all come last
-- from: PostgreSQL's mailing lists on ORDER BY … LIMIT that takes the wrong index
-- standby
-- draw late: 1200 2500
-- draw clients: 1 3
-- right: \blimit\b|order by|(wrong|other|another) index|(sort|index) order|walk|estimat|correlat
-- right: rows? (are )?(read|visited|skipped|filtered|removed|discarded|thrown)|(multi|two|several|composite).?column
-- right: reads \d+ rows
-- half: @long|@scans|(existing|own) index|missing.index
-- about: {tickets}
-- never: scans index statements database
-- effect: time branch 3
-- before
CREATE TABLE {tickets} (id int PRIMARY KEY, branch int NOT NULL, opened int NOT NULL, note text NOT NULL);
INSERT INTO {tickets} SELECT n, CASE WHEN n > 80000 - {#late} THEN 7 ELSE 20 + n % 30 END, n, md5(n::text) FROM
    generate_series(1, 80000) n;
CREATE INDEX ON {tickets} (branch, opened);
-- work branch clients={#clients} think=20ms
SELECT id, note FROM {tickets} WHERE branch = 7 ORDER BY opened LIMIT 10;
-- bad branch clients={#clients} think=20ms
SELECT id, note FROM {tickets} WHERE branch = 7 ORDER BY id LIMIT 10;
-- cure
CREATE INDEX {~by_branch_and_number} ON {tickets} (branch, id);
ANALYZE {tickets};

-- fault ranges-joined-by-between
-- does: a report finds the country of each address by BETWEEN over all ranges, row by row
-- from: questions on tables of address ranges; PostgreSQL's documentation on range types and GiST
-- standby
-- draw areas: 1500 4000
-- right: between|\branges?\b|inequalit|non.?equi|nested loop|gist|(without|no) (an? )?(equality|hash)|product
-- right: join condition|condition of (the|a) join
-- half: @long|@scans|join|\bloops?\b|rows? (are )?(read|visited).*return
-- about: {areas} {hits}
-- never: statements database
-- effect: time countries 3
-- before
CREATE TABLE {areas} (low int NOT NULL, high int NOT NULL, country int NOT NULL);
INSERT INTO {areas} SELECT n * 100, n * 100 + 99, n % 90 FROM generate_series(1, {#areas}) n;
CREATE UNIQUE INDEX ON {areas} (low);
CREATE TABLE {hits} (id int PRIMARY KEY, part int NOT NULL, address int NOT NULL);
INSERT INTO {hits} SELECT n, n / 100, 100 + (n * 7919) % ({#areas} * 100) FROM generate_series(1, 20000) n;
CREATE INDEX ON {hits} (part);
-- work countries clients=2 think=40ms
\set part random(1, 199)
SELECT a.country, count(*) FROM {hits} h CROSS JOIN LATERAL (SELECT country FROM {areas} WHERE low <= h.address ORDER BY
    low DESC LIMIT 1) a WHERE h.part = :part GROUP BY 1;
-- bad countries clients=2 think=40ms
\set part random(1, 199)
SELECT a.country, count(*) FROM {hits} h JOIN {areas} a ON h.address BETWEEN a.low AND a.high WHERE h.part = :part
    GROUP BY 1;
-- cured countries clients=2 think=40ms
\set part random(1, 199)
SELECT a.country, count(*) FROM {hits} h CROSS JOIN LATERAL (SELECT country FROM {areas} WHERE low <= h.address ORDER BY
    low DESC LIMIT 1) a WHERE h.part = :part GROUP BY 1;

-- fault or-over-two-tables
-- does: one box of a search takes a number or an address, and OR over two tables joins all before it filters
-- from: reports on OR over columns of two tables, and on UNION in its place
-- standby
-- draw clients: 1 2
-- right: (?-i:\bOR\b)|\bunion\b|disjunct|(two|both|several|different) tables
-- right: (existing|own) index|index.*(not|never) used|filter.*(after|join)|join.*(before|filter)
-- half: @scans|@long
-- about: {orders} {customers}
-- never: scans index statements database
-- effect: time search 3
-- work search clients={#clients} think=60ms
\set id random(1, 20000)
SELECT o.{orders.id} FROM {orders} o WHERE o.{orders.id} = :id::int UNION SELECT o.{orders.id} FROM {orders} o JOIN
    {customers} c ON c.{customers.id} = o.{orders.customer} WHERE c.{customers.email} = md5(:id::int::text) ||
    '@shop.example';
-- bad search clients={#clients} think=60ms
\set id random(1, 20000)
SELECT o.{orders.id} FROM {orders} o JOIN {customers} c ON c.{customers.id} = o.{orders.customer} WHERE o.{orders.id} =
    :id::int OR c.{customers.email} = md5(:id::int::text) || '@shop.example';
-- cured search clients={#clients} think=60ms
\set id random(1, 20000)
SELECT o.{orders.id} FROM {orders} o WHERE o.{orders.id} = :id::int UNION SELECT o.{orders.id} FROM {orders} o JOIN
    {customers} c ON c.{customers.id} = o.{orders.customer} WHERE c.{customers.email} = md5(:id::int::text) ||
    '@shop.example';

-- fault array-search-by-any
-- does: a search by label asks for value = ANY (column), which the column's GIN index does not serve
-- from: PostgreSQL's documentation on arrays and on GIN's operator classes
-- standby
-- draw offers: 20000 50000
-- right: (?-i:\bANY\b)|\barrays?\b|\bgin\b|operator|contain(s|ment)|(existing|own) index|index.*(not|never) used
-- half: @scans|@long
-- about: {offers}
-- never: scans index statements database
-- effect: time search 3
-- before
CREATE TABLE {offers} (id int PRIMARY KEY, labels int[] NOT NULL);
INSERT INTO {offers} SELECT n, ARRAY[n % 1999, n % 1987, n % 1979] FROM generate_series(1, {#offers}) n;
CREATE INDEX ON {offers} USING gin (labels) WITH (fastupdate = off);
-- work search clients=2 think=25ms
\set label random(0, 1900)
SELECT count(*) FROM {offers} WHERE labels @> ARRAY[:label::int];
-- bad search clients=2 think=25ms
\set label random(0, 1900)
SELECT count(*) FROM {offers} WHERE :label::int = ANY (labels);
-- cured search clients=2 think=25ms
\set label random(0, 1900)
SELECT count(*) FROM {offers} WHERE labels @> ARRAY[:label::int];

-- fault function-that-lost-its-stable
-- does: a function was made again without STABLE, so that it is asked for each row and no index can take its answer
-- from: PostgreSQL's documentation on function volatility: volatile functions in index conditions
-- standby
-- draw clients: 1 3
-- right: volatil|\bstable\b|immutable|function.*(each|every|per|all) (of the )?rows?|function.*(index|evaluat|called)
-- half: function|@scans|@long|(existing|own) index
-- about: {number_of} {customers}
-- never: scans index statements database functions
-- effect: time window 3
-- before
CREATE FUNCTION {number_of}(code text) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN substr(code, 3)::int;
END $$;
-- work window clients={#clients} think=25ms
\set id random(1, 20000)
SELECT {customers.name} FROM {customers} WHERE {customers.id} = {number_of}('C-' || :id::int);
-- plant
CREATE OR REPLACE FUNCTION {number_of}(code text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RETURN substr(code, 3)::int;
END $$;
-- cure
ALTER FUNCTION {number_of}(text) STABLE;

-- fault nulls-last-sorts-them-all
-- does: a list that an index had in order asks for NULLS LAST now, and all rows are sorted for a page of it
-- from: PostgreSQL's documentation on indexes and ORDER BY: NULLS FIRST and NULLS LAST
-- standby
-- draw clients: 1 3
-- right: nulls (last|first)|\bsort(s|ed|ing)?\b|order (by|of)
-- right: (existing|own) index|index.*(order|direction|(not|never) used)
-- half: @scans|@long
-- about: {customers}
-- never: scans index statements database
-- effect: time list 3
-- before
CREATE INDEX {~by_name} ON {customers} ({customers.name});
-- work list clients={#clients} think=25ms
SELECT {customers.id}, {customers.name} FROM {customers} ORDER BY {customers.name} DESC LIMIT 20;
-- bad list clients={#clients} think=25ms
SELECT {customers.id}, {customers.name} FROM {customers} ORDER BY {customers.name} DESC NULLS LAST LIMIT 20;
-- cure
CREATE INDEX {~by_name_last} ON {customers} ({customers.name} DESC NULLS LAST);
ANALYZE {customers};

-- fault partial-index-not-implied
-- does: a list of open orders asks for those that are not closed, and the index of the open ones does not follow
-- from: PostgreSQL's documentation on partial indexes: the predicate must be implied by the condition
-- standby
-- draw clients: 1 2
-- right: partial|predicate|(existing|own) index|index.*(not|never) used
-- half: @scans|@long|missing.index|\bsort(s|ed|ing)?\b
-- about: {orders}
-- never: scans index statements database
-- effect: time dispatch 3
-- before
CREATE INDEX {~open_ones} ON {orders} ({orders.total}) WHERE {orders.state} = 'open';
-- work dispatch clients={#clients} think=40ms
SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.state} = 'open' ORDER BY {orders.total} DESC LIMIT 20;
-- bad dispatch clients={#clients} think=40ms
SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.state} <> 'closed' ORDER BY {orders.total} DESC LIMIT 20;
-- cure
CREATE INDEX {~not_closed} ON {orders} ({orders.total}) WHERE {orders.state} <> 'closed';
ANALYZE {orders};

-- fault invalid-index-left-behind
-- does: an index that was built again, concurrently, failed near its end: it is there, and no plan may use it
-- from: PostgreSQL's documentation on CREATE INDEX CONCURRENTLY: an "invalid" index is left behind
-- standby
-- draw clients: 1 3
-- right: \binvalid\b|not valid|indisvalid|(broken|failed|unfinished|half.built|unusable) (index|build)
-- right: index.*(unusable|fail|broken|unfinished|(not|never) used)|(existing|own) index
-- half: @scans|@long
-- about: {customers} {customers_by_email}
-- never: scans index statements database
-- effect: time login 3
-- work login clients={#clients} think=20ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE {customers.email} = md5(:id::int::text) || '@shop.example';
-- plant
UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{customers_by_email}'::regclass;
-- cure
REINDEX INDEX {customers_by_email};

-- fault statistics-before-the-load
-- does: the night's rows came after the statistics were taken: a day that is not in them seems to have one row
-- from: PostgreSQL's mailing lists on values that the statistics do not know yet
-- standby
-- draw today: 10000 20000
-- draw clients: 1 3
-- right: statistic|analy[sz]e|estimat|stale|out of date|(never|not|no longer) known to the planner
-- half: @scans|@long|autovacuum|(wrong|other|another) index|rows? (are )?(read|visited).*(return|discard|thrown)
-- about: {visits}
-- never: statistics statements database
-- effect: time gate 2.5
-- before
CREATE TABLE {visits} (id int PRIMARY KEY, day int NOT NULL, visitor int NOT NULL, note text NOT NULL) WITH
    (autovacuum_enabled = off);
INSERT INTO {visits} SELECT n, least(4, 1 + (n - 1) / 15000), n % 2000, md5(n::text) FROM generate_series(1, 45000 +
    {#today}) n;
CREATE INDEX ON {visits} (day);
CREATE INDEX ON {visits} (visitor);
ANALYZE {visits};
-- work gate clients={#clients} think=20ms
\set visitor random(0, 1999)
SELECT count(*) FROM {visits} WHERE day = 4 AND visitor = :visitor;
-- plant
DELETE FROM {visits} WHERE day = 4;
ANALYZE {visits};
INSERT INTO {visits} SELECT n, 4, n % 2000, md5(n::text) FROM generate_series(45001, 45000 + {#today}) n;
-- cure
ANALYZE {visits};

-- fault table-of-empty-pages
-- does: a table was filled by mistake and emptied again: it has two thousand rows, and thousands of pages to read
-- from: PostgreSQL's documentation on recovering disk space: plain VACUUM keeps the pages
-- standby
-- draw purged: 30000 60000
-- right: bloat|empty (pages?|space)|free space|vacuum full|repack|pages? .*(few|rows|empty)|(few|little) rows.*pages?
-- right: (larger|bigger|more space) than|mostly (air|empty|free)
-- half: @scans|@long|dead|transfers
-- about: {pending}
-- never: rows statements database
-- effect: time basket 2.5
-- before
CREATE TABLE {pending} (id int PRIMARY KEY, amount int NOT NULL, note text NOT NULL);
INSERT INTO {pending} SELECT n, n % 97, 'pending' FROM generate_series(1, 2000) n;
-- work basket clients=2 think=30ms
SELECT count(*), sum(amount) FROM {pending} WHERE amount >= 0;
-- plant
INSERT INTO {pending} SELECT n, 0, repeat(md5(n::text), 30) FROM generate_series(10001, 10000 + {#purged}) n;
UPDATE {pending} SET amount = amount + 1 WHERE id <= 2000;
DELETE FROM {pending} WHERE id > 10000;
VACUUM ANALYZE {pending};
-- cure
VACUUM (FULL, ANALYZE) {pending};

-- fault upsert-of-what-is-there
-- does: a feed writes its whole list by ON CONFLICT DO UPDATE, though nearly nothing of it has changed
-- from: reports on updates that change nothing; PostgreSQL's documentation on suppress_redundant_updates_trigger
-- draw rows: 150 400
-- right: no.?op|unchanged|(nothing|not|without|never).*chang|same values?|on conflict|upsert|needless|unnecessary
-- right: is distinct|redundant|rewrit|updat.*(identical|equal|already)
-- half: bulk-writing|log-flush|dead|bloat|\bhot\b|@long|WAL (per|for|of)|log (per|for each|of)
-- about: {catalogue}
-- effect: per-step feed 3 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {catalogue} (sku int PRIMARY KEY, price int NOT NULL, note text NOT NULL);
INSERT INTO {catalogue} SELECT n, n % 97, 'offer' FROM generate_series(1, 5000) n;
-- work feed clients=2 think=40ms
\set first random(1, 4500)
INSERT INTO {catalogue} SELECT n, n % 97, 'offer' FROM generate_series(:first::int, :first::int + {#rows}) n WHERE NOT
    EXISTS (SELECT FROM {catalogue} c WHERE c.sku = n AND c.price = n % 97) ON CONFLICT (sku) DO UPDATE SET price =
    EXCLUDED.price, note = EXCLUDED.note;
-- bad feed clients=2 think=40ms
\set first random(1, 4500)
INSERT INTO {catalogue} SELECT n, n % 97, 'offer' FROM generate_series(:first::int, :first::int + {#rows}) n ON CONFLICT
    (sku) DO UPDATE SET price = EXCLUDED.price, note = EXCLUDED.note;
-- cured feed clients=2 think=40ms
\set first random(1, 4500)
INSERT INTO {catalogue} SELECT n, n % 97, 'offer' FROM generate_series(:first::int, :first::int + {#rows}) n WHERE NOT
    EXISTS (SELECT FROM {catalogue} c WHERE c.sku = n AND c.price = n % 97) ON CONFLICT (sku) DO UPDATE SET price =
    EXCLUDED.price, note = EXCLUDED.note;

-- fault parent-locked-for-update
-- does: a review locks contracts FOR UPDATE while it thinks, and each posting of such a contract waits for its parent
-- from: PostgreSQL's documentation on row locks: FOR NO KEY UPDATE lets foreign keys pass
-- draw work: 10 25
-- right: lock-contention|lock-held|wait for (a )?locks?|for (no key )?update|foreign key|key share|referenc
-- half: @locks|@gaps
-- about: {contracts}
-- never: locks idle-locks
-- effect: time posting 2
-- before
CREATE TABLE {contracts} (id int PRIMARY KEY, state int NOT NULL) WITH (fillfactor = 20);
INSERT INTO {contracts} SELECT n, 0 FROM generate_series(1, 50) n;
CREATE TABLE {postings} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, contract int NOT NULL REFERENCES
    {contracts}, amount int NOT NULL);
-- work posting clients=4 think=20ms
\set which random(1, 2)
INSERT INTO {postings} (contract, amount) VALUES (:which, 1);
-- work review clients=2 think=10ms
\set which random(1, 2)
BEGIN;
SELECT state FROM {contracts} WHERE id = :which FOR NO KEY UPDATE;
\sleep {#work} ms
UPDATE {contracts} SET state = state + 1 WHERE id = :which;
COMMIT;
-- bad review clients=2 think=10ms
\set which random(1, 2)
BEGIN;
SELECT state FROM {contracts} WHERE id = :which FOR UPDATE;
\sleep {#work} ms
UPDATE {contracts} SET state = state + 1 WHERE id = :which;
COMMIT;
-- cured review clients=2 think=10ms
\set which random(1, 2)
BEGIN;
SELECT state FROM {contracts} WHERE id = :which FOR NO KEY UPDATE;
\sleep {#work} ms
UPDATE {contracts} SET state = state + 1 WHERE id = :which;
COMMIT;

-- fault migration-behind-a-reader
-- does: a migration of an instant waits for a report that has read the table, and all others queue behind it
-- from: incident reports on ALTER TABLE without lock_timeout: the queue for an exclusive lock
-- draw report: 80 250
-- draw pause: 40 120
-- right: lock-contention|lock-held|wait for (a )?locks?|lock queue|\bqueue|ALTER TABLE|access exclusive|\bddl\b
-- right: migration|schema change
-- half: @locks|@gaps|idle
-- about: {routes} ALTER
-- never: locks
-- effect: time page 3
-- before
CREATE TABLE {routes} (id int PRIMARY KEY, amount int NOT NULL, note text NOT NULL);
INSERT INTO {routes} SELECT n, n % 97, md5(n::text) FROM generate_series(1, 20000) n;
-- work page clients=4 think=20ms
\set id random(1, 20000)
SELECT amount, note FROM {routes} WHERE id = :id;
-- work report clients=1 think=30ms
BEGIN;
SELECT sum(amount) FROM {routes};
\sleep {#report} ms
COMMIT;
-- hold migration every={#pause}ms
ALTER TABLE {routes} ALTER note SET DEFAULT 'none';

-- fault truncate-and-reload
-- does: a job empties a table of prices by TRUNCATE and loads it again, in one transaction that no reader passes
-- from: PostgreSQL's documentation on TRUNCATE: it takes an ACCESS EXCLUSIVE lock
-- draw rows: 10000 25000
-- draw pause: 40 120
-- right: truncat|reload|lock-contention|lock-held|wait for (a )?locks?|access exclusive
-- half: @locks|bulk-writing|@long|maintenance
-- about: {rates} TRUNCATE
-- never: locks
-- effect: time quote 3
-- before
CREATE TABLE {rates} (code int PRIMARY KEY, price int NOT NULL);
INSERT INTO {rates} SELECT n, n % 991 FROM generate_series(1, {#rows}) n;
-- work quote clients=4 think=20ms
\set code random(1, 10000)
SELECT price FROM {rates} WHERE code = :code;
-- hold loader every={#pause}ms
BEGIN;
TRUNCATE {rates};
INSERT INTO {rates} SELECT n, n % 991 FROM generate_series(1, {#rows}) n;
COMMIT;

-- fault total-kept-by-a-trigger
-- does: a trigger adds each parcel to the total of its depot, so that those who insert take turns until they commit
-- from: reports on counters that triggers keep; PostgreSQL's documentation on row locks
-- draw clients: 6 10
-- draw work: 4 8
-- right: trigger|lock-contention|lock-held|hot row|wait for (a )?locks?
-- half: @gaps|@locks|function
-- about: {depots} {add_to_total}
-- never: locks idle-locks functions
-- effect: time scan 2
-- before
CREATE TABLE {depots} (id int PRIMARY KEY, weight bigint NOT NULL) WITH (fillfactor = 20);
INSERT INTO {depots} SELECT n, 0 FROM generate_series(1, 50) n;
CREATE TABLE {parcels} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, depot int NOT NULL, weight int NOT NULL);
-- work scan clients={#clients} think=10ms
\set weight random(1, 30)
BEGIN;
INSERT INTO {parcels} (depot, weight) VALUES (7, :weight);
\sleep {#work} ms
COMMIT;
-- plant
CREATE FUNCTION {add_to_total}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {depots} SET weight = weight + NEW.weight WHERE id = NEW.depot;
    RETURN NULL;
END $$;
CREATE TRIGGER {~add_to_total} AFTER INSERT ON {parcels} FOR EACH ROW EXECUTE FUNCTION {add_to_total}();

-- fault commit-delay-left-on
-- does: commit_delay was raised for a test of throughput and stayed: each flush of the log waits before it begins
-- from: PostgreSQL's documentation on commit_delay and commit_siblings
-- apart
-- draw delay: 8000 25000
-- right: commit_delay|commit.delay|commit_siblings|delay.*(commit|flush)|(commit|flush).*delay
-- half: log-flush|wait for the log|flush|inner-locks|settings?
-- never: log settings
-- server: commit_siblings = 0
-- server: commit_delay = {#delay}
-- effect: time till 3
-- work till clients=4 think=20ms
\set item random(1, 5000)
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;

-- fault metadata-before-each-statement
-- does: a mapper's cache of the schema is off: it asks the catalog for a table's columns before each page
-- from: reports on object-relational mappers that introspect the schema for each request
-- standby
-- draw clients: 1 3
-- right: catalog|information_schema|metadata|introspect|pg_(class|attribute|constraint)|system (tables?|views?)
-- half: @long|planning|statements (per|in each|for each|a) |repeat
-- never: catalogs statements database
-- effect: time page 4
-- before
CREATE TABLE {basket} (id int PRIMARY KEY, customer int NOT NULL, amount int NOT NULL, note text NOT NULL);
INSERT INTO {basket} SELECT n, n % 977, n % 97, md5(n::text) FROM generate_series(1, 5000) n;
-- work page clients={#clients} think=40ms
\set id random(1, 5000)
SELECT customer, amount FROM {basket} WHERE id = :id;
-- bad page clients={#clients} think=40ms
\set id random(1, 5000)
SELECT c.column_name, c.data_type, k.constraint_name FROM information_schema.columns c LEFT JOIN
    information_schema.key_column_usage k USING (table_schema, table_name, column_name) WHERE c.table_schema =
    '{schema}' AND c.table_name = '{~basket}';
SELECT customer, amount FROM {basket} WHERE id = :id;
-- cured page clients={#clients} think=40ms
\set id random(1, 5000)
SELECT customer, amount FROM {basket} WHERE id = :id;

-- fault hold-cursor-for-a-list
-- does: a program opens a cursor WITH HOLD over all that follows, and takes the first page of what was put aside
-- from: PostgreSQL's documentation on DECLARE: rows of a held cursor are copied into a file or memory
-- direct
-- standby
-- draw clients: 1 2
-- right: cursor|with hold|\bheld\b|holdable|materiali[sz]|fetch
-- half: @long|transfers|temporary.files|\bspill|rows? (are )?(read|visited).*return
-- never: statements database sorts
-- effect: time list 3
-- work list clients={#clients} think=60ms mode=simple
\set from random(60000, 110000)
SELECT {orders.id}, {orders.total}, {orders.note} FROM {orders} WHERE {orders.id} > :from ORDER BY {orders.id} LIMIT 20;
-- bad list clients={#clients} think=60ms mode=simple
\set from random(60000, 110000)
DECLARE {~page} CURSOR WITH HOLD FOR SELECT {orders.id}, {orders.total}, {orders.note} FROM {orders} WHERE {orders.id}
    > :from ORDER BY {orders.id};
FETCH 20 FROM {~page};
CLOSE {~page};
-- cured list clients={#clients} think=60ms mode=simple
\set from random(60000, 110000)
SELECT {orders.id}, {orders.total}, {orders.note} FROM {orders} WHERE {orders.id} > :from ORDER BY {orders.id} LIMIT 20;
