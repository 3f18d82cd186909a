#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Distributions of what nodes say, and how many values are missing in them.
. "${BASH_SOURCE%/*}/common.bash"

packets "$(scaled 200000 5000)" 5 4 --flows 10k --truth truth.csv
run int-collect -q -r int.pcap -R bin -o csv >bins.csv

# count METRIC COLUMN: "LOW WIDTH OURS TRUTH" of each bin of a node's metric.
count() {
	awk -F, -v metric="$1" -v column="$2" '
	NR == FNR { if (FNR > 1 && $column != "") truth[$column]++; next }
	$2 == metric { high[$5] = $6; ours[$5] += $7 }
	END { for (low in ours) {
		n = 0
		for (v = low + 0; v <= high[low] + 0; v++) n += truth[v]
		print low, high[low] - low + 1, ours[low], n
	} }' truth.csv bins.csv | sort -n
}

: >missing
for metric in hop_latency:9 queue_occupancy:11 link_utilization:14; do
	name=${metric%:*}
	figure "SmartNIC Fig. 6, $name" "distribution of ${name/_/ }"
	log=(logy)
	[ "$name" != hop_latency ] || log=(logx logy)
	axes "${name/_/ }, from" "values of each number" "${log[@]}"
	count "$name" "${metric#*:}" >$name
	while read -r low width ours truth; do
		[ "$low" = 0 ] && [ "$name" = hop_latency ] && continue
		point "int-collect" "$low" "$(calc "$ours / $width")"
		theory "int-collect" "$low" "$(calc "$truth / $width")"
	done <$name
	awk -v name=$name '{ a += $3; b += $4 } END { print name, 100 * (1 - a / b), b }' $name >>missing
done

figure "SmartNIC Fig. 6, loss" "values that are missing in the distributions"
axes "" "values missing, %"
while read -r name lost all; do
	paper "paper, at most" "${name/_/ }" .04
	point "int-collect" "${name/_/ }" "$lost"
	row "${name/_/ }" "< 0.04 %" "$lost % of $all" "the paper loses what its rings do not take at 6.57 M packets/s; a file waits, and each value counts once"
done <missing
note "Dotted is what the nodes said. Values are exponential, as in the paper, and of all nodes; bins are as wide as a sixteenth of a value at most."
