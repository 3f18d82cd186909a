#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The rest time of Base B.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 18" "rest time of Base B, T = 50 ms"
axes "T1/T" "of 10,000 packets"
for p in 0 10 20 30 40 50 60 70 80 90 100; do
	json=$(sim "${long[@]}" -b B --rest $((p * 500))us)
	point "packets with labels" "$(calc "$p / 100")" "$(per10000 labelled "$json")"
	point "labels" "$(calc "$p / 100")" "$(per10000 items "$json")"
done
note "As in the paper, which has the curves only, with a longer rest there are fewer labels, on more packets: at 0 it is Base B, at T it is Base A."
