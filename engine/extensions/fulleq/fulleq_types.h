/*-------------------------------------------------------------------------
 *
 * fulleq_types.h
 *	  The types that have ==, each with PostgreSQL's function that compares
 *	  two values and the one that hashes a value.
 *
 * fulleq.sql.sh reads the first column.
 *
 * extensions/fulleq/fulleq_types.h
 *
 *-------------------------------------------------------------------------
 */
FULLEQ(bool, booleq, hashchar)
FULLEQ(bytea, byteaeq, hashvarlena)
FULLEQ(char, chareq, hashchar)
FULLEQ(name, nameeq, hashname)
FULLEQ(int2, int2eq, hashint2)
FULLEQ(int4, int4eq, hashint4)
FULLEQ(int8, int8eq, hashint8)
FULLEQ(text, texteq, hashtext)
FULLEQ(oid, oideq, hashoid)
FULLEQ(xid, xideq, hashint4)
FULLEQ(cid, cideq, hashint4)
FULLEQ(oidvector, oidvectoreq, hashoidvector)
FULLEQ(float4, float4eq, hashfloat4)
FULLEQ(float8, float8eq, hashfloat8)
FULLEQ(macaddr, macaddr_eq, hashmacaddr)
FULLEQ(inet, network_eq, hashinet)
FULLEQ(cidr, network_eq, hashinet)
FULLEQ(varchar, texteq, hashtext)
FULLEQ(date, date_eq, hashint4)
FULLEQ(time, time_eq, time_hash)
FULLEQ(timestamp, timestamp_eq, timestamp_hash)
FULLEQ(timestamptz, timestamp_eq, timestamp_hash)
FULLEQ(interval, interval_eq, interval_hash)
FULLEQ(timetz, timetz_eq, timetz_hash)
