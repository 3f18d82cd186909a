#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Packets by the number of their labels.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 17" "packets by the number of their labels, of 10,000"
axes "labels" "packets"
for b in A B; do
	json=$(sim "${long[@]}" -b $b)
	for i in 1 2 3 4 5; do
		point "Base $b" $i "$(per10000 "carried[$i]" "$json")"
	done
done
note "T = 50 ms. The paper has the bars without numbers. As it says: with A most have one, and few five; with B those with one are the most again, far fewer than with A, and those with five come second."
