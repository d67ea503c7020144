# Whether tests should keep their servers in memory.

# in_memory: is there plenty of memory, and room in /dev/shm, where programs may run? The conditions are those of the Go
# tests (ground/postgres/cluster/clustertest).
in_memory() {
	local machine_kb free_kb options
	read -r _ machine_kb _ </proc/meminfo
	free_kb=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $6 == "/dev/shm" { print $4 }')
	options=$(awk '$2 == "/dev/shm" { print $4 }' /proc/mounts)
	((machine_kb >= 8 << 20 && ${free_kb:-0} >= 4 << 20)) && [[ ,$options, != *,noexec,* ]]
}
