-- A small shop. Every table has fresh statistics and the indexes that the users' statements need.
CREATE TABLE customers (id int PRIMARY KEY, region int NOT NULL, name text NOT NULL, balance numeric NOT NULL);
INSERT INTO customers SELECT n, n % 50, 'customer ' || n, 0 FROM generate_series(1, 20000) n;
CREATE TABLE items (id int PRIMARY KEY, name text NOT NULL, price numeric NOT NULL, stock int NOT NULL);
INSERT INTO items SELECT n, 'item ' || n, n % 997, 1000000 FROM generate_series(1, 5000) n;
CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int NOT NULL, day int NOT NULL,
    total numeric NOT NULL, note text NOT NULL);
INSERT INTO orders (customer, day, total, note)
    SELECT 1 + n % 20000, n / 200, n % 1000, md5(n::text) FROM generate_series(1, 200000) n;
CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_day ON orders (day);
CREATE TABLE lines (document bigint NOT NULL, line int NOT NULL, item int NOT NULL, quantity int NOT NULL,
    note text NOT NULL, PRIMARY KEY (document, line));
CREATE SEQUENCE documents;
CREATE TABLE queue (id int PRIMARY KEY, state text NOT NULL, payload text NOT NULL);
INSERT INTO queue SELECT n, 'done', repeat('x', 100) FROM generate_series(1, 4000) n;
CREATE TABLE changes (id int PRIMARY KEY, state text NOT NULL, customer int NOT NULL);
INSERT INTO changes SELECT n, 'done', 1 + n % 20000 FROM generate_series(1, 20000) n;
CREATE INDEX changes_state ON changes (state);
CREATE TABLE counters (id int PRIMARY KEY, n bigint NOT NULL);
INSERT INTO counters SELECT n, 0 FROM generate_series(1, 100) n;
CREATE TABLE journal (id bigint, n int, note text);
