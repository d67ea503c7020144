-- What hangs on temporary tables and what happens around them: values in PL/pgSQL beyond their block, ON COMMIT,
-- triggers, policies, owners, types, partitions, statistics by functions, names that collide, catalogs under VACUUM
-- FULL, many columns and savepoints. memory_catalog_diff.t runs it as it runs temp_tables.sql.
\set VERBOSITY terse
set client_min_messages = notice;
create or replace function long(seed int, bytes int default 10000) returns text language sql immutable parallel safe as
$$select left(string_agg(md5((seed * 1000 + g)::text), '' order by g), bytes) from generate_series(1, bytes / 32 + 1)
  g$$;
create table perm (a int primary key, b text);
-- toast made inside nested exception, then used outside
create temp table t1 (a int primary key, b text) on commit delete rows;
begin;
do $$ declare v text; r record; rr t1; arr text[]; begin
 begin
  begin insert into t1 values (1, long(1)) returning b into v;
   select * into r from t1; select * into rr from t1; arr := array(select b from t1);
   raise exception 'x';
  exception when others then raise notice 'inner % % % %', length(v), length(r.b), length(rr.b), length(arr[1]); end;
  insert into t1 values (2, long(2)) returning b into v; raise division_by_zero;
 exception when division_by_zero then raise notice 'outer % %', length(v), length(r.b); end;
 raise notice '% % % %', md5(v), md5(r.b), md5(rr.b), md5(arr[1]);
end $$;
select count(*) from t1;
commit;
-- nested record within composite
create type pair as (x int, y text);
create temp table t2 (a int, b text, c pair, d text[], e jsonb);
do $$ declare p pair; j jsonb; q t2; begin
 begin
  insert into t2 values (1, long(3), (1, long(4)), array[long(5), long(6)], jsonb_build_object('k', long(7)))
   returning c, e into p, j;
  select * into q from t2;
  raise exception 'x';
 exception when others then null; end;
 raise notice '% % % % %', length(p.y), length(j->>'k'), length(q.b), length((q.c).y), array_length(q.d, 1);
 raise notice '%', md5(q.d[2]);
end $$;
select count(*) from t2;
-- set-returning function with exception block that returns query
create function rq() returns setof t2 language plpgsql as $$ begin
 begin return query insert into t2 values (1, long(8), (1, long(9)), null, null) returning *; raise exception 'y';
 exception when others then null; end;
 begin return next row(2, long(10), null, null, null)::t2; end;
 return; end $$;
select a, length(b), length((c).y) from rq();
select count(*) from t2;
-- cursor loops across savepoints
insert into t2 select g, long(g), (g, 'z')::pair, null, null from generate_series(1, 5) g;
begin;
declare c scroll cursor for select a, md5(b) from t2 order by a;
fetch 2 from c;
savepoint s; delete from t2; fetch 1 from c; rollback to s; savepoint s; truncate t2; rollback to s;
fetch 1 from c;
fetch backward all from c;
commit;
begin;
savepoint s1;
create temp table t3 (a int primary key, b text);
insert into t3 values (1, long(11));
savepoint s2; alter table t3 add c text default long((random() * 0)::int + 12);
savepoint s3; drop table t3; rollback to s3;
select a, md5(b), md5(c) from t3;
rollback to s2;
select a, md5(b) from t3;
declare ch cursor with hold for select b from t3;
release s1;
commit;
drop table t3;
select md5(b) from (select 1) x, lateral (select long(11) b) y;
move 0 in ch;
close ch;
-- portal with hold reading toast, after drop
create temp table t4 (a int, b text); insert into t4 values (1, long(1)), (2, long(2));
begin; declare ch cursor with hold for select a, b from t4; commit;
truncate t4; drop table t4;
fetch forward 1 from ch \gset f_
select :f_a, md5(:'f_b');
close ch;
-- procedures that commit in a loop over a temp table
create temp table t5 (a int, b text) on commit preserve rows;
insert into t5 select g, long(g) from generate_series(1, 4) g;
do $$ declare r record; begin for r in select * from t5 order by a loop
 update t5 set b = b || 'x' where a = r.a; create temp table if not exists t6 (a int, b text) on commit drop;
 insert into t6 select * from t5; commit;
 raise notice '% % %', r.a, length(r.b), to_regclass('t6'); if r.a = 2 then rollback; end if; end loop; end $$;
select sum(length(b)) from t5;
create procedure pp() language plpgsql as $$ begin
 create temp table t7 (a int) on commit delete rows; insert into t7 values (1); commit; 
 insert into t7 values (2); raise notice '%', (select count(*) from t7);
 begin insert into t7 values (3); perform 1/0;
 exception when division_by_zero then raise notice '%', (select count(*) from t7); end;
 rollback; raise notice '%', (select count(*) from t7); drop table t7; rollback;
 raise notice '%', to_regclass('t7'); drop table t7; end $$;
