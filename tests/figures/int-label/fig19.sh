#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Probability functions of Base B.
. "${BASH_SOURCE%/*}/common.bash"

for what in labelled items; do
	[ $what = items ] || figure "INT-label Fig. 19, packets" \
		"packets with labels, of 10,000, by probability function of Base B"
	[ $what = labelled ] || figure "INT-label Fig. 19, labels" \
		"labels of 10,000 packets by probability function of Base B"
	axes "labelling interval, ms" "$([ $what = items ] && echo labels || echo packets)"
	for f in f1 f2 f3; do
		for t in 20 40 60 80 100; do
			point ${f^} $t "$(per10000 $what \
				"$(sim "${long[@]}" -b B -f $f -t ${t}ms)")"
		done
	done
done
note "The paper has the curves only. As there F1 needs the fewest packets, F2 more, F3 the most; F1 pays with some more labels."
