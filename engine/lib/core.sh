# A flavour's core: configure, make, install; then the finished prefix appears under its name at once.

# Compilations of `make world-bin`, of all parts and of those needed, for the estimate alone.
COMPILATIONS=1305
NEEDED_COMPILATIONS=1000

# Disk space for one flavour's source, objects and prefix.
ROOM_MB=900

# build_core FLAVOUR KEY
build_core() {
	local flavour=$1 prefix jobs="${JOBS:-$(nproc)}" src=$WORK/$1/src flags expected
	# A compiler that is killed leaves its temporary files; here the next build finds and removes them.
	local -x TMPDIR=$WORK/tmp
	prefix=$(prefix_of "$1" "$2")
	LOG=$LOGS/$flavour-$2.log
	require_tools
	require_room
	mkdir -p "$WORK/$flavour" "$TMPDIR"
	: >"$LOG"
	run_step "$flavour: unpack PostgreSQL $SOURCE_VERSION" 0 unpack_source "$src"
	[[ $flavour != plimsoll* ]] || apply_series "$flavour" "$src"
	leave_out_parts "$src"
	[[ $flavour != "$DEB_FLAVOUR" ]] || place_socket "$src"
	mapfile -t flags < <(configure_flags "$flavour")
	# What configure finds out for one flavour of this run holds for the next.
	printf '%s' "$CONFIGURED" >"$WORK/config.cache"
	run_step "$flavour: configure" 0 in_dir "$src" ./configure -q --prefix="$prefix" \
		--cache-file="$WORK/config.cache" "${flags[@]}"
	CONFIGURED=$(<"$WORK/config.cache")
	expected=$NEEDED_COMPILATIONS
	[[ -z $WHOLE ]] || expected=$COMPILATIONS
	run_step "$flavour: compile" "$expected" make -C "$src" -j"$jobs" world-bin
	run_step "$flavour: install" 0 make -C "$src" -j"$jobs" install-world-bin DESTDIR="$WORK/$flavour/root"
	rm -rf "$prefix"
	if [[ $flavour == "$DEB_FLAVOUR" ]]; then mv "$WORK/$flavour/root" "$prefix"
	else mv "$WORK/$flavour/root$prefix" "$prefix"; fi
	rm -rf "${WORK:?}/$flavour"
}

in_dir() { cd "$1" && shift && "$@"; }

apply_series() {
	run_step "$1: apply the series" 0 patch_source "$2"
	[[ $SOURCE_VERSION == "$(developed_on)" ]] ||
		say "$1: the series, developed on PostgreSQL $(developed_on), applies cleanly to $SOURCE_VERSION"
}

require_room() {
	local free
	free=$(df -Pm "$BUILDS" | awk 'NR == 2 { print $4 }')
	((free >= ROOM_MB)) ||
		fail environment "too little free space in $BUILDS: $free MB free, a build takes about $ROOM_MB MB" \
			"free some space, or name another folder: PLIMSOLL_CACHE=/path"
}
