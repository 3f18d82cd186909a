# SPDX-License-Identifier: BSD-2-Clause
# INT's comparisons in the kernel: int-collect --xdp on an interface tells what
# int-collect tells of the same packets in a capture.

load ../helpers
load net

setup() {
	need_net
	need_tools send mangle
	cd "$BATS_TEST_TMPDIR" || exit 1
	int-collect -i nowhere --xdp 2>probe || :
	! grep -q "not built in" probe || skip "$(cat probe)"
	net_up
}

teardown() {
	end_bg
	net_down
}

# No values by the way: they come when it is time, not by packets.
OPTIONS=(-o ndjson --push 0)

compares() { grep -q "XDP native\|XDP generic" "$1"; } # log

# collect LOG OPTIONS...: on t0, in the background.
collect() {
	local log=$1

	shift
	: >"$log"
	start t "$log" int-collect -i t0 --xdp "${OPTIONS[@]}" "$@"
	wait_for compares "$log"
}

send() { on r "$TOOLS/send" "$1" r0 >sent; } # capture

# has_counted STAGE COUNTER N PID LOG: by the ledger, asked for just now.
has_counted() {
	local lines

	lines=$(wc -l <"$5")
	kill -USR1 "$4"
	wait_for grew "$5" "$lines"
	[ "$(grep '^{' "$5" | jq -s "map(select(.stage == \"$1\" and
		.counter == \"$2\")) | last.value")" = "$3" ]
}

grew() { [ "$(wc -l <"$1")" -gt "$2" ]; }

last_of() { # log counter of the stage xdp
	grep '^{' "$1" | jq -s "map(select(.stage == \"xdp\" and
		.counter == \"$2\")) | last.value"
}

packets() { capinfos -cMTr "$1" | awk '{ print $NF }'; }

# Events and flows without times, which differ: in an order of their own.
# A reporter's losses are added up: what it was silent behind for a second, as a
# busy machine may be, is told in two parts. The kernel tells a flow's latency
# without its path.
events() {
	jq -sc 'map(select(.event) | del(.time) |
			if .metric == "flow_latency" then del(.path) else . end) |
		(map(select(.event != "report_loss")) | .[]),
		(map(select(.event == "report_loss")) |
			group_by([.node, .hw_id]) | map(.[0] +
			{value: map(.value) | add, reference: null}) | .[])' \
		"$1" | sort
}
flows() {
	jq -c 'select(.reason) | del(.time, .first, .last, .flow_latency,
		.flow_latency_mean, .flow_latency_max)' "$1" | sort
}

# Flows of which packets came both ways have two rows.
flow_sums() {
	flows "$1" | jq -sc 'group_by(.flow) | map({flow: .[0].flow,
		packets: map(.packets) | add, bytes: map(.bytes) | add}) | .[]'
}

# both CAPTURE OPTIONS...: events and flows are those of the capture.
both() {
	local capture=$1

	shift
	collect x.log -R event,flow "$@"
	send "$capture"
	wait_for has_counted xdp frames "$(packets "$capture")" "$PID" x.log
	stop "$PID"
	balances x.log
	int-collect -q -r "$capture" -R event,flow "${OPTIONS[@]}" "$@" >u.out
	events x.log.out >x.events
	events u.out >u.events
	test -s u.events
	diff x.events u.events
	diff <(flow_sums x.log.out) <(flow_sums u.out)
}

# same CAPTURE WHERE OPTIONS...: and all of its packets are counted as WHERE.
same() {
	local capture=$1 where=$2

	shift 2
	both "$capture" "$@"
	[ "$(last_of x.log "$where")" = "$(packets "$capture")" ]
	diff <(flows x.log.out) <(flows u.out)
}

# made OPTIONS...: a capture of some flows, values that change.
made() { dta-gen int -q --flows 40 -c 1500 -w "${INTO:-m.pcap}" "$@"; }

@test "packets of INT-MD 1.0 and 2.1: the events of the same capture" {
	for version in 1.0 2.1; do
		made -p $version
		same m.pcap taken -p $version
	done
}

