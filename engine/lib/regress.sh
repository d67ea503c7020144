# The regression tests of our extensions, on a server of each flavour.

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
		make_template "$flavour"
		for name in "${names[@]}"; do
			[[ -e $EXTENSIONS/$name/Makefile ]] || misused "no extension $name in $EXTENSIONS"
			regress_extension "$name" "$flavour" || failed=1
		done
	done
	((failed == 0)) || exit "${EXIT_CODES[failure]}"
}

# make_template FLAVOUR makes the data directory that each extension's server begins with: pg_regress copies it, unless
# the tests ask for a locale of their own.
make_template() {
	TEMPLATE=$SCRATCH/$1-template
	mkdir "$TEMPLATE"
	give_to_server_user "$TEMPLATE"
	as_server_user "$PREFIX/bin/initdb" -D "$TEMPLATE" -A trust --no-clean --no-sync >"$TEMPLATE.log" ||
		fail failure "$1: initdb failed" "$(tail -n 1 "$TEMPLATE.log")"
}

# regress_extension NAME FLAVOUR
regress_extension() {
	local copy=$SCRATCH/$2-$1
	copy_extension "$1" "$copy"
	give_to_server_user "$copy"
	if (cd "$copy" && as_server_user env INITDB_TEMPLATE="$TEMPLATE" \
		make -s PG_CONFIG="$PREFIX/bin/pg_config" installcheck \
		EXTRA_REGRESS_OPTS="--temp-instance=$copy/instance") >"$copy.log" 2>&1; then
		echo "$2: $1: $(grep -oE 'All [0-9]+ tests passed|Tests=[0-9]+' "$copy.log" | paste -sd ' ')"
	else
		echo "$2: $1: failed"
		tail -n 20 "$copy.log" >&2
		tail -n 60 "$copy/regression.diffs" 2>/dev/null >&2
		return 1
	fi
}
