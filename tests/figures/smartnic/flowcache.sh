#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Hits of the flow cache by its size, and how many flows find no bucket.
. "${BASH_SOURCE%/*}/common.bash"

n=$(scaled 1000000 50000)
flows=$((n / 10))
packets "$n" 1 1 --flows $flows
hits() { # BUCKETS
	run "int-collect -r int.pcap -R none --flows $1 -o ndjson 2>ledger" >&2
	calc "100 * (1 - $(counter created) / $n)"
}
most=$(hits $((flows * 4))) distinct=$(counter created)
figure "SmartNIC section III-B" "hits of the flow cache by its size"
axes "buckets by flows" "packets whose flow is there, %" logx
for by in .01 .03 .1 .2 .3 .5 .7 1 1.5 2; do
	theory "a cache without limit" $by "$most"
	point "12 buckets a row, the oldest leaves" $by \
		"$(hits "$(awk "BEGIN { n = int($by * $distinct); print n < 12 ? 12 : n }")")"
	[ $by != 1 ] || row "as many buckets as flows" "-" "$(calc "100 * (1 - $(counter created) / $n)") % hits, $(calc "100 * $(counter evicted) / $(counter created)") % of flows evicted" "of $distinct flows and $n packets; the paper has no number"
done

figure "SmartNIC section III-B, rows" "flows that find their row full"
axes "flows by buckets" "flows without a bucket, %" logy
for load in .4 .5 .6 .7 .8 .9 1; do
	theory "chance, rows of 12" $load "$(awk -v l="$load" 'BEGIN { m = 12 * l; p = exp(-m)
		for (k = 1; k < 200; k++) { p *= m / k; if (k > 12) s += (k - 12) * p }
		print 100 * s / m }')"
	hits "$(awk "BEGIN { print int($distinct / $load) }")" >/dev/null
	evicted=$(calc "100 * $(counter evicted) / $distinct")
	[ "$evicted" = 0 ] || point "evicted" $load "$evicted"
	[ $load != .9 ] || at90=$evicted
done
row "buckets" "2^19 rows of 12, 6 million flows" "the same by default" "--flows"
row "evictions" "one thread reads their ring in all scenarios" "at 90 % full $at90 % of flows, by chance $(awk 'BEGIN { m = 10.8; p = exp(-m); for (k = 1; k < 99; k++) { p *= m / k; if (k > 12) s += (k - 12) * p }; printf "%.1f", 100 * s / m }') %" "chance: of flows that fill rows of 12 at random; one that comes back later may be evicted again, and counts twice"
