# What is built of PostgreSQL: the server, and the programs for backups and dumps. Nothing in this repository calls the
# rest - ECPG, the programs for upgrades, most of contrib - and it is a third of the work. --whole builds all of it, for
# a permanent server; engine/build suite compiles and tests all of it, too.

PART_FOLDERS=(src/interfaces src/bin contrib)

declare -rA NEEDED_PARTS=(
	[src/interfaces]="libpq"
	[src/bin]="initdb pg_basebackup pg_config pg_controldata pg_ctl pg_dump pg_verifybackup pg_waldump pgbench psql"
	[contrib]="amcheck auto_explain pageinspect pg_buffercache pg_prewarm pg_stat_statements pg_visibility"\
" pg_walinspect pgstattuple"
)

# needed_parts prints what a key depends on.
needed_parts() {
	local folder
	if [[ -n $WHOLE ]]; then echo "parts all"; return; fi
	for folder in "${PART_FOLDERS[@]}"; do echo "parts $folder ${NEEDED_PARTS[$folder]}"; done
}

# leave_out_parts DIR has the makefiles of a source tree go into the needed folders alone.
leave_out_parts() {
	local folder
	[[ -z $WHOLE ]] || return 0
	for folder in "${PART_FOLDERS[@]}"; do
		[[ -e $1/$folder/Makefile ]] || continue # a test's tree has none
		sed -i "/^\$(recurse)/i SUBDIRS := ${NEEDED_PARTS[$folder]}" "$1/$folder/Makefile"
	done
}
