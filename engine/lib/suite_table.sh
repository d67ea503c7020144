# The results of the parts: one line each in SUITE/results, the last of a part counts.

# record_part PART RESULT SECONDS COUNTS LOG
record_part() {
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$(date -u +%Y-%m-%dT%H:%MZ)" >>"$SUITE/results"
}

# record_of PART prints its last line, or nothing.
record_of() {
	[[ ! -e $SUITE/results ]] ||
		awk -F'\t' -v p="$1" '$1 == p { l = $0 } END { if (l != "") print l }' "$SUITE/results"
}

result_of() { record_of "$1" | cut -f2; }

# part_line PART: its result as text.
part_line() {
	local part result seconds counts log when
	IFS=$'\t' read -r part result seconds counts log when < <(record_of "$1")
	[[ $result != failed ]] || counts+="${counts:+; }log: $log"
	printf '%-34s %-8s %3d:%02d  %s\n' "$part" "$result" $((seconds / 60)) $((seconds % 60)) "$counts"
}

# suite_table FLAVOUR PART… prints the line of each, then the sum; false if one of them has failed.
suite_table() {
	local part result flavour=$1 open=() out
	local -A sum=([passed]=0 [failed]=0 [skipped]=0)
	shift
	printf '\n%s: PostgreSQL %s, key %s\n' "$flavour" "$SOURCE_VERSION" "${SUITE##*-}"
	for part; do
		result=$(result_of "$part")
		[[ -n $result ]] || { open+=("$part"); continue; }
		sum[$result]=$((sum[$result] + 1))
		part_line "$part"
	done
	out=$(not_compiled | paste -sd ' ')
	[[ -z $out ]] || echo "not compiled here: $out"
	((${#open[@]} == 0)) || echo "not run yet: ${open[*]}"
	echo "$flavour: ${sum[passed]} passed, ${sum[failed]} failed, ${sum[skipped]} without a test that ran,"\
" ${#open[@]} not run"
	((sum[failed] == 0))
}

suite_counts() {
	local counts='All [0-9]+ tests passed|[0-9]+ of [0-9]+ tests failed|Files=[0-9]+, Tests=[0-9]+'
	counts+='|TAP tests not enabled|sessions [0-9]+ to [0-9]+|skipped: .*'
	grep -aoE "($counts)" "$1" | sort | uniq -c |
		sed -E 's/^ *1 //; t; s/^ *([0-9]+) /\1 x /' | paste -sd ';' | sed 's/;/; /g'
}
