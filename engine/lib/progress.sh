# Progress of a step: on a terminal one line that renews itself, with an estimate; elsewhere a
# plain line at the start and at each quarter.

progress_start() {
	PROGRESS_TITLE=$1 PROGRESS_EXPECTED=$2 PROGRESS_START=$SECONDS PROGRESS_QUARTER=0
	PROGRESS_LOG_START=$(stat -c %s "$LOG")
	[[ -t 2 ]] || say "$1 …"
}

# progress_show captures no output by $(…), as it is called again and again: while bash waits for the end of such a
# command, whose output it has, it forgets a Ctrl-C.
progress_show() {
	local done=0 elapsed=$((SECONDS - PROGRESS_START)) text= left
	if ((PROGRESS_EXPECTED)); then read -r done < <(compilations) || done=0; fi
	if ((PROGRESS_EXPECTED && done)); then
		text="compiled $done of about $PROGRESS_EXPECTED"
		# at the pace so far
		left=$(((PROGRESS_EXPECTED - done) * elapsed / done))
		((elapsed < 3 || left <= 0)) || text+=", about ${left}s left"
	fi
	if [[ -t 2 ]]; then
		printf '\r\033[K%s … %ds %s' "$PROGRESS_TITLE" "$elapsed" "$text" >&2
	elif ((PROGRESS_EXPECTED && done * 4 / PROGRESS_EXPECTED > PROGRESS_QUARTER)); then
		PROGRESS_QUARTER=$((done * 4 / PROGRESS_EXPECTED))
		((PROGRESS_QUARTER < 4)) && say "$PROGRESS_TITLE: $text"
	fi
	return 0
}

# What the steps of this run took: seconds and title.
STEP_TIMES=()

progress_end() {
	STEP_TIMES+=("$((SECONDS - PROGRESS_START))"$'\t'"$PROGRESS_TITLE")
	[[ -t 2 ]] && printf '\r\033[K%s: %ds\n' "$PROGRESS_TITLE" $((SECONDS - PROGRESS_START)) >&2
	return 0
}

# compilations counts the compiler's calls that this step has logged.
compilations() {
	tail -c "+$((PROGRESS_LOG_START + 1))" "$LOG" | grep -c -e ' -c -o ' || true
}

# time_table says where the time of a run went, unless there was nothing to do.
time_table() {
	local step
	((${#STEP_TIMES[@]})) || return 0
	say "where the time went:"
	for step in "${STEP_TIMES[@]}"; do
		say "$(printf '  %-44s %3d:%02d' "${step#*$'\t'}" $((${step%%$'\t'*} / 60)) $((${step%%$'\t'*} % 60)))"
	done
}
