#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# record.sh OUT.pcap.gz: records what real programs say over real TCP, UDP and
# ICMP, on two bad lines that share a trunk. As root; a minute and a half.
#
#   clients 1 --- a1 \                     / b1 --- servers 1    10.1.0.0/16
#                      wan -- t0 t1 -- wan                       untagged
#   clients 2 --- a2 /           ^         \ b2 --- servers 2    10.2.0.0/16
#                           recorded here                        VLAN 20
#
# All of it is in namespaces of networks, processes, mounts and names, which
# end with this script; so do the processes, and the files in a tmpfs. BUILD:
# where tests/tools/wan was built.
set -u
VLAN=([1]='' [2]='-v 20')
CLIENTS=([1]=40 [2]=16) # addresses of each line, as many of IPv4 as of IPv6
SERVERS=20
# What lies between the recorded spot and the servers, and the clients.
NEAR=([1]='-d 0.3 -l 0.0003' [2]='-d 1 -j 2 -l 0.002')
FAR=([1]='-d 6 -j 1 -b 30e6 -q 60 -l 0.01 -r 0.004 -u 0.0005'
	[2]='-d 25 -j 4 -b 8e6 -q 150 -l 0.03 -r 0.01 -u 0.002')

fail() {
	echo "record: $*" >&2
	exit 1
}

