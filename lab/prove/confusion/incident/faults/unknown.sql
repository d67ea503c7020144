Nineteen incidents of statements, applications and schema changes. Their author knew nothing of the diagnosis. Played
once, unseen, on 2026-11-30.

-- fault count-to-know-whether-any
-- does: before each sale a program counts the complaints of a branch, to know whether there are any
-- from: reports on COUNT(*) > 0 where EXISTS would do; PostgreSQL's documentation on EXISTS: it stops at the first row
-- unseen
-- standby
-- draw complaints: 60000 90000
-- right: \bexists\b|\bcount(s|ed|ing)?\b|(whether|if) (there (is|are) )?any|stops? at the first|first row
-- right: aggregat.*(one|single) (row|value|figure)|rows? (are )?(read|visited).*(for|to return) (one|a single)
-- half: @scans|@long|rows? (are )?(read|visited)|reads \d+ rows
-- about: {complaints}
-- never: statements database
-- effect: time sale 3
-- before
CREATE TABLE {complaints} (id int PRIMARY KEY, branch int NOT NULL, weight int NOT NULL, note text NOT NULL);
INSERT INTO {complaints} SELECT n, n % 3, n % 89, md5(n::text) FROM generate_series(1, {#complaints}) n;
CREATE INDEX ON {complaints} (branch);
-- work sale clients=2 think=40ms
\set branch random(0, 2)
SELECT EXISTS (SELECT FROM {complaints} WHERE branch = :branch AND weight >= 1) AS warn;
-- bad sale clients=2 think=40ms
\set branch random(0, 2)
SELECT count(*) > 0 AS warn FROM {complaints} WHERE branch = :branch AND weight >= 1;
-- cured sale clients=2 think=40ms
\set branch random(0, 2)
SELECT EXISTS (SELECT FROM {complaints} WHERE branch = :branch AND weight >= 1) AS warn;

-- fault keys-in-a-comma-list
-- does: a table between two others was folded into a column of numbers with commas, and each search takes them apart
-- from: reports on comma-separated lists in a column, an antipattern of schemas; PostgreSQL's string_to_array
-- unseen
-- standby
-- draw lists: 8000 14000
-- right: comma|separated|string_to_array|\bsplits?\b|tak(es|en|ing) apart|normali[sz]|\barrays?\b
-- right: lists? of (keys|numbers|values)|(function|expression|computation) (of|on|over|around) (a |the |its )?column
-- right: (function|expression).*(each|every) row
-- right: (lists?|several values|many values) in (a|one) column
-- half: @scans|@long|index.*(not|never|cannot)|(existing|own) index|function|expression
-- about: {playlists}
-- never: scans statements database
-- effect: time search 3
-- before
CREATE TABLE {playlists} (id int PRIMARY KEY, name text NOT NULL, songs text NOT NULL);
INSERT INTO {playlists} SELECT n, 'list ' || n, (SELECT string_agg((1 + (n * 7 + k * 211) % 2000)::text, ',') FROM
    generate_series(1, 10) k) FROM generate_series(1, {#lists}) n;
CREATE TABLE {contents} (song int NOT NULL, playlist int NOT NULL, PRIMARY KEY (song, playlist));
INSERT INTO {contents} SELECT 1 + (n * 7 + k * 211) % 2000, n FROM generate_series(1, {#lists}) n, generate_series(1,
    10) k;
-- work search clients=2 think=50ms
\set song random(1, 2000)
SELECT count(*), max(p.name) FROM {contents} c JOIN {playlists} p ON p.id = c.playlist WHERE c.song = :song;
-- bad search clients=2 think=50ms
\set song random(1, 2000)
SELECT count(*), max(p.name) FROM {playlists} p WHERE :song::int::text = ANY (string_to_array(p.songs, ','));
-- cured search clients=2 think=50ms
\set song random(1, 2000)
SELECT count(*), max(p.name) FROM {contents} c JOIN {playlists} p ON p.id = c.playlist WHERE c.song = :song;

-- fault attributes-in-rows
-- does: to be free of migrations each attribute of a thing became a row, and a list joins them back, one by one
-- from: reports on entity, attribute and value as a schema; shops and wikis that keep their properties so
-- unseen
-- standby
-- draw page: 120 250
-- right: entity.?attribute|\beav\b|attributes?|key.?value|pivot|(name|key)s? and values?|self.?join
-- right: (same|one) table.*(times|again|repeated)|joins?.*(same|itself|times|again)|(many|several|six|seven|\d+) joins
-- half: @long|@scans|\bjoin|planning|\bloops?\b|index.*(reads|probes|scans)
-- about: {traits}
-- never: statements database
-- effect: time list 3
-- before
CREATE TABLE {things} (id int PRIMARY KEY, colour text NOT NULL, maker text NOT NULL, weight text NOT NULL, grade text
    NOT NULL, origin text NOT NULL, season text NOT NULL);
INSERT INTO {things} SELECT n, 'colour ' || n % 9, 'maker ' || n % 97, n % 500, n % 7, 'land ' || n % 50, n % 4 FROM
    generate_series(1, 5000) n;
CREATE TABLE {traits} (thing int NOT NULL, name text NOT NULL, value text NOT NULL, PRIMARY KEY (thing, name));
INSERT INTO {traits} SELECT id, name, value FROM {things}, LATERAL (VALUES ('colour', colour), ('maker', maker),
    ('weight', weight), ('grade', grade), ('origin', origin), ('season', season)) v (name, value);
-- work list clients=2 think=40ms
\set id random(1, 4700)
SELECT id, colour, maker, weight, grade, origin, season FROM {things} WHERE id BETWEEN :id AND :id + {#page};
-- bad list clients=2 think=40ms
\set id random(1, 4700)
SELECT t.id, a.value, b.value, c.value, d.value, e.value, f.value FROM {things} t
    LEFT JOIN {traits} a ON a.thing = t.id AND a.name = 'colour' LEFT JOIN {traits} b ON b.thing = t.id AND b.name =
    'maker' LEFT JOIN {traits} c ON c.thing = t.id AND c.name = 'weight' LEFT JOIN {traits} d ON d.thing = t.id AND
    d.name = 'grade' LEFT JOIN {traits} e ON e.thing = t.id AND e.name = 'origin' LEFT JOIN {traits} f ON f.thing = t.id
    AND f.name = 'season' WHERE t.id BETWEEN :id AND :id + {#page};
-- cured list clients=2 think=40ms
\set id random(1, 4700)
SELECT id, colour, maker, weight, grade, origin, season FROM {things} WHERE id BETWEEN :id AND :id + {#page};

-- fault nearest-by-computed-distance
-- does: the nearest stops are found by a formula, so that the distance of every stop is computed and sorted
-- from: PostgreSQL's documentation on GiST and nearest-neighbour searches; questions on "the ten nearest places"
-- unseen
-- standby
-- draw stops: 30000 60000
-- right: nearest|distance|\bknn\b|<->|\bgist\b|neighbou?r
-- right: (sort|order).*(expression|comput|formula|function|all rows|every row|whole)|(all|every|\d+) rows?.*sort
-- right: (sort|order).*(no|not|without|cannot).*index|index.*(sort|order)
-- half: @scans|@long|\bsort|top.?n|order by|rows? (are )?(read|visited).*(return|kept|discard|thrown)
-- about: {stops}
-- never: scans statements database
-- effect: time map 3
-- before
CREATE TABLE {stops} (id int PRIMARY KEY, place point NOT NULL, name text NOT NULL);
INSERT INTO {stops} SELECT n, point((n * 7919) % 10007, (n * 31337) % 10009), 'stop ' || n FROM generate_series(1,
    {#stops}) n;
CREATE INDEX ON {stops} USING gist (place);
-- work map clients=2 think=50ms
\set x random(1, 10000)
\set y random(1, 10000)
SELECT id, name FROM {stops} ORDER BY place <-> point(:x::float8, :y::float8) LIMIT 10;
-- bad map clients=2 think=50ms
\set x random(1, 10000)
\set y random(1, 10000)
SELECT id, name FROM {stops} ORDER BY sqrt((place[0] - :x::float8) ^ 2 + (place[1] - :y::float8) ^ 2) LIMIT 10;
-- cured map clients=2 think=50ms
\set x random(1, 10000)
\set y random(1, 10000)
SELECT id, name FROM {stops} ORDER BY place <-> point(:x::float8, :y::float8) LIMIT 10;

-- fault list-grown-by-appending
-- does: a function was written anew and appends row by row to a document, which is copied as a whole each time
-- from: PostgreSQL's documentation on jsonb_agg and on PL/pgSQL; reports on loops that concatenate
-- unseen
-- standby
-- draw rows: 500 900
-- right: append|concat|quadratic|\bgrow|jsonb?_agg|aggregate|\bloops?\b|row by row|one by one|copi(ed|es)|jsonb?\b
-- right: functions?.*(itself|own|by row|rewrit|body|statements? in)
-- half: function|plpgsql|@long|processor
-- about: {price_list}
-- never: statements database functions
-- effect: time page 3
-- before
CREATE FUNCTION {price_list}(first int) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT jsonb_agg(jsonb_build_object('id', {items.id}, 'name', {items.name}, 'price', {items.price})) FROM
        {items} WHERE {items.id} BETWEEN first AND first + {#rows});
END $$;
-- work page clients=2 think=60ms
\set id random(1, 4000)
SELECT jsonb_array_length({price_list}(:id));
-- plant
CREATE OR REPLACE FUNCTION {price_list}(first int) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    made jsonb = '[]';
    one record;
BEGIN
    FOR one IN SELECT jsonb_build_object('id', {items.id}, 'name', {items.name}, 'price', {items.price}) AS doc FROM
        {items} WHERE {items.id} BETWEEN first AND first + {#rows} LOOP
        made = made || one.doc;
    END LOOP;
    RETURN made;
END $$;
-- cure
CREATE OR REPLACE FUNCTION {price_list}(first int) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT jsonb_agg(jsonb_build_object('id', {items.id}, 'name', {items.name}, 'price', {items.price})) FROM
        {items} WHERE {items.id} BETWEEN first AND first + {#rows});
END $$;

-- fault subselect-for-each-column
-- does: a mapper annotates each member with what his last visit says, and each of the columns is a subselect of its own
-- from: documentation of object-relational mappers on subqueries as annotations; PostgreSQL's on LATERAL
-- unseen
-- standby
-- draw page: 40 80
-- draw clients: 1 2
-- right: sub.?(select|quer|plan)|lateral|correlated|(per|each|every) column|same (row|table|search).*(again|times)
-- right: (eight|several|\d+) times|more than once|repeat|same rows.*(again|times)
-- half: @long|@scans|\bsort|\bloops?\b|\blimit\b|latest|missing.index
-- about: {visits}
-- never: statements database
-- effect: time list 2.5
-- before
CREATE TABLE {members} (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO {members} SELECT n, 'member ' || n FROM generate_series(0, 1499) n;
CREATE TABLE {visits} (id int PRIMARY KEY, member int NOT NULL, day int NOT NULL, place int NOT NULL, amount int NOT
    NULL, state int NOT NULL, clerk int NOT NULL, weight int NOT NULL, ticket int NOT NULL, note text NOT NULL);
INSERT INTO {visits} SELECT n, n % 1500, n, n % 17, n % 977, n % 5, n % 31, n % 71, n * 3, 'visit ' || n FROM
    generate_series(1, 60000) n;
CREATE INDEX ON {visits} (member);
-- work list clients={#clients} think=60ms
\set id random(1, 1400)
SELECT m.id, m.name, l.day, l.place, l.amount, l.state, l.clerk, l.weight, l.ticket, l.note FROM {members} m LEFT JOIN
    LATERAL (SELECT * FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) l ON true WHERE m.id BETWEEN
    :id AND :id + {#page};
-- bad list clients={#clients} think=60ms
\set id random(1, 1400)
SELECT m.id, m.name,
    (SELECT v.day FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS day,
    (SELECT v.place FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS place,
    (SELECT v.amount FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS amount,
    (SELECT v.state FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS state,
    (SELECT v.clerk FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS clerk,
    (SELECT v.weight FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS weight,
    (SELECT v.ticket FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS ticket,
    (SELECT v.note FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) AS note
    FROM {members} m WHERE m.id BETWEEN :id AND :id + {#page};
-- cured list clients={#clients} think=60ms
\set id random(1, 1400)
SELECT m.id, m.name, l.day, l.place, l.amount, l.state, l.clerk, l.weight, l.ticket, l.note FROM {members} m LEFT JOIN
    LATERAL (SELECT * FROM {visits} v WHERE v.member = m.id ORDER BY v.day DESC LIMIT 1) l ON true WHERE m.id BETWEEN
    :id AND :id + {#page};

-- fault list-without-a-limit
-- does: a release takes the pages of a list in the program: it fetches all rows of a kind to show the first fifty
-- from: reports on pagination in the client, and on repositories that find all
-- unseen
-- standby
-- draw goods: 24000 40000
-- right: large-results|\blimit\b|pag(e|es|ing|ination)\b|unbounded|result sets?|results?.*(large|big|huge|whole)
-- right: (many|all|thousands of|too many|more|\d+) rows.*(return|sen[dt]|fetch|client|program|deliver|needs?)
-- right: (return|send|fetch|deliver|read)(s|es|ed|ing)? (too )?(many|all|thousands of|\d+|more) (of the |its )?rows
-- half: @long|@gaps|@scans|rows (per|for each|a) (call|statement)|transfers
-- about: {goods}
-- never: statements database
-- effect: time list 3
-- before
CREATE TABLE {goods} (id int PRIMARY KEY, kind int NOT NULL, name text NOT NULL, price int NOT NULL, note text NOT
    NULL);
INSERT INTO {goods} SELECT n, n % 4, 'good ' || n, n % 997, md5(n::text) FROM generate_series(1, {#goods}) n;
CREATE INDEX ON {goods} (kind, id);
-- work list clients=2 think=70ms
\set kind random(0, 3)
SELECT id, name, price, note FROM {goods} WHERE kind = :kind ORDER BY id LIMIT 50;
-- bad list clients=2 think=70ms
\set kind random(0, 3)
SELECT id, name, price, note FROM {goods} WHERE kind = :kind ORDER BY id;
-- cured list clients=2 think=70ms
\set kind random(0, 3)
SELECT id, name, price, note FROM {goods} WHERE kind = :kind ORDER BY id LIMIT 50;

-- fault collection-rewritten-on-save
-- does: who changes an entry saves its list: a mapper deletes all entries of the list and inserts them again
-- from: documentation of object-relational mappers on bags: a collection without a key is deleted and written anew
-- unseen
-- draw entries: 250 450
-- right: delet.*(insert|again|writ|anew)|(insert|writ|made).*(delet|again|anew)|rewrit|re.?creat|re.?insert|replac
-- right: unchanged|(nothing|little|one) .*chang|collection|churn|(all|every) .*(rows?|entries|lines).*(one|a) chang
-- half: bulk-writing|log-flush|@long|dead|bloat|(WAL|log|bytes|rows).*(per|for each|of each)|transfers
-- about: {entries}
-- never: database
-- effect: time save 2
-- before
CREATE TABLE {entries} (list int, place int, item int NOT NULL, note text NOT NULL, PRIMARY KEY (list, place));
INSERT INTO {entries} SELECT l, p, l * p % 977, md5(p::text) FROM generate_series(1, 100) l, generate_series(1,
    {#entries}) p;
CREATE INDEX ON {entries} (item);
CREATE INDEX ON {entries} (note);
-- work save clients=2 think=100ms retry
\set list random(1, 100)
\set place random(1, 250)
UPDATE {entries} SET item = item + 1 WHERE list = :list AND place = :place;
-- bad save clients=2 think=100ms retry
\set list random(1, 100)
\set place random(1, 250)
BEGIN;
DELETE FROM {entries} WHERE list = :list;
INSERT INTO {entries} SELECT :list::int, p, CASE WHEN p = :place::int THEN 1 ELSE p % 977 END, md5(p::text) FROM
    generate_series(1, {#entries}) p;
COMMIT;
-- cured save clients=2 think=100ms retry
\set list random(1, 100)
\set place random(1, 250)
UPDATE {entries} SET item = item + 1 WHERE list = :list AND place = :place;

-- fault for-update-of-a-join
-- does: a program locks the crate that it works on by a join with its depot, and FOR UPDATE without OF locks both rows
-- from: PostgreSQL's documentation on the locking clause: without OF it affects all tables of the SELECT
-- unseen
-- draw clients: 6 9
-- draw work: 6 12
-- right: lock-contention|lock-held|wait for (a )?locks?|for (no key )?update|hot row|row.?(level )?locks?|same row
-- right: locks? .*(both|all|joined|second|other) (tables|rows)
-- half: @locks|@gaps|idle
-- about: {depots}
-- never: locks idle-locks
-- effect: time packing 2
-- before
CREATE TABLE {depots} (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO {depots} VALUES (1, 'north'), (2, 'south');
CREATE TABLE {crates} (id int PRIMARY KEY, depot int NOT NULL, state int NOT NULL) WITH (fillfactor = 40);
INSERT INTO {crates} SELECT n, 1, 0 FROM generate_series(1, 3000) n;
-- work packing clients={#clients} think=10ms
\set id random(1, 3000)
BEGIN;
SELECT c.state, d.name FROM {crates} c JOIN {depots} d ON d.id = c.depot WHERE c.id = :id FOR UPDATE OF c;
\sleep {#work} ms
UPDATE {crates} SET state = state + 1 WHERE id = :id;
COMMIT;
-- bad packing clients={#clients} think=10ms
\set id random(1, 3000)
BEGIN;
SELECT c.state, d.name FROM {crates} c JOIN {depots} d ON d.id = c.depot WHERE c.id = :id FOR UPDATE;
\sleep {#work} ms
UPDATE {crates} SET state = state + 1 WHERE id = :id;
COMMIT;
-- cured packing clients={#clients} think=10ms
\set id random(1, 3000)
BEGIN;
SELECT c.state, d.name FROM {crates} c JOIN {depots} d ON d.id = c.depot WHERE c.id = :id FOR UPDATE OF c;
\sleep {#work} ms
UPDATE {crates} SET state = state + 1 WHERE id = :id;
COMMIT;

-- fault prepared-statements-switched-off
-- does: a driver's prepared statements were switched off, for a pooler's sake: a join of nine is planned for each card
-- from: documentation of drivers on prepareThreshold and statement caches; PostgreSQL's on PREPARE and planning time
-- unseen
-- direct
-- standby
-- draw clients: 1 3
-- right: planning|plan(s|ned)? .*(again|anew|each|every|longer|more)|prepared|\bprepare|plan cache|pars(e|ed|ing)
-- half: @long|\bjoins?\b|catalog|plan
-- about: {cards}
-- never: planning database
-- effect: time card 3
-- before
CREATE TABLE {codes} (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO {codes} SELECT n, 'code ' || n FROM generate_series(0, 2999) n;
CREATE TABLE {cards} (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, c int NOT NULL, d int NOT NULL, e int NOT
    NULL, f int NOT NULL, g int NOT NULL, h int NOT NULL);
INSERT INTO {cards} SELECT n, n % 2900, n % 2800, n % 2700, n % 2600, n % 2500, n % 2400, n % 2300, n % 2200 FROM
    generate_series(1, 20000) n;
-- work card clients={#clients} think=30ms mode=prepared
\set id random(1, 20000)
SELECT k.id, a.name, b.name, c.name, d.name, e.name, f.name, g.name, h.name FROM {cards} k, {codes} a, {codes} b,
    {codes} c, {codes} d, {codes} e, {codes} f, {codes} g, {codes} h WHERE k.id = :id AND a.id = k.a AND b.id = k.b AND
    c.id = k.c AND d.id = k.d AND e.id = k.e AND f.id = k.f AND g.id = k.g AND h.id = k.h;
-- bad card clients={#clients} think=30ms mode=extended
\set id random(1, 20000)
SELECT k.id, a.name, b.name, c.name, d.name, e.name, f.name, g.name, h.name FROM {cards} k, {codes} a, {codes} b,
    {codes} c, {codes} d, {codes} e, {codes} f, {codes} g, {codes} h WHERE k.id = :id AND a.id = k.a AND b.id = k.b AND
    c.id = k.c AND d.id = k.d AND e.id = k.e AND f.id = k.f AND g.id = k.g AND h.id = k.h;
-- cured card clients={#clients} think=30ms mode=prepared
\set id random(1, 20000)
SELECT k.id, a.name, b.name, c.name, d.name, e.name, f.name, g.name, h.name FROM {cards} k, {codes} a, {codes} b,
    {codes} c, {codes} d, {codes} e, {codes} f, {codes} g, {codes} h WHERE k.id = :id AND a.id = k.a AND b.id = k.b AND
    c.id = k.c AND d.id = k.d AND e.id = k.e AND f.id = k.f AND g.id = k.g AND h.id = k.h;

-- fault progress-counted-in-the-transaction
-- does: an import in one transaction counts its progress after each row, in one row that gets hundreds of versions
-- from: reports on progress columns; PostgreSQL's documentation on MVCC: no version goes before its transaction ends
-- unseen
-- draw rows: 600 1000
-- right: (same|one|single) row.*(again|times|updat|chang|version)|(updat|chang)\w*.*(same|one) row|progress|counter
-- right: versions?|\bchains?\b|(updates?|changes|writes) (per|for each|of each|a) row|row by row|one by one|\bloops?\b
-- right: (per|each|every) row|(own|same|running|open) transaction
-- half: function|dead|bloat|\bhot\b|@long|bulk-writing|index.*(reads|entries)|log-flush
-- about: {imports} {take_in}
-- never: statements database functions
-- effect: time feed 3
-- before
CREATE TABLE {imports} (id int PRIMARY KEY, done bigint NOT NULL);
INSERT INTO {imports} SELECT n, 0 FROM generate_series(1, 400) n;
CREATE TABLE {arrivals} (import int NOT NULL, number int NOT NULL, amount int NOT NULL);
CREATE FUNCTION {take_in}(job int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {arrivals} SELECT job, n, n % 97 FROM generate_series(1, {#rows}) n;
    UPDATE {imports} SET done = done + {#rows} WHERE id = job;
END $$;
-- work feed clients=2 think=150ms
\set job random(1, 400)
SELECT {take_in}(:job);
-- plant
CREATE OR REPLACE FUNCTION {take_in}(job int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR k IN 1..{#rows} LOOP
        INSERT INTO {arrivals} VALUES (job, k, k % 97);
        UPDATE {imports} SET done = done + 1 WHERE id = job;
    END LOOP;
END $$;
-- cure
CREATE OR REPLACE FUNCTION {take_in}(job int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {arrivals} SELECT job, n, n % 97 FROM generate_series(1, {#rows}) n;
    UPDATE {imports} SET done = done + {#rows} WHERE id = job;
END $$;

-- fault rows-only-marked-as-deleted
-- does: nothing is ever deleted but marked: each search of an inbox reads thousands of letters that are gone
-- from: reports on soft deletion by object-relational mappers; PostgreSQL's documentation on partial indexes
-- unseen
-- standby
-- draw gone: 60000 90000
-- right: soft.?delet|(mark|flag)(s|ed)?\b|partial index|archiv|filter(s|ed|ing)?\b
-- right: rows? (are )?(read|visited|skipped|filtered|removed|discarded|thrown)|reads \d+ rows|(existing|own) index
-- right: (multi|two|several|composite).?column|index.*(reads|entries|wide|broad|covers)|few of (the|them|its)
-- right: (most|nearly all) .*(removed|deleted|thrown)
-- half: @scans|@long|missing.index|\bsort
-- about: {letters}
-- never: statements database
-- effect: time inbox 3
-- before
CREATE TABLE {letters} (id int PRIMARY KEY, inbox int NOT NULL, sent int NOT NULL, removed boolean NOT NULL, subject
    text NOT NULL);
INSERT INTO {letters} SELECT n, n % 20, n, false, md5(n::text) FROM generate_series(1, 600) n;
CREATE INDEX ON {letters} (inbox);
-- work inbox clients=2 think=30ms
\set inbox random(0, 19)
SELECT id, subject FROM {letters} WHERE inbox = :inbox AND NOT removed ORDER BY sent DESC LIMIT 20;
-- plant
INSERT INTO {letters} SELECT n, n % 20, n, true, md5(n::text) FROM generate_series(1001, 1000 + {#gone}) n;
ANALYZE {letters};
-- cure
CREATE INDEX {~inbox_that_is_there} ON {letters} (inbox, sent) WHERE NOT removed;
ANALYZE {letters};

-- fault foreign-keys-for-each-reference
-- does: a migration gives each reference of a journal its foreign key, and each row that comes is looked up four times
-- from: PostgreSQL's documentation on populating a database: remove foreign key constraints
-- unseen
-- draw rows: 400 800
-- right: foreign.?keys?|referen(ce|tial)|constraints?\b|key share|\bRI_|trigger|multi.?xact
-- half: bulk-writing|@long|log-flush|row.?locks?|lock(s|ed)? .*rows|(WAL|log|bytes|rows).*(per|for each|of each)
-- about: {journal} {clerks} {places} {goods} {periods}
-- never: database
-- effect: time booking 3
-- before
CREATE TABLE {clerks} (id int PRIMARY KEY);
INSERT INTO {clerks} SELECT n FROM generate_series(0, 2999) n;
CREATE TABLE {places} (id int PRIMARY KEY);
INSERT INTO {places} SELECT n FROM generate_series(0, 2999) n;
CREATE TABLE {goods} (id int PRIMARY KEY);
INSERT INTO {goods} SELECT n FROM generate_series(0, 2999) n;
CREATE TABLE {periods} (id int PRIMARY KEY);
INSERT INTO {periods} SELECT n FROM generate_series(0, 2999) n;
CREATE TABLE {journal} (clerk int NOT NULL, place int NOT NULL, good int NOT NULL, period int NOT NULL, amount int NOT
    NULL);
-- work booking clients=2 think=120ms
\set first random(0, 2999)
INSERT INTO {journal} SELECT (:first::int + n) % 3000, (:first::int + n * 7) % 3000, (:first::int + n * 11) % 3000,
    (:first::int + n * 13) % 3000, n FROM generate_series(1, {#rows}) n;
-- plant
ALTER TABLE {journal} ADD CONSTRAINT {~of_clerk} FOREIGN KEY (clerk) REFERENCES {clerks};
ALTER TABLE {journal} ADD CONSTRAINT {~of_place} FOREIGN KEY (place) REFERENCES {places};
ALTER TABLE {journal} ADD CONSTRAINT {~of_good} FOREIGN KEY (good) REFERENCES {goods};
ALTER TABLE {journal} ADD CONSTRAINT {~of_period} FOREIGN KEY (period) REFERENCES {periods};

-- fault key-that-people-change
-- does: the key of a brand is its code, which people change: each change cascades into all parts of the brand
-- from: reports on natural keys; PostgreSQL's documentation on ON UPDATE CASCADE
-- unseen
-- draw parts: 40000 60000
-- right: cascad|foreign.?key|referen(ce|tial)|natural key|trigger|\bRI_|constraint
-- right: keys?\b.*(chang|updat|renam)|(chang|updat|renam)\w*.*\bkeys?\b|(other|another|child) table
-- half: bulk-writing|@long|log-flush|@locks|dead|bloat|(WAL|log|bytes|rows).*(per|for each|of each)
-- about: {parts} {brands}
-- never: statements database
-- effect: time editor 3
-- before
CREATE TABLE {brands} (id int NOT NULL UNIQUE, code text PRIMARY KEY, name text NOT NULL);
INSERT INTO {brands} SELECT n, 'code ' || n, 'brand ' || n FROM generate_series(1, 40) n;
CREATE TABLE {parts} (id int PRIMARY KEY, brand text NOT NULL REFERENCES {brands} ON UPDATE CASCADE, amount int NOT
    NULL);
INSERT INTO {parts} SELECT n, 'code ' || 1 + n % 40, n % 97 FROM generate_series(1, {#parts}) n;
CREATE INDEX ON {parts} (brand);
-- work editor clients=1 think=150ms
\set id random(1, 40)
\set change random(1, 1000000)
UPDATE {brands} SET name = 'brand ' || :change::int WHERE id = :id;
-- bad editor clients=1 think=150ms
\set id random(1, 40)
\set change random(1, 1000000)
UPDATE {brands} SET code = id || ' code ' || :change::int WHERE id = :id;
-- cured editor clients=1 think=150ms
\set id random(1, 40)
\set change random(1, 1000000)
UPDATE {brands} SET name = 'brand ' || :change::int WHERE id = :id;

-- fault padded-character-columns
-- does: a migration from another database made columns char(n): each value is padded with hundreds of blanks
-- from: PostgreSQL's documentation on character types: char(n) is the slowest and takes the most room
-- unseen
-- standby
-- draw width: 450 640
-- draw people: 11000 16000
-- right: padd|blanks?\b|\bbpchar|char(acter)? ?\(|\bchar\b|wide|width|row size|data ?types?
-- right: bytes (per|a|for each|of each) row|rows? .*(bytes|large|big|long)|(large|big|long) rows
-- half: @scans|@long|leading.?wildcard|pattern|transfers|bloat|expression|missing.index
-- about: {people}
-- never: statements database
-- effect: time search 2.5
-- before
CREATE TABLE {people} (id int PRIMARY KEY, name text NOT NULL, street text NOT NULL, remark text NOT NULL);
INSERT INTO {people} SELECT n, 'name ' || md5(n::text), 'street ' || n, 'remark ' || n % 100 FROM generate_series(1,
    {#people}) n;
-- work search clients=2 think=80ms
\set part random(100, 999)
SELECT count(*), min(name) FROM {people} WHERE name LIKE '%' || :part::int || '%' AND street LIKE '%7%' OR remark LIKE
    '%none%';
-- plant
ALTER TABLE {people} ALTER name TYPE char({#width}), ALTER street TYPE char({#width}), ALTER remark TYPE char({#width});
VACUUM ANALYZE {people};
-- cure
ALTER TABLE {people} ALTER name TYPE text, ALTER street TYPE text, ALTER remark TYPE text;
VACUUM ANALYZE {people};

-- fault view-refreshed-by-a-trigger
-- does: so that totals are never old, a trigger refreshes a materialized view after each statement that adds a sale
-- from: reports on REFRESH MATERIALIZED VIEW in triggers; PostgreSQL's documentation on its exclusive lock
-- unseen
-- draw sales: 25000 45000
-- right: refresh|materiali[sz]ed|trigger
-- half: @locks|function|@long|access exclusive|maintenance|catalog|log-flush
-- about: {totals} {sales} {keep_totals} REFRESH
-- never: functions statements database
-- effect: time till 3
-- before
CREATE TABLE {sales} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, branch int NOT NULL, amount int NOT NULL);
INSERT INTO {sales} (branch, amount) SELECT n % 200, n % 977 FROM generate_series(1, {#sales}) n;
CREATE MATERIALIZED VIEW {totals} AS SELECT branch, count(*) AS n, sum(amount) AS amount FROM {sales} GROUP BY branch;
-- work till clients=3 think=60ms
\set branch random(0, 199)
INSERT INTO {sales} (branch, amount) VALUES (:branch, 5);
-- plant
CREATE FUNCTION {keep_totals}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    REFRESH MATERIALIZED VIEW {totals};
    RETURN NULL;
END $$;
CREATE TRIGGER {~keep_totals} AFTER INSERT ON {sales} FOR EACH STATEMENT EXECUTE FUNCTION {keep_totals}();

-- fault policy-keeps-an-index-away
-- does: row-level security comes first: a search by lower(…), which is not leakproof, may not use its index any more
-- from: PostgreSQL's documentation on row security and LEAKPROOF; reports on slow searches under policies
-- unseen
-- standby
-- draw people: 45000 80000
-- right: polic(y|ies)|row.?level|row security|\brls\b|leak.?proof|security (barrier|qual|condition)
-- half: @scans|@long|(existing|own) index|index.*(not|never|cannot)|function|expression|missing.index
-- about: {patients}
-- never: scans index statements database functions
-- effect: time search 3
-- before
CREATE TABLE {patients} (id int PRIMARY KEY, clinic int NOT NULL, address text NOT NULL, note text NOT NULL);
INSERT INTO {patients} SELECT n, 1 + n % 30, upper(md5(n::text)) || '@clinic.example', 'patient ' || n FROM
    generate_series(1, {#people}) n;
CREATE INDEX ON {patients} (lower(address));
-- work search clients=2 think=60ms
\set id random(1, 45000)
SELECT id, note FROM {patients} WHERE lower(address) = md5(:id::int::text) || '@clinic.example';
-- plant
CREATE POLICY {~of_a_clinic} ON {patients} USING (clinic > 0) WITH CHECK (true);
ALTER TABLE {patients} ENABLE ROW LEVEL SECURITY;

-- fault idle-sessions-ended
-- does: a limit for idle sessions is shorter than the pauses of a pool: each connection is dead when it is used again
-- from: PostgreSQL's documentation on idle_session_timeout: be wary with poolers; without a unit it is milliseconds
-- unseen
-- direct
-- standby
-- draw limit: 6 14
-- draw clients: 3 5
-- right: idle_session|idle.sessions?|idle.*(time.?out|limit|terminat|kill|end)|time.?out|terminat|57P05
-- right: (connections?|sessions?) (is|are|was|were) (ended|closed|killed|lost|broken|cut|dead)
-- half: connection|new sessions|short-lived|errors?\b|abort|fail|@gaps|\bpool|settings? (of|that)
-- never: connection errors settings
-- effect: time page 2
-- work page clients={#clients} think=120ms pool={#clients}
\set id random(1, 5000)
SELECT {items.name}, {items.price} FROM {items} WHERE {items.id} = :id;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET idle_session_timeout = {#limit};

-- fault vacuum-of-a-job-throttled
-- does: a role's VACUUM was slowed so that it would not disturb, and its job, which vacuums as it goes, gets nowhere
-- from: PostgreSQL's documentation on cost-based vacuum delay
-- unseen
-- draw delay: 20 40
-- right: vacuum_?cost|cost.?(based |vacuum )*(delay|limit)|VacuumDelay|throttl|settings? (of|that)
-- right: vacuum\w*.*(sleep|delay|paus|slow|wait|long)|(sleep|delay|paus|slow|wait|long)\w*.*vacuum
-- half: vacuum|maintenance|@long|waiting|timeout
-- about: {slips} {role} vacuum
-- never: settings vacuum
-- effect: time janitor 3
-- before
CREATE TABLE {slips} (id int PRIMARY KEY, state int NOT NULL, note text NOT NULL) WITH (fillfactor = 70);
INSERT INTO {slips} SELECT n, 0, md5(n::text) FROM generate_series(1, 30000) n;
ALTER TABLE {slips} OWNER TO {role};
-- work janitor clients=1 think=100ms
\set part random(0, 9)
UPDATE {slips} SET state = state + 1 WHERE id % 10 = :part;
VACUUM {slips};
-- plant
ALTER ROLE {role} IN DATABASE {database} SET vacuum_cost_limit = 40;
ALTER ROLE {role} IN DATABASE {database} SET vacuum_cost_delay = {#delay};
