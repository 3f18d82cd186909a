#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Coverage over time.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 11" "coverage over time, Base A"
axes "time, s" "coverage, %"
for t in 80 50 20; do
	run int-label-ctl sim -q -d "$(scaled 20 5)s" --warmup 2s -t ${t}ms \
		--rate 800 -o csv | awk -F, 'NR > 1 { print $2, $3 * 100 }' >over
	while read -r s coverage; do
		point "T = $t ms" "$s" "$coverage"
	done <over
	row "T = $t ms: mean, deviation, least" "-" "$(awk '{ s += $2; q += $2 * $2
		if (NR == 1 || $2 < m) m = $2 }
		END { a = s / NR; printf "%.2f, %.2f, %g", a,
			sqrt(q / NR - a * a), m }' over)" "the paper has the curves only"
done
note "As in the paper coverage is steady with short intervals, and the longer they are the more it jumps. At 20 ms it is not quite always 100 %: now and then no packet passes a port with one route for 100 ms."
