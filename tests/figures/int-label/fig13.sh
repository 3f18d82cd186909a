#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Coverage where packets are lost.
. "${BASH_SOURCE%/*}/common.bash"

seeds=$(scaled 12 2) some=(-d "$(scaled 100 10)s" --warmup 2s)

figure "INT-label Fig. 13" "coverage where packets are lost"
axes "packets lost, %" "coverage, %"
for pps in 300 400 500 625 800 1000 1250 1500 2000; do
	o=("$seeds" "${some[@]}" --rate $pps --port-rate 100 --queue 10)
	a=$(means "${o[@]}")
	lost=$(of .loss "$a")
	point "Base A" "$lost" "$(of .coverage "$a")"
	point "Base A, uneven service" "$lost" \
		"$(of .coverage "$(means "${o[@]}" --port-jitter 50)")"
	point "Base B" "$lost" "$(of .coverage "$(means "${o[@]}" -b B)")"
	for k in 1 .3; do
		pro=$(means "${o[@]}" -P $k)
		point "Pro, k = $k" "$lost" "$(of .coverage "$pro")"
		[ $pps != 1250 ] || row "Pro at $lost % loss, k = $k" \
			"92 % at 60 % loss" "$(of .coverage "$pro") %" \
			"the paper does not tell its k; $(calc "$(jq .labels <<<"$pro") / $(jq .labels <<<"$a")") times the labels of A, which with as many covers $(as_many "$(jq .labels <<<"$pro")" means "${o[@]}") %"
	done
	[ $pps = 1250 ] || continue
	paper "Base A" "$lost" 85.8
	paper "Pro, k = 1" 60 92
	row "Base A at $lost % loss" "85.8 % (sheet)" \
		"$(of .coverage "$a") %, by seed $(of .least "$a") to $(of .most "$a")" \
		"with even service it is by chance whether one stream finds each place in a full queue: some runs have about 85, most about 93, and nothing between"
done
note "Ports forward 100 packets/s at most, evenly, and hold 10; the traffic is raised from 300 to 2000 packets/s, as in the paper. Means of $seeds runs by seed. Uneven service: a packet takes half as long or half as long again (\`--port-jitter 50\`), and no stream is shut out. Coverage begins low because the traffic does."
