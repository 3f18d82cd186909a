# SPDX-License-Identifier: BSD-2-Clause
# INT-label live: three devices between two hosts that know nothing of it, the
# controller at the last one.
#
#   h1 --- d1 --- d2 --- w --- d3 --- h2
#
# w is a line that loses packets with labels when it is told to. Labels of the
# way to h2 are told by d3, which is the last device there; those of the way
# back end at d1, which tells nobody.

load ../helpers
load ../label
load net

DEVICE_OPTIONS=()
CHAIN=(h1 d1 d2 w d3 h2)

setup() {
	need_net
	need_tools wan
	cd "$BATS_TEST_TMPDIR" || exit 1
	chain_up
}

teardown() {
	local n

	end_bg
	for n in "${CHAIN[@]}"; do
		ip netns del "$NET-$n" 2>/dev/null || :
	done
}

# One link of the chain: right of the one to left of the other, e0 of hosts.
link_up() { # NAME NAME
	local near=right far=left mtu=2000

	[[ $1 != h* ]] || near=e0 mtu=1500
	[[ $2 != h* ]] || far=e0 mtu=1500
	ip -n "$NET-$1" link add $near mtu $mtu type veth peer name $far \
		mtu $mtu netns "$NET-$2"
	ip -n "$NET-$1" link set $near up
	ip -n "$NET-$2" link set $far up
}

