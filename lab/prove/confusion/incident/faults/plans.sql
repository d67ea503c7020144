Plans that are dear to make, or wrong for what they find: settings of a role, statistics, and shapes of statements.

-- fault jit-on-short-queries
-- does: a role's settings compile statements that run for a millisecond
-- from: PostgreSQL's documentation, "When to JIT?"; reports after upgrades to 12
-- library: llvmjit
-- standby
-- draw clients: 1 3
-- right: \bjit\b|just.in.time|compil
-- half: @long|settings? (of|that)
-- also: processors-full
-- never: statements database settings
-- effect: time report 2
-- work report clients={#clients} think=20ms
\set day random(1, 900)
SELECT {orders.state}, count(*), sum({orders.total}) FROM {orders} WHERE {orders.day} BETWEEN :day AND :day + 2
    GROUP BY 1;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET jit = on;
ALTER ROLE {role} IN DATABASE {database} SET jit_above_cost = 5;
ALTER ROLE {role} IN DATABASE {database} SET jit_inline_above_cost = 5;
ALTER ROLE {role} IN DATABASE {database} SET jit_optimize_above_cost = 5;

-- fault index-scans-off-for-a-role
-- does: a hint that once helped one statement stays: the role plans without indexes
-- from: PostgreSQL's documentation on enable_indexscan: a temporary remedy
-- standby
-- draw clients: 1 3
-- right: enable_|planner('s)? (switch|setting|method)|settings? (of|that)
-- half: @scans|@long|(existing|own) index
-- never: scans index statements database settings
-- effect: time branch 3
-- work branch clients={#clients} think=20ms
\set id random(1, 20000)
SELECT count(*) FROM {orders} WHERE {orders.customer} = :id;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET enable_indexscan = off;
ALTER ROLE {role} IN DATABASE {database} SET enable_indexonlyscan = off;
ALTER ROLE {role} IN DATABASE {database} SET enable_bitmapscan = off;

-- fault generic-plan-trap
-- does: prepared statements keep a plan for the mean value, and look for the rare ones, which come last
-- from: PostgreSQL's documentation on plan_cache_mode
-- direct
-- standby
-- draw rare: 20 60
-- draw clients: 2 4
-- right: generic|plan_cache_mode|custom plan|prepared
-- half: @scans|@long|settings? (of|that)|(existing|own) index
-- about: {tasks} {role} plan_cache_mode
-- never: scans index statements database
-- effect: time worker 3
-- before
CREATE TABLE {tasks} (id int PRIMARY KEY, state int NOT NULL, note text NOT NULL);
INSERT INTO {tasks} SELECT n, CASE WHEN n > 80000 - {#rare} THEN 1 ELSE 2 END, md5(n::text) FROM generate_series(1,
    80000) n;
CREATE INDEX ON {tasks} (state);
ALTER TABLE {tasks} ALTER state SET STATISTICS 3000;
ANALYZE {tasks};
-- work worker clients={#clients} think=15ms mode=prepared
\set state 1
SELECT id, note FROM {tasks} WHERE state = :state ORDER BY id LIMIT 10;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET plan_cache_mode = force_generic_plan;

-- fault conditions-joined-by-or
-- does: a program writes its list of pairs as hundreds of conditions joined by OR
-- from: PostgreSQL's mailing lists on planning time of long OR lists
-- standby
-- draw terms: 150 400
-- right: planning|\bOR\b|lists? of (conditions|values)|long (list|text)
-- half: @long
-- never: statements database planning
-- effect: time exchange 2
-- work exchange clients=2 think=40ms
SELECT count(*) FROM {orders} JOIN generate_series(1, {#terms}) n ON {orders.customer} = n * 7 AND {orders.day} = n
    * 3;
-- bad exchange clients=2 think=40ms
SELECT count(*) FROM {orders} WHERE false
\repeat {#terms}
 OR ({orders.customer} = {i} * 7 AND {orders.day} = {i} * 3)
;

-- fault many-partitions-planned
-- does: an archive by day became hundreds of partitions, and a search without the key plans and opens them all
-- from: PostgreSQL's documentation, best practices for partitioning
-- standby
-- draw parts: 120 300
-- right: planning|partition
-- half: @long|inner-locks|LockManager
-- never: statements database planning
-- effect: time lookup 3
-- before
CREATE TABLE {whole} (day int NOT NULL, number int NOT NULL, amount int NOT NULL);
CREATE INDEX ON {whole} (number);
INSERT INTO {whole} SELECT 1 + n % {#parts}, n, n FROM generate_series(1, 30000) n;
CREATE TABLE {archive} (LIKE {whole}) PARTITION BY LIST (day);
CREATE INDEX ON {archive} (number);
DO $$ BEGIN FOR n IN 1..{#parts} LOOP
    EXECUTE format('CREATE TABLE {archive}_%s PARTITION OF {archive} FOR VALUES IN (%s)', n, n);
END LOOP; END $$;
INSERT INTO {archive} SELECT * FROM {whole};
ANALYZE {whole}, {archive};
-- work lookup clients=3 think=25ms
\set number random(1, 30000)
SELECT sum(amount) FROM {whole} WHERE number = :number;
-- bad lookup clients=3 think=25ms
\set number random(1, 30000)
SELECT sum(amount) FROM {archive} WHERE number = :number;

-- fault correlated-columns
-- does: three columns that say the same are estimated as independent, and a join without a hash (bits have none) is
--     planned for one row
-- from: PostgreSQL's documentation on extended statistics
-- standby
-- draw zones: 1500 3000
-- right: correlat|extended statistics|estimat|dependent columns
-- half: statistics|@scans|@long
-- about: {parcels} {zones}
-- never: statements database
-- effect: time dispatch 2
-- before
CREATE TABLE {zones} (code bit(16) NOT NULL, price int NOT NULL);
INSERT INTO {zones} SELECT n::bit(16), n FROM generate_series(1, {#zones}) n;
CREATE TABLE {parcels} (id int PRIMARY KEY, country int NOT NULL, city int NOT NULL, post int NOT NULL, zone bit(16)
    NOT NULL);
INSERT INTO {parcels} SELECT n, n % 100, n % 100, n % 100, (1 + n % {#zones})::bit(16) FROM generate_series(1, 40000) n;
CREATE INDEX ON {parcels} (city);
CREATE STATISTICS {likeness} (dependencies) ON country, city, post FROM {parcels};
ANALYZE {zones}, {parcels};
-- work dispatch clients=2 think=30ms
\set city random(0, 99)
SELECT count(*), sum(price) FROM {parcels} JOIN {zones} ON code = zone WHERE country = :city AND city = :city AND
    post = :city;
-- plant
DROP STATISTICS {likeness};
ANALYZE {parcels};

-- fault materialized-cte
-- does: a WITH that is kept apart reads the whole table for one customer
-- from: PostgreSQL's release notes of 12 on MATERIALIZED
-- standby
-- draw clients: 1 2
-- right: materiali[sz]ed|\bcte\b|\bwith\b (quer|clause)|fence
-- half: @scans|@long|temporary
-- about: {orders}
-- never: scans statements database
-- effect: time branch 3
-- work branch clients={#clients} think=30ms
\set id random(1, 20000)
WITH own AS NOT MATERIALIZED (SELECT * FROM {orders}) SELECT count(*), sum({orders.total}) FROM own WHERE
    {orders.customer} = :id;
-- bad branch clients={#clients} think=30ms
\set id random(1, 20000)
WITH own AS MATERIALIZED (SELECT * FROM {orders}) SELECT count(*), sum({orders.total}) FROM own WHERE
    {orders.customer} = :id;

-- fault not-in-without-a-hash
-- does: NOT IN over a list that does not fit into the role's memory is compared row by row
-- from: PostgreSQL's mailing lists on NOT IN and hashed subplans
-- standby
-- draw listed: 6000 15000
-- right: not in|sub-?(plan|query)|nested|work_mem
-- half: @long|@scans|settings? (of|that)
-- about: {blocked} {customers} work_mem
-- never: statements database
-- effect: time mailing 3
-- before
CREATE TABLE {blocked} (customer int NOT NULL);
INSERT INTO {blocked} SELECT 1000000 + n FROM generate_series(1, {#listed}) n;
ANALYZE {blocked};
-- work mailing clients=1 think=50ms
\set region random(0, 49)
SELECT count(*) FROM {customers} WHERE {customers.region} = :region AND NOT EXISTS (SELECT FROM {blocked} WHERE
    customer = {customers.id});
-- bad mailing clients=1 think=50ms
\set region random(0, 49)
SELECT count(*) FROM {customers} WHERE {customers.region} = :region AND {customers.id} NOT IN (SELECT customer FROM
    {blocked});
-- plant
ALTER ROLE {role} IN DATABASE {database} SET work_mem = '64kB';

-- fault workers-for-short-queries
-- does: a role's costs make the planner start parallel workers for statements of a millisecond
-- from: PostgreSQL's documentation on parallel_setup_cost
-- standby
-- draw clients: 2 4
-- right: parallel|background workers?
-- half: waiting-for-processes|@long|settings? (of|that)
-- never: statements database
-- effect: time report 2
-- work report clients={#clients} think=15ms
\set price random(1, 900)
SELECT count(*), sum({items.stock}) FROM {items} WHERE {items.price} < :price;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET parallel_setup_cost = 0;
ALTER ROLE {role} IN DATABASE {database} SET parallel_tuple_cost = 0;
ALTER ROLE {role} IN DATABASE {database} SET min_parallel_table_scan_size = 0;
ALTER ROLE {role} IN DATABASE {database} SET max_parallel_workers_per_gather = 4;

-- fault join-order-searched-through
-- does: a role searches all orders of a join of nine, each time
-- from: PostgreSQL's documentation on join_collapse_limit and geqo
-- standby
-- right: planning|join_collapse|geqo|order of joins|join order
-- half: @long|settings? (of|that)
-- never: statements database planning
-- effect: time report 3
-- before
ALTER ROLE {role} IN DATABASE {database} SET join_collapse_limit = 1;
-- work report clients=1 think=30ms
\set id random(1, 5000)
SELECT count(*) FROM {items} a JOIN {items} b USING ({items.id}) JOIN {items} c USING ({items.id}) JOIN {items} d
    USING ({items.id}) JOIN {items} e USING ({items.id}) JOIN {items} f USING ({items.id}) JOIN {items} g USING
    ({items.id}) JOIN {items} h USING ({items.id}) JOIN {items} i USING ({items.id}) WHERE a.{items.name} = 'item '
    || :id::int;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET join_collapse_limit = 12;
ALTER ROLE {role} IN DATABASE {database} SET from_collapse_limit = 12;
ALTER ROLE {role} IN DATABASE {database} SET geqo = off;

-- fault statistics-too-fine
-- does: after a bad plan the statistics of two columns were made as fine as they can be: each plan compares them all
-- from: PostgreSQL's mailing lists on eqjoinsel and statistics targets
-- draw fine: 3000 8000
-- right: planning|statistics target|set statistics
-- half: @long|statistics
-- never: statements database planning
-- effect: time lookup 3
-- before
CREATE TABLE {sent} (id int PRIMARY KEY, code int NOT NULL);
CREATE TABLE {paid} (code int NOT NULL, amount int NOT NULL);
INSERT INTO {sent} SELECT n, n % 10000 FROM generate_series(1, 40000) n;
INSERT INTO {paid} SELECT n % 10000, n FROM generate_series(1, 40000) n;
CREATE INDEX ON {paid} (code);
ANALYZE {sent}, {paid};
-- work lookup clients=2 think=30ms
\set id random(1, 40000)
SELECT sum(amount) FROM {sent} JOIN {paid} USING (code) WHERE id = :id;
-- plant
ALTER TABLE {sent} ALTER code SET STATISTICS {#fine};
ALTER TABLE {paid} ALTER code SET STATISTICS {#fine};
ANALYZE {sent}, {paid};

-- fault work-mem-of-a-role
-- does: a role has the memory of twenty years ago, and its joins go through files
-- from: PostgreSQL's documentation on work_mem and temporary files
-- standby
-- draw rows: 30000 60000
-- right: temporary-files|work_mem|\bspill
-- half: @long|settings? (of|that)|transfers
-- never: sorts statements database
-- effect: time report 1.25
-- before
ALTER ROLE {role} IN DATABASE {database} SET work_mem = '64MB';
-- work report clients=2 think=60ms
SELECT count(*) FROM {orders} a JOIN {orders} b ON b.{orders.note} = a.{orders.note} WHERE a.{orders.id} <= {#rows}
    AND b.{orders.id} <= {#rows};
-- plant
ALTER ROLE {role} IN DATABASE {database} SET work_mem = '64kB';
ALTER ROLE {role} IN DATABASE {database} SET hash_mem_multiplier = 1;
