# Where the engine keeps things: the same places as the Go package ground/host/dirs computes.

# cache_dir follows one order: our own variable; root's fixed folder, because the server's
# ordinary user must reach it and cannot look into root's home; XDG; home.
cache_dir() {
	if [[ -n ${PLIMSOLL_CACHE:-} ]]; then
		printf '%s\n' "$PLIMSOLL_CACHE"
	elif ((EUID == 0)); then
		printf '%s\n' /var/cache/plimsoll
	elif [[ ${XDG_CACHE_HOME:-} == /* ]]; then
		printf '%s\n' "$XDG_CACHE_HOME/plimsoll"
	else
		printf '%s\n' "${HOME:-/tmp}/.cache/plimsoll"
	fi
}

# set_dirs fixes the places for this run. A relative PLIMSOLL_CACHE counts from the caller's folder.
set_dirs() {
	CACHE=$(realpath -m -- "$(cache_dir)")
	BUILDS=$CACHE/engine           # <version>-<flavour>-<key>/, current/<flavour>: the newest build of any checkout
	SOURCES=$BUILDS/source         # <sha256>/{archive,version,origin}: verified, whole
	LOCKS=$BUILDS/lock             # one a build
	LOGS=$BUILDS/log
	# <checkout>/<flavour>: the build that a checkout has asked for last, so that two with other series do not change
	# each other's; ground/postgres/installation computes the same name.
	CHECKOUTS=$BUILDS/checkout
	CHECKOUT=$CHECKOUTS/$(printf %s "$(dirname "$ENGINE")" | short_hash)
	PATCHES=$ENGINE/patches/$MAJOR
	OVERLAY=$ENGINE/overlay
	EXTENSIONS=$ENGINE/extensions
}

# make_dirs creates the cache or says in one line why it cannot.
make_dirs() {
	local reason
	reason=$(mkdir -p "$BUILDS" "$SOURCES" "$LOCKS" "$LOGS" "$BUILDS/current" 2>&1 && : 2>&1 >"$BUILDS/.writable") ||
		fail environment "cannot write to $BUILDS: ${reason##*: }" \
			"name another folder: PLIMSOLL_CACHE=/path engine/build"
	rm -f "$BUILDS/.writable"
}
