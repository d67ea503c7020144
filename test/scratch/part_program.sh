# plimsoll from its package: pages, completion, a base and a load on the server of pg_createcluster, a cluster of its
# own.

on_server() {
	sql 18.0/main "create database erp owner postgres"
	su postgres -c "export PLIMSOLL_STATE=/var/tmp/state-of-postgres
		export PLIMSOLL_DSN='host=/var/run/postgresql port=$(port_of 18.0 main) dbname=erp'
		plimsoll fill --small --create && plimsoll run --users 200 --think 5s --ramp 2s --duration 6s --quiet \
			--lag-limit 1m --disturbed-limit 1 && plimsoll audit"
	rm -rf /var/tmp/state-of-postgres
}

of_its_own() {
	has "$(plimsoll up own --flush-latency 1ms)" 'running: PostgreSQL 18.* plimsoll \(patchset'
	has "$(ls -l /proc/[0-9]*/exe)" '-> /usr/lib/postgresql/18.0/bin/postgres'
	plimsoll down own
	plimsoll destroy own --yes
}

check "plimsoll is there" plimsoll version
check "... with pages of each command" test -s /usr/share/man/man1/plimsoll.1.gz -a \
	-s /usr/share/man/man1/plimsoll-run.1.gz
check "... and completion" bash -n /usr/share/bash-completion/completions/plimsoll
check "... static" not grep -q '=>' <(ldd /usr/bin/plimsoll 2>&1)
check "a base is filled, loaded and audited on the server of pg_createcluster" on_server
check "plimsoll up finds the packaged engine, and makes a cluster of its own without a compiler" of_its_own
