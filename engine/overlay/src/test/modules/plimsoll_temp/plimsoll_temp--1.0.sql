/* src/test/modules/plimsoll_temp/plimsoll_temp--1.0.sql */

\echo Use "CREATE EXTENSION plimsoll_temp" to load this file. \quit

CREATE FUNCTION shared_invalidations() RETURNS bigint
AS 'MODULE_PATHNAME', 'plimsoll_temp_shared_invalidations'
LANGUAGE C STRICT;
