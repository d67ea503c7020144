# What a release has to pass: PostgreSQL's own suites and ours, part by part, on a compiled tree that is kept. A part
# that fails stops nothing; each result is kept next to the tree, so that a run can be resumed.

# command_suite runs the parts that ARGUMENTS name, or all, and closes with a table.
command_suite() {
	local flavour failed=0
	check_suite_arguments
	make_dirs
	take_suite_lock
	require_source
	require_tools
	for flavour in "${FLAVOURS[@]}"; do
		prepare_suite "$flavour"
		run_parts "$flavour" || failed=1
	done
	((failed == 0)) || exit "${EXIT_CODES[failure]}"
}

# Not the lock of builds: `make engine` need not wait for hours.
take_suite_lock() {
	mkdir -p "$BUILDS/suite"
	exec {SUITE_FD}>>"$BUILDS/suite/lock"
	own_lock "$SUITE_FD" "$BUILDS/suite/lock" "another run of the suites"
}

# prepare_suite FLAVOUR compiles the flavour and installs it with everything that tests use, once for each key;
# SUITE is then its folder.
prepare_suite() {
	local key
	key=$(core_key "$1")
	SUITE=$BUILDS/suite/$SOURCE_VERSION-$1-$key
	mkdir -p "$SUITE/log"
	install_settings
	if [[ ! -e $SUITE/tree/ready ]]; then
		LOG=$SUITE/log/compile.log
		: >"$LOG"
		# One tree a flavour: it is about a gigabyte. A key has 12 digits.
		rm -rf "$BUILDS"/suite/*-"$1"-????????????/tree
		compile_for_suite "$1" "$SUITE/tree"
		touch "$SUITE/tree/ready"
	elif [[ $1 == plimsoll* && -d $OVERLAY/src/test ]]; then
		LOG=$SUITE/log/refresh.log
		: >"$LOG"
		run_step "$1: take the tests as they are now" 0 refresh_tests "$SUITE/tree"
	fi
}

# suite_prefix prints where the tests' installation is.
suite_prefix() { echo "$SUITE/tree/tmp_install$SUITE/tree/prefix"; }

# install_extensions: the long tests ask our extension what sessions hold; others load all of them.
install_extensions() {
	local name
	for name in $(extensions); do
		rm -rf "${SUITE:?}/extension"
		copy_extension "$name" "$SUITE/extension"
		make -C "$SUITE/extension" PG_CONFIG="$(suite_prefix)/bin/pg_config" install || return
	done
}

# refresh_tests DIR: a key does not know of tests.
refresh_tests() {
	cp -R "$OVERLAY/src/test/." "$1/src/test/"
	give_to_server_user "$1/src/test"
	in_dir / as_server_user make -C "$1/$OUR_MODULE" install DESTDIR="$1/tmp_install"
}

# compile_for_suite FLAVOUR DIR
compile_for_suite() {
	local flags jobs="${JOBS:-$(nproc)}"
	run_step "$1: unpack PostgreSQL $SOURCE_VERSION" 0 unpack_source "$2"
	[[ $1 != plimsoll* ]] || apply_series "$1" "$2"
	mapfile -t flags < <(configure_flags "$1")
	run_step "$1: configure" 0 in_dir "$2" ./configure -q --prefix="$2/prefix" "${flags[@]}"
	run_step "$1: compile" "$COMPILATIONS" make -C "$2" -j"$jobs" world-bin
	run_step "$1: compile the tests" 0 make -C "$2/src/test" -j"$jobs" all
	give_to_server_user "$2"
	# Once for all parts; each would do it for itself.
	run_step "$1: install for the tests" 0 in_dir / as_server_user make -C "$2/src/test/regress" temp-install \
		EXTRA_INSTALL="$(suite_installs "$1")"
}

suite_installs() {
	if [[ $1 == plimsoll* ]]; then
		echo "contrib src/test/modules $OUR_MODULE"
	else
		echo "contrib src/test/modules"
	fi
}

# install_settings puts the settings of the runs where the server's user can read them.
install_settings() {
	install -m 644 "$ENGINE/test/everything_on.conf" "$SUITE/on.conf"
	install -m 644 "$ENGINE/test/extensions_loaded.conf" "$SUITE/loaded.conf"
	cat "$ENGINE/test/everything_on.conf" "$ENGINE/test/caches_discarded.conf" >"$SUITE/discard.conf"
}

# run_parts FLAVOUR
run_parts() {
	local part parts n=0
	mapfile -t parts < <(chosen_parts "$1")
	((${#parts[@]})) || { say "$1: no part ${ARGUMENTS[*]}"; return 0; }
	if [[ -z $LIST ]]; then
		for part in "${parts[@]}"; do
			n=$((n + 1))
			[[ -z $RESUME || $(result_of "$part") != passed ]] || continue
			say "$1: $part ($n of ${#parts[@]}) …"
			run_part "$1" "$part"
		done
	fi
	suite_table "$1" "${parts[@]}"
}

# run_part FLAVOUR PART, in a process group of its own, and keeps the result.
run_part() {
	local began=$SECONDS status=0 log=$SUITE/log/${2//[\/:]/-}.log
	set -m
	(exec {SUITE_FD}>&- && part_command "$1" "$2") >"$log" 2>&1 </dev/null &
	STEP_PGID=$!
	set +m
	wait "$STEP_PGID" || status=$?
	STEP_PGID=
	record_part "$2" "$(judge_part "$status" "$log")" $((SECONDS - began)) "$(suite_counts "$log")" "$log"
	echo "$1: $(part_line "$2")"
}

# judge_part STATUS LOG: a part whose tests did not take place has not passed.
judge_part() {
	if (($1)); then
		echo failed
	elif grep -qE 'All [1-9][0-9]* tests? passed|^All tests successful|^Result: PASS' "$2"; then
		echo passed
	else
		echo skipped
	fi
}
