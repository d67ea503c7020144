# Nothing stays but what was there before.

refused "a purge with a cluster keeps its data" sh -c '
	apt-get purge -y "plimsoll*" && [ ! -e /var/lib/postgresql/18.0/main ]'
check "... and says so" sh -c '[ -e /var/lib/postgresql/18.0/main/PG_VERSION ] && [ -e /etc/postgresql/18.0/main ]'
check "... and has stopped it" equal "$(grep -slz '/var/lib/postgresql/18[.]0/main' /proc/[0-9]*/cmdline)" ""
check "installed again, it starts on them" sh -c 'cd /debs &&
	apt-get install -y --no-install-recommends ./plimsoll*.deb &&
	{ pg_lsclusters -h 18.0 main | grep -q " online" || pg_ctlcluster 18.0 main start; }'
check "... with its data" equal "$(sql 18.0/main "select count(*) from pg_database where datname = 'whole'")" 1
check "removed as documented" documented install.md Remove
check "no package of ours is left" equal "$(dpkg-query -W -f '${Package}\n' 'plimsoll*' 2>/dev/null)" ""
check "no user either" not getent passwd plimsoll
check "no file is left, and none of others is gone" equal "$(diff /var/tmp/before <(files))" ""
check "the distribution's cluster works on" sh -c "pg_ctlcluster $OLD main start && pg_ctlcluster $OLD main stop"
