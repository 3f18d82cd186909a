#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is known of a hop latency by events alone, with two thresholds.
. "${BASH_SOURCE%/*}/common.bash"

# The paper's latencies are in its plot alone. These are a slow wave, small
# fluctuations, and two bursts.
n=400
awk -v n=$n 'BEGIN { srand(1); for (i = 0; i < n; i++) {
	burst = (i % 200 > 120 && i % 200 < 132) ? 150 : 0
	print int(300 + 100 * sin(i * 6.2832 / 160) + 10 * (rand() - .5) + burst)
} }' >latencies

# known RATE THRESHOLD: the file known, "PACKET SAID KNOWN"; prints events.
known() {
	run "python3 $flows_py 1 $n $1 | dta-gen int --from - --profile smartnic --hops 1 --instructions 0xa000 -q -w - | python3 $flows_py 1 $n $1 latencies >int.pcap"
	run int-collect -q -r int.pcap -p smartnic -R event -e new_key,change --push 0 \
		-t "hop_latency=$2" -t flow_latency=off -o ndjson |
		jq -r 'select(.metric == "hop_latency") | "\(.time) \(.value)"' >events
	awk -v rate="$1" 'NR == FNR { split($1, t, "."); at[int((t[1] - 1700000000 + ("0." t[2])) * rate + .5)] = $2; next }
		(FNR - 1) in at { now = at[FNR - 1] } { print FNR - 1, $1, now }' events latencies >known
	wc -l <events
}

# error: the furthest, mean and root mean square of what is known from what is.
error() {
	awk '{ d = $2 - $3; d = d < 0 ? -d : d
		m = d > m ? d : m; s += d; q += d * d } END { print m, s / NR, sqrt(q / NR) }' known
}

for t in 40 20; do
	known 10 $t >/dev/null
	figure "INTCollector Fig. 9, $t ns" "hop latency as events tell it, threshold $t ns"
	axes "packet" "hop latency, ns"
	while read -r i said is; do
		theory "said by the node" "$i" "$said"
		# steps: their corners
		[ "$i" = 0 ] || [ "$is" = "$was" ] || point "known" $((i - 1)) "$was"
		[ "$is" = "${was:-}" ] && [ "$i" -lt $((n - 1)) ] || point "known" "$i" "$is"
		was=$is
	done <known
	unset was
	read -r most _ < <(error)
	row "furthest from the truth" "never above $t ns" "$most ns" "the bound of section III-D"
	note "The latencies of the paper are not published. These are a slow wave with small fluctuations and two bursts."
done

figure "INTCollector Fig. 9, events" "events by threshold, of $n packets"
axes "threshold, ns" "events"
for t in 10 15 20 30 40 60 80; do
	point "int-collect" $t "$(known 1000000 $t)"
	read -r most mean square < <(error)
	echo "$t $most $mean $square $(wc -l <events)"
done >thresholds
ours() { awk -v t="$1" -v c="$2" '$1 == t { printf "%.3g", $c }' thresholds; }
for theirs in 20:54 40:29; do
	t=${theirs%:*}
	paper "paper, its own latencies" "$t" "${theirs#*:}"
	row "events at $t ns" "${theirs#*:}" "$(ours "$t" 5)" "other latencies; $(known 10 "$t") at 10 packets/s: the rate does not matter, as in the paper"
done

figure "INTCollector Fig. 9, error" "error by threshold"
axes "threshold, ns" "error, ns"
while read -r t _ mean square _; do
	point "root mean square" "$t" "$square"
	point "mean" "$t" "$mean"
done <thresholds
for theirs in 20:7.3 40:16.0; do
	t=${theirs%:*}
	paper "paper, its MSE" "$t" "${theirs#*:}"
	row "error at $t ns" "MSE ${theirs#*:} ns" "mean $(ours "$t" 3) ns, root mean square $(ours "$t" 4) ns" "other latencies; the paper's MSE is in ns, so it is no square"
done
