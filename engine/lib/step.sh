# One long step of a build: runs in its own process group, writes to the log, shows progress.

STEP_PGID=

# run_step TITLE EXPECTED COMMAND... runs COMMAND with its output in $LOG. EXPECTED is the number
# of compilations to expect, 0 when the step has none.
run_step() {
	local title=$1 expected=$2 status=0 nap=0.05
	shift 2
	printf '== %s\n' "$title" >>"$LOG"
	progress_start "$title" "$expected"
	set -m
	unlocked "$@" </dev/null >>"$LOG" 2>&1 &
	STEP_PGID=$!
	set +m
	while kill -0 "$STEP_PGID" 2>/dev/null; do
		progress_show
		sleep "$nap"
		((SECONDS == PROGRESS_START)) || nap=0.5
	done
	wait "$STEP_PGID" || status=$?
	STEP_PGID=
	progress_end
	((status == 0)) || step_failed "$title"
}

# stop_step ends a running step with everything it started.
stop_step() {
	[[ -n $STEP_PGID ]] || return 0
	kill -TERM -- "-$STEP_PGID" 2>/dev/null || true
	wait "$STEP_PGID" 2>/dev/null || true
	STEP_PGID=
}

step_failed() {
	if tail -n 200 "$LOG" | grep -q 'No space left on device'; then
		fail environment "$1: the disk that holds $BUILDS is full" \
			"free about 1 GB, or name another folder: PLIMSOLL_CACHE=/path"
	fi
	say "the last lines of the log:"
	tail -n 15 "$LOG" | sed 's/^/  /' >&2
	fail failure "$1 failed" "the full log: $LOG"
}
