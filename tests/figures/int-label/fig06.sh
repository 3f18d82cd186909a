#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Coverage and bandwidth by the rate of the traffic.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 6, coverage" "coverage by background traffic"
axes "background traffic, Mbit/s" "coverage, %" logx
for pps in 62 125 250 375 500 573 625 750 875 1000 1500 2000 3000; do
	for b in A B; do
		json=$(sim "${long[@]}" --rate $pps -b $b)
		mbit=$(calc "$pps * 8 / 1000")
		point "Base $b" "$mbit" "$(of .coverage "$json")"
		echo "$b $mbit $(of "$occupation" "$json") $(of .overhead "$json")"
	done
done >others
at_573=$(sim "${long[@]}" --rate 573)
paper "Base A" 4.584 98.9
row "Base A, labels each 50 ms" "98.9 % (sheet)" "$(of .coverage "$at_573") %" \
	"the rate of the turning point is not in the paper; 573 packets/s, 4.6 Mbit/s, give both numbers of the sheet"
row "Base A, labels each 100 ms" "88.2 % (sheet)" \
	"$(of .coverage "$(sim "${long[@]}" --rate 573 -t 100ms)") %" "same"
note "As in the paper coverage rises with the traffic and stays where it is from about 5 Mbit/s on. What is missing at low rates is ports that no packet passed in 100 ms."

figure "INT-label Fig. 6, bandwidth" "bandwidth of labels by background traffic"
axes "background traffic, Mbit/s" "% of the traffic" logx
while read -r b mbit occupied overhead; do
	point "Base $b" "$mbit" "$occupied"
	point "Base $b, every link" "$mbit" "$overhead"
done <others
note "The paper has the curves only: the share falls, and B is above A, as here. Its bandwidth is items a packet x 32 / 1000: what a packet carries at its end. Every link: bytes of labels by bytes of packets on all links, most of which a packet passes before it has its last label."
