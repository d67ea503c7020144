-- The version of ICU is recorded with the extension; another one is told once in a session.
SELECT version = mchar_collation_version() AS recorded, version ~ '^root [0-9.]+, Unicode [0-9.]+$' AS readable
    FROM mchar_collation;
CREATE TABLE indexed (a mvarchar, b mchar(3), c int);
CREATE INDEX indexed_a ON indexed (c, a);
CREATE INDEX indexed_b ON indexed USING hash (b);
CREATE INDEX indexed_c ON indexed (c);
SELECT * FROM mchar_indexes() i ORDER BY i::text;

UPDATE mchar_collation SET version = 'root 1.2, Unicode 3.4';
SELECT 'no warning: this session has looked' AS before, 'a'::mvarchar = 'A';
\c
\set VERBOSITY terse
SET client_min_messages = error;
SELECT 'nobody hears it' AS silent, 'a'::mvarchar = 'A';
\c
SET client_min_messages = warning;
\set VERBOSITY terse
SELECT 'a'::mvarchar = 'A' AS warned;
SELECT 'a'::mvarchar = 'A' AS once;
-- who may not
CREATE ROLE regress_mchar_reader;
SET ROLE regress_mchar_reader;
SELECT mchar_refresh_collation();
RESET ROLE;
DROP ROLE regress_mchar_reader;
SELECT mchar_refresh_collation() = mchar_collation_version() AS refreshed;
\c
SELECT 'a'::mvarchar = 'A' AS silent_again;
DROP TABLE indexed;

-- the locale is the database's
SELECT current_database() AS here \gset
CREATE DATABASE regress_mchar_ru TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'ru-RU' LOCALE 'C';
\c regress_mchar_ru
CREATE EXTENSION mchar;
SELECT version ~ '^ru_RU ' AS russian FROM mchar_collation;
-- Cyrillic before Latin here, after it in the root
SELECT 'z'::mvarchar > 'а'::mvarchar AS cyrillic_first, 'ё'::mvarchar > 'е' AS yo, 'ёж'::mvarchar < 'ель' AS within;
CREATE DATABASE regress_mchar_cs TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'cs' LOCALE 'C';
\c regress_mchar_cs
CREATE EXTENSION mchar;
-- ch is a letter behind h: a prefix of c must not lose it
CREATE TABLE words (w mvarchar);
INSERT INTO words VALUES ('cukr'), ('chata'), ('CHATA'), ('cHATA'), ('hora'), ('čaj');
CREATE INDEX words_w ON words (w);
SET enable_seqscan = off;
SELECT string_agg(w::text, ' ' ORDER BY w, w::text COLLATE "C") FROM words;
EXPLAIN (COSTS OFF) SELECT w FROM words WHERE w LIKE 'hor%';
EXPLAIN (COSTS OFF) SELECT w FROM words WHERE w LIKE 'oc%';
SELECT string_agg(w::text, ' ' ORDER BY w::text COLLATE "C") FROM words WHERE w LIKE 'c%';
SELECT string_agg(w::text, ' ' ORDER BY w::text COLLATE "C") FROM words WHERE w LIKE 'ch%';
-- aa is the last letter, but aA is two a
CREATE DATABASE regress_mchar_da TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'da' LOCALE 'C';
\c regress_mchar_da
CREATE EXTENSION mchar;
CREATE TABLE words (w mvarchar);
INSERT INTO words VALUES ('aalborg'), ('aAlborg'), ('Aarhus'), ('abe'), ('zebra');
CREATE INDEX words_w ON words (w);
SET enable_seqscan = off;
SELECT string_agg(w::text, ' ' ORDER BY w) FROM words;
EXPLAIN (COSTS OFF) SELECT w FROM words WHERE w LIKE 'baal%';
SELECT string_agg(w::text, ' ' ORDER BY w) FROM words WHERE w LIKE 'aal%';
-- where numbers sort by their value, 1 is no beginning of 10
CREATE DATABASE regress_mchar_kn TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'de-u-kc-kn'
    LOCALE 'C';
\c regress_mchar_kn
CREATE EXTENSION mchar;
CREATE TABLE words (w mvarchar);
INSERT INTO words VALUES ('Teil 1'), ('TEIL 10'), ('Teil 9'), ('Teil 1a');
CREATE INDEX words_w ON words (w);
SET enable_seqscan = off;
SELECT string_agg(w::text, ', ' ORDER BY w) FROM words;
EXPLAIN (COSTS OFF) SELECT w FROM words WHERE w LIKE 'teil 1%';
SELECT string_agg(w::text, ', ' ORDER BY w) FROM words WHERE w LIKE 'teil 1%';
\c :here
DROP DATABASE regress_mchar_da;
DROP DATABASE regress_mchar_kn;
DROP DATABASE regress_mchar_ru;
DROP DATABASE regress_mchar_cs;

-- it can be dropped and made again, in a schema of its own
DROP EXTENSION mchar;
CREATE SCHEMA apart;
CREATE EXTENSION mchar SCHEMA apart;
SELECT 'A'::apart.mvarchar OPERATOR(apart.=) 'a' AS equal, 'A'::apart.mvarchar OPERATOR(apart.~~) 'a%' AS alike;
SELECT apart.mchar_refresh_collation() = apart.mchar_collation_version() AS refreshed;
DROP SCHEMA apart CASCADE;
SELECT count(*) FROM pg_proc WHERE proname = 'like_escape';
