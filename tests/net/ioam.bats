# SPDX-License-Identifier: BSD-2-Clause
# IOAM traces that Linux routers fill: nothing of ours stands between the source
# and the sink.

load ../helpers
load net
load chain

setup() {
	need_ioam
	need_tools ioam send recv
	cd "$BATS_TEST_TMPDIR" || exit 1
	chain_up
	ioam_on a 2 a0 11 a1 12
	ioam_on b 3 b0 21 b1 22
	# iproute2 takes wide for hexadecimal, with 0x or without
	ip -n "$NET-a" ioam namespace add 123 data 0xdeadbee1 wide 0xcafe0001
	ip -n "$NET-b" ioam namespace add 123 data 0xdeadbee2 wide 0xcafe0002
}

teardown() {
	end_bg
	chain_down
}

arrived() { # so many packets
	[ "$("$TOOLS/ioam" strip got.pcap plain.pcap 2>/dev/null &&
		packets_in plain.pcap)" -ge "$1" ]
}

# hear: what comes to the sink, UDP, to got.pcap.
hear() {
	start c recv.log "$TOOLS/recv" c0 got.pcap packet "ip6[6] == 0 or udp"
	wait_for test -s recv.log.out
}

# say COUNT TYPE NAMESPACE WORDS: the source's packets.
say() {
	"$TOOLS/ioam" source said.pcap "$1" \
		"$(on a cat /sys/class/net/a0/address)" fd00:1::1 fd00:3::2 \
		"$2" "$3" "$4"
	on s "$TOOLS/send" said.pcap s0
}

# Traces as ioam dump has them, of our packets.
traces() { "$TOOLS/ioam" dump got.pcap | grep ':80/udp'; }

# columns N...: of the traces.
columns() {
	traces | awk -v list="$*" '{
		n = split(list, c, " ")
		for (i = 1; i <= n; i++)
			printf "%s%s", $c[i], i < n ? " " : "\n" }'
}

# All of 40 packets are in the queue, but the few that its bucket lets by.
queued() { on b tc -s qdisc show dev b1 | grep -q 'backlog .* 3[0-9]p'; }

@test "routers' ids, interfaces, data and times, as they were set" {
	hear
	say 10 0xfff000 123 45
	wait_for arrived 10
	# type, namespace, node length, flags, remaining, trace type, then the
	# last router, the first one: its hop limit, short and wide
	[ "$(columns 1 2 3 4 5 6 | uniq -c)" = \
		"     10 0 123 15 0 15 16773120" ]
	[ "$(columns 7 8 9 10 | uniq -c)" = \
		"     10 62,62,63,63 3,2 21,11 22,12" ]
	[ "$(columns 14 | uniq -c)" = "     10 $((0xdeadbee2)),$((0xdeadbee1))" ]
	[ "$(columns 16 17 18 19 | uniq -c)" = \
		"     10 1048579,1048578 1048597,1048587 1048598,1048588 $((
			0xcafe0002)),$((0xcafe0001))" ]
	# what Linux cannot say: transit delay, buffer occupancy
	[ "$(columns 13 20 | uniq -c)" = \
		"     10 4294967295,4294967295 4294967295,4294967295" ]
	# no clock goes back, from router to router and packet to packet, nor is
	# a router's ahead of the capture by a microsecond, its unit
	columns 25 24 | tr , ' ' | awk '
		$2 > $1 || $1 > $3 + 1000 || $2 < last { exit 1 }
		{ last = $2; n++ }
		END { if (n != 10) exit 1 }'
	# the flow, and the packets without the traces: as they were said
	[ "$(columns 23 | head -n 1)" = "[fd00:1::1]:10000>[fd00:3::2]:80/udp" ]
	"$TOOLS/ioam" strip got.pcap plain.pcap
	"$TOOLS/ioam" strip said.pcap said-plain.pcap
	for f in plain said-plain; do
		tshark -n -r $f.pcap -Y udp -T fields -e ipv6.src -e ipv6.dst \
			-e ipv6.plen -e udp -e udp.payload 2>/dev/null >$f
	done
	[ "$(wc -l <plain)" = 10 ]
	diff plain said-plain
}

