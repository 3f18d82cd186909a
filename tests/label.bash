# SPDX-License-Identifier: BSD-2-Clause
# What the tests of INT-label share: load ../label

# Traffic of 2 s: 20000 packets a second, IPv4 with DF. (IPv6 is in CAPTURES.)
traffic() {
	dta-gen uniform -q -c 40000 --rate 20000 --seed 1 -w "$1"
}

# Three devices in a row; OPTIONS go to each. Leaves back.pcap, labels.pcap.
three_hops() { # CAPTURE OPTION...
	local from=$1

	shift
	int-label-ctl label -q -d 1 --edge in -r "$from" -w one.pcap "$@"
	int-label-ctl label -q -d 2 -r one.pcap -w two.pcap "$@"
	int-label-ctl label -q -d 3 --edge out -r two.pcap -w back.pcap \
		-e labels.pcap "$@"
}

# A label of device, port 2 or so: in INT OPTION behind IPv4, as text2pcap reads it.
label_frame() { # DEVICE MICROSECONDS NUMBER [PORT]
	printf '000000 020000000002 020000000001 0800 4500003a 00010000 40fd65c4 '
	printf '0a000001 0a000002 1101 %08x 0001 %04x %012x 0000 00000000 ' "$1" "${4:-2}" "$2"
	printf '00000000 %08x 00000000 0000000000000000' "$3"
}

# Frames, a line each: SECONDS DEVICE MICROSECONDS NUMBER [PORT], to a
# capture.
labels_to() { # CAPTURE
	local when device us number port

	while read -r when device us number port; do
		echo "$when"
		label_frame "$device" "$us" "$number" $port | sed 's/ //2g; s/^000000/& /' |
			sed -E 's/^(000000) *(.*)/\1 \2/; s/([0-9a-f]{2})/\1 /g; s/^00 00 00 */000000 /'
		echo
	done >hex
	text2pcap -q -F pcap -t '%s.%f' hex "$1" 2>/dev/null
}

# Devices 1 and 2 fall silent, and are heard again.
falls_silent() { # CAPTURE
	labels_to "$1" <<-END
		100.000000 1 1000 1
		100.000000 2 1000 1
		100.200000 3 1000 1
		100.400000 1 401000 5
		100.400000 2 401000 5
		100.550000 3 351000 2
	END
}

# told_of LEDGER COUNTER...: of the controller.
told_of() { # LEDGER COUNTER...
	local log=$1 name

	shift
	for name; do counter "$log" "$name" controller; done | xargs
}

# A command for --exec that says its lines to the sockets HOP<device>, as
# socat(1) would, and then makes a file "told".
datagram_to() { # COMMAND HOP
	cat >"$1" <<-END
		#!/usr/bin/env python3
		import os, socket, sys
		socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(
		    sys.stdin.buffer.read(), "$2" + os.environ["LABEL_NODE"])
		open("told", "w")
	END
	chmod +x "$1"
}
