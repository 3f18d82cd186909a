# SPDX-License-Identifier: BSD-2-Clause
# BMv2 switches in network namespaces: load ../helpers, then ../net/net, then p4.
#
# Nobody else must reach a switch's Thrift port, which listens on all addresses:
# a switch runs in a namespace of its own.

THRIFT=9090 # port of the switch that is talked to

# Skips the test where a program or the switch is missing.
need_p4() { # PROGRAM
	local f

	need_net
	[ -r "$BUILD/p4/$1.json" ] || skip "$1 is not compiled: make p4," \
		"with p4c-bm2-ss (p4/README.md)"
	for f in simple_switch simple_switch_CLI; do
		command -v $f >/dev/null || skip "no $f: p4/README.md"
	done
	command -v ethtool >/dev/null || skip "no ethtool"
}

# switch_up NAME PROGRAM INTERFACE...: in that namespace; its ports are 0, 1, ...,
# or as NUMBER@INTERFACE says. switch_start does not wait for it.
switch_up() {
	switch_start "$@"
	wait_for switch_answers "$1"
}

switch_start() {
	local name=$1 program=$2 ports=() own=() i=0 port

	shift 2
	# one that has this option binds a socket in /tmp by its device's number,
	# which would have to be another one for each switch of the machine
	if simple_switch --help | grep notifications-addr >/dev/null; then
		own=(--notifications-addr inproc://own)
	fi
	for port; do
		# libpcap's ring has room for 32 packets if they may be as long
		# as offloading makes them, else for a thousand
		on "$name" ethtool -K "${port#*@}" gro off gso off tso off
		[[ $port == *@* ]] || port=$i@$port
		ports+=(-i "$port")
		i=$((i + 1))
	done
	ip -n "$NET-$name" link set lo up
	start "$name" "switch-$program-$THRIFT.log" simple_switch \
		--log-level warn --thrift-port "$THRIFT" "${own[@]}" "${ports[@]}" \
		"$BUILD/p4/$program.json"
}

switch_answers() { on "$1" bash -c ": </dev/tcp/127.0.0.1/$THRIFT" 2>/dev/null; }

# switch_tell NAME COMMANDS: a file of commands; each must be taken.
switch_tell() {
	on "$1" simple_switch_CLI --thrift-port "$THRIFT" <"$2" >told.log 2>&1
	if grep -iE -B2 'error|invalid|unknown syntax|exception' told.log >&2; then
		return 1
	fi
}

# switch_counters NAME COUNTER: the first of them: a line each, index and packets.
switch_counters() {
	local i

	for ((i = 0; i < 32; i++)); do
		echo "counter_read $2 $i"
	done | on "$1" simple_switch_CLI --thrift-port "$THRIFT" |
		sed -nE 's/.*\[([0-9]+)\]=.*, ([0-9]+) packets.*/\1 \2/p'
}

# has_come NAMESPACE-NAME INTERFACE PACKETS: so many came in there.
has_come() {
	[ "$(on "$1" cat "/sys/class/net/$2/statistics/rx_packets")" -ge "$3" ]
}

# will_come NAME INTERFACE PACKETS: as wait_for.
will_come() {
	! wait_for has_come "$@" 2>/dev/null || return 0
	echo "of $3 packets came" \
		"$(on "$1" cat "/sys/class/net/$2/statistics/rx_packets")" >&2
	return 1
}

# frames CAPTURE: their bytes, a line each.
frames() {
	tshark -r "$1" -T json -x 2>/dev/null |
		jq -r '.[]._source.layers.frame_raw[0]'
}

# same_frames CAPTURE CAPTURE: and there are some.
same_frames() {
	[ "$(packets "$1")" -gt 0 ]
	diff <(frames "$1") <(frames "$2") >differ ||
		{ head -n 4 differ >&2; return 1; }
}

packets() { capinfos -cMTr "$1" | awk '{ print $NF }'; }

# flush NAME INTERFACE TABLE ROWS: tells the translator behind it to write what
# waits in that table (headers.p4).
flush() {
	printf '0000 02 00 00 00 00 01 02 00 00 00 00 09 88 b6 %s\n' \
		"$(printf '%04x00000000%08x' "$3" "$4" | sed 's/../& /g')" |
		text2pcap -q - flush.pcap
	on "$1" "$TOOLS/send" flush.pcap "$2" >sent
}