# bats test_tags=full
@test "1, 6 and 8 hops; more come up" {
	for hops in 1 6 8; do
		made -p 2.1 --hops $hops --instructions 0xe500
		same m.pcap taken -p 2.1
	done
	made -p 2.1 --hops 9
	same m.pcap whole -p 2.1
}

@test "reports 1.0 and 2.0" {
	for version in 1.0 2.1; do
		made -p $version -F report
		same m.pcap taken -p $version
	done
}

# bats test_tags=full
@test "reports that are lost or late, or are numbered anew" {
	for version in 1.0 2.1; do
		INTO=- made -p $version -F report --loss 3 |
			"$TOOLS/mangle" -s 1 -r 0.05 >m.pcap 2>/dev/null
		INTO=n.pcap made -p $version -F report \
			--over vxlan
		mergecap -a -w all.pcapng m.pcap n.pcap m.pcap
		both all.pcapng -e report_loss,restart
		grep -q '"event":"report_loss"' u.events
		grep -q '"event":"restart"' u.events
		[ "$(last_of x.log whole)" = 1500 ]
	done
}

# All frames that came up have been taken.
settled() {
	has_counted intake frames $(($(last_of x.log whole) +
		$(last_of x.log copied))) "$PID" x.log
}

# bats test_tags=full
@test "in UDP by its port, and by a new header; IPv6" {
	made -p 2.1 --over udp
	same m.pcap taken -p any
	made -p 2.1 --over new-udp
	same m.pcap taken -p any
	made -p 1.0 --ipv6 100
	same m.pcap taken -p any
}

# bats test_tags=full
@test "what the kernel does not know comes up as it is" {
	for over in vxlan geneve gre; do
		made -p 2.1 --over $over
		same m.pcap copied -p 2.1
	done
	made -F ioam
	same m.pcap copied
	made -p 0.5
	same m.pcap copied -p 0.5
	made -p 0.5 -F report
	same m.pcap whole -p 0.5
	dta-gen int -q -F xd --flows 40 -c 300 -w m.pcap
	same m.pcap whole
	# whatever their DSCP is
	printf '[profile]\nlike = 2.1\ndscp = 0/0\n' >dscp.ini
	made -p 2.1
	dta-gen int -q -F mx --flows 40 -c 300 -w mx.pcap
	mergecap -a -w all.pcapng m.pcap mx.pcap
	both all.pcapng -p dscp.ini
	[ "$(last_of x.log copied)" = 300 ]
	# E: hops are missing; a drop
	hex 0200000000020200000000010800 45280047123440003d1117480a0000010a000002 \
		157d100000330000 14071f90 24000206 90000000 00000000 \
		0000000207000064000000010500000a 48656c6c6f2c20494e5421
	same m.pcap whole -p 2.1
	hex 0200000000020200000000010800 4500005400010000401166940a0000030a000002 \
		c0ded43100400000 16310102 0000000a 00000007 00000001 00010002 \
		053d0000 45000020123400004011 0000 0a0000010a000002 \
		03e80050000c0000 01020304
	same m.pcap whole -p 2.1
	grep -q '"event":"drop"' x.events
}

# hex BYTES...: a frame, m.pcap
hex() {
	tr -d ' ' <<<"$*" | sed 's/../ &/g; s/^/0000/' |
		text2pcap -q -F pcap - m.pcap
}

# bats test_tags=full
@test "thresholds: of one node, of all, crossings" {
	made -p 2.1 --hops 6
	same m.pcap taken -p 2.1 -t hop_latency=5us,20us,10us \
		-t queue_occupancy=off,150,100 -t link_utilization=10 \
		-t queue_occupancy@3=5 -t hop_latency@4=off
	grep -q '"event":"rise"' u.events
	grep -q '"event":"fall"' u.events
}

@test "a path that changes, and back: nothing of its nodes is forgotten" {
	made -p 2.1 --hops 3
	INTO=n.pcap made -p 2.1 --hops 5
	mergecap -a -w all.pcapng m.pcap n.pcap m.pcap
	same all.pcapng taken -p 2.1
	grep -q '"event":"path_change"' u.events
}

