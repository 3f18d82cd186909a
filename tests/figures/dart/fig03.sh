#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Success of queries by load and copies.
. "${BASH_SOURCE%/*}/common.bash"

slots=$(scaled 300000 20000)
loads='.1 .2 .3 .4 .5 .6 .8 1 1.5 2'
figure "DART Fig. 3" "query success by load and copies"
axes "load: keys by slots" "keys answered, %"
for copies in 1 2 3 4; do
	for load in $loads; do
		table 4 "$slots" $copies
		store "$(awk "BEGIN { print int($load * $slots) }")" 4
		run dta-query verify --region "$REGION" --truth truth.csv --by-age 20 -o ndjson >ages
		read -r ours theirs < <(jq -rs '"\(100 * (map(.right) | add) / (map(.asked) | add)) \(map(.planned * 100) | add / length)"' ages)
		point "N = $copies" "$load" "$ours"
		theory "N = $copies" "$load" "$theirs"
		echo "$load $copies $ours $theirs"
	done
done >success

# best COLUMN: where which N is best.
best() {
	sort -g success | awk -v c="$1" '
		{ if (!($1 in top) || $c > top[$1]) { top[$1] = $c; n[$1] = $2 } }
		!seen[$1]++ { at[++k] = $1 }
		END { for (i = 1; i <= k; i++) if (n[at[i]] != n[at[i - 1]])
			printf("%sN = %s from %s", (i > 1) ? ", " : "", n[at[i]], at[i]) }'
}
of() { awk -v l="$1" -v n="$2" -v c="$3" '$1 == l && $2 == n { printf "%.2f", $c }' success; }
row "best N by load" "$(best 4)" "$(best 3)" "of the loads measured; the paper's are by its closed form, for its plot has colours for numbers"
for load in .1 .5 1; do
	row "N = 2, load $load" "$(of $load 2 4) %" "$(of $load 2 3) %" "the closed form of section 4, as a mean over all ages, and what $slots slots told"
done
awk '{ d = $3 - $4; d = d < 0 ? -d : d; m = d > m ? d : m } END { print m }' success >apart
row "form and simulation, furthest apart" "simulations adhere to theory" "$(calc "$(cat apart)") points of %" "chance, of so few keys"
note "The paper's text has no numbers of this figure: dotted is its closed form, which it says its simulations adhere to. Points are reports that were stored and asked for."
