The server as a whole: the log, checkpoints, vacuum, standbys, slots, and what is written into files.

-- fault random-keys
-- does: keys became random, so each insert touches another page of the index and writes it whole
-- from: PostgreSQL's mailing lists on random UUIDs and full-page images
-- apart
-- draw rows: 2 5
-- right: random|uuid|full.page|page images
-- half: log-flush|bulk-writing|checkpoint|unused-indexes
-- about: {tokens} image
-- effect: per-step sessions 2.5 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {tokens} (id uuid NOT NULL, n int NOT NULL);
INSERT INTO {tokens} SELECT md5(n::text)::uuid, n FROM generate_series(1, 250000) n;
CREATE UNIQUE INDEX ON {tokens} (id);
CREATE SEQUENCE {ordered};
-- work sessions clients=2 think=20ms
INSERT INTO {tokens} SELECT ('ffffffff' || lpad(to_hex(nextval('{ordered}')), 24, '0'))::uuid, n FROM
    generate_series(1, {#rows}) n;
-- bad sessions clients=2 think=20ms
INSERT INTO {tokens} SELECT gen_random_uuid(), n FROM generate_series(1, {#rows}) n;
-- plant
CHECKPOINT;

-- fault checkpoints-by-size
-- does: max_wal_size is the smallest there is, so checkpoints follow each other and pages are logged whole
-- from: PostgreSQL's documentation on max_wal_size: "checkpoints are occurring too frequently"
-- apart
-- right: checkpoint|max_wal_size|full.page|page images
-- half: log-flush|bulk-writing|transfers
-- never: checkpoint
-- server: max_wal_size = 32MB
-- server: min_wal_size = 32MB
-- effect: per-step booking 1.5 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
-- before
CREATE TABLE {accounts} (id int PRIMARY KEY, amount int NOT NULL, note text NOT NULL) WITH (fillfactor = 60);
INSERT INTO {accounts} SELECT n, 0, md5(n::text) FROM generate_series(1, 200000) n;
ANALYZE {accounts};
-- work booking clients=3 think=20ms
\set part random(1, 1990)
UPDATE {accounts} SET amount = amount + 1 WHERE id = ANY (ARRAY(SELECT :part + n * 2000 FROM generate_series(0, 98) n));
-- plant
CHECKPOINT;

-- fault autovacuum-too-eager
-- does: after an incident a table's autovacuum was set to run at every change, with statistics as fine as can be
-- from: PostgreSQL's documentation on autovacuum's storage parameters
-- apart
-- right: vacuum|auto-?analy[sz]e|maintenance
-- half: processors|transfers|waiting-for-processes
-- about: {accounts} vacuum
-- never: vacuum
-- server: autovacuum_naptime = 1s
-- effect: reach 4 SELECT autovacuum_count + autoanalyze_count FROM pg_stat_user_tables WHERE relid =
--     '{accounts}'::regclass
-- before
CREATE TABLE {accounts} (id int PRIMARY KEY, amount int NOT NULL, note text NOT NULL) WITH (fillfactor = 60);
INSERT INTO {accounts} SELECT n, 0, md5(n::text) FROM generate_series(1, 80000) n;
ANALYZE {accounts};
-- work booking clients=2 think=25ms
\set id random(1, 79900)
UPDATE {accounts} SET amount = amount + 1 WHERE id BETWEEN :id AND :id + 80;
-- plant
ALTER TABLE {accounts} ALTER note SET STATISTICS 8000;
ALTER TABLE {accounts} SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5, autovacuum_vacuum_cost_delay = 0);

-- fault notify-with-each-commit
-- does: each message is announced by NOTIFY, and commits that notify follow one after the other
-- from: incident reports of 2025 on NOTIFY's lock at commit; the comments on it in PostgreSQL's async.c
-- draw clients: 10 16
-- right: notify
-- half: @locks|log-flush|inner-locks
-- never: locks
-- effect: time sender 1.8
-- before
CREATE TABLE {messages} (id bigint GENERATED ALWAYS AS IDENTITY, note text NOT NULL);
-- work sender clients={#clients} think=2ms
INSERT INTO {messages} (note) VALUES ('hello') RETURNING length('{~channel}');
-- bad sender clients={#clients} think=2ms
INSERT INTO {messages} (note) VALUES ('hello') RETURNING pg_notify('{~channel}', 'news');

-- fault standby-that-is-not-there
-- does: commits wait for a synchronous standby that was taken away
-- from: PostgreSQL's documentation on synchronous replication and high availability
-- apart
-- right: standby|sync(hronous)?.?rep|synchronous_standby_names
-- half: waiting-for-processes
-- never: standby
-- harm: pg_test_fsync
-- server: synchronous_standby_names = {~standby}
-- effect: time till 5
-- work till clients=4 think=15ms
\set item random(1, 5000)
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;

-- fault standby-applies-late
-- does: commits wait until the standby has applied them, and its replay is paused again and again
-- from: PostgreSQL's documentation on remote_apply and recovery conflicts
-- apart
-- draw pause: 60 200
-- right: standby|sync(hronous)?.?rep|replay|remote_apply|replica
-- half: waiting-for-processes
-- never: standby
-- harm: pg_test_fsync
-- server: synchronous_standby_names = *
-- server: synchronous_commit = remote_apply
-- effect: time till 3
-- work till clients=4 think=15ms
\set item random(1, 5000)
UPDATE {items} SET {items.stock} = {items.stock} - 1 WHERE {items.id} = :item;
-- hold replay every=10ms on=standby
SELECT pg_wal_replay_pause();
\sleep {#pause} ms
SELECT pg_wal_replay_resume();
\sleep 15 ms

-- fault slot-that-nobody-reads
-- does: a replication slot of a standby that is gone keeps the log
-- from: PostgreSQL's documentation on replication slots: they may fill the disk
-- apart
-- right: \bslots?\b
-- never: slots
-- effect: reach 3e6 SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) FROM pg_replication_slots WHERE
--     slot_name = '{~slot}'
-- work import clients=2 think=25ms
INSERT INTO {lines} SELECT nextval('{documents}'), n, 1 + n % 5000, n, 'imported line' FROM generate_series(1, 200) n;
-- plant
SELECT pg_create_physical_replication_slot('{~slot}', true);
-- remove
SELECT pg_drop_replication_slot('{~slot}');

-- fault debugging-left-on
-- does: a role's statements and their plan trees are still logged since somebody looked for an error
-- from: PostgreSQL's documentation on debug_print_plan and log_statement
-- standby
-- draw clients: 3 6
-- right: log_statement|log_min_duration|debug_print|(statement|debug|server).?s?.? logg?ing|written (in)?to the
--     (server )?log|log settings
-- half: settings? (of|that)|logged
-- never: settings
-- effect: time desk 1.3
-- work desk clients={#clients} think=10ms
\set day random(1, 900)
SELECT o.{orders.state}, count(*) FROM {orders} o JOIN {customers} c ON c.{customers.id} = o.{orders.customer}
    WHERE o.{orders.day} = :day AND c.{customers.region} = 7 GROUP BY 1;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET debug_print_plan = on;
ALTER ROLE {role} IN DATABASE {database} SET debug_print_rewritten = on;
ALTER ROLE {role} IN DATABASE {database} SET debug_print_parse = on;
ALTER ROLE {role} IN DATABASE {database} SET client_min_messages = warning;
ALTER ROLE {role} IN DATABASE {database} SET log_statement = 'all';
ALTER ROLE {role} IN DATABASE {database} SET log_min_duration_statement = 0;

-- fault auto-explain-times-every-node
-- does: plans of a role's statements are logged with the time of each node
-- from: PostgreSQL's documentation on auto_explain.log_analyze: it can have an extremely negative impact
-- library: auto_explain
-- standby
-- draw clients: 2 4
-- right: auto_explain|log_analyze|plans? (is|are) logged|log_timing
-- half: settings? (of|that)|@long
-- never: settings
-- effect: time report 1.25
-- work report clients={#clients} think=20ms
\set id random(1, 4500)
SELECT count(*), sum({items.stock}) FROM {items} CROSS JOIN generate_series(1, 40) WHERE {items.id} BETWEEN :id AND :id
    + 400;
-- plant
ALTER ROLE {role} IN DATABASE {database} SET session_preload_libraries = 'auto_explain';
ALTER ROLE {role} IN DATABASE {database} SET auto_explain.log_min_duration = 0;
ALTER ROLE {role} IN DATABASE {database} SET auto_explain.log_analyze = on;
ALTER ROLE {role} IN DATABASE {database} SET auto_explain.log_buffers = on;
ALTER ROLE {role} IN DATABASE {database} SET auto_explain.log_timing = on;
