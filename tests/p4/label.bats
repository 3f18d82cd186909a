# SPDX-License-Identifier: BSD-2-Clause
# int_label on BMv2: two switches label real traffic; the receiver gets it as it
# was sent, the controller all labels. Packets with labels go between these
# switches and int-label-ctl's device in both directions.
#
#	r0 --- t0 1 a0 --- a1 2 t1 --- c0
#	                      2 d0 --- d1 labels that were told

load ../helpers
load ../net/net
load p4
load row

setup() {
	need_p4 int_label
	need_tools send recv again
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
}

# device ID OPTIONS PORTS...: a switch from its first port to its second and back.
device() { device_up int_label "$1" "-d $1 $2 0=1 1=0" "${@:3}"; }

# Of the second switch: behind its port 1 the receiver, behind 2 the controller.
LAST="--hosts 1 --collector 2,10.0.0.51,02:00:00:00:00:02"

traffic() { # [FILTER]
	real_mix 300 "$1" -o ip.check_checksum:TRUE
}

# labels DEVICE: written by its port 1.
labels() {
	on t simple_switch_CLI --thrift-port 909"$1" \
		<<<"register_read label_number 1" | sed -n 's/.*\[1\]= *//p'
}

@test "every packet: as it was sent, and all labels are told" {
	local n told

	traffic
	row_up a0:a1 d0:d1
	device 1 "-t 1us --no-df --hosts 0" t0 a0
	device 2 "-t 1us --no-df $LAST" a1 t1 d0
	listen t a1
	listen t d1
	listen c c0
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 300
	n=$(labels 1)
	[ "$n" -gt 100 ]
	told=$n
	will_come t d1 "$told"
	heard
	same_frames mix.pcap c0.pcap
	# the device of int-label-ctl takes out what the switch has put in
	int-label-ctl label -q -d 9 --edge out -r a1.pcap -w restored.pcap
	same_frames mix.pcap restored.pcap
	# and with these labels lib/ makes the same packets and datagrams
	"$TOOLS/again" label mix.pcap a1.pcap ours.pcap
	same_frames ours.pcap a1.pcap
	"$TOOLS/again" export mix.pcap d1.pcap ours.pcap
	same_frames ours.pcap d1.pcap
	# All labels are told, each once.
	int-label-ctl -r d1.pcap -R none -o ndjson 2>ledger
	balances ledger
	n=$(($(labels 1) + $(labels 2)))
	[ "$(counter ledger items)" = "$n" ]
	[ "$(counter ledger missing)" = 0 ]
	[ "$(counter ledger updated)" = $((n - 2)) ]
}

FLOW='192.168.0.1:55077>10.10.10.1:995/tcp' # one of the mix

# flow add|del [PERIOD_US]: of that flow, at the first switch.
flow() {
	int-label-ctl flow "$1" "$FLOW" | sed "s/=> .*/=> ${2-}/" |
		on t dta-switch apply simple_switch_CLI --thrift-port 9091
}

# As lib/label: what would not be believed is not written, and it is the flow's
# next packet that is marked.
@test "a wrong checksum of the IP header: no label, and no mark" {
	FLOW='172.16.114.207:25>194.7.248.153:2127/tcp'
	real_mix 20 "ip.src == 172.16.114.207 && tcp.srcport == 25"
	python3 - <<-PYTHON
		pcap = bytearray(open("mix.pcap", "rb").read())
		pcap[24 + 16 + 14 + 10] ^= 0x55
		open("mix.pcap", "wb").write(pcap)
	PYTHON
	row_up a0:a1
	device 1 "-t 12d --no-df --hosts 0" t0 a0
	flow add 3600000000
	listen t a1
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come t a1 20
	heard
	[ "$(labels 1)" = 1 ]
	frames a1.pcap >told
	frames mix.pcap >sent
	[ "$(sed -n 1p told)" = "$(sed -n 1p sent)" ]
	# behind 34 bytes: TCP, and a label of a specific flow
	[ "$(sed -n 2p told | cut -c 69-72)" = 0606 ]
	[ "$(sed -n 3p told)" = "$(sed -n 3p sent)" ]
}

