Conditions that no index serves, though there is one: what somebody wrote, or changed, about a search.

-- fault cast-on-column
-- does: a new driver compares a number's text, so the column's index does not fit
-- from: PostgreSQL's documentation on indexes on expressions; questions of users of object-relational mappers
-- standby
-- draw clients: 1 3
-- right: \bcasts?\b|type mismatch|conver(t|sion)|(existing|own) index|index.*(not|never) used|condition.*no index
-- half: @scans|@long
-- about: {orders}
-- never: scans index statements database
-- effect: time branch 3
-- work branch clients={#clients} think=20ms
\set id random(1, 20000)
SELECT count(*) FROM {orders} WHERE {orders.customer} = :id;
-- bad branch clients={#clients} think=20ms
\set id random(1, 20000)
SELECT count(*) FROM {orders} WHERE {orders.customer}::text = :id;

-- fault function-on-column
-- does: a release searches addresses whatever their case, by a function of the column
-- from: PostgreSQL's documentation on indexes on expressions
-- standby
-- draw clients: 2 4
-- right: \bfunction on|function.*(column|index)|expression|lower\(|(existing|own) index|index.*(not|never) used
-- half: @scans|@long
-- about: {customers}
-- never: scans index statements database
-- effect: time login 3
-- work login clients={#clients} think=15ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE {customers.email} = md5(:id::int::text) || '@shop.example';
-- bad login clients={#clients} think=15ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE lower({customers.email}) = lower(md5(:id::int::text) || '@shop.example');
-- cure
CREATE INDEX {~by_lower_mail} ON {customers} (lower({customers.email}));
ANALYZE {customers};

-- fault index-of-another-collation
-- does: the index was made again with a collation that is not the column's
-- from: PostgreSQL's documentation: an index supports one collation a column
-- standby
-- draw clients: 2 4
-- right: collation|(existing|own) index|index.*(not|never) used
-- half: @scans|@long
-- about: {customers}
-- never: scans index statements database
-- effect: time login 3
-- work login clients={#clients} think=15ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE {customers.email} = md5(:id::int::text) || '@shop.example';
-- plant
DROP INDEX {customers_by_email};
CREATE INDEX {~by_mail} ON {customers} ({customers.email} COLLATE "POSIX");
ANALYZE {customers};

-- fault operator-class-without-patterns
-- does: the index of a search by beginnings was made again without its operator class
-- from: PostgreSQL's documentation on operator classes, text_pattern_ops
-- standby
-- draw clients: 2 4
-- right: operator class|opclass|pattern_ops|collation|(existing|own) index|index.*(not|never) used
-- half: @scans|@long
-- about: {customers}
-- never: scans index statements database
-- effect: time search 3
-- before
CREATE INDEX {~by_name} ON {customers} ({customers.name} text_pattern_ops);
-- work search clients={#clients} think=15ms
\set id random(1, 20000)
SELECT count(*) FROM {customers} WHERE {customers.name} LIKE 'name ' || substr(md5(:id::int::text), 1, 8) || '%';
-- plant
DROP INDEX {schema}.{~by_name};
CREATE INDEX {~by_name_again} ON {customers} ({customers.name});

-- fault leading-wildcard
-- does: a search by beginnings became one for any part of the name
-- from: PostgreSQL's documentation on pattern matching and indexes
-- standby
-- draw clients: 2 4
-- right: wildcard|\blike\b|pattern|trigram|any part
-- half: @scans|@long
-- about: {customers}
-- never: scans index statements database
-- effect: time search 3
-- before
CREATE INDEX {~by_name} ON {customers} ({customers.name} text_pattern_ops);
-- work search clients={#clients} think=15ms
\set id random(1, 20000)
SELECT count(*) FROM {customers} WHERE {customers.name} LIKE 'name ' || substr(md5(:id::int::text), 1, 8) || '%';
-- bad search clients={#clients} think=15ms
\set id random(1, 20000)
SELECT count(*) FROM {customers} WHERE {customers.name} LIKE '%' || substr(md5(:id::int::text), 3, 8) || '%';

-- fault brin-on-scattered-values
-- does: to save space an index became BRIN, whose ranges of pages hold every value
-- from: PostgreSQL's documentation on BRIN and the correlation of values and pages
-- standby
-- draw clients: 1 3
-- right: \bbrin\b|(existing|own) index|index.*(not|never|hardly|useless)
-- half: @scans|@long
-- about: {orders}
-- never: scans index statements database
-- effect: time branch 3
-- work branch clients={#clients} think=30ms
\set id random(1, 20000)
SELECT count(*) FROM {orders} WHERE {orders.customer} = :id;
-- plant
DROP INDEX {orders_by_customer};
CREATE INDEX {~range} ON {orders} USING brin ({orders.customer});

-- fault partitions-not-pruned
-- does: a condition on an expression of the key reads every partition
-- from: PostgreSQL's documentation on partition pruning
-- standby
-- draw parts: 40 120
-- draw clients: 1 3
-- right: \bprun|partitions? (is|are) read|every partition|all partitions
-- half: partition|@scans|@long
-- about: {events}
-- never: scans statements database
-- effect: time monitor 3
-- before
CREATE TABLE {events} (day int NOT NULL, kind int NOT NULL, amount int NOT NULL) PARTITION BY RANGE (day);
DO $$ BEGIN FOR n IN 1..{#parts} LOOP
    EXECUTE format('CREATE TABLE {events}_%s PARTITION OF {events} FOR VALUES FROM (%s) TO (%s)', n, n, n + 1);
END LOOP; END $$;
INSERT INTO {events} SELECT 1 + n % {#parts}, n % 100, n FROM generate_series(1, 60000) n;
ANALYZE {events};
-- work monitor clients={#clients} think=20ms
\set day random(1, {#parts})
SELECT kind, sum(amount) FROM {events} WHERE day = :day GROUP BY kind;
-- bad monitor clients={#clients} think=20ms
\set day random(1, {#parts})
SELECT kind, sum(amount) FROM {events} WHERE day + 0 = :day GROUP BY kind;

-- fault deep-offset
-- does: pages far behind are read by OFFSET instead of from the last key on
-- from: PostgreSQL's documentation: rows skipped by OFFSET are computed all the same
-- standby
-- draw deep: 40000 120000
-- draw clients: 1 3
-- right: offset|rows? (read|skipped).*(return|discard)|pag(e|ing|ination)
-- half: @long|@scans
-- about: {orders}
-- never: statements database
-- effect: time listing 3
-- work listing clients={#clients} think=25ms
\set from random({#deep}, 140000)
SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.id} > :from ORDER BY {orders.id} LIMIT 20;
-- bad listing clients={#clients} think=25ms
\set from random({#deep}, 140000)
SELECT {orders.id}, {orders.total} FROM {orders} ORDER BY {orders.id} LIMIT 20 OFFSET :from;

-- fault count-of-all-for-a-page
-- does: each page of a list counts the whole table for its "page 1 of …"
-- from: PostgreSQL's wiki on slow counting
-- standby
-- draw clients: 1 3
-- right: count\(|counts? (all|every|the whole)|rows read.*return|aggregate
-- half: @scans|@long
-- about: {orders}
-- never: scans statements database
-- effect: time listing 3
-- work listing clients={#clients} think=25ms
\set from random(1, 140000)
SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.id} > :from ORDER BY {orders.id} LIMIT 20;
-- bad listing clients={#clients} think=25ms
\set from random(1, 140000)
SELECT count(*) FROM {orders};
SELECT {orders.id}, {orders.total} FROM {orders} WHERE {orders.id} > :from ORDER BY {orders.id} LIMIT 20;

-- fault order-by-random
-- does: "a product of the day" sorts the table by random numbers to take one row
-- from: PostgreSQL's mailing lists on ORDER BY random()
-- standby
-- draw clients: 2 4
-- right: random|\bsorts?\b
-- half: @scans|@long
-- about: {customers}
-- never: scans statements database
-- effect: time shop 3
-- work shop clients={#clients} think=15ms
\set id random(1, 20000)
SELECT {customers.id} FROM {customers} WHERE {customers.id} >= :id ORDER BY {customers.id} LIMIT 1;
-- bad shop clients={#clients} think=15ms
SELECT {customers.id} FROM {customers} ORDER BY random() LIMIT 1;
