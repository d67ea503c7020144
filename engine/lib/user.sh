# PostgreSQL refuses to run as root: what starts a server as root runs it as an ordinary user.

# server_user prints the user that runs the server when we are root.
server_user() {
	local name
	for name in plimsoll postgres; do
		! id "$name" >/dev/null 2>&1 || { echo "$name"; return; }
	done
	fail environment "there is no unprivileged user to run the server as" "setup/install creates the user plimsoll"
}

# What tests start on a busy machine may take longer than the minute that pg_ctl and pg_regress wait for a server.
export PGCTLTIMEOUT=${PGCTLTIMEOUT:-300}

# as_server_user COMMAND... runs it as that user, or as ourselves when we are not root.
as_server_user() {
	if ((EUID == 0)); then
		setpriv --reuid="$(server_user)" --regid="$(id -g "$(server_user)")" --init-groups env HOME=/nonexistent "$@"
	else
		"$@"
	fi
}

# give_to_server_user DIR
give_to_server_user() { ((EUID != 0)) || chown -R "$(server_user):" "$1"; }
