# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# int-collect -j: on any number of cores the same rows, up to their order, and
# the same ledgers.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
}

# on_all OPTION...: on one core and four, at full size on each of 1 to 4, all
# alike. Rows are in rows.1, sorted, ledgers in ledger.1.
on_all() {
	local j

	for j in 1 $(size "" "2 3") 4; do
		timeout 600 int-collect -R all "$@" -j "$j" -o ndjson >out.$j \
			2>ledger.$j
		sort out.$j >rows.$j
		cmp rows.1 rows.$j
		diff ledger.1 ledger.$j
	done
	balances ledger.4
	[ "$(counter ledger.4 views)" -gt 0 ]
}

# rows_of TEXT: how many rows have it.
rows_of() { grep -c "$1" rows.1; }

@test "packets and reports of every version: on 1 to 4 cores the same" {
	local v

	for v in 0.5 1.0 2.0 2.1; do
		dta-gen int -q -p $v -c 20000 --flows 700 -w md.pcap
		on_all -r md.pcap -p $v
		[ "$(rows_of '"int_flow"')" -gt 500 ]
		dta-gen int -q -F report -p $v -c 20000 --flows 700 -w report.pcap
		on_all -r report.pcap -p $v
		[ "$(rows_of '"int_hop"')" -gt 500 ]
	done
	dta-gen int -q -F ioam -c 20000 --flows 700 --ipv6 50 -w ioam.pcap
	on_all -r ioam.pcap
	dta-gen int -q -F xd -c 20000 --flows 700 -w xd.pcap
	on_all -r xd.pcap
}

@test "IOAM with snapshots: on 1 to 4 cores the same" {
	dta-gen int -q -F ioam -c 20000 --flows 700 --ipv6 50 --instructions 0xf20002 \
		-w ioam.pcap
	on_all -r ioam.pcap
	[ "$(rows_of '"int_snapshot"')" -gt 10 ]
	[ "$(counter ledger.4 snapshots)" -gt 10000 ]
}

# bats test_tags=full
@test "small caches: the same flows leave, at the same times" {
	dta-gen int -q -c 60000 --flows 3000 --rate 20000 -w int.pcap
	on_all -r int.pcap --flows 150
	[ "$(counter ledger.4 evicted)" -gt 10000 ]
	on_all -r int.pcap --flows 1
	on_all -r int.pcap --flows 8400 --flow-idle 30ms --push 70ms
	[ "$(counter ledger.4 expired)" -gt 1000 ]
	[ "$(counter ledger.4 pushed)" -gt 1000 ]
}

@test "more hops, paths and switches than there is room for: all is counted" {
	local j

	dta-gen int -q --flows 20000 --hops 9 --nodes 5000 -c 60000 -w int.pcap
	# Which of them have the last places is not the same.
	for j in 1 4; do
		timeout 600 int-collect -R all -r int.pcap -j $j \
			-o ndjson >out.$j 2>ledger.$j
		balances ledger.$j
		for room in forgotten unplaced undistributed; do
			[ "$(counter ledger.$j $room)" -gt 100 ]
		done
	done
	for n in views used hops created; do
		[ "$(counter ledger.1 $n)" = "$(counter ledger.4 $n)" ]
	done
}

@test "real traffic, with telemetry in it: on 1 to 4 cores the same" {
	local real=${TRACES:-$TOP/../shared/traces}/real-mix.pcap

	[ -r "$real" ] || skip "no $real"
	dta-gen int -q --from "$real" -w md.pcap
	on_all -r md.pcap --flows 1200
	dta-gen int -q -F report --from "$real" --loss 1 -w report.pcap
	on_all -r report.pcap
}

@test "a filter, metrics from end to end; other bitmaps in each packet" {
	dta-gen int -q -c 30000 --flows 700 -w int.pcap
	on_all -r int.pcap -f 'hop.latency > 3us' -t flow_queue_occupancy=10
	[ "$(counter ledger.4 others)" -gt 1000 ]
	for i in {1..300}; do
		dta-gen int -q -c 30 --flows 30 -s "$i" -w $i.pcap \
			--instructions "$(printf '0x%x' $((0x8000 | i * 81 & 0x7f80)))"
	done
	mergecap -F nsecpcap -w many.pcap {1..300}.pcap
	on_all -r many.pcap
}

@test "DTA reports are the same" {
	local j

	dta-gen int -q -c 30000 --flows 700 -w md.pcap
	dta-gen int -q -F ioam -c 5000 -w ioam.pcap
	dta-gen int-path -q --count 5000 -w others.pcap
	mergecap -F nsecpcap -w all.pcap md.pcap ioam.pcap others.pcap
	for j in 1 $(size "" "2 3") 4; do
		timeout 600 int-collect -r all.pcap -R none --dta dta.$j \
			-j $j -o ndjson 2>ledger.$j
		[ "$(packets_in dta.1)" = "$(packets_in dta.$j)" ]
		diff ledger.1 ledger.$j
	done
	[ "$(packets_in dta.4)" -gt 1000 ]
}

