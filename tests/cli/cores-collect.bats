# SPDX-License-Identifier: BSD-2-Clause
# dta-collect -j: the software responder leaves on any number of cores the same
# memory, ledger and answers as on one.

load ../helpers
load ../wire

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-respond-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

# requests LAYOUT OPTION...: reports.pcap as requests.pcap, for regions that are
# made so.
requests() {
	local layout=$1

	shift
	remove_regions "$NAME"
	make_regions "$layout" 1
	dta-collect --region "$NAME-1" --ticket ticket
	dta-translate -q -r reports.pcap --ticket ticket -w requests.pcap "$@"
	remove_regions "$NAME"
	make_regions "$layout" 1 2 3 4
}

# on_all OPTION...: each of 1 to 4 cores, all alike.
on_all() {
	local j

	for j in 1 2 3 4; do
		timeout 60 dta-collect "$@" --region "$NAME-$j" -j "$j" -o ndjson \
			2>ledger.$j
		sed -i "s/$NAME-$j/region/" ledger.$j
		same_memory "$NAME-1" "$NAME-$j"
		diff ledger.1 ledger.$j
	done
	balances ledger.4
	[ "$(counter ledger.4 executed)" -gt 0 ]
}

# Real traffic as reports of a workload, as requests; without answers, with.
real() { # workload
	local real=${TRACES:-$TOP/../shared/traces}/real-mix.pcap j

	[ -r "$real" ] || skip "no $real"
	dta-gen "$1" --from "$real" -q -w reports.pcap
	requests "$EXAMPLES/$1.ini"
	on_all -r requests.pcap
	requests "$EXAMPLES/$1.ini" --ack-every 3
	for j in 1 2 3 4; do
		timeout 60 dta-collect -q -r requests.pcap --region "$NAME-$j" \
			-j $j -w answers.$j
		same_memory "$NAME-1" "$NAME-$j"
		cmp answers.1 answers.$j
	done
	[ "$(packets_in answers.4)" -gt 10 ]
}

@test "int-path, real traffic: on 1 to 4 cores the same" { real int-path; }
@test "int-postcard, real traffic: on 1 to 4 cores the same" { real int-postcard; }
@test "int-congestion, real traffic: on 1 to 4 cores the same" { real int-congestion; }
@test "marple-hosts-sum, real traffic: on 1 to 4 cores the same" { real marple-hosts-sum; }

@test "few keys, immediates; packets lost, twice, and by gzip" {
	dta-gen uniform --flows 50 --count 30000 --copies 4 --immediate -q -w some.pcap
	dta-gen uniform --flows 3000 --count 30000 --seed 2 -q -w others.pcap
	mergecap -F nsecpcap -a -w reports.pcap some.pcap others.pcap
	requests "$EXAMPLES/uniform.ini"
	on_all -r requests.pcap
	gzip requests.pcap
	on_all -r requests.pcap.gz
	gunzip requests.pcap.gz
	# One lost: all behind it are out of order. Others come again.
	editcap -F nsecpcap requests.pcap lost.pcap 100000
	mergecap -F nsecpcap -a -w twice.pcap some.pcap requests.pcap lost.pcap
	on_all -r twice.pcap
	[ "$(counter ledger.4 duplicate)" -gt 50000 ]
	on_all -r lost.pcap --receives 1000
	[ "$(counter ledger.4 rnr)" -gt 0 ]
}

@test "a pipe; -c; DART" {
	local j

	dta-gen uniform --flows 900 --count 30000 -q -w reports.pcap
	requests "$EXAMPLES/uniform.ini" --dart
	on_all -r requests.pcap
	on_all -r requests.pcap -c 12345
	[ "$(counter ledger.4 received)" = 12345 ]
	for j in 1 2 3 4; do
		dd if=requests.pcap bs=777 status=none |
			timeout 60 dta-collect -q -r - --region "$NAME-$j" -j $j
		same_memory "$NAME-1" "$NAME-$j"
	done
}

@test "live: the memory; queue pairs that are made anew, on three cores" {
	local pid

	dta-gen uniform --count 20000 -q -w reports.pcap
	make_regions "$EXAMPLES/uniform.ini" 1
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --epochs 2 \
		--region "$NAME-3"
	dta-translate -q -r reports.pcap --region "$NAME-1"
	wire_up c0:t0
	bg ip netns exec "$WIRE" timeout --foreground 60 \
		dta-collect -i c0 --no-xdp -j 3 \
		--region "$NAME-3" --ticket ticket -o ndjson
	wait_for test -s ticket
	wait_for grep -q "AF_PACKET" bg.log
	pid=$(pgrep -P "${BG_PIDS[0]}")
	on_wire timeout --foreground 60 dta-translate -q -r reports.pcap \
		--ticket ticket --to t0 --no-xdp
	same_memory "$NAME-1" "$NAME-3"
	kill -USR1 "$pid"
	wait_for balances bg.log
	[ "$(counter bg.log executed)" -ge 20000 ]
	# In a new epoch, and with queue pairs that are made anew.
	dta-collect --region "$NAME-3" --rotate
	kill -HUP "$pid"
	wait_for grep -q SIGHUP bg.log
	on_wire timeout --foreground 60 dta-translate -q -r reports.pcap \
		--ticket ticket --to t0 --no-xdp
	# The same, but for the epoch's number.
	diff <(dta-dump digest "$NAME-1" -o csv | cut -d, -f1,4-) \
		<(dta-dump digest "$NAME-3" -o csv | cut -d, -f1,4-)
	kill -TERM "$pid"
	wait_for run ! kill -0 "${BG_PIDS[0]}"
	balances bg.log
}

@test "a number of cores that cannot be" {
	run -2 dta-collect -r x --region y -j 0
	run -2 --separate-stderr dta-collect -r x --region y -j 33
	[[ $stderr == *"from 1 to 32"* ]]
	run -2 dta-collect --region y --rotate -j 2
}
