# The parts of a release's test. A part is NAME:SETTINGS; NAME may be GROUP/NAME.
#
#   regress isolation recovery subscription plpgsql      PostgreSQL's own
#   contrib/* bin/* modules/*                            one for each of its folders that has tests and was compiled
#   temp                                                 our module plimsoll_temp
#   discard/*                                            each test of that module, with all caches discarded at every
#                                                        chance
#   loaded/*                                             PostgreSQL's own, with the libraries of our extensions loaded
#                                                        (test/extensions_loaded.conf)
#   fuzz/catalogs fuzz/files                             random sessions, off against on
#   fuzz/parallel                                        the same with parallel plans wherever there may be any
#   fuzz/matrix                                          tables on their way to the catalogs, case by case
#   fuzz/cancel                                          random sessions whose commands are cancelled
#   fuzz/soak                                            100 active sessions for a quarter of an hour
#   fuzz/mchar                                           random values and patterns of LIKE, under sanitizers
#
# SETTINGS is off, on (test/everything_on.conf) or, of the last three, what they bring along.

PART_NAMES=(regress isolation recovery subscription plpgsql contrib bin modules temp discard loaded fuzz)
CORE_NAMES=(regress isolation recovery subscription plpgsql)
OUR_MODULE=src/test/modules/plimsoll_temp

# How long fuzz/catalogs goes on; fuzz/files and others take a quarter of it.
FUZZ_MINUTES=${FUZZ_MINUTES:-60}

declare -rA PART_DIRS=([regress]=src/test/regress [isolation]=src/test/isolation [recovery]=src/test/recovery
	[subscription]=src/test/subscription [plpgsql]=src/pl/plpgsql/src
	[contrib]=contrib [bin]=src/bin [modules]=src/test/modules [temp]=$OUR_MODULE [discard]=$OUR_MODULE)

check_suite_arguments() {
	local name
	for name in "${ARGUMENTS[@]}"; do
		name=${name%%[:/]*}
		[[ " ${PART_NAMES[*]} " == *" $name "* ]] || misused "unknown part $name (known: ${PART_NAMES[*]})"
	done
	[[ $FUZZ_MINUTES =~ ^[1-9][0-9]*$ ]] || misused "FUZZ_MINUTES=$FUZZ_MINUTES is not a number above 0"
}

# chosen_parts FLAVOUR: an argument chooses the part, its settings or its whole group: contrib, contrib/hstore,
# contrib:on, regress:off.
chosen_parts() {
	local part argument
	while read -r part; do
		((${#ARGUMENTS[@]})) || echo "$part"
		for argument in "${ARGUMENTS[@]}"; do
			[[ $part != "$argument" && $part != "$argument":* && $part != "$argument"/* &&
				! ($argument == *:* && $part == "${argument%:*}"/*:"${argument##*:}") ]] ||
				{ echo "$part"; break; }
		done
	done < <(all_parts "$1")
}

all_parts() {
	local name
	for name in "${CORE_NAMES[@]}"; do part_settings "$1" "$name"; done
	for name in $(folders contrib) $(folders bin) $(folders modules); do part_settings "$1" "$name"; done
	[[ $1 == plimsoll* ]] || return 0
	part_settings "$1" temp
	# Servers without assertions do not know the setting.
	[[ $1 != *-assert ]] || printf 'discard/%s\n' $(module_tests REGRESS) $(module_tests ISOLATION)
	printf 'loaded/%s\n' "${CORE_NAMES[@]}"
	printf 'fuzz/%s\n' catalogs parallel files matrix cancel soak mchar
}

part_settings() {
	echo "$2:off"
	[[ $1 != plimsoll* ]] || echo "$2:on"
}

# folders GROUP prints GROUP/NAME for each folder that this configuration compiles and that has tests.
folders() {
	local name dir=$SUITE/tree/${PART_DIRS[$1]}
	for name in $(make_variable "$dir" SUBDIRS); do
		[[ ! -d $dir/$name/t ]] && ! grep -qsE '^(REGRESS|ISOLATION|TAP_TESTS)\b' "$dir/$name/Makefile" ||
			echo "$1/$name"
	done
}

# not_compiled prints the contrib modules with tests that this configuration leaves out.
not_compiled() {
	local name dir=$SUITE/tree/contrib
	for name in $(make_variable "$dir" ALWAYS_SUBDIRS); do
		! grep -qsE '^(REGRESS|ISOLATION|TAP_TESTS)\b' "$dir/$name/Makefile" || echo "contrib/$name"
	done
}

module_tests() { make_variable "$SUITE/tree/$OUR_MODULE" "$1"; }

# make_variable DIR NAME prints what a makefile there holds under that name.
make_variable() { printf 'include Makefile\nshow-variable: ; @echo $(%s)\n' "$2" | make -s -C "$1" -f - show-variable; }

# part_command FLAVOUR PART runs it.
part_command() {
	local name=${2%:*} settings=${2##*:} group=${2%%[:/]*}
	case $group in
		fuzz) fuzz "${name#fuzz/}" ;;
		discard) if [[ " $(module_tests REGRESS) " == *" ${name#*/} "* ]]; then
				suite_make "$OUR_MODULE" discard REGRESS="${name#*/}" ISOLATION= TAP_TESTS=
			else
				suite_make "$OUR_MODULE" discard REGRESS= ISOLATION="${name#*/}" TAP_TESTS=
			fi ;;
		loaded) install_extensions && suite_make "${PART_DIRS[${name#*/}]}" loaded ;;
		contrib | bin | modules) suite_make "${PART_DIRS[$group]}/${name#*/}" "$settings" ;;
		*) suite_make "${PART_DIRS[$name]}" "$settings" ;;
	esac
}

# suite_make DIR SETTINGS [VARIABLE=VALUE…]
suite_make() {
	local dir=$1 with=()
	[[ $2 == off ]] || with=("TEMP_CONFIG=$SUITE/$2.conf")
	# The isolation tester gives a step up after twice this many seconds, and asks all the time who waits for whom.
	[[ $2 != discard ]] || with+=("PG_TEST_TIMEOUT_DEFAULT=${PG_TEST_TIMEOUT_DEFAULT:-1800}")
	shift 2
	cd / && as_server_user env "${with[@]}" make -C "$SUITE/tree/$dir" check NO_TEMP_INSTALL=yes \
		PROVE_FLAGS="-j$(nproc) --timer" "$@"
}

# fuzz NAME plays sessions that nobody has seen yet, unless SEEDS tells which.
fuzz() {
	local install
	install=$(suite_prefix)
	local -A tests=([catalogs]=memory_catalog_diff.t [parallel]=memory_catalog_diff.t
		[files]=lazy_files_diff.t [matrix]=memory_catalog_matrix.t
		[cancel]=memory_catalog_cancel.t [soak]=memory_catalog_soak.t [mchar]=mchar_fuzz.t)
	local quarter=$(((FUZZ_MINUTES + 3) / 4))
	local -A minutes=([catalogs]=$FUZZ_MINUTES [parallel]=$quarter [files]=$quarter [cancel]=$quarter [soak]=$quarter
		[mchar]=$quarter)
	install_extensions || return
	env PREFIX="$install" LD_LIBRARY_PATH="$install/lib" SEEDS="${SEEDS:-$(date +%s)}" MINUTES="${minutes[$1]-}" \
		PLANS="$1" STEPS="${STEPS:-150}" CASES="${CASES:-all}" SESSIONS="${SESSIONS:-100}" \
		prove -v --timer "$ENGINE/test/${tests[$1]}"
}