call pp(); call pp();
select to_regclass('t7');
-- ON COMMIT in subtransactions
begin; savepoint a; create temp table oc1 (a int) on commit drop; insert into oc1 values(1); release a; savepoint b;
drop table oc1; rollback to b; select * from oc1; commit;
select to_regclass('oc1');
begin; create temp table oc2 (a int) on commit delete rows; insert into oc2 values (1); savepoint x;
alter table oc2 add b int; rollback to x; insert into oc2 values (2); commit; select * from oc2;
begin; create temp table oc3 (a int primary key) on commit drop;
create temp table oc4 (a int references oc3) on commit delete rows; commit;
begin; create temp table oc3 (a int primary key) on commit delete rows;
create temp table oc4p (a int references oc3) on commit preserve rows; insert into oc3 values (1);
insert into oc4p values (1); commit;
select to_regclass('oc3'), to_regclass('oc4');
create temp table oc5 (a int primary key) on commit delete rows;
create temp table oc6 (a int references oc5 deferrable initially deferred) on commit delete rows;
begin; insert into oc6 values (1); commit; begin; insert into oc5 values (1); insert into oc6 values (1); commit;
select count(*) from oc5, oc6;
-- views, rules on temp, temp sequences
create temp sequence sq;
create temp table sqt (a int default nextval('sq'), b int generated by default as identity, c serial);
insert into sqt default values; insert into sqt default values returning *; select currval('sq'), lastval();
alter sequence sq restart; insert into sqt default values returning *;
truncate sqt restart identity; insert into sqt default values returning *; drop sequence sq; drop sequence sq cascade;
insert into sqt default values returning *;
create temp view vv as select * from sqt; insert into vv default values returning *;
create or replace temp view vv as select *, 1 as one from sqt; select * from vv; alter table sqt drop c;
alter table sqt drop c cascade;
create rule rr as on insert to sqt do also notify x; insert into sqt values (1); drop rule rr on sqt;
create temp recursive view rv (n) as values (1) union all select n + 1 from rv where n < 3; select * from rv;
create materialized view mv as select * from sqt; create table pt as select * from sqt;
create view pv as select * from sqt; drop table pt;
select relname, relkind, relpersistence from pg_class where relname in ('mv','pv') order by 1; drop view if exists pv;
\c
set client_min_messages = notice;
-- triggers on temp tables, transition tables, event triggers
create function tg() returns trigger language plpgsql as $$ begin raise notice '% % % %', tg_name, tg_op, tg_level,
  tg_table_name; if tg_level = 'ROW' and tg_op <> 'DELETE' then return new; end if; return old; end $$;
create function tgt() returns trigger language plpgsql as $$ begin raise notice 'tt %', (select count(*) from nt);
  create temp table if not exists side (a int); insert into side select a from nt; return null; end $$;
create temp table t (a int primary key, b text, g int generated always as (a * 2) stored, v int generated always as
  (a * 3) virtual);
create trigger r1 before insert or update or delete on t for each row execute function tg();
create trigger s1 after insert on t referencing new table as nt for each statement execute function tgt();
insert into t values (1, 'x'), (2, 'y'); update t set b = 'z' where a = 1; delete from t where a = 2; select * from t;
select * from side;
create constraint trigger ct after insert on t deferrable initially deferred for each row execute function tg();
begin; insert into t values (5, 'q'); savepoint s; insert into t values (6, 'r'); rollback to s;
set constraints all immediate; commit;
alter table t disable trigger r1; insert into t values (7, 'u'); alter table t enable always trigger r1;
drop trigger r1 on t;
alter table t alter column g set expression as (a * 4); select a, g, v from t order by a;
alter table t alter v set expression as (a * 5); select a, v from t order by a;
alter table t alter column g drop expression;
\d t
create function ev() returns event_trigger language plpgsql as $$ declare r record; begin for r in select * from
  pg_event_trigger_ddl_commands() loop raise notice 'ddl % % %', r.command_tag, r.object_type,
  regexp_replace(r.object_identity, 'pg_temp_\d+', 'pg_temp', 'g'); end loop; end $$;
create function evd() returns event_trigger language plpgsql as $$ declare r record; begin for r in select * from
  pg_event_trigger_dropped_objects() where object_type <> 'toast table' and object_identity !~ 'toast' loop raise
  notice 'drop % % % %', r.object_type, regexp_replace(r.object_identity, 'pg_temp_\d+', 'pg_temp', 'g'),
  r.is_temporary, r.original; end loop; end $$;
create function evr() returns event_trigger language plpgsql as $$ begin raise notice 'rewrite % %',
  pg_event_trigger_table_rewrite_oid()::regclass, pg_event_trigger_table_rewrite_reason(); end $$;
