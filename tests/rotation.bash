# SPDX-License-Identifier: BSD-2-Clause
# What tests of rotations share: traffic beside them, who is told of one in
# which order, and all cases of that. A test has give(), hup_collector(),
# hup_translator(), order_restart() and one(); CASE counts its rotations.

rotation_cases() { # orders
	DELAYS="0 0.3${ALL:+ 0.05 2}"
	ORDERS=$*
	CASE=0
	dta-gen uniform --seed 99 --count 100 -q -w chunk.pcap
}

# Reports as long as a file is there, about 2000 a second.
traffic() {
	: >traffic
	while [ -e traffic ]; do
		give chunk.pcap
		sleep 0.05
	done 3>&- &
	TRAFFIC=$!
}

end_traffic() {
	rm -f traffic
	wait "$TRAFFIC"
}

# What the two ends are told after a rotation, DELAY apart.
order_none() { sleep "$1"; }
order_collector() { hup_collector && sleep "$1" && hup_translator; }
order_translator() { hup_translator && sleep "$1" && hup_collector; }
order_twice() { order_collector "$1" && order_translator "$1"; }

# In make check each order with each delay, and with and without traffic; in
# make check-all with each of both.
matrix() { # road
	local order delay traffic

	for order in $ORDERS; do
		for delay in $DELAYS; do
			for traffic in off on; do
				[ "${ALL:-}" ] || case "$delay $traffic" in
				"0 off" | "0.3 on") continue ;;
				esac
				one $order "$delay" $traffic "$1"
			done
		done
	done
}
