# SPDX-License-Identifier: BSD-2-Clause
# int-collect between two interfaces: a bump in the wire. What comes out is what
# the hosts sent, what it tells is what a capture of the same says.

load ../helpers
load net

setup() {
	need_net
	need_tools send recv
	cd "$BATS_TEST_TMPDIR" || exit 1
	net_up
}

teardown() {
	end_bg
	net_down
}

arrived() { [ "$(packets_in out.pcap 2>/dev/null)" = "$1" ]; } # count

# The bytes of all frames, and nothing that depends on their times.
bytes() {
	tshark -r "$1" -x --disable-protocol ip --disable-protocol ipv6 2>/dev/null
}

# sink OPTIONS...: between r and c.
sink() {
	start t sink.log int-collect -o ndjson -i t0 --to t1 "$@"
	SINK=$PID
	wait_for listens sink.log
}

# Events without times; and without new values of queues and links: which of
# these are told hangs on when packets come.
events() {
	jq -c 'select(.event == "new_key" or .metric == "hop_latency") |
		del(.time)' "$@"
}

# bump SOCKET_OPTION: traffic with INT in at r, and what comes out at c.
bump() {
	dta-gen int -q --flows 20 -w in.pcap
	int-collect -q -r in.pcap -R none -w want.pcap
	int-collect -q -r in.pcap -R event -o ndjson -e new_key,change --push 0 |
		events >want.events
	n=$(packets_in in.pcap)
	sink "$@" -R event -e new_key,change --push 0 # pushed values move references
	start c recv.log "$TOOLS/recv" c0 out.pcap packet
	wait_for listens recv.log.out
	RECV=$PID
	on r "$TOOLS/send" in.pcap r0 >/dev/null
	wait_for arrived "$n"
	stop "$SINK"
	stop "$RECV"
	balances sink.log
	diff want.events <(events sink.log.out)
	[ "$(bytes want.pcap | wc -l)" -gt "$n" ]
	diff <(bytes want.pcap) <(bytes out.pcap)
}

@test "by AF_PACKET" { bump; }
@test "by AF_XDP" { bump --af-xdp; }

# own OPTION: a reporter on the same machine.
own() {
	dta-gen int -q --flows 20 -F report -w in.pcap
	n=$(packets_in in.pcap)
	port=$(tshark -r in.pcap -c 1 -T fields -e udp.dstport)
	start t own.log int-collect -o ndjson -i t0 "$@"
	wait_for listens own.log
	by_socket in.pcap "$port"
	wait_for seen intake own.log "$n"
	stop "$PID"
	balances own.log
	[ "$(counter own.log reports intake)" = "$n" ]
	[ "$(counter own.log partial_checksums intake)" = "$n" ]
}

@test "reports of the same host, by AF_PACKET" { own; }
@test "reports of the same host, by AF_XDP" { own --af-xdp; }

# A bridge hands up what is for its own address or for all, and other frames
# only to those that ask for them.
bridge_up() {
	ip -n "$NET-t" link add br0 type bridge mcast_snooping 0 2>why ||
		skip "no bridges here: $(cat why)"
	ip -n "$NET-t" link set t0 master br0
	ip -n "$NET-t" link set br0 up
}

# seen STAGE LOG N: that stage has counted so many frames, asked for just now.
seen() {
	kill -USR1 "$PID"
	[ "$(counter "$2" frames "$1")" = "$3" ]
}

need_xdp() {
	int-collect -i nowhere --xdp 2>probe || :
	! grep -q "not built in" probe || skip "$(cat probe)"
}

# mirror STAGE SOCKET_OPTION: frames for somebody else, and one for all.
mirror() {
	local n

	bridge_up
	dta-gen int -q --flows 5 -c 40 -w in.pcap
	n=$(packets_in in.pcap)
	[ "$n" -ge 40 ]
	echo '0 ff ff ff ff ff ff 02 00 00 00 00 01 88 b5' |
		text2pcap -q - for-all.pcap
	start t own.log int-collect -i br0 "${@:2}" -o ndjson
	wait_for grep -q 'AF_PACKET\|XDP' own.log
	on r "$TOOLS/send" in.pcap r0 >sent
	on r "$TOOLS/send" for-all.pcap r0 >sent # behind the others
	wait_for seen "$1" own.log 1
	stop "$PID"
	start t all.log int-collect -i br0 "${@:2}" -o ndjson --promiscuous
	wait_for grep -q 'AF_PACKET\|XDP' all.log
	on r "$TOOLS/send" in.pcap r0 >sent
	wait_for seen "$1" all.log "$n"
	stop "$PID"
}

@test "frames for others: --promiscuous, by AF_PACKET" { mirror intake; }
@test "AF_XDP on what has none in its driver is refused" {
	bridge_up
	run -1 --separate-stderr on t timeout --foreground 60 \
		int-collect -i br0 --af-xdp
	[[ $stderr == *"br0: AF_XDP: its driver has none: use AF_PACKET"* ]]
}
@test "frames for others: --promiscuous, in the kernel" {
	need_xdp
	mirror xdp --xdp
}

@test "silent flows expire, and live values are told, by the clock" {
	dta-gen int -q --flows 5 -c 20 -F report -w in.pcap --truth truth.csv
	flows=$(sed 1d truth.csv | cut -d, -f3 | sort -u | wc -l)
	gone() { [ "$(grep -c '"reason":"expired"' sink.log.out)" = "$flows" ]; }
	sink -R value,flow --push 300ms --flow-idle 600ms
	on r "$TOOLS/send" in.pcap r0 >/dev/null
	wait_for gone
	grep -q '"metric":"flow_latency"' sink.log.out
	stop "$SINK"
	[ "$(counter sink.log flushed)" = 0 ]
	[ "$(counter sink.log expired)" = "$flows" ]
}

# The examples of int-collect(1) that need an interface, one a line.
live_examples() {
	awk '/^\.Sh / { inside = $2 == "EXAMPLES" }
		inside && (/^# int-collect / || more) {
			sub(/^# /, "")
			more = sub(/\\e$/, "")
			printf "%s%s", $0, more ? " " : "\n"
		}' "$TOP/man/int-collect.1"
}

@test "int-collect(1): the examples on interfaces" {
	local line n=0

	need_xdp
	dta-gen int -q --flows 5 -c 200 -w in.pcap
	live_examples >examples
	[ "$(wc -l <examples)" -ge 4 ]
	while read -r line <&9; do
		line=$(sed -E 's/\beth1\b/t0/g; s/\beth2\b/t1/g
			s|/var/spool/int|spool|; s/[a-z]+\.example/127.0.0.1/
			s/[a-z]+\.example/127.0.0.1/; s/[a-z]+\.example/127.0.0.1/
			s/ -q / /; s/--top/--every 60s &/
			/--xdp| udp /s/^int-collect/timeout --preserve-status -s INT 2 &/
			/--xdp| udp /!s/^int-collect/& -c 200/' <<<"$line")
		echo "$line"
		start t "example$n.log" env timeout --foreground 60 bash -c "$line"
		wait_for grep -q 'AF_PACKET\|XDP' "example$n.log"
		on r "$TOOLS/send" in.pcap r0 >sent
		wait "$PID"
		n=$((n + 1))
	done 9<examples
	[ "$(grep -c '"event":"new_key"' rows)" -gt 20 ] # from one to another
	grep -q QUEUE *.log.out				 # the table
}