# bats test_tags=full
@test "no telemetry is the host's" {
	dta-gen uniform -q -c 100 -w k.pcap
	collect x.log
	send k.pcap
	wait_for has_counted xdp frames 100 "$PID" x.log
	stop "$PID"
	[ "$(last_of x.log passed)" = 100 ]
	run ! grep -q event x.log.out
}

# Both ways on interfaces: as they are here after the first packets of which
# there are rows, other thresholds, and the packets once more.
reread() { # log options
	local log=$1 n

	shift
	echo "hop_latency = 10us" >th
	start t "$log" int-collect -i t0 "${OPTIONS[@]}" -R event -p 2.1 \
		-t ./th "$@"
	wait_for grep -q "XDP\|AF_PACKET" "$log"
	n=$(packets m.pcap)
	send m.pcap
	wait_for has_counted "$STAGE" frames "$n" "$PID" "$log"
	echo "hop_latency = 3us
queue_occupancy@11 = 500" >th
	kill -HUP "$PID"
	wait_for grep -q "thresholds read again" "$log"
	send m.pcap
	wait_for has_counted "$STAGE" frames $((2 * n)) "$PID" "$log"
	stop "$PID"
	events "$log.out" >"$log.events"
}

@test "SIGHUP: other thresholds, and nothing is forgotten" {
	made -p 2.1
	STAGE=xdp reread x.log --xdp
	STAGE=intake reread u.log
	test -s u.log.events
	diff x.log.events u.log.events
	[ "$(grep -c new_key x.log.events)" -lt \
		"$(wc -l <x.log.events)" ]
}

# bats test_tags=full
@test "values of live keys, so often: what was told, and not as events" {
	dta-gen int -q -p 2.1 --flows 5 -c 100 --spikes 1 -w m.pcap
	OPTIONS=(-o ndjson --push 200ms)
	collect x.log -p 2.1
	send m.pcap
	again() {
		send m.pcap
		grep -q '"metric":"hop_latency".*"value":' <(
			jq -c 'select(has("event") | not)' x.log.out)
	}
	wait_for again
	stop "$PID"
	[ "$(events x.log.out | grep -c new_key)" = \
		"$(events x.log.out | grep new_key | sort -u | wc -l)" ]
	jq -c 'select((has("event") | not) and .metric == "path")' x.log.out |
		grep -q '"path":\['
}

# bats test_tags=full
@test "a ring that nobody reads: what it cost is counted, and told later" {
	dta-gen int -q -p 2.1 --flows 5000 -c 60000 -w m.pcap
	collect x.log -p 2.1 -R event
	kill -STOP "$PID"
	send m.pcap
	kill -CONT "$PID"
	wait_for has_counted xdp frames 60000 "$PID" x.log
	stop "$PID"
	balances x.log
	[ "$(last_of x.log taken)" = 60000 ]
	[ "$(last_of x.log delayed)" -gt 0 ]
	# each event that had room is a row or, of one value, several
	[ "$(events x.log.out | grep -vc '"rise"\|"fall"')" = \
		"$(last_of x.log events)" ]
}

# bats test_tags=full
@test "a ring that nobody reads: reports whose numbers had no room are lost ones" {
	dta-gen int -q -F xd --flows 5000 -c 70000 -w m.pcap
	editcap -r m.pcap first.pcap 1-60000
	editcap m.pcap rest.pcap 1-60000 # too many, too
	collect x.log -p 2.1 -R event
	kill -STOP "$PID"
	send first.pcap
	kill -CONT "$PID"
	wait_for has_counted xdp frames 60000 "$PID" x.log
	wait_for settled
	send rest.pcap
	stop "$PID"
	balances x.log
	[ "$(last_of x.log lost)" -gt 0 ]
	grep -q report_loss x.log.out
}

# What the kernel's maps take but for flows, and the program but for those maps.
memory() { # pid; in kB
	{
		awk '/^max_entries/ { of_flows = $2 == 131072 }
			/^memlock/ && !of_flows { print $2 / 1024 }' \
			<(cat /proc/"$1"/fdinfo/*)
		awk '/bpf-map/ { map = 1 } /^Rss/ && map { print -$2; map = 0 }
			' /proc/"$1"/smaps
		awk '/^VmHWM/ { print $2 }' /proc/"$1"/status
	} | awk '{ sum += $1 } END { print int(sum) }'
}