create event trigger e1 on ddl_command_end execute function ev();
create event trigger e2 on sql_drop execute function evd();
create event trigger e3 on table_rewrite execute function evr();
create temp table et (a int primary key, b text default 'x', c serial, check (a > 0)); create index on et (b);
comment on column et.a is 'x'; alter table et add d int default random() * 0, alter a type bigint;
alter table et rename b to bb; grant select on et to public;
create temp view ev1 as select a from et; create temp table et2 (like et including all);
create temp table et3 as select * from et; select * into temp et4 from et;
drop table et2, et3; drop table et cascade; begin; drop table et4; rollback; discard temp; select to_regclass('et4');
drop event trigger e1; drop event trigger e2; drop event trigger e3;
-- row security
create role alice; create role bob; grant all on schema public to alice, bob;
grant temp on database postgres to alice;
set role alice; create temp table rls (a int, owner text default current_user);
insert into rls select g, case when g % 2 = 0 then 'bob' else 'alice' end from generate_series(1, 6) g;
create policy p on rls using (owner = current_user) with check (owner = current_user);
alter table rls enable row level security; select count(*) from rls; alter table rls force row level security;
select count(*) from rls; insert into rls values (9, 'bob'); insert into rls values (9, 'alice');
grant select, insert on rls to bob; reset role; set role bob; select count(*) from pg_temp.rls; reset role;
alter policy p on rls using (true); set role alice; select count(*) from rls; drop policy p on rls;
select count(*) from rls; reset role;
select relrowsecurity, relforcerowsecurity, relowner::regrole, relacl from pg_class where relname = 'rls';
reassign owned by alice to bob; select relowner::regrole, relacl from pg_class where relname = 'rls';
drop owned by bob; select to_regclass('rls');
set role alice; create temp table o1 (a int); create temp view o2 as select * from o1; create temp sequence o3;
reset role; create temp table o4 (a int); grant select on o4 to alice; alter table o4 owner to bob;
drop owned by alice cascade; select to_regclass('o1'), to_regclass('o2'), to_regclass('o3'), to_regclass('o4');
select relacl from pg_class where relname = 'o4'; drop role alice; drop owned by bob; drop owned by alice;
drop role alice; drop role bob; select to_regclass('o4');
-- column grants, default privileges
create role carol; alter default privileges grant select on tables to carol; create temp table dp (a int, b int);
select relacl from pg_class where relname = 'dp'; grant update (a) on dp to carol;
select attname, attacl from pg_attribute where attrelid = 'dp'::regclass and attnum > 0 order by 1;
alter default privileges revoke select on tables from carol; drop role carol; drop owned by carol; drop role carol;
select relacl from pg_class where relname = 'dp';
-- domains
create domain dom as int check (value > 0) default 3 not null; create temp table dt (a dom, b dom[], c int);
insert into dt values (1, '{1,2}', 1); insert into dt (c) values (1); insert into dt values (-1);
alter domain dom add check (value < 10); insert into dt values (11, null, 1);
alter domain dom add constraint big check (value > 5); alter domain dom drop constraint dom_check;
alter domain dom drop not null; insert into dt (a) values (null); select * from dt order by c nulls last, a;
alter domain dom rename to dom2;
select format_type(atttypid, -1) from pg_attribute where attrelid = 'dt'::regclass and attnum > 0; drop domain dom2;
drop domain dom2 cascade; select * from dt;
-- enum types altered below
create type mood as enum ('a', 'b'); create temp table en (m mood primary key); insert into en values ('a');
alter type mood add value 'c'; insert into en values ('c'); alter type mood rename value 'a' to 'aa';
select * from en order by m; begin; alter type mood add value 'd' before 'aa'; insert into en values ('d'); rollback;
select max(m) from en; drop type mood; alter type mood rename to mood2; drop type mood2 cascade;
\d en
-- composite
create type comp as (x int, y text); create temp table co (a comp, b comp[]);
insert into co values ((1, 'x'), array[(2, 'y')::comp]); alter type comp add attribute z int;
alter type comp drop attribute y; alter type comp rename attribute x to xx;
alter type comp add attribute z int cascade; select * from co;
create temp table typed of comp (xx with options primary key);
create temp table rowt (a int, b text); create temp table holds (r rowt); insert into holds values ((1, 'x'));
alter table rowt add c int; alter table rowt alter a type bigint; drop table rowt; drop table rowt cascade;
\d holds
-- partitioned temp, inheritance
create temp table pt (a int, b text) partition by list (a);
create temp table pt1 partition of pt for values in (1) partition by range (b);
create temp table pt11 partition of pt1 for values from ('a') to ('m');
create temp table pt1d partition of pt1 default; create temp table ptd partition of pt default;
insert into pt select g % 3, chr(97 + g) from generate_series(0, 20) g;
select tableoid::regclass, count(*) from pt group by 1 order by 1; create index on pt (b);
create unique index on pt (a, b); update pt set a = 1 where a = 2;
select tableoid::regclass, count(*) from pt group by 1 order by 1; alter table pt detach partition ptd;
create temp table nn (a int, b text); alter table pt attach partition nn for values in (7); analyze pt;
alter table pt attach partition ptd default;
select relname, relhassubclass, relispartition, relpersistence from pg_class where relname ~ '^(pt|nn)' and relkind
  in ('r', 'p') order by 1;