@test "a queue that grows behind a slow link is seen in the traces" {
	local length

	on b tc qdisc add dev b1 root tbf rate 8kbit burst 400 limit 1000000
	hear
	say 40 0xfff000 123 45
	wait_for queued
	on b tc qdisc change dev b1 root tbf rate 1gbit burst 40000 limit 1000000
	wait_for arrived 40
	length=$(tshark -n -r said.pcap -c 1 -T fields -e frame.len 2>/dev/null)
	# the last router's queue, bytes: each packet finds those before it
	columns 15 | awk -F, -v bytes="$length" '
		$2 != 0 || $1 % bytes { exit 1 }
		$1 < last { exit 1 }
		$1 > last { steps++ }
		{ last = $1 }
		END { if (last < 30 * bytes || steps < 30) exit 1 }'
}

@test "no room for the second router: it says so; unknown namespaces pass" {
	hear
	say 3 0xc00000 123 3
	wait_for arrived 3
	[ "$(columns 2 3 4 5 8 | uniq -c)" = "      3 123 2 8 1 2" ]
	say 3 0xc00000 124 4
	wait_for arrived 6
	[ "$(columns 2 3 4 5 8 | uniq -c | tail -n 1)" = "      3 124 2 0 4 -" ]
}

@test "opaque snapshots: of one router, of another without a schema" {
	ip -n "$NET-a" ioam schema add 777 'state of this'
	ip -n "$NET-a" ioam namespace set 123 schema 777
	hear
	say 2 0x800002 123 20
	wait_for arrived 2
	# 13 bytes are 4 words with their zeros
	[ "$(columns 3 5 8 21 22 | uniq -c)" = \
		"      2 1 12 3,2 0,4 16777215,777" ]
}

@test "int-collect at the sink: the queue's rise is an event of that router" {
	local n

	# ids as a router has them that nobody has given wide ones: all ones
	for n in a b; do
		on $n sysctl -qw "net.ipv6.ioam6_id_wide=$(((1 << 56) - 1))"
		ip -n "$NET-$n" ioam namespace del 123
		ip -n "$NET-$n" ioam namespace add 123
	done
	on a sysctl -qw net.ipv6.conf.a0.ioam6_id_wide=$((0xffffffff)) \
		net.ipv6.conf.a1.ioam6_id_wide=$((0xffffffff))
	on b sysctl -qw net.ipv6.conf.b0.ioam6_id_wide=$((0xffffffff)) \
		net.ipv6.conf.b1.ioam6_id_wide=$((0xffffffff))
	on b tc qdisc add dev b1 root tbf rate 8kbit burst 400 limit 1000000
	start c events.log int-collect -i c0 -o ndjson \
		-R event -e new_key,rise -t queue_occupancy=1000,5000,2000 \
		-w restored.pcap
	collector=$PID
	wait_for listens events.log
	say 40 0xfff000 123 45
	wait_for queued
	on b tc qdisc change dev b1 root tbf rate 1gbit burst 40000 limit 1000000
	# one rise, of the last router's egress; the path of 40 flows
	risen() { grep -q '"event":"rise"' events.log.out; }
	wait_for risen
	paths() {
		[ "$(grep -c '"metric":"path".*"path":\[2,3]' events.log.out)" = 40 ]
	}
	wait_for paths
	stop "$collector"
	[ "$(grep -c '"event":"rise"' events.log.out)" = 1 ]
	grep '"event":"rise"' events.log.out |
		grep '"metric":"queue_occupancy","node":3,"port":22,'
	balances events.log
	# and the packets go on without their traces
	"$TOOLS/ioam" dump restored.pcap >none
	[ ! -s none ]
	[ "$(tshark -n -r restored.pcap -Y udp.port==80 2>/dev/null | wc -l)" = 40 ]
}
