# A machine without compiler and network; the packages; a cluster; the settings; the extensions.

PACKAGES=/debs
check "no compiler here" not command -v gcc cc clang make
check "no network but loopback" equal "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ')" lo
check "the distribution's own PostgreSQL has a cluster" has "$(pg_lsclusters -h)" '^1[5-7] main'
OLD=$(pg_lsclusters -h | sed -n 's/^\(1[5-7]\) .*/\1/p' | head -n1)
files >/var/tmp/before

check "the packages install" documented install.md Install
check "... and make no cluster" not grep -q '^18\.0' <(pg_lsclusters -h)
check "no file of the distribution's packages is replaced" equal "$(comm -23 /var/tmp/before <(files))" ""
check "every package is configured" equal "$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'plimsoll*' |
	grep -v ' installed$')" ""
check "pg_createcluster makes and starts a cluster" documented install.md "Make a cluster"
check "... which pg_lsclusters shows online" online 18.0/main
check "... in its own folders" test -e /var/lib/postgresql/18.0/main/PG_VERSION -a \
	-e /etc/postgresql/18.0/main/pg_hba.conf
check "... beside the distribution's, on another port" equal "$(pg_lsclusters -h | awk '{ print $3 }' | sort |
	uniq -d)" ""
check "the socket is where clients look" equal "$(su postgres -c \
	"/usr/lib/postgresql/18.0/bin/psql -XAtqc 'select 1' -p $(port_of 18.0 main)")" 1
check "our settings are turned on as documented" documented install.md "Turn it on"
check "... and are on" equal "$(sql 18.0/main 'show temp_lazy_files; show enable_temp_memory_catalog')" $'on\non'
check "a temporary table takes no lock" equal "$(sql 18.0/main "begin; create temp table t (a int);
	select count(*) from pg_locks where relation = 't'::regclass")" 0
check "the extensions are created as documented" documented install.md Extensions
check "... and mchar compares without case" equal "$(sql 18.0/main template1 \
	"select 'Плимсоль'::mvarchar = 'ПЛИМСОЛЬ '::mchar")" t
check "systemd has the unit's template" test -e /lib/systemd/system/postgresql@.service
check "... and the generator enables our cluster" sh -c '
	mkdir -p /var/tmp/gen && sh -x /lib/systemd/system-generators/postgresql-generator /var/tmp/gen x x &&
	ls /var/tmp/gen/postgresql.service.wants | grep -x postgresql@18.0-main.service'
