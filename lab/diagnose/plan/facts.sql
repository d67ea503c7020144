-- What a plan's tables have: rows, columns with the types that an index of theirs serves as well, and indexes. Key is
-- the column that a partition's table is divided by.
SELECT n.nspname || '.' || c.relname AS name, c.relname::text AS plain, c.reltuples::float8 AS estimated,
    pg_stat_get_live_tuples(c.oid)::float8 AS counted, c.relkind::text AS kind,
    coalesce((SELECT pn.nspname || '.' || p.relname FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
        JOIN pg_namespace pn ON pn.oid = p.relnamespace WHERE i.inhrelid = c.oid AND p.relkind = 'p' LIMIT 1),
        '') AS parent,
    coalesce((SELECT a.attname::text FROM pg_partitioned_table k JOIN pg_attribute a ON a.attrelid = k.partrelid
        AND a.attnum = k.partattrs[0] WHERE k.partrelid = c.oid OR k.partrelid = (SELECT inhparent FROM pg_inherits
            WHERE inhrelid = c.oid LIMIT 1) LIMIT 1), '') AS key,
    (SELECT count(*) FROM pg_inherits WHERE inhparent = c.oid)::int AS partitions,
    coalesce((SELECT jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, NULL),
        'plain', (t.typcategory = 'S'), 'like', coalesce((SELECT jsonb_agg(format_type(x.casttarget, NULL))
            FROM pg_cast x WHERE x.castsource = a.atttypid AND x.castmethod = 'b'), '[]'),
        'target', coalesce(a.attstattarget, -1), 'default', coalesce((SELECT left(pg_get_expr(d.adbin, d.adrelid), 300)
            FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum), '')))
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0
            AND NOT a.attisdropped), '[]') AS columns,
    coalesce((SELECT jsonb_agg(jsonb_build_object('name', ic.relname, 'valid', x.indisvalid AND x.indisready,
        'unique', x.indisunique AND x.indnkeyatts = 1, 'method', am.amname,
        'partial', coalesce(pg_get_expr(x.indpred, x.indrelid), ''),
        'expressions', coalesce(pg_get_expr(x.indexprs, x.indrelid), ''), 'first', coalesce(a.attname, ''),
        'columns', coalesce((SELECT jsonb_agg(k.attname ORDER BY u.n) FROM unnest(x.indkey) WITH ORDINALITY u (key, n)
            JOIN pg_attribute k ON k.attrelid = x.indrelid AND k.attnum = u.key), '[]'),
        'other', coalesce(x.indcollation[0] <> a.attcollation, false),
        'pending', am.amname = 'gin' AND NOT coalesce(ic.reloptions && '{fastupdate=off,fastupdate=false,fastupdate=no,
            fastupdate=0}', false),
        'nulls_apart', x.indoption[0] IN (1, 2),
        'ops', oc.opcname, 'collation', coalesce(nullif(co.collname, 'default'), ''),
        'locale', CASE WHEN co.collname = 'default' THEN (SELECT datcollate FROM pg_database
            WHERE datname = current_database()) ELSE coalesce(co.collcollate, '') END))
        FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid JOIN pg_am am ON am.oid = ic.relam
            LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
            LEFT JOIN pg_opclass oc ON oc.oid = x.indclass[0] LEFT JOIN pg_collation co ON co.oid = x.indcollation[0]
        WHERE x.indrelid = c.oid), '[]') AS indexes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname || '.' || c.relname = ANY ($1::text[]) LIMIT 200
