# SPDX-License-Identifier: BSD-2-Clause
# INT-label live on the network of its paper: 4 spine switches
# (0 to 3), 4 leaf (4 to 7) and 4 ToR switches (8 to 11), each a BMv2 with
# int_label, and 8 hosts, of which the first and the last send to all others along
# 14 routes over 25 ports. The ToR switches take labels out and tell them to the
# controller by their ports 5.
#
# Nothing here depends on how fast the machine is: what has to come is waited for.

load ../helpers
load ../net/net
load p4

# The first hop of each is that of the ToR switch of the sender.
ROUTES=("8-4" "8-1 4-4 9-3" "8-2 5-4 9-4" "8-1 4-1 0-2 6-3 10-3"
	"8-1 4-1 0-2 6-3 10-4" "8-2 5-1 2-2 7-4 11-3" "8-2 5-2 3-2 7-4 11-4"
	"11-2 7-2 3-1 5-3 8-3" "11-2 7-2 3-1 5-3 8-4" "11-2 7-2 3-1 5-4 9-3"
	"11-2 7-2 3-1 5-4 9-4" "11-1 6-3 10-3" "11-1 6-3 10-4" "11-3")
PORTS=25
# On the line between 5-2 and 3-1 labels are lost: of these ports none come then.
LINE="3-1 5-2 7-2 11-2"

setup() {
	need_p4 int_label
	need_tools wan
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	local n

	end_bg
	for n in t h{1..8}; do
		ip netns del "$NET-$n" 2>/dev/null || :
	done
}

host_ip() { # 1 to 8
	echo "10.$((1 + ($1 - 1) / 4)).$((1 + ($1 - 1) / 2 % 2)).$((1 + ($1 - 1) % 2))"
}

host_mac() {
	host_ip "$1" | awk -F. '{ printf "00:00:00:%02d:%02d:%02d", $2, $3, $4 }'
}

# join SWITCH PORT SWITCH PORT: a link between two switches.
join() {
	ip -n "$NET-t" link add "s$1p$2" mtu 2000 type veth peer name "s$3p$4" mtu 2000
	ip -n "$NET-t" link set "s$1p$2" up
	ip -n "$NET-t" link set "s$3p$4" up
}

links() {
	local pod l i leaf

	for pod in 0 1; do
		for l in 0 1; do
			leaf=$((4 + 2 * pod + l))
			for i in 0 1; do
				join $leaf $((1 + i)) $((2 * l + i)) $((1 + pod))
				join $leaf $((3 + i)) $((8 + 2 * pod + i)) $((1 + l))
			done
		done
	done
	# Between 5-2 and 3-1 there is a line in between.
	ip -n "$NET-t" link del s5p2
	join 5 2 line 1
	join 3 1 line 2
}

hosts() {
	local h other tor port

	for h in {1..8}; do
		tor=$((8 + (h - 1) / 2)) port=$((3 + (h - 1) % 2))
		ip netns add "$NET-h$h"
		no_ip6 "h$h"
		ip -n "$NET-t" link add s${tor}p$port mtu 2000 type veth peer name e0 \
			mtu 1500 netns "$NET-h$h" address "$(host_mac $h)"
		ip -n "$NET-t" link set s${tor}p$port up
		ip -n "$NET-h$h" link set lo up
		ip -n "$NET-h$h" link set e0 up
		ip -n "$NET-h$h" addr add "$(host_ip $h)/8" dev e0
		for other in {1..8}; do
			[ $h = "$other" ] || ip -n "$NET-h$h" neigh add \
				"$(host_ip "$other")" lladdr "$(host_mac "$other")" \
				nud permanent dev e0
		done
		# Hosts complete checksums and segments themselves.
		on h$h ethtool -K e0 tx off tso off gso off gro off >/dev/null
	done
}

no_ip6() {
	on "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1 || :
}

# The controller's interface, with all ToR switches behind it.
controller_port() {
	local tor

	ip -n "$NET-t" link add ctl type bridge
	ip -n "$NET-t" link set ctl address 02:00:00:00:00:02 mtu 2000 up
	for tor in {8..11}; do
		ip -n "$NET-t" link add s${tor}p5 mtu 2000 type veth \
			peer name c$tor mtu 2000
		ip -n "$NET-t" link set s${tor}p5 up
		ip -n "$NET-t" link set c$tor master ctl up
	done
}