# The interval is twelve days.
@test "an interval, S of a port, a specific flow: as int-label-ctl says it" {
	local n

	# labels with a wrong checksum would not be taken
	traffic '!(ip.checksum.status == "Bad")'
	row_up a0:a1 d0:d1
	device 1 "-t 12d --no-df --hosts 0" t0 a0
	device 2 "-t 12d --no-df $LAST" a1 t1 d0
	listen t d1
	listen c c0
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 300
	[ "$(labels 1)" = 1 ]
	THRIFT=9091
	flow add 1
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 600
	[ "$(labels 1)" -gt 1 ]
	[ "$(labels 1)" -lt 100 ]
	[ "$(labels 1)" = "$(labels 2)" ]
	n=$(labels 1)
	flow add 3600000000 # another period: its entry is changed
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 900
	[ "$(labels 1)" = "$n" ]
	flow del
	run -1 flow del
	[[ $output == *"has no such entry" ]]
	echo "register_write label_s 1 40" >s
	switch_tell t s
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 1200
	[ "$(labels 1)" -gt 100 ]
	heard
	mergecap -a -F nsecpcap -w all.pcap mix.pcap mix.pcap mix.pcap mix.pcap
	same_frames all.pcap c0.pcap
	int-label-ctl -r d1.pcap -R none -o ndjson 2>ledger
	[ "$(counter ledger specific)" -gt 0 ]
	[ "$(counter ledger missing)" = 0 ]
	[ "$(counter ledger items)" = $(($(labels 1) + $(labels 2))) ]
}

@test "packets that routers may cut up are labelled if that is said" {
	traffic
	row_up a0:a1 d0:d1
	device 1 "-t 1us --hosts 0" t0 a0
	listen t a1
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come t a1 300
	heard
	[ "$(seen "ip.flags.df == 1")" -gt 50 ]
	[ "$(seen "ip.flags.df == 0")" = 0 ]
	[ "$(tshark -r mix.pcap -Y "ip.flags.df == 0 && !vlan" 2>/dev/null |
		wc -l)" -gt 20 ]
	"$TOOLS/again" label mix.pcap a1.pcap ours.pcap
	same_frames ours.pcap a1.pcap
}

seen() { # FILTER: labelled
	tshark -r a1.pcap -Y "ip.proto == 253 && $1" 2>/dev/null | wc -l
}

# What Base B labels was labelled before: by int-label-ctl's device.
@test "Base B: packets with labels, and no others" {
	local n

	traffic
	# the device labels IPv6 and behind VLAN tags, too
	tshark -F nsecpcap -r mix.pcap -w plain.pcap -Y "!vlan && !ipv6" 2>/dev/null
	int-label-ctl label -q -d 7 -t 1us -r plain.pcap -w labelled.pcap
	row_up a0:a1 d0:d1
	device 1 "-t 12d" t0 a0
	device 2 "-t 12d -b B -f 0,1,0 $LAST" a1 t1 d0
	listen t d1
	listen c c0
	on r "$TOOLS/send" labelled.pcap r0 >sent
	will_come c c0 "$(packets plain.pcap)"
	heard
	same_frames plain.pcap c0.pcap
	int-label-ctl -r d1.pcap -R none -o ndjson 2>ledger
	n=$(counter ledger labelled)
	[ "$n" -gt 50 ]
	# 7 labelled each of them, 1 the first, 2 those with one: all others
	[ "$(labels 1)" = 1 ]
	[ "$(labels 2)" -ge $((n - 1)) ]
}

# TCP between two hosts' own stacks, every packet labelled on the way.
@test "TCP works through it, and the controller hears of the ports on its way" {
	local l

	row_up a0:a1 d0:d1
	device 1 "-t 1us --hosts 0 --mtu 1500" t0 a0
	device 2 "-t 1us $LAST --mtu 1500" a1 t1 d0
	for l in r:r0:1 c:c0:2; do
		IFS=: read -r ns if host <<<"$l"
		ip -n "$NET-$ns" addr add "10.9.0.$host/24" dev "$if"
		on "$ns" ethtool -K "$if" tx off tso off gso off gro off >/dev/null
		on "$ns" ip link set "$if" mtu 1400
	done
	head -c 200000 /dev/urandom >sent.bytes
	listen t d1
	start c got.log python3 -c 'import socket, sys
s = socket.create_server(("10.9.0.2", 9000))
c, _ = s.accept()
data = b""
while True:
    more = c.recv(65536)
    if not more:
        break
    data += more
open("got.bytes", "wb").write(data)'
	wait_for on c bash -c 'ss -ltn | grep -q :9000'
	on r timeout 60 python3 -c 'import socket
s = socket.create_connection(("10.9.0.2", 9000), 30)
s.sendall(open("sent.bytes", "rb").read())
s.close()'
	wait_for test -s got.bytes
	cmp sent.bytes got.bytes
	heard
	[ "$(packets d1.pcap)" -gt 100 ]
	int-label-ctl -r d1.pcap -R none -o ndjson 2>ledger
	[ "$(counter ledger new)" = 2 ]
}
