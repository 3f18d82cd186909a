# SPDX-License-Identifier: BSD-2-Clause
# Three network namespaces in a row: load net
#
#   reporter r0 --- t0 translator t1 --- c0 collector
#
# Nothing in them speaks by itself: no addresses, no IPv6, so that a capture is
# what a test sent. All belongs to the test: names carry its process's id.

NET=dta-test-$$-net-$BATS_TEST_NUMBER
NAME=$NET # of regions

# Skips the test where namespaces cannot be made and used: to run a program in
# one takes mounts, too.
need_net() {
	local why

	[ "$(id -u)" = 0 ] || skip "not root: no network namespaces"
	why=$(ip netns add "$NET-probe" 2>&1 &&
		ip netns exec "$NET-probe" ip link add v0 type veth peer name v1 2>&1) ||
		why=${why:-failed}
	ip netns del "$NET-probe" 2>/dev/null || :
	[ -z "$why" ] || skip "no network namespaces here: ${why%%$'\n'*}"
}

# on NAME COMMAND...: in the namespace of r, t or c.
on() {
	local name=$NET-$1

	shift
	ip netns exec "$name" "$@"
}

net_up() { # [queues of each interface]
	local n i q="numtxqueues ${1:-1} numrxqueues ${1:-1}"

	for n in r t c; do
		ip netns add "$NET-$n"
		on $n sh -c 'cd /proc/sys/net/ipv6/conf 2>/dev/null || exit 0
			echo 1 | tee all/disable_ipv6 >default/disable_ipv6'
	done
	# shellcheck disable=SC2086
	ip -n "$NET-r" link add r0 $q type veth peer name t0 $q netns "$NET-t"
	# shellcheck disable=SC2086
	ip -n "$NET-t" link add t1 $q type veth peer name c0 $q netns "$NET-c"
	for i in r:r0 t:t0 t:t1 c:c0; do
		ip -n "$NET-${i%:*}" link set "${i#*:}" up
	done
}

net_down() {
	local n

	for n in r t c; do
		ip netns del "$NET-$n" 2>/dev/null || :
	done
}

# start NAME LOG COMMAND...: in that namespace, in the background. Its id is
# in PID.
start() {
	local name=$NET-$1 log=$2

	shift 2
	# emptied here, not by the child: what an earlier program wrote into it
	# would be read as this one's
	: >"$log"
	ip netns exec "$name" "$@" 2>"$log" >"$log.out" 3>&- &
	PID=$!
	BG_PIDS+=("$PID")
}

# by_socket CAPTURE PORT: what its datagrams carry, from a socket of r to t0.
# Their checksums are the network card's to complete, and there is none.
by_socket() {
	ip -n "$NET-r" address add 10.9.0.1/24 dev r0
	ip -n "$NET-r" neighbour add 10.9.0.2 dev r0 lladdr \
		"$(on t cat /sys/class/net/t0/address)"
	tshark -r "$1" -T fields -e udp.payload |
		on r python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for line in sys.stdin:
    s.sendto(bytes.fromhex(line), ("10.9.0.2", int(sys.argv[1])))' "$2"
}

# stop PID: by SIGTERM; its status is this one's.
stop() {
	kill "$1" || return
	wait "$1"
}

# A program says on what it listens once it does, how it sends before that.
listens() { grep -v -- --to "$1" | grep -q "AF_PACKET\|AF_XDP"; } # log
