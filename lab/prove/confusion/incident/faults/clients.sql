The application's half: how many statements, commits and connections it makes of one thing, and how it reads.

-- fault one-statement-for-each-line
-- does: an object-relational mapper reads the lines of a list one by one
-- from: reports on "N+1 selects"
-- standby
-- draw lines: 40 120
-- right: n ?\+ ?1|one by one|repeat|statements (per|in each|for each|a) |many (small )?statements|chatty|round trips
-- half: @gaps|@long
-- never: clients network
-- effect: time page 2.5
-- work page clients=2 think=30ms
\set item random(1, 4800)
SELECT {items.id}, {items.name}, {items.price} FROM {items} WHERE {items.id} BETWEEN :item AND :item + {#lines};
-- bad page clients=2 think=30ms
\set item random(1, 4800)
SELECT {items.id} FROM {items} WHERE {items.id} BETWEEN :item AND :item + {#lines};
\repeat {#lines}
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :item + {i};
-- cured page clients=2 think=30ms
\set item random(1, 4800)
SELECT {items.id}, {items.name}, {items.price} FROM {items} WHERE {items.id} BETWEEN :item AND :item + {#lines};

-- fault commit-for-each-row
-- does: an import commits each row
-- from: PostgreSQL's documentation, populating a database: disable autocommit
-- draw rows: 20 60
-- right: commit|log-flush|flush|statements (per|in each|for each) |many (small )?(statements|transactions)|one by
--     one|batch
-- half: @gaps
-- never: clients
-- effect: time import 2.5
-- before
CREATE TABLE {staging} (id int NOT NULL, n int NOT NULL, note text NOT NULL);
-- work import clients=3 think=30ms
\set id random(1, 100000)
INSERT INTO {staging} SELECT :id, n, 'row' FROM generate_series(1, {#rows}) n;
-- bad import clients=3 think=30ms
\set id random(1, 100000)
\repeat {#rows}
INSERT INTO {staging} VALUES (:id, {i}, 'row');

-- fault connection-for-each-step
-- does: a program opens a connection for each thing that it does
-- from: PostgreSQL's wiki on connection pools
-- direct
-- standby
-- draw clients: 3 6
-- right: connection-storm|connections? (is|are) (opened|too|made)|new (sessions|connections)|short-lived
-- half: pool
-- never: connection
-- effect: time page 3
-- work page clients={#clients} think=15ms
\set id random(1, 5000)
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;
-- bad page clients={#clients} think=15ms reconnect
\set id random(1, 5000)
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;

-- fault pool-too-small
-- does: many users share a connection or two, and wait in the program
-- from: documentation of connection pools; the formula for their size
-- direct
-- standby
-- outside
-- about: {role}
-- draw users: 12 24
-- draw size: 1 2
-- right: \bpool|few connections|always busy|connections? (is|are) never idle|queue (before|in front)
-- half: @gaps
-- effect: time page 2.5
-- work page clients={#users} think=60ms
\set day random(1, 900)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + 15;
-- bad page clients={#users} think=60ms pool={#size}
\set day random(1, 900)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + 15;

-- fault results-read-slowly
-- does: a program works on each row before it reads the next, with the statement open
-- from: PostgreSQL's documentation on the wait event ClientWrite
-- draw slow: 8 25
-- right: large-results|read(s)? .*(slow|late)|results? .*client|ClientWrite|clients? read
-- half: @gaps
-- never: clients
-- effect: time export 3
-- work export clients=3 think=50ms
\set id random(1, 140000)
SELECT {orders.id}, {orders.note}, repeat({orders.note}, 8) FROM {orders} WHERE {orders.id} BETWEEN :id AND :id +
    4000;
-- bad export clients=3 think=50ms slow={#slow}ms
SELECT {orders.id}, {orders.note}, repeat({orders.note}, 8) FROM {orders} WHERE {orders.id} BETWEEN 70000 AND 74000;

-- fault exception-block-for-each-row
-- does: a function catches an error for each row instead of asking whether it would happen
-- from: PostgreSQL's documentation: a block with EXCEPTION is dearer to enter and to leave
-- draw rows: 60 200
-- right: exception|subtrans|savepoint|caught
-- half: function|@long|bulk-writing|log-flush
-- never: statements database functions
-- effect: time sync 1.5
-- before
CREATE TABLE {mirror} (id int PRIMARY KEY, n int NOT NULL) WITH (fillfactor = 50);
INSERT INTO {mirror} SELECT n, 0 FROM generate_series(1, 5000) n;
CREATE FUNCTION {synchronize}(first int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR k IN first .. first + {#rows} LOOP
        INSERT INTO {mirror} VALUES (k, 1) ON CONFLICT (id) DO UPDATE SET n = {mirror}.n + 1;
    END LOOP;
END $$;
-- work sync clients=2 think=30ms
\set id random(1, 4700)
SELECT {synchronize}(:id);
-- plant
CREATE OR REPLACE FUNCTION {synchronize}(first int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR k IN first .. first + {#rows} LOOP
        BEGIN
            INSERT INTO {mirror} VALUES (k, 1);
        EXCEPTION WHEN unique_violation THEN
            UPDATE {mirror} SET n = n + 1 WHERE id = k;
        END;
    END LOOP;
END $$;

-- fault subtransactions-overflow
-- does: a long transaction has thousands of subtransactions, and readers look each of them up
-- from: incident reports of GitLab; PostgreSQL's documentation on pg_subtrans
-- draw steps: 3000 8000
-- right: subtrans|savepoint|subxact|exception block
-- half: inner-locks|held-horizon|horizon|snapshot|long transaction|idle|@long
-- never: latches
-- effect: time board 1.5
-- before
CREATE TABLE {stands} (id int PRIMARY KEY, amount int NOT NULL) WITH (fillfactor = 40, autovacuum_enabled = off);
INSERT INTO {stands} SELECT n, 0 FROM generate_series(1, 8000) n;
ANALYZE {stands};
-- hold sync
BEGIN;
DO $$ BEGIN
    FOR k IN 1..{#steps} LOOP
        BEGIN
            UPDATE {stands} SET amount = amount + 1 WHERE id = k;
        EXCEPTION WHEN division_by_zero THEN
            NULL;
        END;
    END LOOP;
END $$;
-- work board clients=3 think=15ms
SELECT count(*), sum(amount) FROM {stands};
