#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Values that are stored, without and with events (section V-B2).
. "${BASH_SOURCE%/*}/common.bash"

# The paper's network: 20 switches, 5000 flows of 5 hops, a million reports a
# second, all 9 fields, each key told again every 10 s. Here the traffic lasts a
# second, in which each key is told once; so tenths of these count.
n=$(scaled 1000000 50000)
seconds=$(calc "$n / 1e6")
told="int-collect -q -p intcollector-0.5 -r int.pcap -o csv"

figure "INTCollector section V-B2" "values in reports by values stored"
axes "events a second" "times fewer values" logx logy
for events in 100 1000 10000 50000; do
	reports 5000 "$n" 5 0xff00 --switches 20 --spikes $((events / 2))
	run "int-collect -p intcollector-0.5 -r int.pcap -R none -o ndjson 2>ledger" >/dev/null
	all=$(counter values)
	keys=$(run $told -R value --push "${seconds}s" | sed 1d | wc -l)
	changes=$(run $told -R event -e change -t hop_latency=100ns --push 0 | sed 1d | wc -l)
	per_s=$(calc "$changes / $seconds")
	ours=$(calc "$all / $seconds / ($per_s + $keys / 10)")
	theory "the paper's form, its 110,240 keys" $events "$(calc "22e6 / ($events + 11024)")"
	point "counted" "$per_s" "$ours"
	case $events in
	1000) theirs=1830 ;;
	10000) theirs=1000 ;;
	50000) theirs=360 ;;
	*) continue ;;
	esac
	paper "the paper's form, its 110,240 keys" $events $theirs
	row "$events events/s" "$theirs times" "$ours times" "$keys keys: a flow has a latency at the 5 switches that it meets, not at all 20"
done
row "values in a report" 22 "$(calc "$all / $n")" "the same fields"
