-- Tables of a wholesale supplier, in the style of TPC-C and smaller, for orders.toml. Nothing that is measured on it is
-- a TPC result: the schema, the sizes and the rules are not the benchmark's.
--   psql -v warehouses=2 -f orders.sql DATABASE
-- A warehouse has 10 districts, 1,000 customers, 2,000 items in stock and 1,000 orders: about 15 MB.
DROP TABLE IF EXISTS order_line, new_order, orders, payment, stock, customer, district, warehouse, item;

CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name text NOT NULL, w_tax numeric(4,4) NOT NULL,
	w_ytd numeric(14,2) NOT NULL);
CREATE TABLE district (d_w_id int REFERENCES warehouse, d_id int, d_tax numeric(4,4) NOT NULL,
	d_ytd numeric(14,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_w_id int, c_d_id int, c_id int, c_last text NOT NULL, c_credit text NOT NULL,
	c_discount numeric(4,4) NOT NULL, c_balance numeric(14,2) NOT NULL, c_ytd_payment numeric(14,2) NOT NULL,
	c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE item (i_id int PRIMARY KEY, i_name text NOT NULL, i_price numeric(7,2) NOT NULL);
CREATE TABLE stock (s_w_id int, s_i_id int REFERENCES item, s_quantity int NOT NULL, s_ytd int NOT NULL,
	s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE orders (o_w_id int, o_d_id int, o_id int, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL,
	o_carrier_id int, o_ol_cnt int NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE new_order (no_w_id int, no_d_id int, no_o_id int, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int NOT NULL,
	ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(9,2) NOT NULL,
	PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
CREATE TABLE payment (h_w_id int NOT NULL, h_d_id int NOT NULL, h_c_id int NOT NULL, h_date timestamptz NOT NULL,
	h_amount numeric(7,2) NOT NULL);

INSERT INTO warehouse SELECT w, 'warehouse ' || w, 0.05 + w % 10 * 0.01, 0 FROM generate_series(1, :warehouses) w;
INSERT INTO district SELECT w, d, 0.01 * d, 0, 101 FROM generate_series(1, :warehouses) w, generate_series(1, 10) d;
INSERT INTO customer SELECT w, d, c, 'name ' || c % 50, CASE WHEN c % 10 = 0 THEN 'BC' ELSE 'GC' END,
	c % 50 * 0.01, 0, 0, 0, 0
	FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 100) c;
INSERT INTO item SELECT i, 'item ' || i, 1 + (i * 37 % 9900)::numeric / 100 FROM generate_series(1, 2000) i;
INSERT INTO stock SELECT w, i, 10 + i * 7 % 91, 0, 0, 0
	FROM generate_series(1, :warehouses) w, generate_series(1, 2000) i;
-- Each customer has ordered once; of the last 30 orders of a district nothing has been delivered.
INSERT INTO orders SELECT w, d, o, 1 + (o * 41 + d) % 100, now() - (101 - o) * interval '1 minute',
	CASE WHEN o <= 70 THEN 1 + o % 10 END, 5 + o % 11
	FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 100) o;
INSERT INTO new_order SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL;
INSERT INTO order_line SELECT o_w_id, o_d_id, o_id, n, 1 + (o_id * 61 + n * 137 + o_d_id) % 2000, o_w_id,
	CASE WHEN o_carrier_id IS NOT NULL THEN o_entry_d END, 5, 5 * i_price
	FROM orders, generate_series(1, 15) n, item
	WHERE n <= o_ol_cnt AND i_id = 1 + (o_id * 61 + n * 137 + o_d_id) % 2000;
CREATE INDEX ON customer (c_w_id, c_d_id, c_last);
CREATE INDEX ON orders (o_w_id, o_d_id, o_c_id, o_id);
ANALYZE;
