# From stock PostgreSQL and back. Stock 18 is our own build without patches: the distribution has an older one.

fill='create table kept (id int primary key, t text);
	insert into kept select i, md5(i::text) from generate_series(1, 20000) i;
	create index on kept (t)'
sum='select count(*), sum(hashtext(t)), sum(id) from kept'
intact() {
	equal "$(sql "$1" "$sum")" "$SUM"
	sql "$1" "set enable_seqscan = off; select count(*) from kept where t > '8'" >/dev/null
	equal "$(sql "$1" "create temp table x as select * from kept; update x set id = -id; select min(id) from x")" -20000
}
patched() { equal "$(sql "$1" "select count(*) from pg_settings where name = 'plimsoll_patchset'")" "$2"; }

check "a cluster of stock 18" pg_createcluster 18 main --start
check "... which is stock" patched 18/main 0
check "... with data" sql 18/main "$fill"
SUM=$(sql 18/main "$sum")

check "a standby of ours follows a stock primary, as documented" documented switch.md \
	"A standby of the other kind" OLD=18
followed() {
	local _
	sql "$1" "insert into kept values (-1, 'followed')"
	for _ in $(seq 100); do
		if [[ $(sql "$2" "select count(*) from kept where id = -1") == 1 ]]; then
			sql "$1" "delete from kept where id = -1"
			return
		fi
		sleep 0.2
	done
	echo "the standby has not got it"
	return 1
}
check "... and has what the primary writes" followed 18/main 18.0/standby
check "... and is ours" patched 18.0/standby 1
check "it is promoted and works" sh -c 'pg_ctlcluster 18.0 standby promote'
check "... with all data" intact 18.0/standby
check "a stock standby follows ours" bash -euc '
	pg_createcluster 18 standby
	rm -r /var/lib/postgresql/18/standby
	port=$(pg_lsclusters -h 18.0 standby | awk "{ print \$3 }")
	su postgres -c "/usr/lib/postgresql/18.0/bin/pg_basebackup -p $port -h /var/run/postgresql -R -c fast \
		-D /var/lib/postgresql/18/standby"
	pg_ctlcluster 18 standby start'
check "... and has what the primary writes" followed 18.0/standby 18/standby
check "... and is stock" patched 18/standby 0
check "both go" sh -c 'pg_dropcluster --stop 18 standby && pg_dropcluster --stop 18.0 standby'

# The name main is taken in version 18.0 by the cluster of the checks before.
check "rename the cluster" pg_renamecluster 18 main moved
check "the data folder of stock is taken over, as documented" documented switch.md \
	"From a cluster of the distribution" CLUSTER=moved
check "... online" online 18.0/moved
check "... ours, with all data" patched 18.0/moved 1
check "... " intact 18.0/moved
check "settings of ours in the configuration" sh -c 'mkdir -p /etc/postgresql/18.0/moved/conf.d &&
	cp /etc/postgresql/18.0/main/conf.d/plimsoll.conf /etc/postgresql/18.0/moved/conf.d/ &&
	pg_ctlcluster 18.0 moved restart'
check "... hold" equal "$(sql 18.0/moved 'show temp_skip_locks')" on
check "... " intact 18.0/moved
check "and back, as documented, with those settings left in place" documented switch.md \
	"Back to the distribution" CLUSTER=moved
check "... online" online 18/moved
check "... stock, with all data" patched 18/moved 0
check "... " intact 18/moved
check "it goes" pg_dropcluster --stop 18 moved
check "pg_createcluster takes a data folder that stock's initdb made" bash -euc '
	su postgres -c "/usr/lib/postgresql/18/bin/initdb -D /var/lib/postgresql/plain" >/dev/null
	pg_createcluster 18.0 taken -d /var/lib/postgresql/plain --start | tee /dev/stderr | grep -q "already existing"'
check "... online" online 18.0/taken
check "... ours" patched 18.0/taken 1
check "it goes, too" pg_dropcluster --stop 18.0 taken
rm -r /etc/postgresql/18 # pg_dropcluster leaves our file in conf.d

intact_older() {
	pg_lsclusters -h "$OLD" older | grep -q online || pg_ctlcluster "$OLD" older start
	intact "$OLD/older"
	pg_ctlcluster "$OLD" older stop
}

if [[ -n $OLD ]]; then
	check "the distribution's $OLD" pg_ctlcluster "$OLD" main start
	check "... with data" sql "$OLD/main" "$fill"
	SUM=$(sql "$OLD/main" "$sum")
	check "rename it" pg_renamecluster "$OLD" main older
	if grep -q pg_attver "/usr/lib/postgresql/$OLD/bin/postgres"; then
		refused "pg_upgrade to ours stops, as documented: $OLD is newer than our release" documented switch.md \
			"From an older major version" OLD="$OLD" CLUSTER=older
		check "... and leaves the old cluster" intact_older
	else
		check "pg_upgrade to ours, as documented" documented switch.md "From an older major version" OLD="$OLD" \
			CLUSTER=older
		check "... ours" patched 18.0/older 1
		check "... with all data" intact 18.0/older
		check "it goes" pg_dropcluster --stop 18.0 older
	fi
	check "the old one has its name again" pg_renamecluster "$OLD" older main
fi
