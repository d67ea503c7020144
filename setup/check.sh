# What is missing: each need of setup/needs, looked at itself.

# missing_needs GROUP... prints the lines of setup/needs that this machine does not meet: check|package|why.
missing_needs() {
	local group check package why
	while IFS='|' read -r group check package why; do
		group=${group// /} check=${check// /} package=${package// /}
		[[ -n $group && $group != '#'* && " $* " == *" $group "* ]] || continue
		is_met "$check" || echo "$check|$package|${why# }"
	done <"$SETUP/needs"
}

# still_missing NEEDS looks at the same needs once more.
still_missing() {
	local check package why
	hash -r
	while IFS='|' read -r check package why; do
		is_met "$check" || echo "$check|$package|$why"
	done <<<"$1"
}

# is_met KIND:NAME; a kind that ends in ? can be done without.
is_met() {
	local name kind=${1%%:*}
	case ${kind%\?} in
		cmd) for name in $(tr , ' ' <<<"${1#*:}"); do ! command -v "$name" >/dev/null || return 0; done; return 1 ;;
		pkg) pkg-config --exists "${1#*:}" 2>/dev/null ;;
		file) compgen -G "${1#*:}" >/dev/null ;;
		perl) perl "-M${1#perl:}" -e 1 2>/dev/null ;;
		python) python3 -c "import ${1#*:}" 2>/dev/null ;;
		go) go_is_met ;;
		server) server_is_met ;;
	esac
}

# server_is_met: a whole server, where the distributions and upstream put it.
server_is_met() {
	local bin
	for bin in /usr/lib/postgresql/1[5-8]/bin /usr/pgsql-1[5-8]/bin /usr/local/pgsql/bin; do
		[[ ! -x $bin/postgres || ! -x $bin/initdb ]] || return 0
	done
	[[ $(postgres --version 2>/dev/null) =~ \)\ 1[5-8]\. ]]
}

packages_of() { cut -d'|' -f2 <<<"$1" | sort -u | paste -sd ' '; }

install_hint() {
	if command -v apt-get >/dev/null; then
		echo "as root: apt-get update && apt-get install -y --no-install-recommends $(packages_of "$1")"
	else
		echo "these are Debian's names; install your system's equivalents, or run on Debian 12, 13 or Ubuntu 24.04"
	fi
}
