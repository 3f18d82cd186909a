# SPDX-License-Identifier: BSD-2-Clause
# dta-query -j: on any number of cores the same rows in the same order, messages,
# sums and exit status as on one.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-query-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# on_all OPTION...: by 1 to 4 cores, from a file and from a pipe, all alike.
on_all() {
	local j

	for j in 1 $(size "" "2 3") 4; do
		status_of "$@" -k keys -j "$j" >out.$j 2>err.$j
		status_of "$@" -k - -j "$j" < <(cat keys) 2>&1 >piped.$j |
			sed 's/standard input/keys/' >err.piped.$j
		cmp out.1 out.$j
		diff err.1 err.$j
		cmp out.1 piped.$j
		diff err.1 err.piped.$j
	done
	tail -n 1 out.1
}

# The rows, and the exit status behind them.
status_of() {
	local rc=0

	timeout 60 dta-query "$@" --region "$NAME-1" || rc=$?
	echo "exit $rc"
}

stored() { # workload count
	dta-gen "$1" --count "$2" --flows "$2" -q --truth truth.csv -w reports.pcap
	make_regions "$EXAMPLES/$1.ini" 1
	dta-translate -q -r reports.pcap --region "$NAME-1"
	tail -n +2 truth.csv | cut -d, -f3 >keys
}

@test "Key-Write in all formats, as sums, by a column; some are not found" {
	local format

	stored uniform 30000
	sed -n 's/tcp/udp/p' keys | head -n 5000 >>keys
	for format in csv ndjson text; do
		on_all keywrite -o $format
		[ "$(tail -n 1 out.1)" = "exit 0" ]
		[ "$(wc -l <out.1)" -gt 30000 ]
	done
	on_all keywrite -o csv --as u32 --summary
	mv truth.csv keys
	on_all keywrite -o csv
	[ "$(wc -l <out.1)" = 30002 ]
}

@test "paths and counters" {
	stored int-postcard 30000
	sort -u -o keys keys
	on_all path -o csv
	[ "$(grep -c ,found, out.1)" -gt 1000 ]
	remove_regions "$NAME"
	cat >sums.ini <<-INI
		[sums]
		kind = keyinc
		key = flow4
		slots = 64Ki
	INI
	dta-gen uniform --kind keyinc --count 20000 --flows 8000 -q -w reports.pcap
	make_regions sums.ini 1
	dta-translate -q -r reports.pcap --region "$NAME-1"
	dta-gen uniform --flows 9000 --count 9000 -q --truth truth.csv -w x.pcap
	tail -n +2 truth.csv | cut -d, -f3 >keys
	on_all count -o ndjson
	[ "$(grep -c '"found"' out.1)" -gt 7000 ]
}

@test "lines that are no keys, and that is told in their order" {
	stored uniform 20000
	sed -i '3s/^/x/; 900s/^/# /; 4000s/.*//; 7000s/$/ y/
		15000,15020s/$/ z/' keys
	on_all keywrite -o csv
	[ "$(tail -n 1 out.1)" = "exit 1" ]
	grep -q "^dta-query: keys:3: " err.1
	grep -q "23 lines are no keys; above are the first 10" err.1
	sed -i 's/$/ z/' keys # in every share
	on_all keywrite -o csv
	[ "$(wc -l <err.1)" = 11 ]
	grep -q "^dta-query: keys:10: " err.1
}

@test "nothing at all; a line that is too long; no end of a line" {
	stored uniform 20000
	cp keys good
	: >keys
	on_all keywrite -o csv
	echo key,answer >keys
	on_all keywrite -o csv
	[ "$(tail -n 1 out.1)" = "exit 3" ]
	{
		cat good
		head -c 9000 /dev/zero | tr '\0' x
		echo
		cat good
	} >keys
	on_all keywrite -o csv
	[ "$(wc -l <out.1)" = 20002 ]
	grep "keys:20001: a line longer" err.1
	{
		cat good
		head -c 300000 /dev/zero | tr '\0' x
	} >keys
	on_all keywrite -o csv
	[ "$(wc -l <out.1)" = 20002 ]
	printf %s "$(cat good)" >keys
	on_all keywrite -o csv
	[ "$(wc -l <out.1)" = 20002 ]
	{
		echo key,answer
		head -c 300000 /dev/zero | tr '\0' x
	} >keys
	on_all keywrite -o csv
	grep "keys:2: a line longer" err.1
}