create table permpart partition of pt for values in (9); create table permroot (a int) partition by list (a);
create temp table tp partition of permroot for values in (1);
alter table permroot attach partition nn for values in (2); alter table pt detach partition nn concurrently;
truncate pt; drop table pt1; select relname from pg_class where relname ~ '^pt' and relkind in ('r','p') order by 1;
drop table pt cascade;
create table ip (a int, b text); create temp table ic (c int) inherits (ip); insert into ic values (1, 'x', 2);
select *, tableoid::regclass from ip; alter table ip add d int default 4; select * from ip;
alter table ic no inherit ip; alter table ic inherit ip; create temp table ic2 () inherits (ip, ic);
select count(*) from ip; alter table ip rename b to bb; select bb from ic; alter table ip drop column a;
\d ic2
drop table ip; drop table ip cascade; select to_regclass('ic'), to_regclass('ic2');
create temp table tip (a int check (a > 0) no inherit, b int not null); create table tic () inherits (tip);
create temp table tic () inherits (tip); alter table tip add constraint k check (b > 1);
insert into tic values (0, 0); insert into tic values (-1, 2); alter table tip alter b drop not null;
alter table tic alter b drop not null;
\d tic
-- identity
create temp table idt (a int generated always as identity (start 10 increment 5), b int);
insert into idt (b) values (1) returning a; insert into idt values (1, 1);
insert into idt overriding system value values (1, 2); alter table idt alter a set generated by default;
alter table idt alter a restart with 100; insert into idt (b) values (3) returning a; begin;
alter table idt alter a drop identity; rollback; insert into idt (b) values (4) returning a;
alter table idt alter a drop identity; insert into idt (b) values (5) returning a;
alter table idt alter b set not null, alter b add generated always as identity;
insert into idt (a) values (1) returning b; select pg_get_serial_sequence('idt', 'b') ~ '^pg_temp_\d+\.idt_b_seq$';
\c
set client_min_messages = notice;
create or replace function long(seed int, bytes int default 10000) returns text language sql immutable parallel safe as
$$select left(string_agg(md5((seed * 1000 + g)::text), '' order by g), bytes) from generate_series(1, bytes / 32 + 1)
  g$$;
-- prepared statements across DISCARD and remakes
create temp table p (a int primary key, b text); insert into p values (1, long(1));
prepare q as select a, md5(b) from p; prepare i as insert into p values ($1, long($1)) returning a;
prepare u as update p set b = b || 'x' where a = $1 returning length(b); execute q; execute i(2); execute u(1);
drop table p; execute q; create temp table p (a int primary key, b text); execute i(3); execute q; execute u(3);
drop table p; create temp table p (z text, a bigint primary key, b text); execute q; execute i(4); execute u(4);
discard temp; execute q; create temp table p (a int, b text); execute q; discard plans; execute i(5); execute q;
discard all; execute q;
create temp table p (a int, b text); set plan_cache_mode = force_generic_plan; prepare q as select * from p;
execute q; begin; alter table p add c int; execute q; rollback; execute q; savepoint x; begin; savepoint s;
drop table p; execute q; rollback to s; execute q; commit; reset plan_cache_mode; deallocate all;
create function usesp() returns int language plpgsql as $$ declare n int; begin select count(*) into n from p; return
  n; end $$;