# bats test_tags=full
@test "all but flows takes less than 64 MB; a processor may have all objects" {
	dta-gen int -q -p 2.1 --instructions 0xff80 --hops 6 \
		--nodes 4000 --flows 20K -c 20K -w m.pcap
	INTO=v.pcap made -p 2.1 --over vxlan --instructions 0xf900 --hops 5 \
		--nodes 5000 --flows 60K -c 60K
	OPTIONS=(-o ndjson --push 0 --flows 12)
	collect x.log -p 2.1 -R event
	send m.pcap
	wait_for has_counted xdp frames 20000 "$PID" x.log
	[ "$(last_of x.log taken)" = 20000 ]
	[ "$(last_of x.log unplaced)" = 0 ]
	send v.pcap # fills what is for frames that come up
	wait_for has_counted xdp frames 80000 "$PID" x.log
	wait_for settled
	[[ $BUILD == *-san ]] || [ "$(memory "$PID")" -lt $((64000000 / 1024)) ]
	stop "$PID"
	int-collect -q -r m.pcap -p 2.1 -R event "${OPTIONS[@]}" >u.out
	[ "$(jq -c 'select(.event == "new_key" and .flow == null) | [.metric,
		.node, .port, .queue, .buffer]' u.out | sort -u | wc -l)" -gt 30000 ]
}

# bats test_tags=full
@test "what is in the ring at the end is read" {
	dta-gen int -q -p 2.1 --over vxlan --flows 40 -c 3000 -w m.pcap
	collect x.log -p 2.1 -R event
	kill -STOP "$PID"
	send m.pcap
	there() {
		[ "$(on t cat /sys/class/net/t0/statistics/rx_packets)" -ge 3000 ]
	}
	wait_for there
	kill -TERM "$PID"
	kill -CONT "$PID"
	wait "$PID"
	[ "$(last_of x.log copied)" = 3000 ]
	[ "$(counter x.log frames intake)" = 3000 ]
	int-collect -q -r m.pcap -p 2.1 -R event "${OPTIONS[@]}" >u.out
	diff <(events x.log.out) <(events u.out)
}

# bats test_tags=full
@test "frames that find no room in the ring are counted as lost" {
	dta-gen int -q -p 2.1 --over vxlan --flows 5000 -c 60000 -w m.pcap
	collect x.log -p 2.1 -R none
	kill -STOP "$PID"
	send m.pcap
	kill -CONT "$PID"
	wait_for has_counted xdp frames 60000 "$PID" x.log
	stop "$PID"
	balances x.log
	[ "$(last_of x.log lost)" -gt 0 ]
	[ $(($(last_of x.log lost) + $(last_of x.log copied))) = 60000 ]
	[ "$(counter x.log packets)" = "$(last_of x.log copied)" ]
	grep -q '"kernel_drops".*"value":'"$(last_of x.log lost)" x.log
}

# bats test_tags=full
@test "a driver without XDP: generic, which it says" {
	on t ip link set lo up
	start t x.log int-collect -i lo --xdp
	wait_for grep -q "int-collect: lo: XDP generic$" x.log
	stop "$PID"
}

@test "another program has the interface: that is said" {
	collect x.log
	run -1 on t int-collect -i t0 --xdp
	[[ $output == *"another XDP program has it"* ]]
}

# bats test_tags=full
@test "what takes all packets is refused" {
	run -2 int-collect -i t0 --xdp -w x.pcap
	[[ $output == *"most packets stay in the kernel"* ]]
	run -2 int-collect -i t0 --xdp -R hop
	[[ $output == *"which stay in the kernel"* ]]
	run -2 int-collect -i t0 --xdp udp
	[[ $output == *"no filter in the kernel"* ]]
	run -2 int-collect -i t0 --xdp --af-xdp
	run -2 int-collect -r x.pcap --xdp
}
