# An OCI archive of a root with our packages, and a look whether it is one that runs.

# What CloudNativePG's instance manager and Patroni call by name.
IMAGE_PROGRAMS=(initdb pg_basebackup pg_controldata pg_ctl pg_dump pg_isready pg_resetwal pg_restore pg_rewind
	pg_verifybackup pg_waldump postgres psql)

# make_image writes DEBS/image.tar.
make_image() {
	local name=plimsoll-postgresql:18 bin=/usr/lib/postgresql/18.0/bin
	lay_out_root "$root" "$debs"
	mkdir -p "$root/debs" "$root/dev/shm"
	cp "$debs"/*.deb "$root/debs/"
	echo '127.0.0.1 localhost packages' >"$root/etc/hosts"
	rm -f "$root"/debs/*-dbgsym_* "$root"/debs/*-dev-*
	# CloudNativePG runs everything as the user 26; the group 26 is another one of Debian's.
	inside bash -euc '
		usermod -u 26 postgres
		chown -R postgres:postgres /var/lib/postgresql
		dpkg -i /debs/*.deb >/dev/null
		install -d -o postgres -g postgres -m 2775 /var/run/postgresql
		install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data
		rm -rf /debs /etc/hosts /var/lib/apt/lists/* /var/cache/apt/*' ||
		fail failure "the packages do not install in the root" "see above"
	umoci init --layout "$work/oci"
	umoci new --image "$work/oci:18"
	umoci insert --image "$work/oci:18" "$root" /
	umoci config --image "$work/oci:18" --config.user 26 --config.cmd "$bin/postgres" \
		--config.env "PATH=$bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
		--config.env LANG=C.UTF-8 --config.env PGDATA=/var/lib/postgresql/data --config.workingdir /var/lib/postgresql
	try_image "$work/oci:18" "$bin"
	tar -C "$work/oci" -cf "$debs/image.tar" .
	echo "$debs/image.tar: $name, $(du -h "$debs/image.tar" | cut -f1)"
}

# try_image IMAGE BIN unpacks it again and runs a server as its user with its environment.
try_image() {
	local path group
	umoci unpack --image "$1" "$work/bundle"
	path=$(sed -n 's/.*"PATH=\([^"]*\)".*/\1/p' "$work/bundle/config.json" | head -n1)
	root=$work/bundle/rootfs
	group=$(awk -F: '$3 == 26 { print $4 }' "$root/etc/passwd")
	inside setpriv --reuid=26 --regid="$group" --clear-groups env PATH="$path" HOME=/var/lib/postgresql bash -euc '
		for program in "$@"; do command -v "$program" >/dev/null || { echo "$program is not in PATH"; exit 1; }; done
		cd
		initdb -D data/18 >/dev/null
		pg_ctl -D data/18 -w -l /tmp/log -o "-c listen_addresses=127.0.0.1" start >/dev/null ||
			{ cat /tmp/log; exit 1; }
		echo "image: $(psql -XAtd postgres -c "create extension mchar; select version()" | tail -n 1)"
		pg_ctl -D data/18 -w stop >/dev/null
		rm -r data/18 /tmp/log' image "${IMAGE_PROGRAMS[@]}" ||
		fail failure "the image does not run" "see above"
}
