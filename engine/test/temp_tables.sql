-- What people do with temporary tables, kind by kind. memory_catalog_diff.t runs it with the settings off and on:
-- both must say the same.
set client_min_messages=notice;
create table perm as select g id, 'n'||g as name from generate_series(1,20000) g; analyze perm;
-- parallel
set parallel_setup_cost=0; set parallel_tuple_cost=0; set min_parallel_table_scan_size=0; set max_parallel_workers_per_gather=2;
create temp table t (a int primary key, b text, c perm);
insert into t select g, g::text, (g,'x')::perm from generate_series(1,1000) g;
select count(*) from perm join t on perm.id=t.a;
select count(*) from perm where to_regclass('t') is not null;
select count(*) from perm where id < (select max(a) from t);
select count(*) from pg_class where relname='t';
explain (costs off) select count(*) from perm;
create index on t(b);
set max_parallel_maintenance_workers=2;
create index on perm(name);
create table perm2 as select count(*) from perm, t where a=id;
-- on commit
create temp table oc (a int primary key, b text) on commit delete rows;
insert into oc values (1,'x'); select count(*) from oc;
begin; insert into oc values (1,'x'); savepoint s; insert into oc values (2,'x'); rollback to s; select count(*) from oc; commit;
select count(*) from oc;
begin; create temp table od (a int) on commit drop; insert into od values(1); select * from od; commit; select * from od;
create temp table oe on commit drop as select 1; select to_regclass('oe');
-- cursors over savepoints
begin; declare c1 scroll cursor for select relname from pg_class where relnamespace=pg_my_temp_schema() and relkind='r' order by relname collate "C";
fetch 1 from c1; savepoint s1; create temp table zz(a int); fetch 10 from c1; drop table t; rollback to s1; fetch backward 10 from c1;
fetch 10 from c1;
declare c2 cursor for select * from t order by a; savepoint s2; drop table oc; fetch 2 from c2; rollback to s2; fetch 2 from c2; drop table t;
close c2; drop table t; commit;
select count(*) from t;
begin;
declare c3 cursor with hold for select relname from pg_class where relnamespace=pg_my_temp_schema() and relkind='r' order by relname collate "C";
commit; drop table t; fetch all from c3; close c3;
-- discard
create temp table d1 (a int); create temp view dv as select * from d1; create temp sequence ds;
create temp table d2 (a serial primary key, b text unique);
discard temp; select relname from pg_class where relnamespace=pg_my_temp_schema() order by 1;
create temp table d1 (a int); select * from d1; discard all; select to_regclass('d1');
begin; create temp table d1 (a int); discard temp; select to_regclass('d1'); rollback; select to_regclass('d1');
-- prepare
begin; create temp table p (a int); prepare transaction 'x';
create temp table p (a int); begin; insert into p values (1); prepare transaction 'x';
begin; select * from p; prepare transaction 'x';
begin; drop table p; prepare transaction 'x';
-- vacuum & co
create temp table v (a int primary key, b text, c int generated always as (a*2) stored, d int generated always as identity, e int generated always as (a+1) virtual);
insert into v(a,b) select g, repeat('x',3000)||g from generate_series(1,300) g;
create index ve on v ((a % 10), (b)) ; create index vw on v(lower(left(b,5))) where a > 5;
create temp table w (a int primary key, b text, c int generated always as (a*2) stored, e int generated always as (a+1) virtual, f int default 5 not null check (f>0), constraint wu unique(b,a) deferrable);
insert into w(a,b) select g, repeat(md5(g::text),200) from generate_series(1,300) g;
create index we on w ((a % 10)); create index ww on w(lower(left(b,5))) where a > 5; create index wh on w using hash(a);
create index wbr on w using brin(a);
vacuum w; vacuum full w; vacuum (analyze, freeze) w; analyze w(b); reindex table w; reindex index we; reindex (concurrently) table w;
cluster w using w_pkey; cluster w; alter table w set without cluster;
select count(*), sum(length(b)), sum(c), sum(e) from w; select count(*) from w where a%10=3;
select count(*) from w where lower(left(b,5)) > 'a' and a>5;
alter table w alter e type bigint; alter table w alter f type bigint; alter table w alter b type varchar(10000);
alter table w alter column f drop not null; alter table w alter column b set storage main; alter table w alter b set compression pglz;
alter table w alter b set (n_distinct=5);
alter table w add column x int default 7, add column y text default now()::text, add unique(x,a); alter table w rename constraint wu to wu2;
alter index we rename to we2; alter table w replica identity full; alter table w set unlogged; alter table w set logged;
alter table w set schema public; alter table w set tablespace pg_default; alter table w owner to current_user; alter table w cluster on w_pkey;
alter table w set access method heap; alter table w disable trigger all; alter table w enable row level security;
alter table w disable row level security;
\d w
\d v
create temp table l1 (like w including all); \d l1
create temp table l2 (like v including all); insert into l2(a,b) values(1,'x'); select * from l2; \d l2
create temp table s1 as select * from w; select a,b into temp s2 from w; \d s1
create temp table ex (like w excluding all);
create statistics pg_temp.st (dependencies) on a, f from w; analyze w; select count(*) from pg_stats_ext where statistics_name='st';
alter statistics pg_temp.st set statistics 10; \d w
drop statistics pg_temp.st; \d w
create temp table td (a int, b date) partition by range (a); create temp table td1 partition of td for values from (1) to (10);
insert into td values (1,now()); alter table td detach partition td1; drop table td; drop table td1;
create temp table ih (a int); create temp table ich (b int) inherits (ih); insert into ich values (1,2); select * from ih; drop table ih cascade;
create type pg_temp.ct as (a int, b text); create temp table ot of pg_temp.ct; insert into ot values (1,'x');
alter type pg_temp.ct add attribute c int cascade; select * from ot; drop type pg_temp.ct cascade;
create domain pg_temp.dom as int check (value > 0); create temp table dt (a pg_temp.dom); insert into dt values (-1); insert into dt values (1);
drop domain pg_temp.dom; drop domain pg_temp.dom cascade; \d dt
create function pg_temp.f(int) returns int language sql immutable as 'select $1+1'; create temp table ft (a int, b int default pg_temp.f(3));
create index on ft (pg_temp.f(a)); insert into ft values (1); drop function pg_temp.f(int); select * from ft; drop function pg_temp.f(int) cascade;
\d ft
grant select on w to public; select relacl from pg_class where relname='w'; grant select (a) on w to public; revoke all on w from public;
select has_table_privilege('public','w','select');
create role gr; grant insert on w to gr; select relacl from pg_class where relname='w'; drop role gr; reassign owned by gr to current_user;
drop owned by gr; drop role gr; select relacl from pg_class where relname='w';
security label on table w is 'x';
lock table w in access exclusive mode; begin; lock table w; select * from w where a=1 for update \g /dev/null
commit;
create temp table emp(); alter table emp add a int; select * from emp; drop table emp;
select pg_total_relation_size('w') > 0, pg_relation_filepath('w') is not null, pg_get_serial_sequence('v','d');
create publication pub for table w;
copy (select relname from pg_class where relnamespace=pg_my_temp_schema() and relkind='r' order by 1) to stdout;
select attname, attnum from pg_attribute where attrelid='w'::regclass order by attnum;
do $$ begin for i in 1..50 loop execute format('create temp table lp%s (a int primary key)', i); begin execute format('insert into lp%s values (1),(1)', i); exception when unique_violation then null; end; end loop; end $$;
select count(*) from pg_class where relname ~ '^lp\d+$'; do $$ begin for i in 1..50 loop execute format('drop table lp%s', i); end loop; end $$;
select c.relname from pg_class c left join pg_depend d on d.objid=c.oid and d.classid='pg_class'::regclass where relnamespace=pg_my_temp_schema() and relkind='r' group by 1 having count(d.objid)<>1 order by 1;
create or replace function many() returns int language plpgsql as $$ declare n int; begin create temp table m (a int) on commit drop; insert into m select generate_series(1,10); select count(*) into n from m; drop table m; return n; end $$;
select many(), many(); select many() from generate_series(1,5);
create temp table uq (a int unique nulls not distinct, exclude using btree (a with =)); insert into uq values (null),(null);
create temp table fk1 (a int primary key); create temp table fk2 (a int references fk1 on delete cascade); insert into fk2 values (1);
insert into fk1 values (1); insert into fk2 values (1); delete from fk1; select count(*) from fk2; drop table fk1; drop table fk1 cascade; \d fk2
alter table w inherit perm; create temp table ci () inherits (perm); select count(*) from perm; drop table ci;
-- one DROP of permanent and temporary objects
create table pd1 (a int primary key, b text); create table pd2 (a int references pd1); create view pdv as select * from pd2;
create temp table ptd1 (a int primary key, b text, c pd1); create temp table ptd2 (a int, b text) on commit delete rows;
create temp view ptv as select ptd1.a from ptd1, pd1; create index on ptd1 (b); insert into ptd1 values (1, 'x', (1, 'y')::pd1);
drop table pd2, ptd1; drop table pd1, ptd2, no_such; begin; drop table ptd2, pd2 cascade; select to_regclass('ptd2'), to_regclass('pd2'), to_regclass('pdv');
rollback; select to_regclass('ptd2'), to_regclass('pd2'), to_regclass('pdv');
begin; savepoint s; drop table pd2, ptd1, ptd2, pd1 cascade; rollback to s; select a, b, c from ptd1; drop table ptd2, pd2 cascade; savepoint t; drop table pd1, ptd1 cascade; rollback to t; commit;
select to_regclass('ptd2'), to_regclass('pd2'), to_regclass('ptd1'), to_regclass('ptv'); drop table pd1, ptd1; drop table ptd1, pd1 cascade;
select to_regclass('pd1'), to_regclass('ptd1'), to_regclass('ptv');
create table pd3 (a serial, b int default 5); create temp table ptd3 (a serial, b int references ptd3_none); create temp table ptd3 (a serial primary key, b int);
create temp sequence pts owned by ptd3.b; select nextval('pts'), nextval('ptd3_a_seq'); drop sequence pts, pd3_a_seq; drop sequence pts, pd3_a_seq cascade;
drop index ptd3_pkey, pd3_none; alter table pd3 add unique (b); create index ptd3_b on ptd3 (b); create index pd3_a on pd3 (a); drop index ptd3_b, pd3_a;
create schema pds create table pds.in_it (a int); create temp table ptd4 as select * from pds.in_it; create temp view ptv4 as select * from pds.in_it;
drop table ptd3, pd3, pds.in_it; drop schema pds cascade; select to_regclass('ptd4'), to_regclass('ptv4'); drop table if exists ptd4, pd3, ptd3, pd1 cascade;
select relname from pg_class where relname ~ '^p(t?d|tv|ts)' order by 1;
drop table perm cascade; drop table perm2;
truncate w, v, uq restart identity; select count(*) from v;
drop table w, v, l1, l2, s1, s2, ex, dt, ft, uq, fk2, p;
select relname from pg_class where relnamespace=pg_my_temp_schema() and relname !~ 'toast' order by 1;
drop function many();
