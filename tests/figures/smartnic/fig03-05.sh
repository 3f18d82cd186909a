#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Packets a second by hops, instructions and events; what an event and an
# eviction take.
timed=1
. "${BASH_SOURCE%/*}/common.bash"

n=$(scaled 1000000 50000)
collect="int-collect -r int.pcap -o ndjson"

figure "SmartNIC Fig. 3a" "packets a second by hops and instructions"
axes "INT transit nodes" "million packets a second"
for hops in 1 2 3 4 5; do
	for i in 1 4; do
		packets "$n" $hops $i --flows 10k
		point "$i a node, one core" $hops "$(calc "$n / 1e6 / $(cpu "$collect -R none")")"
		# 64 bytes, a UDP header, INT, and 20 bytes between frames
		theory "$i a node, 10 Gbit/s" $hops "$(calc "1250 / (64 + 8 + 16 + 4 * $hops * $i + 20)")"
	done
done
paper "1 a node, 10 Gbit/s" 1 11
paper "4 a node, 10 Gbit/s" 5 6.57
quiet=$(cpu "$collect -R none")
row "5 nodes, 4 instructions" "6.57 M/s" "$(calc "$n / 1e6 / $quiet") M/s a core" "the paper's is the line's rate, dotted, with 52 micro engines; ours is one core's, and packets come from a file"

figure "SmartNIC Fig. 3b" "packets a second by events, 5 nodes, 4 instructions"
axes "million events a second" "million packets a second"
paper "52 micro engines" .6 6.57
paper "52 micro engines" .8 6.57
paper "52 micro engines" 1.6 5.3
for high in 300 250 200 170 140 110 80; do
	t=$(cpu "$collect -R event -e rise -t queue_occupancy=off,$high")
	told=$(run "$collect -q -R event -e rise -t queue_occupancy=off,$high" | wc -l)
	point "one core" "$(calc "$told / 1e6 / $t")" "$(calc "$n / 1e6 / $t")"
done
t=$(calc "$t > $quiet ? $t : $quiet")
each=$(calc "($t - $quiet) / ($told ? $told : 1) * 1e9")
row "fewer packets with 1.6 M events/s" "19 %" "$(calc "1.6e6 * $each / 1e9 * 100") % of a core" "ours tell where the value rises above the threshold, as rows of NDJSON; theirs each packet above it, as entries of a ring that has a lock"

figure "SmartNIC Fig. 4a" "threads of the host by events"
axes "million events a second" "threads"
paper "host of the SmartNIC" 1.6 8
for rate in .4 .8 1.2 1.6; do
	point "for events, of int-collect" $rate "$(calc "$rate * $each / 1e3")"
done
row "1.6 M events/s" "8 threads read a ring" "$(calc "1.6 * $each / 1e3") of a core" "$(calc "$each") ns an event more than without events: it makes the rows, and there is no bus between"

figure "SmartNIC Fig. 5" "time of an operation"
axes "" "ns" logy
packets "$n" 5 4 --flows 2M
all=$(cpu "$collect -R none")
miss=$(cpu "$collect -R none --flows 1200")
evicted=$(counter evicted)
evict=$(calc "$miss > $all && $evicted ? ($miss - $all) / $evicted * 1e9 : 1")
for op in "update:$(calc "$quiet / $n * 1e9")" "evict:$evict" "notify:$each"; do
	point "mean, on one core" "${op%%:*}" "${op#*:}"
	paper "median at most, on the NIC" "${op%%:*}" 5000
	paper "maximum" "${op%%:*}" 25000
done
row "update of a flow, 20 values" "median < 5 us, < 25 us" "$(calc "$quiet / $n * 1e9") ns" "ours is the mean time of a packet, which is one of a batch; a micro engine has 633 MHz, and waits for memory"
row "eviction" "the least of the three" "$evict ns" "what $evicted evictions took more, from a cache of 1,200 flows"
row "notification" "the most by far at high rates" "$(calc "$each") ns" "the paper's waits for the lock of a ring that 52 engines share"
note "Rates are by CPU time of int-collect, the best of three runs. 10,000 flows of the model, where the paper has CAIDA's trace of 2019, which may not be passed on. The paper's points are of its text."
