# Test suites on the flavours: our extensions' regression tests, PostgreSQL's own suites, and our part of them (temp).

SUITES=(regress isolation recovery temp)

# The settings of the second run, on flavours that have them.
EVERYTHING_ON=$ENGINE/test/everything_on.conf

suite_dir() { if [[ $1 == temp ]]; then echo src/test/modules/plimsoll_temp; else echo "src/test/$1"; fi; }

# scratch makes a folder that the server's user owns; it goes when we leave.
scratch() {
	make_dirs
	SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-$COMMAND.XXXXXX")
	chmod 755 "$SCRATCH"
	TEMPORARY+=("$SCRATCH")
}

# command_regress runs each extension's tests against a server of its own.
command_regress() {
	local flavour name failed=0 names
	scratch
	require_source
	mapfile -t names < <(if ((${#ARGUMENTS[@]})); then printf '%s\n' "${ARGUMENTS[@]}"; else extensions; fi)
	for flavour in "${FLAVOURS[@]}"; do
		ensure_flavour "$flavour"
		for name in "${names[@]}"; do
			[[ -e $EXTENSIONS/$name/Makefile ]] || misused "no extension $name in $EXTENSIONS"
			regress_extension "$name" "$flavour" || failed=1
		done
	done
	((failed == 0)) || exit "${EXIT_CODES[failure]}"
}

# regress_extension NAME FLAVOUR
regress_extension() {
	local copy=$SCRATCH/$2-$1
	copy_extension "$1" "$copy"
	give_to_server_user "$copy"
	if (cd "$copy" && as_server_user make -s PG_CONFIG="$PREFIX/bin/pg_config" installcheck \
		EXTRA_REGRESS_OPTS="--temp-instance=$copy/instance") >"$copy.log" 2>&1; then
		echo "$2: $1: $(grep -oE 'All [0-9]+ tests passed|Tests=[0-9]+' "$copy.log" | paste -sd ' ')"
	else
		echo "$2: $1: failed"
		tail -n 20 "$copy.log" >&2
		tail -n 60 "$copy/regression.diffs" 2>/dev/null >&2
		return 1
	fi
}

# command_suite compiles each flavour once more, for the suites need its objects, and runs them.
command_suite() {
	local flavour name failed=0 names=("${ARGUMENTS[@]}")
	((${#names[@]})) || names=("${SUITES[@]}")
	for name in "${names[@]}"; do
		[[ " ${SUITES[*]} " == *" $name "* ]] || misused "unknown suite $name (known: ${SUITES[*]})"
	done
	scratch
	require_source
	require_tools
	for flavour in "${FLAVOURS[@]}"; do
		compile_for_suite "$flavour"
		for name in "${names[@]}"; do
			[[ $name != temp || $flavour == plimsoll* ]] || continue
			run_suite "$flavour" "$name" || failed=1
			[[ $flavour != plimsoll* ]] || run_suite "$flavour" "$name" "$EVERYTHING_ON" || failed=1
		done
		((failed)) || rm -rf "${SCRATCH:?}/$flavour"
	done
	((failed == 0)) || exit "${EXIT_CODES[failure]}"
}

compile_for_suite() {
	local src=$SCRATCH/$1 flags
	LOG=$LOGS/suite-$1.log
	: >"$LOG"
	run_step "$1: unpack PostgreSQL $SOURCE_VERSION" 0 unpack_source "$src"
	[[ $1 != plimsoll* ]] || apply_series "$1" "$src"
	mapfile -t flags < <(configure_flags "$1")
	run_step "$1: configure" 0 in_dir "$src" ./configure -q --prefix="$src/prefix" "${flags[@]}"
	run_step "$1: compile" "$COMPILATIONS" make -C "$src" -j"${JOBS:-$(nproc)}" world-bin
	run_step "$1: compile the tests" 0 make -C "$src/src/test" -j"${JOBS:-$(nproc)}" all
	give_to_server_user "$src"
}

# run_suite FLAVOUR NAME [CONF] prints one line with the counts; the log has the rest. CONF holds settings for its servers.
run_suite() {
	local log=$LOGS/suite-$1-$2.log what="$1: $2" status=0 settings=()
	if [[ -n ${3:-} ]]; then
		what+=" with everything on" log=${log%.log}-on.log settings=("TEMP_CONFIG=$SCRATCH/${3##*/}")
		install -m 644 "$3" "$SCRATCH/"
	fi
	say "$what …"
	(cd "$SCRATCH/$1" && as_server_user env "${settings[@]}" make -C "$(suite_dir "$2")" check PROVE_FLAGS="-j$(nproc) --timer") >"$log" 2>&1 </dev/null || status=$?
	echo "$what: $(suite_counts "$log")"
	((status == 0)) || { echo "$what: failed (log: $log)"; return 1; }
}

suite_counts() {
	grep -oE '(All [0-9]+ tests passed|[0-9]+ of [0-9]+ tests failed|Files=[0-9]+, Tests=[0-9]+|Result: [A-Z]+|skipped: .*)' "$1" | sort | uniq -c |
		sed -E 's/^ *1 //; s/^ *([0-9]+) /\1 x /' | paste -sd ';' | sed 's/;/; /g'
}
