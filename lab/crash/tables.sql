CREATE EXTENSION IF NOT EXISTS amcheck;
CREATE TABLE crash_document (
    id bigint PRIMARY KEY, account int NOT NULL, amount bigint NOT NULL, note text NOT NULL);
CREATE INDEX ON crash_document (account, amount);
CREATE TABLE crash_line (
    document bigint NOT NULL, line int NOT NULL, amount bigint NOT NULL, note text NOT NULL,
    PRIMARY KEY (document, line));
CREATE TABLE crash_total (account int PRIMARY KEY, amount bigint NOT NULL, documents bigint NOT NULL);
INSERT INTO crash_total SELECT n, 0, 0 FROM generate_series(0, 49) n;
