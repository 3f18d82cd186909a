#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Query speed of Key-Write by cores.
. "${BASH_SOURCE%/*}/common.bash"
# shellcheck disable=SC2034
timed=1

figure "DTA Fig. 11a" "Key-Write: answers in a second by cores"
axes "cores" "million answers/s" logy
n=$(scaled 2000000 50000)
table keywrite 'value = 4' "slots = $((n * 16))"
run "dta-gen uniform --flows $n -q --truth truth.csv -w - | dta-translate -q -r - -R $REGION -t t:copies=4"
for copies in 1 2 3 4; do
	# So that all are read.
	policy=$([ $copies = 1 ] && echo first || echo consensus:$copies)
	for ((j = 1; j <= $(nproc); j++)); do
		ours=$(rate "$n" dta-query keywrite -R "$REGION" -k truth.csv \
			-n $copies -p "$policy" -j $j --summary -q)
		point "N = $copies" $j "$ours"
		[ $copies != 2 ] || row "N = 2, $j cores" \
			"$(calc "7.1 / 4 * $j") M/s (a share of 4 cores' 7.1)" \
			"$ours M/s" "CRC by the processor's instructions here, by Boost's tables there; here keys are read as text as well"
	done
done
paper "N = 2" 4 7.1
paper "N = 2" 8 14.2
inside=$(run bench_query | jq -s 'map(select(.path | startswith("query keywrite N=2")))[0]')
point "N = 2, keys in memory" 1 "$(jq .rate_mps <<<"$inside")"
row "N = 2, keys in memory, 1 core" "1.78 M/s" "$(jq '.rate_mps' <<<"$inside") M/s" \
	"$(jq .ratio <<<"$inside") of what bare reads of the same slots take on this machine"
note "All copies are read for each answer, the worst case of the paper, by --policy consensus. dta-query reads keys as text (CSV) and prints a sum."
