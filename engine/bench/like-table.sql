-- A table like_:length of :rows values of :length characters: Russian words, as in the names and comments of an
-- accounting system. One value in :every has the word that is looked for, in its middle. The values are not compressed:
-- to unpack them would take longer than to search them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS mchar;
DROP TABLE IF EXISTS like_:length;
CREATE TABLE like_:length (v mvarchar) WITH (autovacuum_enabled = off);
ALTER TABLE like_:length ALTER v SET STORAGE EXTERNAL;
WITH vocabulary AS (
	SELECT ARRAY['Поставка', 'товара', 'по', 'договору', 'от', 'Контрагент', 'иное', 'Игла', 'склад', 'ОПТОВЫЙ',
		'накладная', 'без', 'НДС', 'руб.', 'голка', 'игрушка'] AS word),
texts AS (
	SELECT r, left(string_agg(word[1 + (hashint8(r * 7919::bigint + n) & 15)], ' ' ORDER BY n), :length) AS words
	FROM vocabulary, generate_series(1, :rows) r, generate_series(1, :length / 3 + 1) n GROUP BY r)
INSERT INTO like_:length
SELECT CASE WHEN r % :every = 0 THEN overlay(words PLACING 'Иголка' FROM greatest(:length / 2 - 5, 1) FOR 6)
	ELSE words END::mvarchar
FROM texts;
VACUUM ANALYZE like_:length;
