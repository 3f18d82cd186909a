#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# demo-p4.sh BUILD_DIR JSON_DIR...: two P4 switches on BMv2 between two hosts and
# a collector: one makes DTA reports of the hosts' traffic, one makes RDMA packets
# of the reports. What the switches run is in the first of the directories that
# has it. Needs root; all that it makes is gone when it ends.
#
#	a a0 --- r0 reporter r1 --- b0 b
#	             r2 --- t0 translator t1 --- c0 collector
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=$PWD/$1 DEMO=demo-p4 HOSTS="a b reporter translator collector"
json=
for d in "${@:2}"; do
	[ -n "$json" ] || ! [ -r "$d/dta_translator.json" ] || json=$(realpath "$d")
done
PATH=$PWD/p4/tools:$PATH
. tests/demo.bash

# switch NAME PROGRAM INTERFACE...: its ports are 0, 1, ... libpcap's ring has room
# for 32 packets, if they may be as long as offloading makes them.
switch() {
	local ports=() own=() i=0 port

	if grep -q notifications-addr <<<"$(simple_switch --help)"; then
		own=(--notifications-addr inproc://own)
	fi
	for port in "${@:3}"; do
		quietly "$1" ethtool -K "$port" gro off gso off tso off
		ports+=(-i "$((i++))@$port")
	done
	printf '  %s# simple_switch %s %s.json &\n' "$1" "${ports[*]}" "$2"
	start "$1" simple_switch --log-level warn "${own[@]}" "${ports[@]}" \
		"$json/$2.json" >"$1.log" 2>&1
	wait_for quietly "$1" bash -c ': </dev/tcp/127.0.0.1/9090' 2>/dev/null
	printf '  %s# dta-switch %s ticket.ini | simple_switch_CLI\n' "$1" "$2"
	dta-switch "$2" ticket.ini | quietly "$1" simple_switch_CLI >"$1.told" 2>&1
	! grep -iE 'error|invalid|unknown syntax' "$1.told" >&2 ||
		cannot "the $1 does not take its commands"
}

# ask WORDS...: the region, which has a name of its own.
ask() {
	printf '  collector# dta-query %s --region demo %s\n' "$1" "${*:2}"
	dta-query "$1" --region "$net" "${@:2}" 2>&1 | sed 's/^/  /'
}

# has LIST ENTRIES: so many have come; knows FLOW TTL: that of its last packet.
has() { [ "$(listed "$1" | wc -l)" -ge "$2" ]; }
listed() { dta-query list --region "$net" -q -t events "$1" -o csv | sed 1d; }
knows() {
	grep -q "\"ttl\":$2," <<<"$(dta-query keywrite --region "$net" -q -t flows \
		-o ndjson "$1")"
}

# tell COMMAND: to the shell that runs in a.
tell() {
	printf '  a# %s\n' "$1"
	echo "$1" >&4
}

missing=
for p in simple_switch simple_switch_CLI ethtool python3; do
	command -v $p >/dev/null || missing+=" $p"
done
[ -n "$json" ] || missing+=" p4c-bm2-ss"
[ -z "$missing" ] || cannot "missing:$missing. p4/README.md tells where the" \
	"switch and its compiler are; make setup demo-p4 installs all else"
need_root

say "1. Two hosts, a and b, at a switch; behind it a translator, and a collector."
namespaces
for n in $HOSTS; do
	ip -n "$net-$n" link set lo up
	quietly "$n" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || :
done
cable a a0 reporter r0
cable reporter r1 b b0
cable reporter r2 translator t0
cable translator t1 collector c0
for n in a b; do # what a card would do of checksums, nobody does here
	quietly $n ethtool -K ${n}0 tx off gso off gro off >/dev/null
done
ip -n "$net-a" addr add 10.0.0.1/24 dev a0
ip -n "$net-b" addr add 10.0.0.2/24 dev b0

say "2. A collector's memory: what is known of flows, and flows' beginnings and ends."
cat >layout.ini <<'INI'
[flows]
id = 1
kind = keywrite
key = flow4
value = 4
show = u16:port, u8:ttl, u8:tos
slots = 4Ki
copies = 2
[events]
id = 2
kind = append
value = 16
show = flow4, u8:tcp_flags, u16:bytes
lists = 2
ring = 1Ki
batch = 1
flush = 1h
INI
printf '  collector# %s\n' \
	"dta-collect --create --layout layout.ini --region demo" \
	"dta-collect --region demo -i c0 --ticket ticket.ini &"
dta-collect -q --create --layout layout.ini --region "$net"
start collector dta-collect --region "$net" -i c0 --ticket ticket.ini \
	-o ndjson 2>collect.log
collector=$started
wait_for grep -q AF_ collect.log

say "3. The switches: programs by p4c, tables by the collector's ticket."
switch translator dta_translator t0 t1
switch reporter dta_reporter r0 r1 r2

say "4. Host a fetches three pages of b's: list 0 has what begins, list 1 what ends."
mkdir page
echo "  b# python3 -m http.server 80 &"
start b python3 -m http.server -d page 80 >b.log 2>&1
wait_for quietly b bash -c ': </dev/tcp/127.0.0.1/80' 2>/dev/null
mkfifo a
exec 4<>a
start a bash <&4
tell 'for i in 1 2 3; do exec 3<>/dev/tcp/10.0.0.2/80; printf "GET /\n\n" >&3; cat <&3; done >pages'
wait_for has 0 3
wait_for has 1 5
ask list -t events

say "5. A connection stays open. What does the switch know of its packets?"
tell 'exec 3<>/dev/tcp/10.0.0.2/80'
wait_for has 0 4
flow=$(listed 0 | tail -n 1 | cut -d, -f3)
wait_for knows "$flow" 64
ask keywrite -t flows "$flow"

say "6. The way becomes longer by a router, as it were: one report, two RDMA writes."
tell 'sysctl -q net.ipv4.ip_default_ttl=63; printf "GET /\n\n" >&3'
wait_for knows "$flow" 63
ask keywrite -t flows "$flow"

say "7. At the end: what the translator has received, and what the collector."
counter="counter_read TranslatorIngress.ledger 17"
printf '  translator# simple_switch_CLI <<<"%s"\n' "$counter"
quietly translator simple_switch_CLI <<<"$counter" | sed -n 's/.*\(Transl.*\)/  \1/p'
stop "$collector"
grep -v '"value":0}' collect.log | sed 's/^/  /'

say "Done, and all of it is gone. Next: p4/README.md."
