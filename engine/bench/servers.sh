# Servers of a benchmark, and the table of what it measured. Each server has its own data directory and socket in
# $SCRATCH and stands in STARTED; stop_all removes them.

# The settings for temporary tables, which stock does not have.
TEMP_TABLE_SETTINGS="enable_temp_memory_catalog temp_local_invalidation temp_skip_locks temp_async_commit"
TEMP_TABLE_SETTINGS+=" temp_buffers_by_relation temp_lazy_files temp_lazy_toast"

# make_cluster NAME PREFIX SETTING… makes a data directory, $SCRATCH/NAME/data, with these settings on.
make_cluster() {
	local name=$1 prefix=$2 setting
	shift 2
	mkdir "$SCRATCH/$name"
	give_to_server_user "$SCRATCH/$name"
	as_server_user "$prefix/bin/initdb" --pgdata="$SCRATCH/$name/data" --username=bench --auth=trust --locale=C.UTF-8 \
		>"$SCRATCH/$name.log" 2>&1 ||
		{ cat "$SCRATCH/$name.log" >&2; fail environment "cannot make a cluster with $prefix"; }
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$SCRATCH/$name'"
		echo "shared_buffers = 256MB"
		echo "max_wal_size = 4GB"
		echo "max_connections = 300"
		for setting in "$@"; do echo "$setting = on"; done
	} | as_server_user tee -a "$SCRATCH/$name/data/postgresql.conf" >/dev/null
}

# start NAME PREFIX SETTING… starts a server whose socket is in $SCRATCH/NAME.
start() {
	local name=$1 prefix=$2
	make_cluster "$@"
	as_server_user "$prefix/bin/pg_ctl" --pgdata="$SCRATCH/$name/data" --log="$SCRATCH/$name/server.log" --wait start \
		>/dev/null ||
		{ cat "$SCRATCH/$name/server.log" >&2; fail environment "cannot start $prefix"; }
	STARTED+=("$name:$prefix")
}

stop_all() {
	local server
	for server in "${STARTED[@]}"; do
		as_server_user "${server#*:}/bin/pg_ctl" --pgdata="$SCRATCH/${server%%:*}/data" --mode=immediate stop \
			>/dev/null 2>&1 || :
	done
	rm -rf "${SCRATCH:?}"
}

# medians ROW BETTER DECIMALS prints a line of the table from the lines "ROUND SERVER FIGURE" of $SCRATCH/figures. The
# ratio says how much better plimsoll is, where more is better or less.
medians() {
	awk -v row="$1" -v better="$2" -v decimals="$3" '
		function median(name, r, i, sorted, swap) {
			for (r = 1; r <= rounds; r++) sorted[r] = figure[name, r]
			for (r = 2; r <= rounds; r++)
				for (i = r; i > 1 && sorted[i] < sorted[i - 1]; i--) {
					swap = sorted[i]
					sorted[i] = sorted[i - 1]
					sorted[i - 1] = swap
				}
			return (sorted[int((rounds + 1) / 2)] + sorted[int(rounds / 2) + 1]) / 2
		}
		{ figure[$2, $1] = $3; rounds = $1 > rounds ? $1 : rounds }
		END {
			for (r = 1; r <= rounds; r++) {
				ratio = figure["plimsoll", r] / figure["vanilla", r]
				if (better == "less") ratio = 1 / ratio
				figure["ratio", r] = ratio
				if (r == 1 || ratio < low) low = ratio
				if (r == 1 || ratio > high) high = ratio
			}
			printf "%s %10.*f %10.*f %7.2f   %.2f .. %.2f\n", row, decimals,
				median("vanilla"), decimals, median("plimsoll"), median("ratio"), low, high
	}' "$SCRATCH/figures"
}
