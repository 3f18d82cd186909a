#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Labels of a packet by Ts/T: theory, and simulated.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 16" "expected labels of a packet, k = 20"
axes "Ts/T" "labels" logx logy
for r in .001 .002 .005 .01 .02 .05 .1 .2 .5 1; do
	form=$(run int-label-ctl theory labels -r $r -o ndjson | head -n 1)
	theory "Base A" $r "$(jq .mean_a <<<"$form")"
	theory "Base B" $r "$(jq .mean_b <<<"$form")"
	read -r ours off <<<"$(by_chance 20 $r 1 "$(jq .mean_b <<<"$form")")"
	point "Base B" $r "$ours"
	[ $r != .01 ] || row "Base B, Ts/T = 0.01" 0.072133703 \
		"$(jq .mean_b <<<"$form"); simulated $ours" \
		"the check value of their sheet; $off standard errors off"
done
paper "Base A" .01 .048919
paper "Base B" .01 .072133703
