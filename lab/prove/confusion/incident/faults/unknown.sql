Twenty incidents of statements, applications and schema changes. Their author knew nothing of the diagnosis.

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
