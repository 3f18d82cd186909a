# SPDX-License-Identifier: BSD-2-Clause
# Switches in a row from r0 to c0, and real traffic through them: load ../helpers,
# then ../net/net, then p4, then row.

PIDS=() # of those who listen

# row_up A:B...: the namespaces; t has these pairs of interfaces besides. There is
# room for what switches add to packets.
row_up() {
	local l

	net_up
	for l; do
		ip -n "$NET-t" link add "${l%:*}" type veth peer name "${l#*:}"
	done
	for l in r0:r t0:t t1:t c0:c; do
		ip -n "$NET-${l#*:}" link set "${l%:*}" mtu 2000 up
	done
	for l in "${@%:*}" "${@#*:}"; do
		ip -n "$NET-t" link set "$l" mtu 2000 up
	done
}

# device_up PROGRAM NUMBER OPTIONS INTERFACE...: a switch of t; OPTIONS are those of
# dta-switch. It is the one that is talked to then.
device_up() {
	local program=$1 number=$2 options

	read -ra options <<<"$3"
	shift 3
	THRIFT=909$number
	switch_up t "$program" "$@"
	dta-switch "$program" "${options[@]}" >"device-$number"
	switch_tell t "device-$number"
}

# listen NAME INTERFACE: to INTERFACE.pcap.
listen() {
	start "$1" "$2.log" "$TOOLS/recv" "$2" "$2.pcap"
	PIDS+=("$PID")
	wait_for grep -q . "$2.log.out"
}

# Those who listened have what they heard.
heard() {
	local pid

	for pid in "${PIDS[@]}"; do
		stop "$pid"
	done
}

# real_mix PACKETS FILTER OPTIONS...: so many that the filter lets through, if any,
# in mix.pcap; OPTIONS are tshark's.
real_mix() {
	local n=$1 filter=$2

	shift 2
	[ -r "$TOP/../shared/traces/real-mix.pcap" ] ||
		skip "no shared/traces/real-mix.pcap"
	tshark -F nsecpcap -r "$TOP/../shared/traces/real-mix.pcap" -w frames.pcap \
		"$@" -Y "frame.len <= 1400${filter:+ && $filter}" -c 600 2>/dev/null
	editcap -F nsecpcap -r frames.pcap mix.pcap 1-"$n"
}

# int_mix PACKETS: of them those that INT goes into in flows.pcap.
int_mix() {
	real_mix "$1" "ip.dsfield.dscp != 0x17"
	tshark -F nsecpcap -r mix.pcap -w flows.pcap -Y "!vlan && ip.version == 4 && \
ip.hdr_len == 20 && ip.flags.mf == 0 && ip.frag_offset == 0 && \
(udp || tcp) && !icmp" 2>/dev/null
}