@test "a snapshot with damaged blocks" {
	stored uniform 20000
	dta-collect --region "$NAME-1" --snapshot snap
	dd if=/dev/urandom of=snap bs=1 seek=100000 count=2000 conv=notrunc \
		status=none
	local j
	for j in 1 3; do
		timeout 60 dta-query keywrite --snapshot snap -k keys -o csv \
			-j $j >out.$j 2>err.$j || :
		cmp out.1 out.$j
		diff err.1 err.$j
	done
	grep -q unreadable out.1
}

@test "who asks through a pipe has answers before it ends" {
	local row="" key

	stored uniform 2000
	mkfifo in out
	env timeout --foreground 60 dta-query keywrite --region "$NAME-1" -k in \
		-o csv -j 3 >out 3>&- &
	BG_PIDS+=("$!")
	exec 9<out 8>in
	for key in $(head -n 5 keys); do
		echo "$key" >&8
		[ "$row" ] || read -r -t 60 row <&9 # the header
		read -r -t 60 row <&9
		[[ $row == "$key,found,"* ]]
	done
	exec 8>&-
	run ! read -r -t 60 row <&9
	exec 9<&-
	wait $!
}

@test "a signal while a pipe is waited for ends it" {
	stored uniform 2000
	mkfifo in
	exec 8<>in
	env timeout --foreground 60 dta-query keywrite --region "$NAME-1" -k in \
		-o csv -j 2 >out 8>&- 3>&- &
	BG_PIDS+=("$!")
	head -n 100 keys >&8
	wait_for has_lines 101
	kill -TERM "$(pgrep -P "$!")"
	wait_for run ! kill -0 "$!"
	[ "$(wc -l <out)" = 101 ]
	exec 8>&-
}

# lines N: of 32 bytes; 1024 of them are what a core takes at once.
lines() { head -n "$1" keys | awk '{ printf "%-31s\n", substr($0, 1, 31) }'; }

@test "a region that shrinks while several cores ask" {
	local rc=0 row

	printf '[switches]\nkind = keywrite\nkey = u32\nvalue = 4\nslots = 16Mi\n' >u32.ini
	dta-collect --create --layout u32.ini --region "$NAME-1" --pages small
	seq 100000 101023 >keys
	mkfifo out
	# More than they ask before the first rows are read.
	for i in {1..40}; do lines 1024; done >asked
	env timeout --foreground 60 dta-query keywrite --region "$NAME-1" -k asked \
		-o csv -j 2 >out 2>err 3>&- &
	BG_PIDS+=("$!")
	exec 9<out
	read -r -t 60 row <&9 # the rows of the first share are on their way
	[[ $row == key,answer,* ]]
	truncate -s 1M "/dev/shm/$NAME-1"
	timeout 60 cat <&9 >/dev/null
	wait "$!" || rc=$?
	[ $rc = 1 ]
	[ "$(cat err)" = "dta-query: a mapped file shrank while it was in use" ]
}

has_lines() { [ "$(wc -l <out)" = "$1" ]; }

@test "numbers of cores that cannot be" {
	run -2 dta-query keywrite --region x -k y -j 0
	run -2 --separate-stderr dta-query keywrite --region x -k y -j 33
	[[ $stderr == *"from 1 to 32"* ]]
	run -2 dta-query list --region x -j 2
	run -2 dta-query verify --region x --truth y -j 2
}

@test "rows that nobody takes: the same end as on one core" {
	stored uniform 20000
	for j in 1 2 3; do
		run -1 --separate-stderr timeout 60 bash -c 'exec "$@" >/dev/full' - \
			dta-query keywrite -k keys --region "$NAME-1" -j $j -o csv
		echo "$j: $stderr"
		[[ $stderr == *"No space left on device"* ]]
		set +o pipefail
		timeout 60 dta-query keywrite -k keys --region "$NAME-1" -j $j \
			-o csv 2>err.$j | head -n 1 >/dev/null
		[ "${PIPESTATUS[0]}" = 141 ]
		[ ! -s err.$j ]
	done
}
