#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# CPU that reports take, by collector and by what is in them.
timed=1
. "${BASH_SOURCE%/*}/common.bash"

n=$(scaled 500000 50000)
collect="int-collect -p intcollector-0.5 -r int.pcap -o ndjson"
quiet="$collect -R event -e change -t hop_latency=100ns"
# Per cent of a core at a million reports a second.
percent() { calc "$(cpu "$quiet") / $n * 1e8"; }

figure "INTCollector Fig. 10" "reports a second for 1 % of a CPU"
axes "" "thousand reports a second for 1 %" logy
paper IntMon "other collectors" 0.1
paper "Prometheus INT exporter" "other collectors" 5.7
paper INTCollector "with events" 154.8
paper INTCollector "each value told" 0.19
reports 1 "$n" 6 0xff00 --spikes 0
ours=$(calc "1000 / $(percent)")
point int-collect "with events" "$ours"
row "with events" "154.8" "$ours" "ours also adds each value to a mean and a distribution, from a file; the paper's compares alone, in the kernel"
# In the kernel, as the paper's, if make bench was run: it takes a minute.
bench=$(dirname "$(command -v int-collect)")/bench.ndjson
[ ! -e "$bench" ] || jq -r 'select(.path |
	startswith("XDP, report 1.0, 6 hops, all fields, 1 flow (limit: XDP_DROP)")) |
	"\(.rate_mps) \(.limit_mps)"' "$bench" >kernel
if [ -s kernel ]; then
	read -r rate drop <kernel
	point "int-collect --xdp" "with events" "$(calc "10 * $rate")"
	row "with events, in the kernel" "154.8" "$(calc "10 * $rate"), with making and sending the packets; $(calc "10 / (1 / $rate - 1 / $drop)") without" "reports 1.0, and veth in the place of virtio; what is taken off is the rate of XDP_DROP beside it"
else
	row "with events, in the kernel" "154.8" "-" "make bench, run before, tells it"
fi
# Each value is one: all nodes say new ones, and every change counts.
m=$((n / 10))
run "dta-gen int --from plain-1.pcap -c $m --format report --profile intcollector-0.5 --hops 6 --instructions 0xff00 -q -w int.pcap"
t=$(cpu "$collect -R event -t hop_latency=0 -t flow_latency=0 -t queue_occupancy=0 -t queue_congestion=0 -t link_utilization=0")
without=$(calc "$m / 1e5 / $t")
point int-collect "each value told" "$without"
row "each value told" "0.19" "$without" "$(calc "$(counter events) / $m") rows of NDJSON a report, in the same program; the paper's pass a script in Python to a database"

# curve LETTER X WHAT PAPER X:REPORTS...: the paper's point is at the last X.
curve() {
	local place ours

	figure "INTCollector Fig. 11$1" "CPU at a million reports a second, by $2"
	axes "$2" "% of a core"
	for place in "${@:5}"; do
		reports ${place#*:}
		ours=$(percent)
		point int-collect "${place%%:*}" "$ours"
	done
	paper INTCollector "${place%%:*}" "$4"
	row "$3" "$4 %" "$ours %" "ours also adds each value to a mean and a distribution, which the paper's does not; that is in the kernel, and here a file is read"
}
curve a hops "6 hops, 100 flows" 12.06 "1:100 $n 1 0xff00 --spikes 0" \
	"2:100 $n 2 0xff00 --spikes 0" "4:100 $n 4 0xff00 --spikes 0" "6:100 $n 6 0xff00 --spikes 0"
curve b flows "2000 flows, node alone" 8.79 "100:100 $n 6 0x8000 --spikes 0" \
	"1000:1000 $n 6 0x8000 --spikes 0" "2000:2000 $n 6 0x8000 --spikes 0"
curve c instructions "all fields" 12.59 "1:100 $n 6 0x8000 --spikes 0" \
	"3:100 $n 6 0xe000 --spikes 0" "5:100 $n 6 0xf800 --spikes 0" "8:100 $n 6 0xff00 --spikes 0"
curve d "events a second" "1000 events/s, 3 hops" 15.04 "0:100 $n 3 0xff00 --spikes 0" \
	"500:100 $n 3 0xff00 --spikes 250" "1000:100 $n 3 0xff00 --spikes 500"
note "CPU time of int-collect, the best of three runs, reading $n telemetry reports 0.5 from a file. The numbers of the paper are those of its text; of Fig. 11 it has the last point of each curve."