insert into p values (1, 'x'); select usesp(); drop table p; select usesp();
create temp table p as select 1 union all select 2; select usesp(); drop table p; create table public.p (a int);
select usesp(); create temp table p as select 1; select usesp(); drop table pg_temp.p; select usesp(); drop table p;
create function sqlp() returns setof int language sql begin atomic select 1; end;
-- expression indexes, partial, include, unique, exclusion, hash/gist/gin/brin
create temp table ix (a int, b text, c int[], d int4range, e point);
insert into ix select g, 'n' || g, array[g, g % 3], int4range(g, g + 2), point(g, g) from generate_series(1, 200) g;
create function imm(text) returns text language plpgsql immutable as $$ begin return upper($1); end $$;
create index on ix (imm(b)) where a > 10; create index on ix using gin (c); create index on ix using gist (d);
create index on ix using gist (e); create index on ix using hash (b); create index on ix using brin (a);
create index on ix using spgist (b); create unique index ixu on ix (a) include (b);
alter table ix add constraint ex exclude using gist (d with &&);
alter table ix add constraint pkx primary key using index ixu;
\d ix
create or replace function imm(text) returns text language sql immutable as $$ select lower($1) $$; reindex table ix;
set enable_seqscan = off; select count(*) from ix where imm(b) = 'n50' and a > 10;
select count(*) from ix where c @> array[2]; select count(*) from ix where d @> 5; reset enable_seqscan;
create index concurrently ixc on ix (b); reindex index concurrently ixc; reindex (concurrently) table ix;
drop index concurrently ixc; reindex schema concurrently pg_temp; vacuum full ix; cluster ix using pkx; cluster ix;
select count(*) from ix; drop function imm(text); drop function imm(text) cascade;
create index bad on ix ((1 / (a - 5))); select to_regclass('bad'); create unique index bad on ix ((a % 2));
alter table ix add f int default 1 / (random()::int * 0);
\d ix
create statistics st (mcv, ndistinct) on a, b from ix; create statistics pg_temp.st2 on (a + 1), b from ix;
analyze ix; select stxname, stxkeys from pg_statistic_ext where stxname ~ '^st' order by 1; drop statistics st;
alter table ix drop column b cascade; select stxname from pg_statistic_ext where stxname ~ '^st';
-- large objects with temp tables
begin; select lo_create(424242); create temp table lo (o oid, b bytea); insert into lo values (424242, 'x');
select lo_put(424242, 0, 'hello'); savepoint s; select lo_unlink(424242); drop table lo; rollback to s;
select encode(lo_get(o), 'escape') from lo; commit; comment on large object 424242 is 'x';
select lo_unlink(o) from lo; drop table lo;
-- security labels, comments, dependencies
create temp table cm (a int primary key, b text check (b <> '')); comment on table cm is 'one';
comment on column cm.a is 'two'; comment on constraint cm_pkey on cm is 'three'; comment on index cm_pkey is 'four';
comment on constraint cm_b_check on cm is 'five'; begin; comment on table cm is 'x'; savepoint s;
comment on column cm.a is null; rollback to s; comment on index cm_pkey is null; rollback;
select obj_description('cm'::regclass), col_description('cm'::regclass, 1), obj_description('cm_pkey'::regclass);
select count(*) from pg_description where objoid in ('cm'::regclass, 'cm_pkey'::regclass) or (classoid =
  'pg_constraint'::regclass and objoid in (select oid from pg_constraint where conrelid = 'cm'::regclass));
drop table cm;
select count(*) from pg_description d where classoid = 'pg_class'::regclass and not exists (select 1 from pg_class c
  where c.oid = d.objoid);
-- two-phase
begin; create table tp (a int); prepare transaction 'a'; rollback prepared 'a'; create temp table tt (a int); begin;
create table tp (a int); prepare transaction 'a'; commit prepared 'a'; drop table tp; begin; lock table tt;
prepare transaction 'b'; begin; savepoint s; create temp table tt2 (a int); rollback to s; create table tp2 (a int);
prepare transaction 'c'; commit prepared 'c'; begin; declare c cursor with hold for select * from tt;
prepare transaction 'd'; begin; drop table if exists tp2; prepare transaction 'e'; commit prepared 'e'; begin;
create function pg_temp.f() returns int language sql as 'select 1'; prepare transaction 'f';
-- tablespace, toast options, fillfactor, storage parameters
set allow_in_place_tablespaces = on; create tablespace ts location '';
create temp table tb (a int primary key using index tablespace ts, b text) tablespace ts;
insert into tb values (1, long(1)); alter table tb set tablespace pg_default;
alter index tb_pkey set tablespace pg_default; alter table tb set tablespace ts;
select relname, reltablespace <> 0 from pg_class where relname ~ '^tb' order by 1; drop tablespace ts;
set temp_tablespaces = ts; create temp table tb2 (a int, b text); insert into tb2 values (1, long(2));
select pg_relation_filepath('tb2') ~ '^pg_tblspc'; reset temp_tablespaces; drop table tb, tb2; drop tablespace ts;
create temp table op (a int, b text) with (fillfactor = 10, autovacuum_enabled = off,
  toast.autovacuum_vacuum_threshold = 7, parallel_workers = 3);
alter table op set (fillfactor = 20, toast_tuple_target = 128); insert into op values (1, long(1, 300));
select pg_column_toast_chunk_id(b) is not null from op; select reloptions from pg_class where relname = 'op';
alter table op reset (fillfactor); alter table op set without oids; alter table op set access method heap;
alter table op set logged; alter table op alter b set compression lz4;
alter table op alter b set statistics 0, alter b set (n_distinct = -1);
select attcompression, attstattarget, attoptions from pg_attribute where attrelid = 'op'::regclass and attname = 'b';
create temp table op2 (like op including all);
\d+ op2
-- locks and rows
begin; create temp table lk (a int); lock table lk in access exclusive mode; select count(*) >= 0 from pg_locks;
insert into lk values (1); select * from lk for update; select * from lk for share nowait; savepoint s;
update lk set a = 2; rollback to s; select * from lk for no key update skip locked; commit;
merge into lk using (values (1), (2)) v(x) on a = x when matched then update set a = a + 10 when not matched then
  insert values (x) when not matched by source then delete returning merge_action(), lk.*;
