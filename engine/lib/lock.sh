# One build of a kind at a time: an flock on a file of that name, which holds its owner's pid. Builds of other flavours,
# or of another series in another checkout, go on beside it.

# take_lock NAME waits for who has it and says for whom; a lock that we have is let go. Only its holder writes to WORK,
# and anything left there is debris. Steps must not inherit the descriptor (see unlocked); a helper of a build that was
# killed, asleep for half a second, may: nobody waits for the dead, so nothing is said of it.
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
	# In short spells, between which bash can act on a signal.
	until flock -w 1 "$1"; do
		owner=$(<"$2")
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

# clear_work removes what a killed build of this name left behind. Its compilers may still run, orphaned,
# with their working directory inside ours: they go first.
clear_work() {
	local cwd pid
	[[ $LOCK_NAME != source ]] || rm -rf "$SOURCES"/.[0-9]*
	[[ -e $WORK ]] || return 0
	for cwd in /proc/[0-9]*/cwd; do
		[[ $(readlink "$cwd" 2>/dev/null) == "$WORK"/* ]] || continue
		pid=${cwd#/proc/}
		kill -KILL "${pid%/cwd}" 2>/dev/null || true
	done
	rm -rf "$WORK" 2>/dev/null || rm -rf "$WORK"
}
