Seventeen incidents of operations: locks, clients, limits of roles, jobs, and the server; no limit was set by them
before their first play; since 2026-11-30 causes are written with them in sight.

-- fault report-locks-in-share-mode
-- does: to see one state of the books a report locks their table against all who write, and thinks before it commits
-- from: PostgreSQL's documentation on explicit locking: SHARE conflicts with ROW EXCLUSIVE
-- unseen
-- draw reads: 70 180
-- right: lock-contention|lock-held|wait for (a )?locks?|LOCK TABLE|table lock|share (mode|lock)|ShareLock
-- right: locks? (the|a) (whole |entire )?table
-- half: @locks|@gaps|idle
-- about: {ledger}
-- never: locks idle-locks
-- effect: time posting 3
-- before
CREATE TABLE {ledger} (id int PRIMARY KEY, amount int NOT NULL) WITH (fillfactor = 60);
INSERT INTO {ledger} SELECT n, 0 FROM generate_series(1, 20000) n;
-- work posting clients=4 think=20ms
\set id random(1, 20000)
UPDATE {ledger} SET amount = amount + 1 WHERE id = :id;
-- work closing clients=1 think=80ms
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sum(amount) FROM {ledger};
\sleep {#reads} ms
SELECT max(amount) FROM {ledger};
COMMIT;
-- bad closing clients=1 think=80ms
BEGIN;
LOCK TABLE {ledger} IN SHARE MODE;
SELECT sum(amount) FROM {ledger};
\sleep {#reads} ms
SELECT max(amount) FROM {ledger};
COMMIT;
-- cured closing clients=1 think=80ms
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sum(amount) FROM {ledger};
\sleep {#reads} ms
SELECT max(amount) FROM {ledger};
COMMIT;

-- fault prepared-transaction-keeps-old-rows
-- does: the half of a two-phase commit that nobody ended locks nothing that others need, but no old row can be removed
-- from: PostgreSQL's documentation on PREPARE TRANSACTION: it interferes with VACUUM's ability to reclaim storage
-- unseen
-- draw rounds: 70 140
-- right: prepared (transaction|xact)|two.phase|\bgid\b|prepare transaction|in.doubt
-- half: horizon|dead|old (rows?|versions?)|bloat|vacuum|snapshot|old(est)? transaction|long transaction|@long|@scans
-- never: horizon rows
-- effect: time board 3
-- before
CREATE TABLE {drafts} (id int NOT NULL);
CREATE TABLE {gauges} (id int PRIMARY KEY, reading int NOT NULL);
INSERT INTO {gauges} SELECT n, 0 FROM generate_series(1, 400) n;
-- work board clients=3 think=25ms
SELECT count(*), sum(reading) FROM {gauges};
-- work meter clients=1 think=25ms
\set id random(1, 400)
UPDATE {gauges} SET reading = reading + 1 WHERE id = :id;
-- plant
BEGIN; INSERT INTO {drafts} VALUES (1); PREPARE TRANSACTION '{~transfer}';
DO $$ BEGIN FOR k IN 1..{#rounds} LOOP
    UPDATE {gauges} SET reading = reading + 1;
END LOOP; END $$;
-- remove
ROLLBACK PREPARED '{~transfer}';

-- fault insert-waits-for-the-same-key
-- does: each request first writes a key so that nobody does it twice; the key lost a part, and all requests share one
-- from: PostgreSQL's documentation on index uniqueness checks: an insert waits for the transaction that has the key
-- unseen
-- draw clients: 5 9
-- draw work: 4 10
-- right: lock-contention|lock-held|wait for (a )?locks?|unique|on conflict|upsert|(same|one|shared|equal) key|duplicate
-- right: idempoten
-- half: @locks|@gaps|idle
-- about: {claims}
-- never: locks idle-locks
-- effect: time request 2
-- before
CREATE TABLE {claims} (key int PRIMARY KEY);
-- work request clients={#clients} think=10ms
\set key random(1, 1000000000)
BEGIN;
INSERT INTO {claims} VALUES (:key) ON CONFLICT DO NOTHING;
\sleep {#work} ms
DELETE FROM {claims} WHERE key = :key;
COMMIT;
-- bad request clients={#clients} think=10ms
\set key 7
BEGIN;
INSERT INTO {claims} VALUES (:key) ON CONFLICT DO NOTHING;
\sleep {#work} ms
DELETE FROM {claims} WHERE key = :key;
COMMIT;
-- cured request clients={#clients} think=10ms
\set key random(1, 1000000000)
BEGIN;
INSERT INTO {claims} VALUES (:key) ON CONFLICT DO NOTHING;
\sleep {#work} ms
DELETE FROM {claims} WHERE key = :key;
COMMIT;

-- fault timeout-shorter-than-the-report
-- does: somebody limited a role's statements and meant seconds: each report is cancelled and asked for again
-- from: PostgreSQL's documentation on statement_timeout: without a unit it is milliseconds
-- unseen
-- standby
-- draw limit: 4 9
-- draw clients: 1 2
-- right: statement_timeout|time.?out|cancel|57014
-- half: errors?\b|roll(ed )?back|abort|fail|settings? (of|that)
-- never: errors settings
-- effect: time report 3
-- work report clients={#clients} think=120ms
\set day random(1, 600)
SELECT count(DISTINCT {orders.note}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + 300;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET statement_timeout = {#limit};

-- fault consistency-checks-of-the-log
-- does: a developer's setting stayed: each change of a row writes the whole page into the log, to be compared in replay
-- from: PostgreSQL's developer options: wal_consistency_checking
-- unseen
-- apart
-- draw clients: 2 3
-- right: wal_consistency|consistency.check|developer (option|setting)
-- half: full.page|page images|log-flush|bulk-writing|transfers|(WAL|log|bytes).*(per|for each|of each|volume)
-- half: settings? (of|that)
-- never: settings
-- server: wal_consistency_checking = heap
-- effect: per-step booking 4 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {accounts} (id int PRIMARY KEY, amount int NOT NULL, note text NOT NULL) WITH (fillfactor = 60);
INSERT INTO {accounts} SELECT n, 0, md5(n::text) FROM generate_series(1, 20000) n;
-- work booking clients={#clients} think=40ms
\set id random(1, 19900)
UPDATE {accounts} SET amount = amount + 1 WHERE id BETWEEN :id AND :id + 9;

-- fault checkpoint-by-a-script
-- does: a script for snapshots of the disk asks for a checkpoint again and again, so that pages are logged whole
-- from: PostgreSQL's documentation on CHECKPOINT: not intended for use during normal operation; full_page_writes
-- unseen
-- apart
-- draw pause: 300 800
-- right: checkpoint
-- half: full.page|page images|log-flush|bulk-writing|transfers|(WAL|log|bytes).*(per|for each|of each|volume)
-- never: checkpoint
-- effect: per-step booking 2 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {accounts} (id int PRIMARY KEY, amount int NOT NULL, note text NOT NULL) WITH (fillfactor = 60);
INSERT INTO {accounts} SELECT n, 0, md5(n::text) FROM generate_series(1, 40000) n;
-- work booking clients=3 think=25ms
\set part random(1, 1000)
UPDATE {accounts} SET amount = amount + 1 WHERE id = ANY (ARRAY(SELECT :part + n * 1000 FROM generate_series(0, 38) n));
-- hold snapshots every={#pause}ms
CHECKPOINT;

-- fault write-with-each-page-view
-- does: a release notes with each page when a member was last seen, so that all who only read now commit a change
-- from: reports on last_seen columns; PostgreSQL's documentation on WAL and on synchronous commit
-- unseen
-- draw clients: 3 5
-- right: commit|log-flush|wait for the log|flush|(reads?|views?|pages?).*writ|writ.*(reads?|views?|pages?)
-- half: @long|bulk-writing|@gaps|statements (per|in each|for each|a)|unused-indexes|\bhot\b
-- half: index.*(updat|writ|chang)
-- about: {members}
-- never: log
-- effect: time page 2
-- before
CREATE TABLE {members} (id int PRIMARY KEY, name text NOT NULL, seen bigint NOT NULL);
INSERT INTO {members} SELECT n, md5(n::text), n FROM generate_series(1, 20000) n;
CREATE INDEX ON {members} (seen);
-- work page clients={#clients} think=25ms
\set id random(1, 20000)
SELECT name, seen FROM {members} WHERE id = :id;
-- bad page clients={#clients} think=25ms
\set id random(1, 20000)
UPDATE {members} SET seen = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = :id;
SELECT name, seen FROM {members} WHERE id = :id;
-- cured page clients={#clients} think=25ms
\set id random(1, 20000)
SELECT name, seen FROM {members} WHERE id = :id;

-- fault connections-of-a-role-limited
-- does: a role may have one connection at a time since somebody tested it: most of its programs are refused
-- from: PostgreSQL's documentation on ALTER ROLE … CONNECTION LIMIT; "too many connections for role"
-- unseen
-- direct
-- standby
-- outside
-- draw busy: 40 80
-- right: connection.?limit|rolconnlimit|too many connections|refus|limit(s|ed)? .*connection|connections? .*limit
-- half: @gaps|\bpool
-- also: connection-storm|connections? (is|are) (opened|made|short)|new (sessions|connections)|short-lived
-- about: {role}
-- never: connection
-- effect: time page 2
-- work page clients=10 think=250ms reconnect
\set id random(1, 5000)
SELECT {items.name} FROM {items} WHERE {items.id} = :id;
\sleep {#busy} ms
SELECT {items.price} FROM {items} WHERE {items.id} = :id;
-- plant
ALTER ROLE {role} CONNECTION LIMIT 1;

-- fault set-up-at-each-checkout
-- does: a pool of connections tests each one and sets it up anew before it hands it out: nine statements for one
-- from: documentation of connection pools on test-on-borrow, validation queries and initial SQL
-- unseen
-- direct
-- standby
-- draw clients: 2 4
-- right: valid(ation|ates?)|health.?check|test.?on.?borrow|set.?up|SELECT 1\b|check.?out|n ?\+ ?1|chatty|round trips
-- right: statements (per|in each|for each|a) |many (small |tiny )?statements|repeat|one by one|(only|nothing but) SET\b
-- half: @gaps
-- never: clients network
-- effect: time page 2.5
-- work page clients={#clients} think=25ms
\set id random(1, 5000)
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;
-- bad page clients={#clients} think=25ms
\set id random(1, 5000)
SELECT 1;
SELECT pg_is_in_recovery();
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET extra_float_digits = 3;
SET statement_timeout = 60000;
SHOW transaction_isolation;
SELECT current_schema();
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;
-- cured page clients={#clients} think=25ms
\set id random(1, 5000)
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;

-- fault joins-in-the-order-written
-- does: a role's planner joins tables as the text names them, since that once helped a report: two whole tables first
-- from: PostgreSQL's documentation on controlling the planner with explicit JOIN clauses
-- unseen
-- standby
-- draw picks: 500 2000
-- right: join_collapse|from_collapse|collapse|join order|order of (the |its )?(joins|tables)|settings? (of|that)
-- right: planner('s)? (switch|setting|limit|method)
-- half: @scans|@long|(existing|own) index|estimat|rows? (are )?(read|visited).*(return|kept|discard|thrown)
-- never: scans statements database settings
-- effect: time card 3
-- before
CREATE TABLE {picks} (id int PRIMARY KEY, customer int NOT NULL);
INSERT INTO {picks} SELECT n, 1 + (n * 7) % 20000 FROM generate_series(1, {#picks}) n;
-- work card clients=1 think=80ms
\set id random(1, 500)
SELECT count(*), sum(o.{orders.total}) FROM {customers} c JOIN {orders} o ON o.{orders.customer} = c.{customers.id} JOIN
    {picks} p ON p.customer = c.{customers.id} WHERE p.id = :id;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET join_collapse_limit = 1;

-- fault job-that-changes-every-row
-- does: a job marks all sessions in one statement, and who changes one of them waits until it has done them all
-- from: reports on mass updates without batches; PostgreSQL's documentation on row-level locks
-- unseen
-- draw rows: 15000 30000
-- right: lock-contention|lock-held|wait for (a )?locks?|(every|all) (of the |its )?rows?|whole table|batch
-- right: mass (update|change)|one (big |large |huge |long )?(statement|transaction)
-- half: @locks|bulk-writing|@long|@scans|dead|bloat|log-flush|transfers
-- about: {visits}
-- never: locks
-- effect: time touch 2
-- before
CREATE TABLE {visits} (id int PRIMARY KEY, seen int NOT NULL, checked int NOT NULL) WITH (fillfactor = 40);
INSERT INTO {visits} SELECT n, 0, 0 FROM generate_series(1, {#rows}) n;
-- work touch clients=4 think=20ms
\set id random(1, 15000)
UPDATE {visits} SET seen = seen + 1 WHERE id = :id;
-- work janitor clients=1 think=120ms
\set id random(1, 14900)
UPDATE {visits} SET checked = checked + 1 WHERE id BETWEEN :id AND :id + 99;
-- bad janitor clients=1 think=120ms
UPDATE {visits} SET checked = checked + 1;
-- cured janitor clients=1 think=120ms
\set id random(1, 14900)
UPDATE {visits} SET checked = checked + 1 WHERE id BETWEEN :id AND :id + 99;

-- fault empty-queue-asked-all-the-time
-- does: workers that find no message ask again at once, thousands of times a second, since a release lost their pause
-- from: reports on queues in tables that are polled; PostgreSQL's documentation on NOTIFY as the other way
-- unseen
-- draw workers: 5 8
-- right: poll|empty|busy.?(loop|wait)|(no|zero|0|without) rows|(returns?|finds?) nothing|again and again|repeat|chatty
-- right: (statements|calls|transactions|times) (per|a|each) second|many (small |tiny )?(statements|transactions)
-- right: round trips|one by one
-- half: @gaps|@long|processors|queue
-- about: {outbox}
-- effect: per-step page 3 SELECT xact_commit FROM pg_stat_database WHERE datname = '{database}'
-- before
CREATE TABLE {outbox} (id int PRIMARY KEY, note text NOT NULL);
-- work sender clients={#workers} think=500ms
SELECT id, note FROM {outbox} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- work page clients=2 think=25ms
\set id random(1, 5000)
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;
-- bad sender clients={#workers} think=1ms
SELECT id, note FROM {outbox} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- cured sender clients={#workers} think=500ms
SELECT id, note FROM {outbox} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- fault lists-read-for-share
-- does: a mapper's default became pessimistic: each list locks all of its rows FOR SHARE, which writes into every row
-- from: PostgreSQL's documentation on row-level locks: locking a row may cause a disk write; on multixacts
-- unseen
-- draw rows: 150 400
-- right: for (no key )?(update|share|key share)|lock(s|ed|ing)? .*rows?|row.?(level )?locks?|multi.?xact|pessimistic
-- right: read(s|ing)?\b.*(writ|log)|select.*(writ|log|commit)
-- half: log-flush|wait for the log|flush|bulk-writing|@long|@locks|(WAL|log|bytes).*(per|for each|of each)|transfers
-- about: {tariffs}
-- effect: time list 2.5
-- before
CREATE TABLE {tariffs} (id int PRIMARY KEY, price int NOT NULL, note text NOT NULL);
INSERT INTO {tariffs} SELECT n, n % 97, 'tariff ' || n FROM generate_series(1, 5000) n;
-- work list clients=3 think=30ms
\set id random(1, 4500)
SELECT id, price FROM {tariffs} WHERE id BETWEEN :id AND :id + {#rows};
-- bad list clients=3 think=30ms
\set id random(1, 4500)
SELECT id, price FROM {tariffs} WHERE id BETWEEN :id AND :id + {#rows} FOR SHARE;
-- cured list clients=3 think=30ms
\set id random(1, 4500)
SELECT id, price FROM {tariffs} WHERE id BETWEEN :id AND :id + {#rows};

-- fault temporary-files-limited
-- does: after a full disk a role's temporary files were limited so much that its report fails in the middle of its sort
-- from: PostgreSQL's documentation on temp_file_limit: a transaction that exceeds it is cancelled
-- unseen
-- standby
-- draw limit: 500 1500
-- right: temp_file_limit|temp(orary)?.files?.*(limit|fail|exceed|cancel)|(limit|exceed).*temp(orary)?.files?|53400
-- half: errors?\b|roll(ed )?back|abort|fail|cancel|temp(orary)?.files?|\bspill|work_mem|settings? (of|that)
-- never: errors sorts settings
-- effect: time export 3
-- before
ALTER ROLE {role} IN DATABASE {database} SET work_mem = '1MB';
-- work export clients=1 think=120ms
SELECT count(*) FROM (SELECT {orders.note} FROM {orders} WHERE {orders.id} <= 70000 ORDER BY {orders.note} OFFSET 0)
    made;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET temp_file_limit = {#limit};

-- fault idle-timeout-ends-transactions
-- does: a limit against forgotten transactions is shorter than a call that a program makes in one: its session ends
-- from: PostgreSQL's documentation on idle_in_transaction_session_timeout
-- unseen
-- direct
-- draw limit: 4 8
-- draw call: 15 40
-- right: idle_in_transaction|idle.in.transaction.*(time.?out|limit|end|terminat|kill)|time.?out|terminat|25P03
-- right: (connections?|sessions?) (is|are|was|were) (ended|closed|killed|lost|broken|cut)
-- half: connection|new sessions|short-lived|errors?\b|roll(ed )?back|abort|fail|@gaps|idle|settings? (of|that)
-- never: connection errors settings
-- effect: time order 3
-- work order clients=3 think=100ms
\set id random(1, 5000)
BEGIN;
SELECT {items.price} FROM {items} WHERE {items.id} = :id;
\sleep {#call} ms
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :id;
COMMIT;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET idle_in_transaction_session_timeout = {#limit};

-- fault audit-copy-of-each-row
-- does: an audit writes the old and the new state of each row as a document beside it, with an index over what is in it
-- from: PostgreSQL's wiki on audit triggers; its documentation on GIN indexes and what they cost those who write
-- unseen
-- draw rows: 40 100
-- right: trigger|audit
-- half: bulk-writing|log-flush|@long|function|\bgin\b|jsonb?\b|transfers|(WAL|log|bytes).*(per|for each|of each)
-- about: {history} {keep_copy}
-- never: functions
-- effect: per-step pricing 2.5 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {prices} (id int PRIMARY KEY, price int NOT NULL, valid int NOT NULL, name text NOT NULL) WITH
    (fillfactor = 60);
INSERT INTO {prices} SELECT n, n % 997, 0, md5(n::text) FROM generate_series(1, 5000) n;
CREATE TABLE {history} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, was jsonb NOT NULL, made jsonb NOT NULL);
CREATE INDEX ON {history} USING gin (was, made) WITH (fastupdate = off);
-- work pricing clients=2 think=40ms
\set id random(1, 4900)
UPDATE {prices} SET valid = valid + 1 WHERE id BETWEEN :id AND :id + {#rows};
-- plant
CREATE FUNCTION {keep_copy}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {history} (was, made) VALUES (to_jsonb(OLD), to_jsonb(NEW));
    RETURN NULL;
END $$;
CREATE TRIGGER {~keep_copy} AFTER UPDATE ON {prices} FOR EACH ROW EXECUTE FUNCTION {keep_copy}();

-- fault grants-that-void-prepared-plans
-- does: a tool grants a table's rights anew many times a second, and each time all prepared plans on it are made again
-- from: PostgreSQL's documentation on PREPARE: a statement is planned again when the objects that it uses have changed
-- unseen
-- direct
-- standby
-- draw pause: 8 15
-- right: invalidat|re-?plan|plan(s|ned|ning)? (again|anew|each time|every time|once more)|\bgrants?\b|revoke|\bddl\b
-- right: (cached|prepared|kept|stored) (plans?|statements?).*(lost|thrown|again|anew|not|void|discard)|privilege
-- half: planning|catalog|prepared|plan_cache|@long
-- about: {customers} GRANT
-- never: statements database planning
-- effect: time card 3
-- work card clients=3 think=40ms mode=prepared
\set id random(1, 20000)
SELECT a.{customers.name}, f.{customers.balance} FROM {customers} a JOIN {customers} b USING ({customers.id}) JOIN
    {customers} c USING ({customers.id}) JOIN {customers} d USING ({customers.id}) JOIN {customers} e USING
    ({customers.id}) JOIN {customers} f USING ({customers.id}) WHERE a.{customers.email} = md5(:id::int::text) ||
    '@shop.example';
-- hold rights every={#pause}ms
GRANT SELECT ON {customers} TO PUBLIC;
REVOKE SELECT ON {customers} FROM PUBLIC;
