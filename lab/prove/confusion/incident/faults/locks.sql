Who waits for whom: rows, tables, keys of the application's own, and transactions that nobody ends.

-- fault queue-for-update
-- does: workers of a queue all lock its first row, and take turns
-- from: PostgreSQL's documentation on SKIP LOCKED
-- draw workers: 4 8
-- draw work: 4 12
-- right: skip locked|lock-contention|lock-held|wait for (a )?locks?|queue
-- half: @gaps
-- about: {jobs}
-- never: locks idle-locks
-- effect: time worker 2
-- before
CREATE TABLE {jobs} (id int PRIMARY KEY, tries int NOT NULL) WITH (fillfactor = 30);
INSERT INTO {jobs} SELECT n, 0 FROM generate_series(1, 2000) n;
ANALYZE {jobs};
-- work worker clients={#workers} think=10ms
BEGIN;
SELECT id FROM {jobs} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED \gset
\sleep {#work} ms
UPDATE {jobs} SET tries = tries + 1 WHERE id = :id;
COMMIT;
-- bad worker clients={#workers} think=10ms
BEGIN;
SELECT id FROM {jobs} ORDER BY id LIMIT 1 FOR UPDATE \gset
\sleep {#work} ms
UPDATE {jobs} SET tries = tries + 1 WHERE id = :id;
COMMIT;

-- fault advisory-lock-queue
-- does: a program serializes all its branches by one advisory lock
-- from: PostgreSQL's documentation on advisory locks
-- draw key: 1000 900000
-- draw clients: 5 9
-- draw work: 3 8
-- right: advisory
-- half: @locks|@gaps
-- never: locks idle-locks
-- effect: time branch 2
-- work branch clients={#clients} think=15ms
\set item random(1, 5000)
BEGIN;
SELECT pg_advisory_xact_lock({#key} + :item);
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
\sleep {#work} ms
COMMIT;
-- bad branch clients={#clients} think=15ms
\set item random(1, 5000)
BEGIN;
SELECT pg_advisory_xact_lock({#key});
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
\sleep {#work} ms
COMMIT;

-- fault hot-row-counter
-- does: a number that all documents take is a row that all transactions change first
-- from: PostgreSQL's documentation on row locks; incident reports on counters
-- draw clients: 5 9
-- draw work: 2 6
-- right: lock-contention|lock-held|hot row|wait for (a )?locks?
-- half: @gaps|@locks
-- about: {counters}
-- never: locks idle-locks
-- effect: time till 2
-- work till clients={#clients} think=15ms
\set shard random(1, 100)
BEGIN;
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :shard;
\sleep {#work} ms
COMMIT;
-- bad till clients={#clients} think=15ms
BEGIN;
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = 7;
\sleep {#work} ms
COMMIT;

-- fault call-inside-the-transaction
-- does: a program asks another service while its transaction holds rows that others need
-- from: reports on idle in transaction; PostgreSQL's documentation on idle_in_transaction_session_timeout
-- draw clients: 5 8
-- draw call: 8 25
-- right: client-or-network-gaps|lock-held|idle in transaction|idle client|waits? for (its|their) client
-- half: @locks
-- never: clients locks idle-locks
-- effect: time order 1.8
-- work order clients={#clients} think=10ms
\set item random(1, 2)
\sleep {#call} ms
BEGIN;
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
COMMIT;
-- bad order clients={#clients} think=10ms
\set item random(1, 2)
BEGIN;
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
\sleep {#call} ms
COMMIT;
-- cured order clients={#clients} think=10ms
\set item random(1, 2)
\sleep {#call} ms
BEGIN;
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
COMMIT;

-- fault forgotten-prepared-transaction
-- does: a transaction manager died between the two phases of a commit, and rows stay locked
-- from: PostgreSQL's documentation on PREPARE TRANSACTION: the caution
-- draw spread: 2 5
-- right: prepared transaction|two.phase|\bgid\b|prepare transaction
-- half: @locks
-- never: locks idle-locks
-- effect: time till 3
-- work till clients=4 think=10ms
\set row random(1, {#spread})
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :row;
-- plant
BEGIN; UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = 1; PREPARE TRANSACTION
    '{~transfer}';
-- remove
ROLLBACK PREPARED '{~transfer}';

-- fault refresh-locks-readers
-- does: a materialized view is refreshed again and again, not concurrently
-- from: PostgreSQL's documentation on REFRESH MATERIALIZED VIEW
-- draw pause: 40 150
-- right: refresh|materiali[sz]ed view|lock-contention
-- half: @locks|maintenance|@long
-- about: {summary} REFRESH
-- never: locks
-- effect: time page 2
-- before
CREATE MATERIALIZED VIEW {summary} AS SELECT {orders.customer} AS customer, count(*) AS n, sum({orders.total}) AS
    total FROM {orders} GROUP BY 1;
CREATE UNIQUE INDEX ON {summary} (customer);
ANALYZE {summary};
-- work page clients=4 think=20ms
\set id random(1, 20000)
SELECT n, total FROM {summary} WHERE customer = :id;
-- hold refresher every={#pause}ms
REFRESH MATERIALIZED VIEW {summary};

-- fault index-built-without-concurrently
-- does: a deployment builds an index during the day, and writers wait for it
-- from: PostgreSQL's documentation on building indexes concurrently
-- draw pause: 40 120
-- right: create index|concurrently|index build|lock-contention|maintenance
-- half: @locks|@long
-- about: {orders}
-- never: locks
-- effect: time clerk 3
-- work clerk clients=4 think=15ms
\set id random(1, 150000)
UPDATE {orders} SET {orders.total} = {orders.total} + 1 WHERE {orders.id} = :id;
-- hold deployment every={#pause}ms
CREATE INDEX {~by_note} ON {orders} ({orders.note}, {orders.total});
DROP INDEX {schema}.{~by_note};

-- fault deadlocks
-- does: transactions lock two rows in either order
-- from: PostgreSQL's documentation on deadlocks
-- draw clients: 5 8
-- right: deadlock
-- half: @locks|errors?|roll(ed )?back|retr
-- never: locks errors
-- effect: time transfer 3
-- work transfer clients={#clients} think=10ms retry
\set one random(1, 3)
\set two :one + random(1, 3)
BEGIN;
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :one;
\sleep 2 ms
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :two;
COMMIT;
-- bad transfer clients={#clients} think=10ms retry
\set one random(1, 6)
\set two 1 + (:one + random(0, 4)) % 6
BEGIN;
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :one;
\sleep 2 ms
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :two;
COMMIT;

-- fault serialization-retries
-- does: transactions became serializable, and are repeated until one fits
-- from: PostgreSQL's documentation on serialization failure handling
-- draw clients: 5 9
-- right: seriali[sz]|40001|retr(y|ies)|roll(ed )?back|abort
-- half: @locks|@gaps
-- never: errors
-- effect: time booking 1.8
-- work booking clients={#clients} think=10ms retry
\set seat random(1, 100)
BEGIN;
SELECT {counters.n} FROM {counters} WHERE {counters.id} = :seat;
\sleep 2 ms
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :seat;
COMMIT;
-- bad booking clients={#clients} think=10ms retry
\set seat random(1, 20)
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT sum({counters.n}) FROM {counters} WHERE {counters.id} <= 20;
\sleep 2 ms
UPDATE {counters} SET {counters.n} = {counters.n} + 1 WHERE {counters.id} = :seat;
COMMIT;

-- fault guessed-numbers
-- does: a program guesses a free number and tries again when it is taken
-- from: reports on storms of unique violations
-- draw clients: 2 4
-- right: roll(ed )?back|abort|unique|duplicate|errors?|retr(y|ies)|23505
-- half: @gaps|statements per transaction
-- never: errors
-- effect: time registrar 2.5
-- before
CREATE TABLE {numbers} (number int PRIMARY KEY);
INSERT INTO {numbers} SELECT n FROM generate_series(1, 19000) n;
ANALYZE {numbers};
-- work registrar clients={#clients} think=15ms retry
\set number random(19001, 2000000000)
BEGIN;
INSERT INTO {numbers} VALUES (:number);
DELETE FROM {numbers} WHERE number = :number;
COMMIT;
-- bad registrar clients={#clients} think=15ms retry
\set number random(1, 20000)
BEGIN;
INSERT INTO {numbers} VALUES (:number);
DELETE FROM {numbers} WHERE number = :number;
COMMIT;
