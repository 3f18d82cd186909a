# SPDX-License-Identifier: BSD-2-Clause
# pages.sh: tables of gigabytes want 2 MB pages. Where we may, reserve_pages
# N has so many free for the time of a run, and a hugetlbfs mounted where regions
# are looked for; give_pages_back undoes it.
pages_before= pages_mounted=

reserve_pages() {
	local pages=/proc/sys/vm/nr_hugepages want=$1
	[ "$(id -u)" = 0 ] && [ -w $pages ] || return 0
	[ "$(awk '/HugePages_Free/ { print $2 }' /proc/meminfo)" -lt "$want" ] || return 0
	pages_before=$(cat $pages)
	echo $((pages_before + want)) >$pages
	grep -q ' hugetlbfs ' /proc/mounts || {
		mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages &&
			pages_mounted=1
	} || :
}

give_pages_back() {
	[ -n "$pages_before" ] || return 0
	[ -z "$pages_mounted" ] || umount /dev/hugepages || :
	echo "$pages_before" >/proc/sys/vm/nr_hugepages
}
