#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Postcarding by flows between and cache.
. "${BASH_SOURCE%/*}/common.bash"

figure "DTA Fig. 14" "Postcarding: paths that are written whole, by flows between and cache"
axes "other flows between two postcards of one" "paths written whole, %" logx
n=$(scaled 200000 20000)
table postcard 'hops = 5' 'values = 1-80' 'chunks = 1Mi' 'copies = 1'
for cache in 8 16 32 64 128; do
	for between in 10 100 300 1000 3000 10000; do
		run "dta-gen int-postcard --hops 5 --flows $n --interleave $between -q -w - | dta-translate -r - -R $REGION -t t:cache=${cache}Ki -o ndjson 2>&1" >ledger
		ours=$(calc "100 * $(counter chunks <ledger) / $n")
		point "$cache Ki rows" $between "$ours"
		theory "$cache Ki rows" $between \
			"$(calc "100 * exp(-$between / ($cache * 1024))")"
		[ "$cache$between" != 321000 ] || row "32 Ki rows, 1000 flows between" \
			"in the plot only" "$ours %" "closed form: exp(-flows / rows)"
	done
done
paper "32 Ki rows" 10 100
row "paths in a second at the best" "90.5 M/s (452.5 M postcards/s)" "see Fig. 7a" \
	"a path that is written early counts as a failure, as in the paper"
note "The paper's plot is the rate, which is the best one times the share that is drawn here; its best is the square, without others between. Postcards of one flow are spread over as many others as the axis says."