with d as (delete from lk returning *), n as (insert into lk select a + 100 from d returning *) select * from n;
select * from lk; select ctid, xmin <> 0, cmin >= 0, tableoid::regclass from lk;
-- catalogs by SQL
select conname, contype, conkey from pg_constraint where conrelid = 'op'::regclass;
update pg_class set reltuples = 5 where relname = 'lk'; select reltuples from pg_class where relname = 'lk';
update pg_attribute set attname = 'renamed' where attrelid = 'lk'::regclass and attnum = 1;
select renamed from lk limit 0; begin; delete from pg_attribute where attrelid = 'lk'::regclass and attnum = 1;
rollback; select renamed from lk limit 0; select relname from pg_class where oid = 'lk'::regclass for update;
update pg_class set relname = 'lk2' where oid = 'lk'::regclass; select count(*) from lk2; table pg_temp.lk2 limit 0;
select relname from pg_class where relname in ('lk', 'lk2');
copy (select relname from pg_class where relname = 'lk2') to stdout;
select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relname = 'lk2' and
  attnum > 0;
select table_name, table_type from information_schema.tables where table_name = 'lk2';
select column_name from information_schema.columns where table_name = 'op' order by ordinal_position;
select tablename from pg_tables where tablename in ('op', 'lk2') order by 1;
select pg_table_is_visible('op'::regclass), has_table_privilege('op', 'select'), pg_get_expr(adbin, adrelid) from
  pg_attrdef where adrelid = 'sqtx'::regclass;
\c
set client_min_messages = notice;
-- array type names collide
create temp table a1 (x int); create temp table _a1 (y int);
select typname, typarray <> 0, typelem <> 0 from pg_type where typname ~ '^_*a1$' order by 1, 3; drop table a1;
create temp table a1 (z a1_missing); create temp table a1 (z _a1[]); insert into a1 values (array[row(1)::_a1]);
select * from a1; alter table _a1 rename to b1; create type pg_temp._a1 as enum ('q'); alter table a1 rename to _b1;
select typname from pg_type where typname ~ '^_*[ab]1$' order by 1; drop table b1 cascade; drop table _b1;
drop type pg_temp._a1;
create temp table t (a int, b text); create temp table t (a int); create temp table if not exists t (a int);
create type pg_temp.t as enum ('a'); create domain pg_temp.t as int; create index t on t (a); create temp sequence t;
create temp view t as select 1; alter table t rename to t;
-- statistics by functions
create temp table st (a int primary key, b text);
insert into st select g, 'b' || g % 5 from generate_series(1, 100) g;
select pg_restore_relation_stats('schemaname', (select nspname from pg_namespace where oid = pg_my_temp_schema()),
  'relname', 'st', 'relpages', 17, 'reltuples', 1234::real);
select relpages, reltuples from pg_class where relname = 'st';
select pg_restore_attribute_stats('schemaname', (select nspname from pg_namespace where oid = pg_my_temp_schema()),
  'relname', 'st', 'attname', 'b', 'inherited', false, 'null_frac', 0.25::real, 'avg_width', 7, 'n_distinct',
  -0.3::real);