@test "-c, a pipe, gzip, a capture that is cut" {
	dta-gen int -q -c 30000 --flows 700 -w int.pcap
	on_all -r int.pcap -c 12345
	[ "$(counter ledger.4 frames)" = 12345 ]
	cp rows.1 some
	gzip -k int.pcap
	on_all -r int.pcap.gz -c 12345
	cmp some rows.1
	for j in 1 $(size "" "2 3") 4; do
		dd if=int.pcap bs=777 status=none |
			timeout 600 int-collect -q -R flow,event -r - -j $j -o ndjson |
			sort >piped.$j
		cmp piped.1 piped.$j
	done
	[ "$(wc -l <piped.4)" -gt 1000 ]
	head -c 2000000 int.pcap >cut.pcap
	for j in 1 3; do
		run -1 --separate-stderr timeout 600 int-collect -q -R flow -r cut.pcap -j $j
		sort <<<"$output" >cut.$j
		[[ $stderr == *"ends inside a record"* ]]
	done
	cmp cut.1 cut.3
}

@test "a pipe that falls silent: rows come; SIGUSR1, SIGHUP, SIGTERM" {
	local pid n

	dta-gen int -q -c 3000 --flows 200 -w int.pcap
	n=$(int-collect -q -r int.pcap -R event -o ndjson -t hop_latency=0 | wc -l)
	echo 'hop_latency = 0' >th.ini
	mkfifo pipe
	bg env timeout --foreground 60 int-collect -r pipe -R none -o ndjson \
		-t th.ini -x file:rows -j 3
	exec 7>pipe
	cat int.pcap >&7
	wait_for has_events rows "$n"
	pid=$(pgrep -P "${BG_PIDS[0]}")
	wait_for took "$pid" 3000
	balances bg.log
	echo 'hop_latency = off' >th.ini
	kill -HUP "$pid"
	wait_for grep -q "thresholds read again" bg.log
	tail -c +25 int.pcap >&7
	wait_for took "$pid" 6000
	# No key is new the second time, no latency of a hop changes.
	grep '"int_event"' rows | tail -n +$((n + 1)) >after
	run ! grep -E '"event":"(new_key|change)","metric":"(hop_latency|path)' after
	kill -TERM "$pid"
	wait_for run ! kill -0 "${BG_PIDS[0]}"
	exec 7>&-
	balances bg.log
}

has_events() { # FILE N
	[ "$(grep -c '"int_event"' "$1")" = "$2" ]
}

# took PID N: the program has taken so many frames.
took() {
	kill -USR1 "$1"
	sleep 0.05
	[ "$(counter bg.log frames)" = "$2" ]
}

@test "a full disk, a reader who goes: as on one core" {
	local j

	dta-gen int -q -c 50000 --flows 3000 -w int.pcap
	for j in 1 2 3; do
		run -1 --separate-stderr timeout 60 bash -c 'exec "$@" >/dev/full' - \
			int-collect -q -r int.pcap -j $j
		[[ $stderr == *"No space left"* ]]
		set +o pipefail
		timeout 600 int-collect -q -r int.pcap -j $j 2>err | head -n 1 >one
		[ "${PIPESTATUS[0]}" = 141 ]
		[ ! -s err ]
		[ -s one ]
	done
}

@test "reports that are lost, late and refused" {
	need_tools mangle
	dta-gen int -q -F report -c 50000 --flows 400 --loss 2 -w - |
		"$TOOLS/mangle" -s 1 -r 0.03 >report.pcap 2>/dev/null
	on_all -r report.pcap
	[ "$(counter ledger.4 reports_lost)" -gt 500 ]
	[ "$(counter ledger.4 reports_late)" -gt 0 ]
}

@test "cores share the room for flows: more of them reserve no more of it" {
	[[ $BUILD != *san ]] || skip "sanitizers reserve more than any limit"
	dta-gen int -q -c 3000 --flows 100 -w int.pcap
	# 4.2 GiB of flows, as the page says, in all; and once in the whole.
	(ulimit -v 14000000 && timeout 600 int-collect -q -R none -r int.pcap -j 4)
}

@test "what -j cannot be" {
	run -2 int-collect -r x -j 0
	run -2 --separate-stderr int-collect -r x -j 33
	[[ $stderr == *"from 1 to 32"* ]]
	for alone in "-i lo --xdp" "-r x -w y" "-r x --to lo" "-r x --top flows"; do
		run -2 --separate-stderr int-collect $alone -j 2
		[[ $stderr == *"-j"* ]]
	done
}
