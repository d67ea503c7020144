#!/bin/bash
# The checks of test/packages, inside of its root: each line says what held. The shell blocks of docs/engine are run as
# they stand there.
set -uo pipefail
passed=0 failed=0
log=/var/tmp/check.log

# check NAME COMMAND…
check() {
	local name=$1
	shift
	if (set -e; "$@") >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "ok      $name"
	else
		failed=$((failed + 1))
		echo "FAILED  $name"
		tail -n 25 "$log" | sed 's/^/    /'
	fi
}

# refused NAME COMMAND…: must fail.
refused() {
	local name=$1
	shift
	check "$name" not "$@"
}
not() { if "$@"; then return 1; fi; }

# documented FILE HEADING runs the first shell block under that heading; NAME=VALUE arguments replace its first lines.
documented() {
	local script assignment
	script=$(awk -v heading="## $2" '$0 == heading { on = 1 } on && /^```$/ { exit } block { print }
		on && /^```sh$/ { block = 1 }' "/docs/$1")
	[[ -n $script ]] || { echo "no block under '$2' in $1"; return 1; }
	for assignment in "${@:3}"; do
		script=$(sed "s/\b${assignment%%=*}=[a-z0-9.]*/$assignment/" <<<"$script")
	done
	echo "$script"
	(cd "$PACKAGES" && bash -euc "$script")
}

# sql CLUSTER [DATABASE] SQL
sql() {
	local cluster=$1 database=postgres
	(($# == 2)) || { database=$2 && shift; }
	su postgres -c "psql --cluster '$cluster' -d '$database' -XAtq -v ON_ERROR_STOP=1" <<<"$2"
}
port_of() { pg_lsclusters -h "$1" "$2" | awk '{ print $3 }'; }
equal() { echo "got: $1"; echo "want: $2"; [[ $1 == "$2" ]]; }
has() { echo "$1"; grep -qE -e "$2" <<<"$1"; }
online() { has "$(pg_lsclusters -h "${1%/*}" "${1#*/}")" ' online'; }

# files lists what is installed and configured; dpkg's own books and logs of the system change anyway.
files() {
	find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /run -o -path /var/lib/dpkg -o -path /debs \
		-o -path /var/cache/apt -o -path /var/lib/apt -o -path /var/cache/ldconfig -o -path /var/log -o -path /var/tmp \
		-o -path '/var/lib/postgresql/1[0-9]' -o -path /root -o -path /var/cache/debconf \) -prune -o -print |
		grep -vE '/etc/(passwd|group|g?shadow|sub[ug]id)-?$' | sort
}

for part in install server program switch remove; do . "/part_$part.sh"; done
echo
echo "packages: $passed passed, $failed failed"
exit $((failed > 0))
