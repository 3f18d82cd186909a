#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Key-Write by copies and size.
. "${BASH_SOURCE%/*}/common.bash"
# shellcheck disable=SC2034
timed=1

figure "DTA Fig. 10" "Key-Write: reports stored in a second by copies"
axes "copies of a report, N" "million reports/s" logy
n=$(scaled 4000000 100000)
for size in 4 20; do
	table keywrite "value = $size" "slots = $((n * 8))" 'stride = packed'
	run dta-gen uniform --flows "$n" --value $size -q -w reports
	for copies in 1 2 3 4; do
		ours=$(rate "$n" dta-translate -q -r reports -R "$REGION" -t t:copies=$copies)
		point "$size B" $copies "$ours"
		[ $copies != 1 ] || one=$ours
		row "$size B, N = $copies" "$([ "$copies$size" = 14 ] && echo 100 M/s ||
			echo "in the plot only")" "$ours M/s" \
			"$(calc "$ours / $one") of N = 1; a NIC has 1 / N"
	done
done
for copies in 1 2 3 4; do
	theory "a NIC, 4 B" $copies "$(calc "100 / $copies")"
done
paper "a NIC, 4 B" 1 100
note "The paper's rate is that of the NIC's messages, and linear in N (the dotted line); of 16 B and more, that of the 100G link. Here one core reads reports of a capture in memory and stores them; what it takes to read, check and hash one does not grow with N, so that more copies cost less than there."
