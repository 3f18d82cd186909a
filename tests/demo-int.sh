#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# demo-int.sh BUILD_DIR: in-band telemetry by the kernel of this machine. Four
# network namespaces in a row, a source, two routers, a sink; the routers fill
# IOAM traces (RFC 9197), int-collect reads them. Needs root; all that it makes
# is gone when it ends. What Linux does with IOAM: its ioam6-sysctl.rst.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=$PWD/$1 DEMO=demo-int HOSTS="source a b sink"
. tests/demo.bash

mac() { quietly "$1" cat "/sys/class/net/$2/address"; }

# subnet NAME IFACE NAME IFACE SUBNET: a cable, fd00:SUBNET::1 left, ::2 right,
# which know each other, so that no packet waits until they do.
subnet() {
	cable "$1" "$2" "$3" "$4"
	ip -n "$net-$1" addr add "fd00:$5::1/64" dev "$2" nodad
	ip -n "$net-$3" addr add "fd00:$5::2/64" dev "$4" nodad
	ip -n "$net-$1" neigh replace "fd00:$5::2" dev "$2" lladdr "$(mac "$3" "$4")"
}

# router NAME ID IN ID OUT ID: fills traces of what comes in by IN.
router() {
	on "$1" sysctl -qw net.ipv6.conf.all.forwarding=1 "net.ipv6.ioam6_id=$2"
	on "$1" sysctl -qw "net.ipv6.conf.$3.ioam6_enabled=1" \
		"net.ipv6.conf.$3.ioam6_id=$4" "net.ipv6.conf.$5.ioam6_id=$6"
	on "$1" ip ioam namespace add 1
}

# send FLOWS: a packet of each, with room for what two routers say.
send() {
	on source dta-gen int --format ioam --unfilled 2 --src fd00:1::1 \
		--dst fd00:3::2 --to-mac "$a0" -i s0 -q --flows "$1" --count "$1"
}

# show PATTERN ROWS: the first rows like that, without what nobody said.
show() {
	printf '  sink# grep -m %s '\''%s'\'' rows\n' "$2" "$1"
	grep -m "$2" "$1" rows | sed -E 's/,?"[a-z_]+":null//g; s/^/  /'
}
has() { [ "$(grep -c "$1" rows)" -ge "$2" ]; } # PATTERN ROWS

need_root
[ -e /proc/sys/net/ipv6/ioam6_id ] ||
	cannot "this kernel has no IOAM; Linux has it from 5.15 on"
grep -q namespace <<<"$(ip ioam help 2>&1)" ||
	cannot "this ip has no IOAM; iproute2 has it from 5.16 on"

say "1. Four hosts in a row: source s0 --- a0 a a1 --- b0 b b1 --- c0 sink."
namespaces
subnet source s0 a a0 1
subnet a a1 b b0 2
subnet b b1 sink c0 3
ip -n "$net-a" route add fd00:3::/64 via fd00:2::2
a0=$(mac a a0)

say "2. Two are routers: who they are, which interface is which, what they fill."
router a 2 a0 11 a1 12
router b 3 b0 21 b1 22

say "3. The sink reads what they said. An event: a queue holds 2000 bytes."
words=(int-collect -i c0 -o ndjson -R event,hop -e new_key,rise,fall
	-t "queue_occupancy=off,2000,500")
printf '  sink# %s >rows\n' "${words[*]}"
start sink "${words[@]}" >rows 2>log
wait_for grep -q AF_PACKET log

say "4. Three flows: their path, and how long from one router to the next, in ns."
send 3
wait_for has '"metric":"hop_latency"' 3
show '"metric":"path"' 3
show '"metric":"hop_latency"' 3

say "5. The link behind b becomes slow, and its queue grows: an event of node 3."
on b tc qdisc add dev b1 root tbf rate 8kbit burst 400 limit 1000000
send 40
on b tc -s qdisc show dev b1
wait_for has '"event":"rise"' 1
show '"event":"rise"' 1

say "6. It is fast again: the queue is gone, an event, too."
on b tc qdisc change dev b1 root tbf rate 1gbit burst 40000 limit 1000000
drained() { grep -q 'backlog 0b' <<<"$(quietly b tc -s qdisc show dev b1)"; }
wait_for drained
send 3
wait_for has '"event":"fall"' 1
show '"event":"fall"' 1

say "7. At the end: each flow, hop by hop, the latest and the mean; the ledgers."
stop "$started"
show '"measurement":"int_hop"' 4
grep -v '"value":0}' log | sed 's/^/  /'

say "Done, and all of it is gone. Next: man man/int-collect.1."