# ways SWITCH: the operands of dta-switch for it, of all routes.
ways() {
	local route hop last

	for route in "${ROUTES[@]}"; do
		last=${route##* }
		for hop in $route; do
			[ "${hop%-*}" != "$1" ] || echo "$(host_ip \
				$((1 + (${last%-*} - 8) * 2 + ${last#*-} - 3)))=${hop#*-}"
		done
	done | sort -u
}

# Options of dta-switch for a switch.
options() {
	echo "-d $1 -t 1s --mtu 2000"
	[ "$1" -lt 8 ] || echo "--hosts 3,4" \
		"--collector 5,10.0.0.51,02:00:00:00:00:02"
}

ports_of() { # SWITCH
	ip -n "$NET-t" -br link | sed -nE "s/^(s$1p([0-9]+))@.*/\2@\1/p"
}

switches() {
	local id

	for id in {0..11}; do
		THRIFT=$((9090 + id))
		# shellcheck disable=SC2046
		switch_start t int_label $(ports_of $id)
		# shellcheck disable=SC2046
		dta-switch int_label $(options $id) $(ways $id) >"device-$id"
	done
	for id in {0..11}; do
		THRIFT=$((9090 + id))
		patiently switch_answers t
		switch_tell t "device-$id"
	done
}

fabric_up() {
	ip netns add "$NET-t"
	no_ip6 t
	ip -n "$NET-t" link set lo up
	links
	hosts
	controller_port
	start t line.log "$TOOLS/wan" -l 1 -p 253 slinep1 slinep2
	LINE_PID=$PID
	switches
}

# patiently COMMAND...: until it succeeds, for three minutes.
patiently() {
	local end=$((SECONDS + 180))

	until "$@"; do
		[ $SECONDS -lt $end ] || {
			echo "waited in vain for: $*" >&2
			tail -n 3 control.log.out >&2
			return 1
		}
		sleep 0.5
	done
}

# Host 1 or 8 sends to all others, 10 packets a second to each.
sender() {
	local other all=()

	for other in {1..8}; do
		[ "$1" = "$other" ] || all+=("$(host_ip "$other")")
	done
	start "h$1" "h$1.log" python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for to in sys.argv[1:]:
        s.sendto(bytes(200), (to, 9))
        time.sleep(0.1 / len(sys.argv[1:]))' "${all[@]}"
}

controller() {
	start t control.log int-label-ctl -i ctl -o ndjson -t 1s -T 2s \
		-R interval,decision,silence \
		--exec "simple_switch_CLI --thrift-port \$((9090 + LABEL_NODE))"
	CONTROLLER=$PID
	wait_for listens control.log
}

# covered N: some interval from line SINCE of the controller's rows on covers so
# many ports, and none of more is known.
covered() {
	tail -n +"$SINCE" control.log.out | jq -es --argjson n "$1" \
		'any(.measurement == "label_interval" and .covered == $n)' >/dev/null
}

from_here() { SINCE=$(($(wc -l <control.log.out) + 1)); }

# registers N: S of the ports behind the line, as their switches have it.
registers() {
	local at

	for at in $LINE; do
		[ "$(on t simple_switch_CLI --thrift-port $((9090 + ${at%-*})) \
			<<<"register_read label_s ${at#*-}" |
			sed -n 's/.*label_s\[.*\]= *//p')" = "$1" ] || return 1
	done
}

# silent: all ports behind the line are silent, and S of each was told.
silent() {
	local at

	for at in $LINE; do
		jq -es --argjson d "${at%-*}" --argjson p "${at#*-}" 'map(select(
			.measurement == "label_silence" and .node == $d and
			.port == $p)) | length > 0 and .[-1].event == "silent"' \
			control.log.out >/dev/null || return 1
	done
}

# mean COVERAGE of the intervals from SINCE on, as a note of the test.
note() {
	tail -n +"$SINCE" control.log.out | jq -rs --arg what "$1" \
		'map(select(.measurement == "label_interval").coverage * 100) |
		"# \($what): \(length) intervals, coverage from \(min) % to \(max) %, mean \(
		add / length * 10 | round / 10) %"' >&3
}

# TCP from host 1 to host 8, over five switches, each of which labels.
transfer() {
	head -c 300000 /dev/urandom >sent.bytes
	start h8 got.log python3 -c 'import socket
s = socket.create_server(("0.0.0.0", 9000))
print("ready", flush=True)
c, _ = s.accept()
with open("got.bytes", "wb") as f:
    while data := c.recv(65536):
        f.write(data)'
	RECEIVER=$PID
	wait_for grep -q ready got.log.out
	on h1 timeout 120 python3 -c 'import socket, sys
s = socket.create_connection((sys.argv[1], 9000), 100)
s.sendall(open("sent.bytes", "rb").read())
s.close()' "$(host_ip 8)"
	wait "$RECEIVER"
	cmp sent.bytes got.bytes
	for h in h1 h8; do
		[ "$(on $h nstat -asz TcpInCsumErrors | awk '/Csum/ { print $2 }')" = 0 ]
		# of the labels a host sees nothing
		[ "$(on $h nstat -asz IpInUnknownProtos |
			awk '/Unknown/ { print $2 }')" = 0 ]
	done
}

labels() { # SWITCH PORT: written
	on t simple_switch_CLI --thrift-port $((9090 + $1)) \
		<<<"register_read label_number $2" | sed -n 's/.*\]= *//p'
}

# One more than so many on its way.
labelled_since() { [ "$(labels 5 2)" -gt "$1" ]; }

@test "the paper's 12 switches: coverage, TCP, and Pro moves S in the registers" {
	local n

	fabric_up
	controller
	from_here
	sender 1
	sender 8
	patiently covered $PORTS
	from_here
	n=$(labels 5 2)
	transfer
	patiently labelled_since "$n" # a transfer may be over within T
	patiently covered $PORTS
	note "12 switches, T 1 s, intervals of 2 s"
	# All labels on that line are lost: its ports fall silent, the others not.
	from_here
	kill -USR1 "$LINE_PID"
	patiently covered $((PORTS - 4))
	patiently silent
	patiently registers 3
	note "labels of one link lost"
	from_here
	kill -USR1 "$LINE_PID"
	patiently covered $PORTS
	patiently registers 0
	note "no longer"
	stop "$CONTROLLER"
	balances control.log
	[ "$(counter control.log applied orders)" -ge 24 ]
	[ "$(counter control.log malformed)" = 0 ]
	[ "$(counter control.log full)" = 0 ]
	# Each says by its numbers that labels were lost behind it.
	for at in $LINE; do
		jq -es --argjson d "${at%-*}" --argjson p "${at#*-}" \
			'any(.measurement == "label_decision" and .node == $d and
			.port == $p and .lost > 0)' control.log.out >/dev/null
	done
}