top=$(cd "$(dirname "$0")/.." && pwd)
WAN=${BUILD:-$top/build}/tests/tools/wan
if [ "${1:-}" != --inside ]; then
	[ $# = 1 ] || fail "usage: record.sh OUT.pcap.gz"
	[ "$(id -u)" = 0 ] || fail "not root: no namespaces"
	for program in curl dig dnsmasq ethtool ip iperf3 ping python3 ssh \
		ssh-keygen sshd tcpdump unshare wget; do
		command -v $program >/dev/null || fail "$program is not installed"
	done
	[ -x "$WAN" ] || fail "$WAN is not built: make ${WAN#"$top"/}"
	unshare --net --mount --uts --pid --fork --kill-child --mount-proc \
		"$0" --inside "$1" &
	trap 'kill -KILL $!; wait; fail interrupted' INT TERM # it ignores them
	wait $!
	exit
fi
out=$2
wans=() # process ids

# --- the network -------------------------------------------------------------

# A pair of interfaces; what leaves it is as a card would send it: checksums
# made, no frame longer than the wire takes.
wire() { # NAMESPACE NAME NAMESPACE NAME MTU
	ip -n "$1" link add "$2" mtu "$5" type veth peer name "$4" netns "$3" mtu "$5"
	for end in "$1 $2" "$3 $4"; do
		set -- $end
		ip netns exec "$1" ethtool -K "$2" tx off tso off gso off gro off >/dev/null
		ip -n "$1" link set "$2" up
	done
}

# Addresses 10.LINE.SIDE.1 and fdLINE::SIDE:1 and on.
addresses() { # NAMESPACE INTERFACE LINE SIDE COUNT
	local i

	for ((i = 1; i <= $5; i++)); do
		echo "addr add 10.$3.$4.$i/16 dev $2"
		echo "addr add fd0$3::$4:$i/64 dev $2 nodad"
	done | ip -n "$1" -batch -
}

line() { # LINE
	ip netns add client$1
	ip netns add server$1
	wire client$1 c$1 trunk a$1 1500
	wire trunk b$1 server$1 s$1 1500
	ip -n client$1 link set c$1 address 02:00:00:00:0$1:01
	ip -n server$1 link set s$1 address 02:00:00:00:0$1:02
	addresses client$1 c$1 $1 1 ${CLIENTS[$1]}
	addresses server$1 s$1 $1 2 $SERVERS
	# shellcheck disable=SC2086
	ip netns exec trunk nice -n -10 "$WAN" -s $1 ${VLAN[$1]} ${NEAR[$1]} b$1 t1 >near$1 &
	wans+=($!)
	# shellcheck disable=SC2086
	ip netns exec trunk nice -n -10 "$WAN" -s 7$1 ${VLAN[$1]} ${FAR[$1]} a$1 t0 >far$1 &
	wans+=($!)
}

network() {
	ip netns add trunk
	# nothing here speaks by itself
	ip netns exec trunk sh -c 'cd /proc/sys/net/ipv6/conf
		echo 1 | tee all/disable_ipv6 >default/disable_ipv6'
	wire trunk t0 trunk t1 1600
	line 1
	line 2
}

# --- the servers -------------------------------------------------------------

# Text of so many lines.
text() { yes 'All packets of a flow meet the same switches.' | head -n "$1"; }

files() {
	mkdir -p www /run/sshd
	for ((i = 1; i <= 5; i++)); do
		text $((i * i * 10)) >www/page$i.html
	done
	text 40000 >www/book.txt
	ssh-keygen -q -t ed25519 -N '' -C '' -f host
	ssh-keygen -q -t ed25519 -N '' -C '' -f user
	printf '%s\n' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/user.pub" \
		'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' >sshd.conf
	for ((i = 1; i <= 12; i++)); do
		echo "host$i.test A"
		echo "host$i.test AAAA"
	done >names
}

serve() { # LINE
	local i port big=big.test

	for ((i = 0; i < 14; i++)); do # 14 * 180 bytes: more than a packet takes
		big+=,$(printf 'line-%03d-%.0s' {1..20})
	done
	ip netns exec server$1 python3 -m http.server --bind :: -d www 80 \
		>/dev/null 2>&1 &
	ip netns exec server$1 dnsmasq -k -C /dev/null -R -h --pid-file= \
		--user=root --address=/test/10.$1.2.1 \
		--address=/test/fd0$1::2:1 --txt-record=$big \
		--edns-packet-max=4096 &
	ip netns exec server$1 "$(command -v sshd)" -D -f "$PWD/sshd.conf" &
	# The last two are bound: datagrams would be answered by another address.
	for port in 5201 5202 "5203 -B 10.$1.2.8" "5204 -B fd0$1::2:8"; do
		# shellcheck disable=SC2086
		ip netns exec server$1 iperf3 -s -p $port >/dev/null 2>&1 &
	done
}

# --- the clients: functions of a line and an address's last number -----------

# Many short connections, each from a port of its own.
browse() {
	curl -q -s -o /dev/null --max-time 20 --interface 10.$1.1.$2 \
		"http://10.$1.2.[1-$SERVERS]/page[1-2].html"
	curl -q -s -o /dev/null --max-time 20 --interface fd0$1::1:$2 \
		"http://[fd0$1::2:$((1 + $2 % SERVERS))]/page{3,5}.html"
	wget -q -O /dev/null -T 20 -t 1 --bind-address=10.$1.1.$2 \
		http://10.$1.2.{3,7,11}/page4.html
	curl -q -s --interface 10.$1.1.$2 http://10.$1.2.1:81/ # nobody there
}

resolve() {
	local i

	dig -f names -b 10.$1.1.$2 @10.$1.2.$((1 + $2 % SERVERS)) +time=1
	dig -f names -b fd0$1::1:$2 @fd0$1::2:$((1 + $2 % SERVERS)) +time=1
	for ((i = 1; i <= 4; i++)); do
		dig -b 10.$1.1.$2 @10.$1.2.$i big.test TXT +bufsize=4096 +time=1
	done
	dig -b 10.$1.1.$2 @10.$1.2.1 -p 54 +time=1 +tries=1 # nobody there
}

look() {
	ping -q -i 0.25 -c 40 -I 10.$1.1.$2 10.$1.2.$((1 + $2 % SERVERS))
	ping -q -i 0.25 -c 40 -I fd0$1::1:$2 fd0$1::2:$((1 + $2 % SERVERS))
	ping -q -i 0.25 -c 10 -s 4000 -I 10.$1.1.$2 10.$1.2.1
	ping -q -i 0.25 -c 10 -s 4000 -I fd0$1::1:$2 fd0$1::2:1
}

type_at() {
	ssh -F /dev/null -i user -b 10.$1.1.$2 -o UserKnownHostsFile=/dev/null \
		-o StrictHostKeyChecking=no root@10.$1.2.$((1 + $2 % SERVERS)) \
		'for i in $(seq 60); do echo $i; sleep 0.2; done'
}

# Long transfers each way by IPv4 and IPv6, and datagrams of three fragments.
bulk() {
	# It waits for ever where its first datagram is lost. Short writes, so
	# that the rate is one of packets, not of bursts.
	local to=(timeout 30 iperf3 --repeating-payload -t 20 -c)
	local tcp=(-l 1448 -P 3 -b "$3")

	"${to[@]}" 10.$1.2.9 -B 10.$1.1.$2 -p 5201 "${tcp[@]}" &
	"${to[@]}" fd0$1::2:9 -B fd0$1::1:$2 -p 5202 "${tcp[@]}" -R &
	"${to[@]}" 10.$1.2.8 -B 10.$1.1.$2 -p 5203 -u -b 400K -l 3500
	wait
	"${to[@]}" fd0$1::2:8 -B fd0$1::1:$2 -p 5204 -u -b 400K -l 3500 &
	"${to[@]}" 10.$1.2.9 -B 10.$1.1.$2 -p 5201 "${tcp[@]}" -R &
	timeout 30 wget -q -O /dev/null http://10.$1.2.10/book.txt
	wait
}

# every FUNCTION LINE CLIENTS JOBS STEP: for one in STEP, JOBS at a time.
every() {
	local i

	for ((i = 1; i <= $3; i += $5)); do
		while [ "$(jobs -pr | wc -l)" -ge "$4" ]; do wait -n; done
		$1 $2 $i &
	done
	wait
}

work() { # LINE CLIENTS JOBS RATE
	every browse $1 $2 $3 1 &
	every resolve $1 $2 $3 1 &
	every look $1 $2 $3 3 &
	every type_at $1 $2 2 8 &
	bulk $1 1 $4 &
	wait
}

serves() { # LINE
	curl -q -s -o /dev/null --interface 10.$1.1.1 http://10.$1.2.1/
}
export -f browse resolve look type_at bulk every work serves
export SERVERS

# --- the recording -----------------------------------------------------------

# at LINE FUNCTION ARGUMENT...: the clients of a line do that.
at() {
	timeout 120 ip netns exec client$1 bash -c '"$@"' _ "$2" "$1" "${@:3}"
}

until_it() { # COMMAND...: succeeds, within ten seconds
	for ((i = 0; i < 100; i++)); do
		"$@" 2>/dev/null && return
		sleep 0.1
	done
	fail "waited in vain for: $*"
}

record() {
	local tcpdump clients=()

	ip netns exec trunk nice -n -10 tcpdump -Z root -i t1 -s 256 -B 65536 \
		-w all.pcap 2>told &
	tcpdump=$!
	until_it grep -q listening told
	at 1 work ${CLIENTS[1]} 6 1300K >/dev/null 2>&1 &
	clients+=($!)
	at 2 work ${CLIENTS[2]} 4 300K >/dev/null 2>&1 &
	clients+=($!)
	wait "${clients[@]}"
	sleep 1 # what is still under way
	kill -INT $tcpdump
	wait $tcpdump
	grep -q '^0 packets dropped by kernel' told || fail "$(cat told)"
}

back=$PWD
echo lines >/proc/sys/kernel/hostname
mount -t tmpfs none /run && mkdir /run/work || fail "no tmpfs"
cd /run/work || exit 1
export HOME=/run/work LC_ALL=C
files
network
for l in 1 2; do
	serve $l
	until_it at $l serves
done
record
kill "${wans[@]}" && wait "${wans[@]}"
grep . near? far?
cd "$back" && gzip -9n </run/work/all.pcap >"$out.part" &&
	mv "$out.part" "$out" || fail "$out: not written"
