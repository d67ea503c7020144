Seventeen incidents of queries, data types, schemas and functions; their author knew no cause that a diagnosis names.
Played once, unseen; since 2026-11-30 causes are written with them in sight.

-- fault keyset-taken-apart
-- does: the next page begins after a pair of values, and a mapper writes that as OR: the index is walked from its start
-- from: PostgreSQL's documentation on row-wise comparison; reports on keyset pagination written with OR
-- unseen
-- standby
-- draw deep: 1000 2000
-- draw clients: 1 3
-- right: (?-i:\bOR\b)|row.?(wise|value|comparison)|keyset|paging|paginat|next page|disjunct|\blimit\b
-- right: (existing|own) index|index.*(from (its|the) (start|beginning)|walk|filter|order|(not|never|hardly) used)
-- right: rows? (are )?(read|visited|skipped|filtered|removed|discarded|thrown)|reads? \d+ rows
-- half: @scans|@long|missing.index
-- about: {postings}
-- never: statements database
-- effect: time journal 3
-- before
CREATE TABLE {postings} (id int PRIMARY KEY, moment int NOT NULL, note text NOT NULL);
INSERT INTO {postings} SELECT n, n / 40, md5(n::text) FROM generate_series(1, 100000) n;
CREATE INDEX ON {postings} (moment, id);
-- work journal clients={#clients} think=30ms
\set moment random({#deep}, 2400)
\set id random(1, 100000)
SELECT id, moment, note FROM {postings} WHERE (moment, id) > (:moment::int, :id::int) ORDER BY moment, id LIMIT 20;
-- bad journal clients={#clients} think=30ms
\set moment random({#deep}, 2400)
\set id random(1, 100000)
SELECT id, moment, note FROM {postings} WHERE moment > :moment::int OR (moment = :moment::int AND id > :id::int)
    ORDER BY moment, id LIMIT 20;
-- cured journal clients={#clients} think=30ms
\set moment random({#deep}, 2400)
\set id random(1, 100000)
SELECT id, moment, note FROM {postings} WHERE (moment, id) > (:moment::int, :id::int) ORDER BY moment, id LIMIT 20;

-- fault different-values-counted
-- does: a figure on a page counts how many different notes there are, and sorts all of them each time
-- from: PostgreSQL's mailing lists on count(DISTINCT …), which sorts and cannot hash
-- unseen
-- standby
-- draw rows: 15000 40000
-- right: distinct|different values|\bsort(s|ed|ing)?\b|aggregat
-- half: @scans|@long|rows? (are )?(read|visited).*return|reads? \d+ rows
-- also: temporary.files|\bspill
-- about: {orders}
-- never: statements database
-- effect: time figure 2
-- work figure clients=2 think=60ms
\set first random(1, 100000)
SELECT count({orders.note}) FROM {orders} WHERE {orders.id} BETWEEN :first::int AND :first::int + {#rows};
-- bad figure clients=2 think=60ms
\set first random(1, 100000)
SELECT count(DISTINCT {orders.note}) FROM {orders} WHERE {orders.id} BETWEEN :first::int AND :first::int + {#rows};

-- fault moving-maximum
-- does: a chart shows a moving maximum in place of a moving sum: no step can be undone, so each frame is read anew
-- from: PostgreSQL's documentation on moving-aggregate mode: without it each frame is computed from its start
-- unseen
-- standby
-- draw frame: 200 400
-- right: window|\bframes?\b|(?-i:\bOVER\b)|moving|sliding|aggregat|preceding
-- half: @long|\bsort(s|ed|ing)?\b|rows? (are )?(read|visited).*return
-- about: {soundings}
-- never: statements database
-- effect: time chart 3
-- before
CREATE TABLE {soundings} (id int PRIMARY KEY, probe int NOT NULL, moment int NOT NULL, depth int NOT NULL);
INSERT INTO {soundings} SELECT n, n / 1000, n, (n * 7919) % 977 FROM generate_series(1, 40000) n;
CREATE INDEX ON {soundings} (probe, moment);
-- work chart clients=2 think=50ms
\set probe random(1, 39)
SELECT max(moving) FROM (SELECT sum(depth) OVER (ORDER BY moment ROWS BETWEEN {#frame} PRECEDING AND CURRENT ROW) AS
    moving FROM {soundings} WHERE probe = :probe) made;
-- bad chart clients=2 think=50ms
\set probe random(1, 39)
SELECT max(moving) FROM (SELECT max(depth) OVER (ORDER BY moment ROWS BETWEEN {#frame} PRECEDING AND CURRENT ROW) AS
    moving FROM {soundings} WHERE probe = :probe) made;

-- fault stays-expanded-to-nights
-- does: a calendar makes a row of each night of each stay by generate_series, and keeps those of one night
-- from: questions on counting by days with generate_series; PostgreSQL's documentation on set-returning functions
-- unseen
-- standby
-- draw nights: 12 30
-- right: generate_series|set.?returning|expand|lateral|function scan|(for|each|every|per) (each )?row|\bloops?\b
-- right: rows? (are )?(made|produced|generated|read|visited).*(return|discard|thrown|remove|filter|kept)
-- right: reads? \d+ rows
-- half: @scans|@long|function|nested loop
-- about: {stays}
-- never: statements database
-- effect: time calendar 3
-- before
CREATE TABLE {stays} (id int PRIMARY KEY, arrival int NOT NULL, departure int NOT NULL);
INSERT INTO {stays} SELECT n, n % 365, n % 365 + {#nights} FROM generate_series(1, 5000) n;
-- work calendar clients=2 think=50ms
\set night random(30, 360)
SELECT count(*) FROM {stays} WHERE arrival <= :night AND departure >= :night;
-- bad calendar clients=2 think=50ms
\set night random(30, 360)
SELECT count(*) FROM {stays} s CROSS JOIN LATERAL generate_series(s.arrival, s.departure) AS d (night) WHERE d.night =
    :night;
-- cured calendar clients=2 think=50ms
\set night random(30, 360)
SELECT count(*) FROM {stays} WHERE arrival <= :night AND departure >= :night;

-- fault page-of-a-union
-- does: a list of new and old bills is put together by UNION, which compares all of them for one page
-- from: PostgreSQL's documentation on UNION and UNION ALL
-- unseen
-- standby
-- draw old: 15000 30000
-- draw clients: 1 2
-- right: \bunion\b|duplicates?|copies|distinct|dedup|\bunique\b|\bsort(s|ed|ing)?\b|aggregat
-- right: rows? (are )?(read|visited|sorted).*(return|discard|thrown|kept)|reads? \d+ rows
-- half: @scans|@long
-- also: temporary.files|\bspill
-- about: {new_bills} {old_bills}
-- never: statements database
-- effect: time list 3
-- before
CREATE TABLE {new_bills} (number int PRIMARY KEY, payer text NOT NULL, amount int NOT NULL);
INSERT INTO {new_bills} SELECT 100000 + n, md5(n::text), n % 977 FROM generate_series(1, 10000) n;
CREATE TABLE {old_bills} (number int PRIMARY KEY, payer text NOT NULL, amount int NOT NULL);
INSERT INTO {old_bills} SELECT n, md5(n::text), n % 977 FROM generate_series(1, {#old}) n;
-- work list clients={#clients} think=50ms
SELECT payer, number, amount FROM (SELECT payer, number, amount FROM {new_bills} UNION ALL SELECT payer, number, amount
    FROM {old_bills}) bills ORDER BY number DESC LIMIT 20;
-- bad list clients={#clients} think=50ms
SELECT payer, number, amount FROM (SELECT payer, number, amount FROM {new_bills} UNION SELECT payer, number, amount
    FROM {old_bills}) bills ORDER BY number DESC LIMIT 20;
-- cured list clients={#clients} think=50ms
SELECT payer, number, amount FROM (SELECT payer, number, amount FROM {new_bills} UNION ALL SELECT payer, number, amount
    FROM {old_bills}) bills ORDER BY number DESC LIMIT 20;

-- fault places-moved-by-a-trigger
-- does: a new entry goes to the head of its list, and a trigger moves all others of the list by one place
-- from: reports on sort positions kept as whole numbers; PostgreSQL's documentation on triggers
-- unseen
-- draw entries: 500 900
-- right: trigger|siblings?|renumber|(updat|writ|chang).*(many|all|every|hundreds|other|\d+)( of the)? .*rows?
-- right: rows? (are )?(updated|written|changed) (per|for|by|in) (each|every|one|a|an)\b
-- half: bulk-writing|@long|function|dead|bloat|\bhot\b|heap.only|log-flush|WAL (per|for|of)|log (per|for each|of)
-- about: {entries} {make_room}
-- never: database functions
-- effect: time editor 2
-- before
CREATE TABLE {entries} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, list int NOT NULL, place int NOT NULL, note
    text NOT NULL);
INSERT INTO {entries} (list, place, note) SELECT 1 + n % 60, n / 60, 'entry' FROM generate_series(1, 60 * {#entries}) n;
CREATE INDEX ON {entries} (list, place);
-- work editor clients=2 think=60ms
\set list random(1, 60)
INSERT INTO {entries} (list, place, note) VALUES (:list, 0, 'new');
-- plant
CREATE FUNCTION {make_room}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {entries} SET place = place + 1 WHERE list = NEW.list;
    RETURN NEW;
END $$;
CREATE TRIGGER {~make_room} BEFORE INSERT ON {entries} FOR EACH ROW EXECUTE FUNCTION {make_room}();
-- cure
DROP TRIGGER {~make_room} ON {entries};

-- fault flag-set-on-every-row
-- does: to mark one tariff as valid a job sets the flag of all of them, though two rows change
-- from: reports on updates that change nothing; PostgreSQL's documentation on UPDATE: each row is written anew
-- unseen
-- draw tariffs: 3000 6000
-- right: no.?op|unchanged|(nothing|not|without|never).*chang|same values?|needless|unnecessary|redundant|is distinct
-- right: (updat|writ|chang|sett?)\w* (of )?(\d+|thousands of|many|all|every|the whole) (of )?(the )?(rows?|table)
-- right: (updat|writ|chang).*(without|no|missing) (a )?(where|condition)|updat.*(identical|already)
-- right: rows? (are )?(updated|written|changed) (per|for|by|in) (each|every|one|a|an)\b
-- half: bulk-writing|log-flush|dead|bloat|\bhot\b|heap.only|@long|WAL (per|for|of)|log (per|for each|of)
-- about: {tariffs}
-- never: database
-- effect: time marker 2.5
-- before
CREATE TABLE {tariffs} (id int PRIMARY KEY, valid boolean NOT NULL, note text NOT NULL) WITH (fillfactor = 50);
INSERT INTO {tariffs} SELECT n, n = 1, md5(n::text) FROM generate_series(1, {#tariffs}) n;
-- work marker clients=1 think=80ms
\set id random(1, 3000)
UPDATE {tariffs} SET valid = (id = :id) WHERE valid <> (id = :id);
-- bad marker clients=1 think=80ms
\set id random(1, 3000)
UPDATE {tariffs} SET valid = (id = :id);
-- cured marker clients=1 think=80ms
\set id random(1, 3000)
UPDATE {tariffs} SET valid = (id = :id) WHERE valid <> (id = :id);

-- fault table-function-no-longer-inlined
-- does: an audit gave a function of one SELECT its own search_path: it cannot become part of the query, and reads all
-- from: PostgreSQL's wiki on inlining of SQL functions: none with a SET clause
-- unseen
-- standby
-- draw clients: 1 3
-- right: function|inlin|search_path
-- half: @scans|@long|settings? (of|that)|(existing|own) index|index.*(not|never) used
-- about: {known_customers}
-- never: statements database functions
-- effect: time card 3
-- before
CREATE FUNCTION {known_customers}() RETURNS SETOF {customers} LANGUAGE sql STABLE AS $$
    SELECT * FROM {customers} WHERE {customers.region} >= 0
$$;
-- work card clients={#clients} think=40ms
\set id random(1, 20000)
SELECT {customers.name}, {customers.email} FROM {known_customers}() WHERE {customers.id} = :id;
-- plant
ALTER FUNCTION {known_customers}() SET search_path = {schema}, pg_temp;
-- cure
ALTER FUNCTION {known_customers}() RESET search_path;

-- fault rates-with-thousands-of-digits
-- does: a migration made rates exact: a number of six decimals has thousands, and each product computes them all
-- from: PostgreSQL's documentation on arbitrary precision numbers: calculations on them are slow
-- unseen
-- standby
-- draw sixes: 300 500
-- draw clients: 1 2
-- right: numeric|decimals?\b|digits|precision|arithmetic|comput|calculat|data ?types?|multiplic
-- half: @long|toast|transfers|bloat|aggregat|\bwide\b|large (value|number|row)
-- about: {leases}
-- never: statements database
-- effect: time interest 3
-- before
CREATE TABLE {leases} (id int PRIMARY KEY, part int NOT NULL, amount int NOT NULL, rate numeric(12, 6) NOT NULL);
INSERT INTO {leases} SELECT n, n / 150, n % 977, 1 + (n % 97) / 1000.0 FROM generate_series(1, 6000) n;
CREATE INDEX ON {leases} (part);
-- work interest clients={#clients} think=50ms
\set part random(1, 39)
SELECT sum(amount * rate * rate) FROM {leases} WHERE part = :part;
-- plant
ALTER TABLE {leases} ALTER rate TYPE numeric USING rate + ('0.' || repeat('142857', {#sixes}))::numeric;
ANALYZE {leases};
-- cure
ALTER TABLE {leases} ALTER rate TYPE numeric(12, 6);
ANALYZE {leases};

-- fault two-lists-of-one-account
-- does: one statement joins an account's debits and its credits, each with each, and counts what is different
-- from: reports on "fan traps": two one-to-many joins to the same parent, repaired by DISTINCT
-- unseen
-- standby
-- draw each: 180 350
-- draw clients: 1 2
-- right: product|cartesian|cross join|fan.?(out|trap)|multipl(y|ies|ied)|many.to.many|each with each|distinct
-- right: nested loop|join.*(condition|rows|more)|rows? (are )?(made|joined|read|visited|produced).*(return|few)
-- half: @long|join|aggregat|\bsort(s|ed|ing)?\b
-- also: temporary.files|\bspill
-- about: {debits} {credits}
-- never: statements database
-- effect: time balance 3
-- before
CREATE TABLE {debits} (id int PRIMARY KEY, account int NOT NULL);
INSERT INTO {debits} SELECT n, n % 100 FROM generate_series(1, 100 * {#each}) n;
CREATE INDEX ON {debits} (account);
CREATE TABLE {credits} (id int PRIMARY KEY, account int NOT NULL);
INSERT INTO {credits} SELECT n, n % 100 FROM generate_series(1, 100 * {#each}) n;
CREATE INDEX ON {credits} (account);
-- work balance clients={#clients} think=60ms
\set account random(0, 99)
SELECT (SELECT count(*) FROM {debits} WHERE account = :account::int), (SELECT count(*) FROM {credits} WHERE account =
    :account::int);
-- bad balance clients={#clients} think=60ms
\set account random(0, 99)
SELECT count(DISTINCT d.id), count(DISTINCT c.id) FROM {debits} d JOIN {credits} c ON c.account = d.account WHERE
    d.account = :account::int;
-- cured balance clients={#clients} think=60ms
\set account random(0, 99)
SELECT (SELECT count(*) FROM {debits} WHERE account = :account::int), (SELECT count(*) FROM {credits} WHERE account =
    :account::int);

-- fault function-said-to-return-thousands
-- does: a function that returns five keys was declared to return thousands, and the plan reads a table for them all
-- from: PostgreSQL's documentation on CREATE FUNCTION: ROWS is the planner's estimate
-- unseen
-- standby
-- draw said: 15000 40000
-- draw clients: 1 2
-- right: estimat|function.*rows|rows.*function|(declared|expect).*rows|result_rows|prorows|misjudg|cardinality
-- right: (existing|own) index|index.*(not|never) used
-- half: @scans|@long|function|hash join
-- about: {followed} {orders}
-- never: statements database
-- effect: time feed 3
-- before
CREATE FUNCTION {followed}(who int) RETURNS SETOF int LANGUAGE plpgsql STABLE ROWS 5 AS $$
BEGIN
    RETURN QUERY SELECT n FROM generate_series(who, who + 4) n;
END $$;
-- work feed clients={#clients} think=60ms
\set id random(1, 19000)
SELECT count(*), sum({orders.total}) FROM {followed}(:id::int) AS f (customer_of) JOIN {orders} ON {orders.customer} =
    f.customer_of;
-- plant
ALTER FUNCTION {followed}(int) ROWS {#said};
-- cure
ALTER FUNCTION {followed}(int) ROWS 5;

-- fault dynamic-sql-in-a-function
-- does: a function puts its query together as text and EXECUTEs it, so that each call plans it anew
-- from: PostgreSQL's documentation on executing dynamic commands: there is no plan caching
-- unseen
-- standby
-- draw rows: 80 200
-- right: \bexecute\b|dynamic|planning|plan(s|ned)? (again|anew|each|every|for each)|function|plpgsql|pars(es?|ing)\b
-- half: @long
-- about: {debt_of}
-- never: statements database functions
-- effect: time report 2
-- before
CREATE FUNCTION {debt_of}(who int) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
DECLARE
    debt numeric;
BEGIN
    SELECT sum(o.{orders.total}) INTO debt FROM {orders} o JOIN {customers} c ON c.{customers.id} = o.{orders.customer}
        WHERE o.{orders.customer} = who;
    RETURN debt;
END $$;
-- work report clients=2 think=60ms
\set id random(1, 19000)
SELECT sum({debt_of}({customers.id})) FROM {customers} WHERE {customers.id} BETWEEN :id::int AND :id::int + {#rows};
-- plant
CREATE OR REPLACE FUNCTION {debt_of}(who int) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
DECLARE
    debt numeric;
BEGIN
    EXECUTE format('SELECT sum(o.{orders.total}) FROM {orders} o JOIN {customers} c ON c.{customers.id} =
        o.{orders.customer} WHERE o.{orders.customer} = %s', who) INTO debt;
    RETURN debt;
END $$;
-- cure
CREATE OR REPLACE FUNCTION {debt_of}(who int) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
DECLARE
    debt numeric;
BEGIN
    SELECT sum(o.{orders.total}) INTO debt FROM {orders} o JOIN {customers} c ON c.{customers.id} = o.{orders.customer}
        WHERE o.{orders.customer} = who;
    RETURN debt;
END $$;

-- fault join-that-compares-nulls
-- does: a join by IS NOT DISTINCT FROM, for the sake of nulls, compares each row with each
-- from: PostgreSQL's mailing lists: IS NOT DISTINCT FROM is no operator, so neither an index nor a hash serves it
-- unseen
-- standby
-- draw carriers: 1500 4000
-- right: is (not )?distinct|\bnulls?\b|nested loop|product|each (row )?with each|operator|non.?equi
-- right: join condition|condition of (the|a) join|(without|no) (an? )?(equality|hash)
-- right: (existing|own) index|index.*(not|never) used|condition.*no index
-- half: @scans|@long|join|\bloops?\b|rows? (are )?(read|visited).*return
-- about: {carriers} {loads}
-- never: statements database
-- effect: time dispatch 3
-- before
CREATE TABLE {carriers} (code int UNIQUE, name text NOT NULL);
INSERT INTO {carriers} SELECT nullif(n, 1), 'carrier ' || n FROM generate_series(1, {#carriers}) n;
CREATE TABLE {loads} (id int PRIMARY KEY, part int NOT NULL, carrier int);
INSERT INTO {loads} SELECT n, n / 100, nullif(1 + n % {#carriers}, 1) FROM generate_series(1, 20000) n;
CREATE INDEX ON {loads} (part);
-- work dispatch clients=2 think=50ms
\set part random(1, 199)
SELECT count(*), max(c.name) FROM {loads} l LEFT JOIN {carriers} c ON c.code = l.carrier WHERE l.part = :part;
-- bad dispatch clients=2 think=50ms
\set part random(1, 199)
SELECT count(*), max(c.name) FROM {loads} l LEFT JOIN {carriers} c ON c.code IS NOT DISTINCT FROM l.carrier WHERE
    l.part = :part;
-- cured dispatch clients=2 think=50ms
\set part random(1, 199)
SELECT count(*), max(c.name) FROM {loads} l LEFT JOIN {carriers} c ON c.code = l.carrier WHERE l.part = :part;

-- fault paths-walked-more-than-once
-- does: a recursive query by UNION ALL reaches each node of a net by every path that leads there
-- from: PostgreSQL's documentation on WITH RECURSIVE: UNION discards rows that were there before
-- unseen
-- standby
-- draw layers: 8 9
-- right: recursi|\bcte\b|\bwith\b (quer|clause)|\bunion\b|\bgraph|\bpaths?\b|duplicate|hierarch|more than once|distinct
-- half: @scans|@long|join|\bloops?\b|\bsort(s|ed|ing)?\b|rows? (are )?(read|visited).*return
-- about: {pipes}
-- never: statements database
-- effect: time reach 3
-- before
CREATE TABLE {pipes} (source int NOT NULL, target int NOT NULL);
INSERT INTO {pipes} SELECT net * 100 + layer * 3 + a, net * 100 + (layer + 1) * 3 + b FROM generate_series(1, 50) net,
    generate_series(0, {#layers} - 1) layer, generate_series(0, 2) a, generate_series(0, 2) b;
CREATE INDEX ON {pipes} (source);
-- work reach clients=2 think=60ms
\set root 100 * random(1, 50)
WITH RECURSIVE walk AS (SELECT target FROM {pipes} WHERE source = :root UNION SELECT p.target FROM {pipes} p JOIN
    walk ON p.source = walk.target) SELECT count(DISTINCT target) FROM walk;
-- bad reach clients=2 think=60ms
\set root 100 * random(1, 50)
WITH RECURSIVE walk AS (SELECT target FROM {pipes} WHERE source = :root UNION ALL SELECT p.target FROM {pipes} p JOIN
    walk ON p.source = walk.target) SELECT count(DISTINCT target) FROM walk;
-- cured reach clients=2 think=60ms
\set root 100 * random(1, 50)
WITH RECURSIVE walk AS (SELECT target FROM {pipes} WHERE source = :root UNION SELECT p.target FROM {pipes} p JOIN
    walk ON p.source = walk.target) SELECT count(DISTINCT target) FROM walk;

-- fault joins-no-longer-removed
-- does: a key became a plain index, so that the planner can no longer leave out the outer joins of a view
-- from: PostgreSQL's documentation on outer joins and planning; reports on join removal, which needs a unique index
-- unseen
-- standby
-- draw people: 4000 8000
-- right: join.?(removal|eliminat)|(needless|unnecessary|unused|superfluous|redundant|unneeded) (outer |left )?joins?
-- right: \bunique\b|primary key|\bviews?\b|(left|outer) joins?|joins?.*(not|never|nobody) (need|use|read|ask)
-- half: @scans|@long|join|missing.index
-- about: {people} {deals_named}
-- never: statements database
-- effect: time turnover 3
-- before
CREATE TABLE {people} (id int CONSTRAINT {~people_key} PRIMARY KEY, name text NOT NULL);
INSERT INTO {people} SELECT n, 'person ' || n FROM generate_series(1, {#people}) n;
CREATE TABLE {deals} (id int PRIMARY KEY, part int NOT NULL, amount int NOT NULL, buyer int NOT NULL, seller int NOT
    NULL, agent int NOT NULL, witness int NOT NULL);
INSERT INTO {deals} SELECT n, n / 3000, n % 977, 1 + n % {#people}, 1 + n * 3 % {#people}, 1 + n * 7 % {#people}, 1 +
    n * 11 % {#people} FROM generate_series(1, 45000) n;
CREATE INDEX ON {deals} (part);
CREATE VIEW {deals_named} AS SELECT d.id, d.part, d.amount, b.name AS buyer, s.name AS seller, a.name AS agent, w.name
    AS witness FROM {deals} d LEFT JOIN {people} b ON b.id = d.buyer LEFT JOIN {people} s ON s.id = d.seller LEFT JOIN
    {people} a ON a.id = d.agent LEFT JOIN {people} w ON w.id = d.witness;
-- work turnover clients=2 think=40ms
\set part random(1, 14)
SELECT count(*), sum(amount) FROM {deals_named} WHERE part = :part;
-- plant
ALTER TABLE {people} DROP CONSTRAINT {~people_key};
CREATE INDEX ON {people} (id);
ANALYZE {people};
-- cure
CREATE UNIQUE INDEX {~people_once} ON {people} (id);
ANALYZE {people};

-- fault index-with-its-columns-turned
-- does: an index of two columns was made again the other way round: the range comes first, and the equality filters
-- from: PostgreSQL's documentation on multicolumn indexes: equality on leading columns limits what is scanned
-- unseen
-- standby
-- draw span: 40000 70000
-- draw clients: 1 3
-- right: column order|order of (the |its )?columns|(leading|first|second) column|(multi|two|several).?column|composite
-- right: missing.index|(existing|own) index|index.*(order|(not|never|hardly|poorly|badly) used|entries|reads)|skip.scan
-- right: rows? (are )?(read|visited|filtered|removed|discarded|thrown)|reads? \d+ (rows|entries)
-- half: @scans|@long
-- about: {gauges} {~by_device}
-- never: statements database
-- effect: time history 3
-- before
CREATE TABLE {gauges} (id int PRIMARY KEY, device int NOT NULL, moment int NOT NULL, amount int NOT NULL, note text NOT
    NULL);
INSERT INTO {gauges} SELECT n, n % 500, n, n % 97, md5(n::text) FROM generate_series(1, 90000) n;
CREATE INDEX {~by_device} ON {gauges} (device, moment);
-- work history clients={#clients} think=30ms
\set device random(0, 499)
\set from random(1, 20000)
SELECT count(*), sum(amount) FROM {gauges} WHERE device = :device AND moment BETWEEN :from::int AND :from::int +
    {#span};
-- plant
DROP INDEX {schema}.{~by_device};
CREATE INDEX {~by_device} ON {gauges} (moment, device);
ANALYZE {gauges};
-- cure
CREATE INDEX {~device_first} ON {gauges} (device, moment);
ANALYZE {gauges};

-- fault words-computed-with-each-write
-- does: a migration adds a stored column of the words of each letter, and each letter that comes is taken apart for it
-- from: PostgreSQL's documentation on generated columns and on tables of text search
-- unseen
-- draw letters: 80 160
-- right: generated|tsvector|text.search|(comput|stor|deriv)ed column|column.*(computed|stored|derived)|expression
-- half: bulk-writing|@long|function|log-flush|trigger
-- about: {letters}
-- never: database
-- effect: time mailbox 2
-- before
CREATE TABLE {letters} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sender int NOT NULL, body text NOT NULL);
-- work mailbox clients=2 think=80ms
INSERT INTO {letters} (sender, body) SELECT n, repeat('the quick brown fox jumps over the lazy dogs and runs away ', 10)
    || n FROM generate_series(1, {#letters}) n;
-- plant
TRUNCATE {letters};
ALTER TABLE {letters} ADD words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED;
-- cure
ALTER TABLE {letters} DROP COLUMN words;