select attname, null_frac, avg_width, n_distinct from pg_stats where tablename = 'st';
begin;
select pg_clear_attribute_stats((select nspname from pg_namespace where oid = pg_my_temp_schema()), 'st', 'b', false);
select count(*) from pg_stats where tablename = 'st'; rollback; select count(*) from pg_stats where tablename = 'st';
select pg_clear_relation_stats((select nspname from pg_namespace where oid = pg_my_temp_schema()), 'st');
select relpages, reltuples from pg_class where relname = 'st';
analyze st; update pg_statistic set stanullfrac = 0.5 where starelid = 'st'::regclass and staattnum = 2;
select null_frac from pg_stats where tablename = 'st' and attname = 'b';
delete from pg_statistic where starelid = 'st'::regclass; select count(*) from pg_stats where tablename = 'st';
analyze st (a); select attname from pg_stats where tablename = 'st';
create or replace function statrow() returns int language plpgsql as $$ begin analyze st; return 1; end $$; begin;
select statrow(); savepoint s; alter table st alter b type varchar(50); analyze st; rollback to s;
select count(*) from pg_stats where tablename = 'st'; alter table st drop column b;
select count(*) from pg_stats where tablename = 'st'; rollback; select count(*) from pg_stats where tablename = 'st';
-- constraints of 18
create temp table c (a int, b int); insert into c values (null, 1);
alter table c add constraint nn not null a not valid; alter table c validate constraint nn; update c set a = 1;
alter table c validate constraint nn; alter table c add constraint ck check (b > 5) not enforced;
insert into c values (1, 1); alter table c add constraint ck2 check (b > 5) not valid;
alter table c validate constraint ck2; alter table c alter constraint nn no inherit;
alter table c alter constraint nn inherit;
select conname, convalidated, conenforced, connoinherit from pg_constraint where conrelid = 'c'::regclass order by 1;
alter table c rename constraint ck to ck3; alter table c drop constraint ck3, drop constraint ck2;
alter table c add primary key (a); delete from c where ctid = '(0,1)'; truncate c; alter table c add primary key (a);
alter table c drop constraint nn; alter table c drop constraint c_pkey;
\d c
create temp table ov (r int4range, id int, primary key (id, r without overlaps));
create temp table fkp (a int primary key);
create temp table fkc (a int references fkp on update cascade on delete set null not enforced);
alter table fkc alter constraint fkc_a_fkey enforced; insert into fkp values (1); insert into fkc values (1), (2);
alter table fkc drop constraint fkc_a_fkey; alter table fkc add foreign key (a) references fkp not valid;
alter table fkc validate constraint fkc_a_fkey; delete from fkc where a = 2;
alter table fkc validate constraint fkc_a_fkey; update fkp set a = 3; drop table fkp; drop table fkp cascade;
\d fkc
create table permfk (a int references fkc); create temp table tfk (a int primary key);
create table pfk (a int primary key); create temp table t2p (a int references pfk);
alter table pfk add foreign key (a) references tfk;
-- objects over its row type
create temp table rt (a int, b text); create function public.onrt(rt) returns int language sql as 'select ($1).a';
select onrt((5, 'x')); create cast (rt as int) with function onrt(rt); select (7, 'y')::rt::int;
create operator ### (leftarg = rt, rightarg = rt, function = pg_catalog.record_eq);
create aggregate agg (rt) (sfunc = array_append, stype = rt[]); create type rng as range (subtype = rt);
comment on type rt is 'x'; grant usage on type rt to public; alter type rt rename attribute a to aa;
alter type rt owner to current_user; drop type rt; alter type rt rename to rt2; alter type rt set schema public;
select pg_describe_object('pg_type'::regclass, 'rt'::regtype, 0); drop table rt; drop table rt cascade;
select proname from pg_proc where proname in ('onrt', 'agg');
create temp table rt (a int); create function sfrt() returns setof rt language sql as 'select 1';
insert into rt select * from sfrt(); select * from rt; create table usesrt (x rt); alter table rt add b int;
drop table usesrt; alter table rt add b int; select * from sfrt(); drop function sfrt; drop table rt;
create table holder (id int, r text); create temp table rt (a int); create table holder2 (id int, x rt[]);
insert into holder2 values (1, array[row(4)::rt]); select * from holder2; drop table rt cascade;
\d holder2
-- identity functions
create temp table idf (a int primary key, b text default 'q', check (a > 0)); create index idfi on idf (b);
select type, regexp_replace(identity, 'pg_temp_\d+', 'N') from pg_identify_object('pg_class'::regclass,
  'idf'::regclass, 1), pg_describe_object('pg_class'::regclass, 'idfi'::regclass, 0);
select pg_describe_object('pg_constraint'::regclass, oid, 0) from pg_constraint where conrelid = 'idf'::regclass
  order by 1;
select pg_describe_object('pg_attrdef'::regclass, oid, 0) from pg_attrdef where adrelid = 'idf'::regclass;
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'idf'::regclass order by 1;
select pg_get_indexdef('idfi'::regclass) ~ 'idfi';
select (pg_get_object_address('table', '{idf}', '{}')).objid = 'idf'::regclass;
select pg_describe_object(classid, objid, objsubid), deptype, pg_describe_object(refclassid, refobjid, refobjsubid) ~
  'schema' from pg_depend where objid = 'idf'::regclass order by 1, 2;
select deptype, pg_describe_object(classid, objid, objsubid) from pg_depend
  where refobjid = 'idf'::regclass and pg_describe_object(classid, objid, objsubid) !~ 'toast' order by 2, 1;
