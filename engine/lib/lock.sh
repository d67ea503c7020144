# One build at a time per cache: an flock on a file that holds its owner's pid.

# take_lock waits for another build and says for whom. Children must not inherit the
# descriptor (see unlocked), so the lock is free the moment its owner dies.
take_lock() {
	local owner
	exec {LOCK_FD}>>"$BUILDS/build.lock"
	if ! flock -n "$LOCK_FD"; then
		owner=$(<"$BUILDS/build.lock")
		say "engine: waiting for another build (pid ${owner:-unknown})"
		# In short spells, between which bash can act on a signal.
		until flock -w 1 "$LOCK_FD"; do :; done
	fi
	printf '%s\n' "$$" >"$BUILDS/build.lock"
	clear_work
}

# unlocked COMMAND... lets go of the lock in a child, before it runs the command; call it in a subshell.
unlocked() {
	[[ -z $LOCK_FD ]] || exec {LOCK_FD}>&-
	"$@"
}

# clear_work removes what a killed build left behind. Its compilers may still run, orphaned,
# with their working directory inside ours: they go first.
clear_work() {
	local cwd pid
	rm -rf "$SOURCES"/.[0-9]*
	[[ -e $WORK ]] || return 0
	for cwd in /proc/[0-9]*/cwd; do
		[[ $(readlink "$cwd" 2>/dev/null) == "$WORK"/* ]] || continue
		pid=${cwd#/proc/}
		kill -KILL "${pid%/cwd}" 2>/dev/null || true
	done
	rm -rf "$WORK" 2>/dev/null || rm -rf "$WORK"
}
