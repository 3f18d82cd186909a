#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Path tracing of one flow: packets and bits.
. "${BASH_SOURCE%/*}/common.bash"

run int-label-ctl sim --trace 10 -o ndjson >trace
schemes=(INT-label INT PINT)
for what in packets path_bits; do
	if [ $what = packets ]; then
		figure "INT-label Fig. 22a" "packets to trace a flow's path"
		paper INT-label 10 1
		paper INT 10 1
	else
		figure "INT-label Fig. 22b" "extra bits to trace a flow's path"
	fi
	axes hops "${what/path_/}"
	for h in {1..10}; do
		i=0
		for v in $(jq -s ".[] | select(.hops == $h) | .$what" trace); do
			point "${schemes[i++]}" "$h" "$v"
		done
	done
done
note "PINT with 16 bits a packet, 80 switches, mean of 10,000 paths: ever more packets, as in the paper, one with INT and with INT-label. Bits: of labels what tells the path, INT OPTION and a device id each hop; in all, 32 bytes each hop, they are more ($(jq -s 'map(select(.hops == 10))[0].extra_bits' trace) at 10 hops), but then they tell latency, queue and time as well, which PINT's bits do not. INT is a probe of its own, with headers."
