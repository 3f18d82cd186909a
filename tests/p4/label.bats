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

setup() {
	need_p4 int_label
	need_tools send recv
	cd "$BATS_TEST_TMPDIR" || exit 1
	PIDS=()
}

teardown() {
	end_bg
	net_down
}

# device ID CONFIG PORTS...: a switch from its first port to its second; CONFIG is
# T, T1, Base B, MTU. COMMANDS has more.
device() {
	local id=$1 config=$2

	shift 2
	THRIFT=909$id
	switch_up t int_label "$@"
	printf '%s\n' "set_queue_depth 65536 1" "set_queue_depth 65536 2" \
		"table_add LabelIngress.ports LabelIngress.to_port 0 => 1" \
		"table_add LabelIngress.ports LabelIngress.to_port 1 => 0" \
		"table_set_default LabelEgress.self LabelEgress.config $id $config" \
		"${COMMANDS[@]}" >"device-$id"
	switch_tell t "device-$id"
}

links() {
	local l

	net_up
	for l in a0:a1 d0:d1; do
		ip -n "$NET-t" link add "${l%:*}" type veth peer name "${l#*:}"
	done
	for l in t:t0 t:t1 t:a0 t:a1 t:d0 t:d1 r:r0 c:c0; do
		ip -n "$NET-${l%:*}" link set "${l#*:}" mtu 2000 up
	done
}

# Of a switch with hosts behind ports.
edges() {
	for port; do
		echo "table_add LabelIngress.edges_in LabelIngress.edge_in $port =>"
		echo "table_add LabelIngress.edges_out LabelIngress.edge_out $port =>"
	done
	echo "mirroring_add 1 2"
	echo "table_set_default LabelEgress.exports_to LabelEgress.collector \
02:00:00:00:00:02 02:00:00:00:00:03 10.3.0.3 10.0.0.51"
}

listen() { # name interface
	start "$1" "$2.log" "$TOOLS/recv" "$2" "$2.pcap"
	PIDS+=("$PID")
	wait_for grep -q . "$2.log.out"
}

heard() {
	local pid

	for pid in "${PIDS[@]}"; do
		stop "$pid"
	done
}

traffic() {
	[ -r "$TOP/../shared/traces/real-mix.pcap" ] ||
		skip "no shared/traces/real-mix.pcap"
	tshark -F nsecpcap -r "$TOP/../shared/traces/real-mix.pcap" -w frames.pcap \
		-Y "frame.len <= 1400" -c 600 2>/dev/null
	editcap -F nsecpcap -r frames.pcap mix.pcap 1-300
}

# labels DEVICE: written by its port 1.
labels() {
	on t simple_switch_CLI --thrift-port 909"$1" \
		<<<"register_read label_number 1" | sed -n 's/.*\[1\]= *//p'
}

@test "every packet: as it was sent, and all labels are told" {
	local n told

	traffic
	links
	mapfile -t COMMANDS < <(edges 0)
	device 1 "1 0 0 0" t0 a0
	mapfile -t COMMANDS < <(edges 1)
	device 2 "1 0 0 0" a1 t1 d0
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
	# All labels are told, each once.
	int-label-ctl -r d1.pcap -R none -o ndjson 2>ledger
	balances ledger
	[ "$(counter ledger items)" = $(($(labels 1) + $(labels 2))) ]
	[ "$(counter ledger missing)" = 0 ]
	[ "$(counter ledger updated)" = $(($(labels 1) + $(labels 2) - 2)) ]
}

# The interval is twelve days.
@test "an interval, S of a port, a specific flow: as int-label-ctl says it" {
	traffic
	links
	mapfile -t COMMANDS < <(edges 0)
	device 1 "1099511627776 0 0 0" t0 a0
	mapfile -t COMMANDS < <(edges 1)
	device 2 "1099511627776 0 0 0" a1 t1 d0
	listen t d1
	listen c c0
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 300
	[ "$(labels 1)" = 1 ]
	THRIFT=9091
	echo "table_add label_flow label_specific 192.168.0.1 10.10.10.1 6 55077 995 => 1" \
		>flow
	switch_tell t flow
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 600
	[ "$(labels 1)" -gt 1 ]
	[ "$(labels 1)" -lt 100 ]
	[ "$(labels 1)" = "$(labels 2)" ]
	echo "table_delete label_flow 0" >flow # its first entry
	switch_tell t flow
	echo "register_write label_s 1 40" >s
	switch_tell t s
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 900
	[ "$(labels 1)" -gt 100 ]
	heard
	mergecap -a -F nsecpcap -w thrice.pcap mix.pcap mix.pcap mix.pcap
	same_frames thrice.pcap c0.pcap
	int-label-ctl -r d1.pcap -R none -o ndjson 2>ledger
	[ "$(counter ledger specific)" -gt 0 ]
	[ "$(counter ledger missing)" = 0 ]
	[ "$(counter ledger items)" = $(($(labels 1) + $(labels 2))) ]
}

# What Base B labels was labelled before: by int-label-ctl's device.
@test "Base B: packets with labels, and no others" {
	local n

	traffic
	# the device labels IPv6 and behind VLAN tags, too
	tshark -F nsecpcap -r mix.pcap -w plain.pcap -Y "!vlan && !ipv6" 2>/dev/null
	int-label-ctl label -q -d 7 -t 1us -r plain.pcap -w labelled.pcap
	links
	COMMANDS=()
	device 1 "1099511627776 0 0 0" t0 a0
	mapfile -t COMMANDS < <(edges 1)
	COMMANDS+=("table_add LabelEgress.label_f LabelEgress.chance 1 => 0x100000000")
	device 2 "1099511627776 0 1 0" a1 t1 d0
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

	links
	mapfile -t COMMANDS < <(edges 0 && echo "mirroring_add 1 2")
	device 1 "1 0 0 1500" t0 a0
	mapfile -t COMMANDS < <(edges 1)
	device 2 "1 0 0 1500" a1 t1 d0
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
