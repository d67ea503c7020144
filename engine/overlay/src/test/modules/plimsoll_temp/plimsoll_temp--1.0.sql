/* src/test/modules/plimsoll_temp/plimsoll_temp--1.0.sql */

\echo Use "CREATE EXTENSION plimsoll_temp" to load this file. \quit

CREATE FUNCTION shared_invalidations() RETURNS bigint
AS 'MODULE_PATHNAME', 'plimsoll_temp_shared_invalidations'
LANGUAGE C STRICT;

CREATE FUNCTION set_next_oid(oid) RETURNS void
AS 'MODULE_PATHNAME', 'plimsoll_temp_set_next_oid'
LANGUAGE C STRICT;

CREATE FUNCTION held_oids() RETURNS bigint
AS 'MODULE_PATHNAME', 'plimsoll_temp_held_oids'
LANGUAGE C STRICT;

CREATE FUNCTION skip_xids(xid) RETURNS void
AS 'MODULE_PATHNAME', 'plimsoll_temp_skip_xids'
LANGUAGE C STRICT;

CREATE FUNCTION held_references() RETURNS bigint
AS 'MODULE_PATHNAME', 'plimsoll_temp_held_references'
LANGUAGE C STRICT;

CREATE FUNCTION held_horizon() RETURNS xid
AS 'MODULE_PATHNAME', 'plimsoll_temp_held_horizon'
LANGUAGE C STRICT;

CREATE FUNCTION limit_files(bytes bigint) RETURNS void
AS 'MODULE_PATHNAME', 'plimsoll_temp_limit_files'
LANGUAGE C STRICT;

CREATE FUNCTION fail_allocation(context text, after int) RETURNS bool
AS 'MODULE_PATHNAME', 'plimsoll_temp_fail_allocation'
LANGUAGE C STRICT;

CREATE FUNCTION allocation_failed() RETURNS bool
AS 'MODULE_PATHNAME', 'plimsoll_temp_allocation_failed'
LANGUAGE C STRICT;

CREATE FUNCTION deferred_after_error(failing regclass, awaited regclass) RETURNS int
AS 'MODULE_PATHNAME', 'plimsoll_temp_deferred_after_error'
LANGUAGE C STRICT;

CREATE FUNCTION send_invalidations(writer int, writers int, readers int, messages int, batch int) RETURNS void
AS 'MODULE_PATHNAME', 'plimsoll_temp_send_invalidations'
LANGUAGE C STRICT;

CREATE FUNCTION watch_invalidations(reader int, writers int, messages int) RETURNS text
AS 'MODULE_PATHNAME', 'plimsoll_temp_watch_invalidations'
LANGUAGE C STRICT;

CREATE FUNCTION pages(regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'plimsoll_temp_pages'
LANGUAGE C STRICT PARALLEL SAFE;

CREATE FUNCTION in_worker() RETURNS bool
AS 'MODULE_PATHNAME', 'plimsoll_temp_in_worker'
LANGUAGE C STRICT PARALLEL SAFE;
