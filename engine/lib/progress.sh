# Progress of a step: on a terminal one line that renews itself, with an estimate; elsewhere a
# plain line at the start and at each quarter.

progress_start() {
	PROGRESS_TITLE=$1 PROGRESS_EXPECTED=$2 PROGRESS_START=$SECONDS PROGRESS_QUARTER=0
	PROGRESS_LOG_START=$(stat -c %s "$LOG")
	[[ -t 2 ]] || say "$1 …"
}

progress_show() {
	local done=0 elapsed=$((SECONDS - PROGRESS_START)) text=
	((PROGRESS_EXPECTED)) && done=$(compilations)
	if ((PROGRESS_EXPECTED && done)); then
		text="compiled $done of about $PROGRESS_EXPECTED"
		((elapsed >= 3)) && text+=$(estimate "$done" "$elapsed")
	fi
	if [[ -t 2 ]]; then
		printf '\r\033[K%s … %ds %s' "$PROGRESS_TITLE" "$elapsed" "$text" >&2
	elif ((PROGRESS_EXPECTED && done * 4 / PROGRESS_EXPECTED > PROGRESS_QUARTER)); then
		PROGRESS_QUARTER=$((done * 4 / PROGRESS_EXPECTED))
		((PROGRESS_QUARTER < 4)) && say "$PROGRESS_TITLE: $text"
	fi
	return 0
}

progress_end() {
	[[ -t 2 ]] && printf '\r\033[K%s: %ds\n' "$PROGRESS_TITLE" $((SECONDS - PROGRESS_START)) >&2
	return 0
}

# compilations counts the compiler's calls that this step has logged.
compilations() {
	tail -c "+$((PROGRESS_LOG_START + 1))" "$LOG" | grep -c -e ' -c -o ' || true
}

# estimate DONE ELAPSED: what is left at the pace so far.
estimate() {
	local left=$((($PROGRESS_EXPECTED - $1) * $2 / $1))
	((left > 0)) && printf ', about %ds left' "$left"
	return 0
}
