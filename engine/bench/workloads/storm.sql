-- Nothing but what sends invalidation messages to all sessions, if temporary tables do.
CREATE TEMP TABLE storm (i int);
DROP TABLE storm;