-- like, samples, tids, copies to permanent
create table copied (like idf including all);
\d copied
create temp table smp as select g from generate_series(1, 1000) g; select count(*) from smp tablesample system (100);
select count(*) from smp where ctid < '(1,1)'; select count(*) from smp where ctid in ('(0,1)', '(0,2)');
delete from smp where ctid = '(0,1)'; select min(g) from smp;
-- the owner vacuums catalogs
vacuum full pg_class; vacuum full pg_attribute; cluster pg_depend using pg_depend_depender_index;
reindex table pg_class; reindex table pg_type; reindex index pg_class_oid_index; reindex table concurrently pg_class;
vacuum full pg_statistic; vacuum full pg_constraint; vacuum full pg_index; vacuum full pg_type; analyze pg_class;
vacuum freeze pg_class; reindex system; reindex database;
select count(*) from idf; insert into idf values (5, 'x'); select * from idf where b = 'x';
\d idf
alter table idf add c int; create index on idf (c); drop table idf; begin; drop table smp; rollback;
select count(*) from smp; vacuum full; vacuum; analyze; select count(*) from smp;
-- publications, extensions, system columns, casts
create publication pa for all tables; create temp table pt (a int); insert into pt values (1); update pt set a = 2;
alter publication pa add table pt; drop publication pa; create publication pb for tables in schema pg_temp;
create publication pb; alter publication pb add table pt; drop publication pb;
alter extension plpgsql add table pt; drop table pt; alter extension plpgsql drop table pt; drop table pt;
create temp table sysc (tableoid int); create temp table sysc (a int, a int); create temp table sysc (a unknown);
create temp table sysc (a pg_class); create temp table sysc2 (a record); create temp table noc (); select * from noc;
insert into noc default values; select count(*) from noc; alter table noc add a int default 4; select * from noc;
drop table noc; create temp table "odd ""name" ("a b" int, "select" text); insert into "odd ""name" values (1, 'x');
select "a b" from "odd ""name";
\d "odd ""name"
create temp table pg_temp.q1 (a int); create table pg_temp.q2 (a int); create temp table public.q3 (a int);
create unlogged table pg_temp.q4 (a int); set search_path = pg_temp; create table q5 (a int); create sequence q6;
create view q7 as select * from q5; create type q8 as (a int);
create function q9() returns int language sql as 'select 1'; select q9(); select pg_temp.q9(); reset search_path;
select relname, relpersistence from pg_class where relname ~ '^q\d$' order by 1; alter table q5 set schema public;
create table public.q5 (a int); alter table public.q5 set schema pg_temp; select tableoid::regclass from q5;
set search_path = public, pg_temp; select count(*) from q5; drop table q5; drop table q5; drop table q5;
reset search_path; drop view if exists q7; create schema if not exists pg_temp_99; drop schema pg_temp;
-- 1000 columns
select 'create temp table w (' || string_agg('c' || g || ' ' || (array['int', 'text', 'numeric', 'bool'])[g % 4 + 1]
  || case when g % 10 = 0 then ' default null' else '' end, ', ') || ')' from generate_series(1, 1000) g \gexec
insert into w (c1, c999) values ('x', true); analyze w; select count(*) from pg_stats where tablename = 'w';
alter table w add c1001 int; alter table w drop c500; update w set c1 = repeat('y', 5000), c5 = repeat('z', 100000);
select length(c1), length(c5), c999 from w; create index on w (c999, c1000); vacuum full w;
select count(*) from pg_attribute where attrelid = 'w'::regclass;
do $$ begin for i in 1..700 loop execute 'alter table w add d' || i || ' int'; end loop; exception when others then
  raise notice '%', sqlerrm; end $$;
select relnatts from pg_class where relname = 'w'; drop table w;
-- names of many columns: which is there twice is said as for few
select string_agg('c' || g || ' int', ', ') as wide from generate_series(1, 100) g \gset
create temp table twice (:wide, c37 text);
create temp table twice (c0 int, :wide, c0 int, c5 int);
create temp table twice as select 1 as x, t.* from (select 1 as c99) u, generate_series(1, 100) c1, (values (1)) t (x);
create type many as (:wide);
create type many2 as (:wide, c64 int);
create temp table typed of many (c70 with options not null default 5, primary key (c1));
create temp table typed2 of many (c70 with options default 5, c70 with options not null);
create temp table typed2 of many (c101 with options not null);
insert into typed (c1) values (1);
select c1, c70 from typed;
create temp table parent (:wide);
create temp table child (c100 int not null, d int) inherits (parent);
alter table child add c3 int, add d int;
select count(*) from pg_attribute where attrelid = 'child'::regclass and attnum > 0;
create temp view wideview as select * from parent, child;
drop table parent cascade;
drop type many cascade;
-- 16 savepoints
begin; create temp table sp (a int, b text);
select format('savepoint s%1$s; alter table sp add c%1$s int default %1$s; insert into sp (a) values (%1$s);
  create index on sp (c%1$s); create temp table sp%1$s (a int primary key)', g) from generate_series(1, 16) g \gexec
select count(*) from pg_attribute where attrelid = 'sp'::regclass and attnum > 0; rollback to s9;
select count(*) from pg_attribute where attrelid = 'sp'::regclass and attnum > 0; select count(*), sum(c8) from sp;
select count(*) from pg_class where relname ~ '^sp\d+$'; rollback to s3; release s2; select * from sp order by a;
commit; select * from sp order by a; select relname from pg_class where relname ~ '^sp\d' order by 1;
\d sp
