# What a person is told: progress and errors on stderr, in the same form and with the same
# exit codes as the Go side (ground/problem).

declare -rA EXIT_CODES=([failure]=1 [usage]=2 [environment]=4 [interrupted]=130)

say() { printf '%s\n' "$*" >&2; }

# fail CLASS ERROR [HINT] ends the program.
fail() {
	printf 'plimsoll: %s\n' "$2" >&2
	[[ -z ${3:-} ]] || printf 'hint: %s\n' "$3" >&2
	exit "${EXIT_CODES[$1]}"
}
