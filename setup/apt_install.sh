# Installing with apt, as root or through sudo.

# install_missing NEEDS says what is missing and why, installs it, and looks again.
install_missing() {
	local missing=$1 packages
	command -v apt-get >/dev/null ||
		fail environment "this system has no apt; missing: $(packages_of "$missing")" "$(install_hint "$missing")"
	packages=$(grep -v '^go:' <<<"$missing" || true)
	LOG=$(mktemp "${TMPDIR:-/tmp}/plimsoll-setup.XXXXXX")
	trap 'rm -f "$LOG"' EXIT
	if [[ -n $packages ]] || ! go_can_fetch; then
		set_root "$missing"
		explain "$missing"
		# One broken entry must not stop what the others have.
		run_apt update || true
		install_packages "$packages"
	fi
	[[ $missing != *go:* ]] || install_go
	missing=$(still_missing "$missing" | grep -v '?:' || true)
	[[ -z $missing ]] ||
		fail environment "still missing after the installation: $(packages_of "$missing")" "$(install_hint "$missing")"
}

explain() {
	local check package why
	while IFS='|' read -r check package why; do
		say "setup: installing $package: $why"
	done <<<"$1"
}

# set_root finds the way to root's rights: AS_ROOT is empty for root itself.
set_root() {
	AS_ROOT=()
	((EUID != 0)) || return 0
	AS_ROOT=(sudo)
	command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; } ||
		fail environment "missing: $(packages_of "$1"); this user may not install packages" "$(install_hint "$1")"
}

# install_packages NEEDS
install_packages() {
	local packages
	[[ -n $1 ]] || return 0
	packages=$(grep -v '?:' <<<"$1" | cut -d'|' -f2 | sort -u || true)
	packages+=" $(offered_packages "$1")"
	[[ -z ${packages// /} ]] || run_apt install -y --no-install-recommends $packages || not_installed "$1"
}

# offered_packages prints those of the needs we can do without that this system's packages have.
offered_packages() {
	local check package why
	while IFS='|' read -r check package why; do
		[[ $check == *'?:'* ]] || continue
		if is_offered "$package"; then
			echo "$package"
		else
			say "setup: this system's packages have no $package; continuing without it: $why"
		fi
	done <<<"$1"
}

is_offered() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [0-9] ]]; }

# without_unoffered NEEDS drops what we can do without and known lists do not have, so that a machine
# which cannot have it does not ask for it each time.
without_unoffered() {
	local check package why
	while IFS='|' read -r check package why; do
		[[ $check == *'?:'* ]] && compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && ! is_offered "$package" ||
			echo "$check|$package|$why"
	done <<<"$1"
}

run_apt() {
	"${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" \
		</dev/null >>"$LOG" 2>&1
}

not_installed() {
	say "apt's last lines:"
	grep -aE '^(E|W|Err)' "$LOG" | tail -n 5 | sed 's/^/  /' >&2
	fail environment "cannot install $(packages_of "$1")" "$(install_hint "$1")"
}