# Hosts complete their checksums and segments themselves.
chain_up() {
	local i n

	for n in "${CHAIN[@]}"; do
		ip netns add "$NET-$n"
		ip -n "$NET-$n" link set lo up
		on "$n" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1 || :
	done
	for ((i = 1; i < ${#CHAIN[@]}; i++)); do
		link_up "${CHAIN[i - 1]}" "${CHAIN[i]}"
	done
	for i in 1 2; do
		ip -n "$NET-h$i" address add 10.9.0.$i/24 dev e0
		on h$i ethtool -K e0 tx off tso off gso off gro off >/dev/null
	done
}

# device N OPTION...
device() {
	local n=$1

	shift
	start "d$n" "d$n.log" int-label-ctl label -d "$n" -i left --to right \
		--control "$PWD/hop-$n" -o ndjson "${DEVICE_OPTIONS[@]}" "$@"
	wait_for test -S "hop-$n"
	DEVICE[n]=$PID
}

# controller OPTION...: its rows are in control.log.out.
controller() {
	start d3 control.log int-label-ctl -i lo -o ndjson "$@"
	CONTROLLER=$PID
	wait_for listens control.log
}

network_up() { # OPTION of the controller...
	start w w.log "$TOOLS/wan" -l 1 -p 253 left right
	LINE=$PID
	device 1 --edge in
	device 2
	device 3 --edge out --collector 127.0.0.1
	datagram_to tell "$PWD/hop-"
	controller --exec "$PWD/tell" "$@"
	wait_for reached 10.9.0.2
}


reached() { on h1 ping -q -c 1 -W 1 "$1" >/dev/null; }

network_down() {
	local n

	stop "$CONTROLLER"
	for n in 1 2 3; do
		stop "${DEVICE[n]}"
		balances "d$n.log"
	done
	stop "$LINE"
	balances control.log
}

# tells DEVICE CONDITION: a row of the controller does.
tells() {
	jq -es "any(.node == $1 and ($2))" control.log.out >/dev/null
}

# All that d3 exported the controller has read: both tell on SIGUSR1.
all_told() {
	obeys "${DEVICE[3]}" d3.log
	obeys "$CONTROLLER" control.log
	[ "$(counter control.log labelled)" = "$(counter d3.log exported)" ]
}

# The receiver: whatever comes by one connection, to a file.
receive() { # FILE
	start h2 receive.log python3 -c '
import socket, sys
s = socket.create_server(("10.9.0.2", 7777))
print("ready", flush=True)
c, _ = s.accept()
with open(sys.argv[1], "wb") as f:
    while data := c.recv(65536):
        f.write(data)
' "$1"
	RECEIVER=$PID
	wait_for grep -q ready receive.log.out
}

send_file() { # FILE
	on h1 python3 -c '
import socket, sys
s = socket.create_connection(("10.9.0.2", 7777))
with open(sys.argv[1], "rb") as f:
    s.sendfile(f)
' "$1"
}

# A TCP transfer is complete and unchanged while labels flow.
transfer() { # OPTION of the devices...
	DEVICE_OPTIONS=("$@")
	network_up -R port
	head -c 20000000 /dev/urandom >sent
	receive received
	send_file sent
	wait "$RECEIVER"
	cmp sent received
	# What h2 saw of the labels: nothing. It knows no protocol 253.
	[ "$(on h2 nstat -az IpInUnknownProtos | awk '/Unknown/ { print $2 }')" = 0 ]
	wait_for all_told
	network_down
	for n in 1 2 3; do
		labels=$(counter "d$n.log" labels)
		[ "$labels" -ge 2 ]
		[ "$(counter "d$n.log" over_mtu)" = 0 ]
		tells "$n" ".port == 2"
	done
	[ "$(counter d3.log restored)" -gt 0 ]
	[ "$(counter control.log malformed)" = 0 ]
}

@test "a TCP transfer while labels flow, by AF_PACKET" { transfer; }
@test "a TCP transfer while labels flow, by AF_XDP" { transfer --xdp; }

# s_of DEVICE: what Pro last decided of its port to h2.
s_of() {
	jq -r "select(.measurement == \"label_decision\" and .node == $1 and
		.port == 2) | .s" control.log.out | tail -n 1
}

known() {
	jq -es 'any(.measurement == "label_interval" and .ports == 3)' \
		control.log.out >/dev/null 2>&1
}
raised() { [ "$(s_of 1)" = 6 ] && [ "$(s_of 2)" = 6 ]; }
lowered() { [ "$(s_of 1)" = 0 ] && [ "$(s_of 2)" = 0 ]; }

@test "Pro raises S of the ports whose labelled packets are lost, and lowers it" {
	network_up -R decision,silence,interval
	# Packets for labels, however slow this machine is: until it is stopped.
	start h1 ping.log ping -q -i 0.002 10.9.0.2
	PING=$PID
	wait_for known
	kill -USR1 "$LINE"
	wait_for raised
	kill -USR1 "$LINE"
	wait_for lowered
	kill -INT "$PING"
	wait "$PING" || :
	network_down
	# The devices obeyed.
	[ $(($(counter control.log applied orders) +
		$(counter control.log superseded orders))) -ge 24 ]
	# The evidence: numbers that are missing, of those two ports.
	for n in 1 2; do
		tells $n '.measurement == "label_decision" and .lost > 0'
	done
}

# w is a router between two networks of both versions of IP.
router_up() {
	local n v4 v6

	for n in h1 w h2; do
		on $n sysctl -qw net.ipv6.conf.all.disable_ipv6=0 \
			net.ipv6.conf.default.disable_ipv6=0 \
			net.ipv6.conf.default.accept_dad=0
	done
	on w sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	ip -n "$NET-h2" address del 10.9.0.2/24 dev e0
	for n in h1/e0/0/1 w/left/0/254 w/right/1/254 h2/e0/1/2; do
		IFS=/ read -r n dev v4 v6 <<<"$n"
		on $n sysctl -qw "net.ipv6.conf.$dev.disable_ipv6=0" \
			"net.ipv6.conf.$dev.accept_dad=0"
		on $n ethtool -K "$dev" tx off tso off gso off gro off >/dev/null
		ip -n "$NET-$n" address replace "10.9.$v4.$v6/24" dev "$dev"
		ip -n "$NET-$n" address replace "fd09:$v4::$v6/64" dev "$dev"
	done
	for n in h1/0 h2/1; do
		ip -n "$NET-${n%/*}" route add default via "10.9.${n#*/}.254"
		ip -n "$NET-${n%/*}" route add default via "fd09:${n#*/}::254"
	done
}

# All of ten packets get there and back.
answers() { on h1 ping -q -i 0.05 -c 10 -W 1 "$1" | grep -q ' 10 received'; }

@test "a router between devices is reached, and reaches hosts, in IPv4 and IPv6" {
	routers=10.9.0.254,10.9.1.254,fd09:0::254,fd09:1::254
	router_up
	DEVICE_OPTIONS=(-t 1us)
	device 1 --edge in
	device 2 --routers $routers
	device 3 --edge out --routers $routers --collector 127.0.0.1
	wait_for reached 10.9.1.2
	for address in 10.9.0.254 fd09:0::254 10.9.1.254 10.9.1.2 fd09:1::2; do
		wait_for answers "$address"
	done
	for n in 1 2 3; do
		stop "${DEVICE[n]}"
		balances "d$n.log"
		[ "$(counter "d$n.log" labels)" -ge 10 ]
	done
	# Neighbours' questions were not labelled; d2 took out what d1 had put in.
	[ "$(counter d1.log local)" -gt 0 ]
	[ "$(counter d2.log restored)" -ge 30 ]
	[ "$(counter d2.log exported)" = 0 ] # nobody to tell
	[ "$(counter d3.log exported)" -ge 10 ]
}

# device_stops OPTION...: device 2, which reads both its interfaces by then; and
# more than its rings hold, 500000 frames from each side.
device_stops() {
	device 2 "$@"
	wait_for reads
	kill -STOP "$PID"
	on d1 "$TOOLS/send" reports.pcap right 500000
	on w "$TOOLS/send" reports.pcap left 500000
	kill -CONT "$PID"
}

reads() { kill -USR1 "$PID" && grep -q 'received\|packets.*0' d2.log; }

# Two ledgers, one after the other, say the same.
all_counted() {
	local before

	kill -USR1 "$PID"
	sleep 0.3
	before=$(counter d2.log packets)
	kill -USR1 "$PID"
	sleep 0.3
	[ "${before:-0}" -gt 0 ] && [ "$(counter d2.log packets)" = "$before" ]
}

@test "what the kernel drops at either interface is counted, and told of by its name" {
	need_tools send
	dta-gen uniform --seed 7 --count 1000 -q -w reports.pcap
	device_stops
	wait_for all_counted
	stop "$PID"
	balances d2.log
	[ $(($(counter d2.log packets) + $(counter d2.log kernel_drops))) = 1000000 ]
	# More than one side's: both have dropped some.
	[ "$(counter d2.log kernel_drops)" -gt 500000 ]
	rm -f hop-2
	device_stops -o text
	stop "$PID"
	for i in left right; do
		grep -qE " int-label-ctl label: $i: [1-9][0-9]* packets were dropped by the kernel$" d2.log
	done
}
