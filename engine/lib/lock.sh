# One build of a kind at a time: an flock on a file of that name, which holds its owner's pid. Builds of other flavours,
# or of another series in another checkout, run at the same time.

# take_lock NAME waits for its holder and names it; a lock that we have is released. Only its holder writes to WORK,
# and anything left there is debris. Steps must not inherit the descriptor (see unlocked); a helper of a build that was
# killed, asleep for half a second, may: that wait is short, so no message is printed.
take_lock() {
	[[ $LOCK_NAME != "$1" ]] || return 0
	drop_lock
	exec {LOCK_FD}>>"$LOCKS/$1"
	LOCK_NAME=$1
	own_lock "$LOCK_FD" "$LOCKS/$1" "another build"
	WORK=$BUILDS/work/$1
	clear_work
}

drop_lock() {
	[[ -n $LOCK_FD ]] || return 0
	[[ -z $WORK ]] || clear_work
	exec {LOCK_FD}>&-
	LOCK_FD= LOCK_NAME= WORK=
}

# own_lock DESCRIPTOR FILE HOLDER waits until the lock on the file is ours.
own_lock() {
	local owner said=
	# With short timeouts, between which bash can act on a signal.
	until flock -w 1 "$1"; do
		read -r owner <"$2" || owner= # not by $(…): see progress_show
		if [[ -z $said && -e /proc/${owner:-none} ]]; then
			say "engine: waiting for $3 (pid $owner)"
			said=yes
		fi
	done
	printf '%s\n' "$$" >"$2"
}

# unlocked COMMAND... lets go of the lock in a child, before it runs the command; call it in a subshell.
unlocked() {
	[[ -z $LOCK_FD ]] || exec {LOCK_FD}>&-
	"$@"
}

# clear_work removes what a killed build of this name left behind, and what ours has written. Compilers may still run
# there, orphaned: they go first, and are waited for, as one that dies late would write into what is removed.
clear_work() {
	[[ $LOCK_NAME != source ]] || rm -rf "$SOURCES"/.[0-9]*
	[[ -e $WORK ]] || return 0
	while kill_workers; do sleep 0.02; done
	rm -rf "$WORK"
}

# kill_workers ends the processes with their working directory inside WORK; false if there are none.
kill_workers() {
	local process cwd found=1
	while IFS=$'\t' read -r process cwd; do
		[[ $cwd == "$WORK"/* ]] || continue
		kill -KILL "${process#/proc/}" 2>/dev/null || true
		found=0
	done < <(find /proc/[0-9]*/cwd -maxdepth 0 -printf '%h\t%l\n' 2>/dev/null)
	return "$found"
}
