Loads of an ordinary shop, in the form of the faults: eight of three kinds. None of them is slow by itself.

-- load short-mixed
-- kind: short
-- does: people look things up, sell, and change what is known of a customer
-- work desk clients=5 think=25ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work till clients=3 think=30ms as=user
\set item random(1, 5000)
INSERT INTO {lines} SELECT nextval('{documents}'), n, 1 + (n * :item) % 5000, n, 'line ' || n FROM
    generate_series(1, 10) n;
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
-- work office clients=2 think=30ms as=user
\set id random(1, 20000)
BEGIN;
SELECT {customers.name} FROM {customers} WHERE {customers.id} = :id FOR UPDATE;
UPDATE {customers} SET {customers.balance} = {customers.balance} + 1 WHERE {customers.id} = :id;
COMMIT;

-- load short-reads
-- kind: short
-- does: nearly all look something up
-- work desk clients=8 think=25ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work name clients=3 think=30ms as=user
\set id random(1, 20000)
SELECT {customers.name}, {customers.balance} FROM {customers} WHERE {customers.id} = :id;
-- work till clients=1 think=50ms as=user
\set item random(1, 5000)
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;

-- load short-writes
-- kind: short
-- does: nearly all change something
-- work till clients=5 think=40ms as=user
\set item random(1, 5000)
INSERT INTO {lines} SELECT nextval('{documents}'), n, 1 + (n * :item) % 5000, n, 'line ' || n FROM
    generate_series(1, 10) n;
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
-- work office clients=4 think=40ms as=user
\set id random(1, 20000)
UPDATE {customers} SET {customers.balance} = {customers.balance} + 1 WHERE {customers.id} = :id;

-- load reports-beside
-- kind: reports
-- does: a report of some weeks beside short transactions
-- work desk clients=4 think=25ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work till clients=2 think=40ms as=user
\set item random(1, 5000)
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
-- work analyst clients=1 think=200ms as=user
\set day random(1, 900)
SELECT {orders.state}, count(*), sum({orders.total}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + 40
    GROUP BY 1;

-- load reports-many
-- kind: reports
-- does: several people read reports that join
-- work desk clients=2 think=30ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work analyst clients=3 think=250ms as=user
\set day random(1, 900)
SELECT c.{customers.region}, sum(o.{orders.total}) FROM {orders} o JOIN {customers} c ON c.{customers.id} =
    o.{orders.customer} WHERE o.{orders.day} BETWEEN :day AND :day + 10 GROUP BY 1 ORDER BY 2 DESC LIMIT 10;

-- load batch-insert
-- kind: batch
-- does: an interface loads documents of some hundred lines while people read
-- work desk clients=4 think=30ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work interface clients=1 think=150ms as=user
\set item random(1, 5000)
INSERT INTO {lines} SELECT nextval('{documents}'), n, 1 + (n * :item) % 5000, n, 'line ' || n FROM
    generate_series(1, 300) n;

-- load batch-update
-- kind: batch
-- does: a job changes some hundred rows a time while people read
-- work desk clients=4 think=30ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work job clients=1 think=150ms as=user
\set id random(1, 19800)
UPDATE {customers} SET {customers.balance} = {customers.balance} + 1 WHERE {customers.id} BETWEEN :id AND :id + 100;

-- load batch-steps
-- kind: batch
-- does: a job works through orders in transactions of some statements
-- work desk clients=3 think=30ms mode=prepared as=user
\set id random(1, 20000)
SELECT count(*), sum({orders.total}) FROM {orders} WHERE {orders.customer} = :id;
-- work job clients=2 think=60ms as=user
\set id random(1, 150000)
\set item random(1, 5000)
BEGIN;
UPDATE {orders} SET {orders.total} = {orders.total} + 1 WHERE {orders.id} = :id;
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
INSERT INTO {lines} SELECT nextval('{documents}'), n, :item, n, 'line' FROM generate_series(1, 5) n;
COMMIT;
