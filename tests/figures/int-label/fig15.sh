#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Labels of a packet by the size of the fat tree: theory, and simulated.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 15" "expected labels of a packet, Ts/T = 0.01"
axes "k of the fat tree" "labels"
worst=0
for k in 4 8 12 16 20 24 32 48 64; do
	form=$(run int-label-ctl theory labels -a $k -o ndjson | head -n 1)
	for b in a b; do
		mean=$(jq .mean_$b <<<"$form")
		theory "Base ${b^}" $k "$mean"
		[ $k -le 20 ] || continue
		read -r ours off <<<"$(by_chance $k .01 "$([ $b = a ] && echo 0 || echo 1)" "$mean")"
		point "Base ${b^}" $k "$ours"
		worst=$(calc "$off^2 > $worst^2 ? $off : $worst")
		[ $k != 20 ] || row "Base ${b^}, k = 20" \
			"$([ $b = a ] && echo 0.048919 || echo 0.072133703)" \
			"$mean; simulated $ours" "the check value of their sheet"
	done
done
paper "Base A" 20 .048919
paper "Base B" 20 .072133703
row "farthest of all simulated" "-" "$worst standard errors" \
	"$packets packets between random hosts, over switches that label by chance as the form says, f(i) = i/5"
