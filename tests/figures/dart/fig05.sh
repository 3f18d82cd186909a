#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Wrong answers by load and length of the checksum.
. "${BASH_SOURCE%/*}/common.bash"

# Tables have checksums of 32 bits. What shorter ones would let pass is counted
# over what lies in the slots. Where a key belongs, and its checksum, is seen in
# a table that is large enough to hold all; slots are a hash modulo their number.
slots=$(awk "BEGIN { n = 2^18; while (n > 2^18 * $SCALE && n > 2^13) n /= 2; print n }")
slots_all=$((slots * 64))
show() { dta-dump region "$REGION" --slots -o csv | cut -d, -f3,6,8; }

table 4 $slots_all 2
store $((slots * 2)) 4
show >all

figure "DART Fig. 5" "wrong answers by load and length of the checksum, N = 2"
axes "load: keys by slots" "wrong answers, %" logx logy
for load in .125 .25 .5 1 2; do
	flows=$(awk "BEGIN { print int($load * $slots) }")
	table 4 $slots 2
	store "$flows" 4
	show >now
	# plurality: of two copies that match, both must have one value
	wrong=$(awk -F, -v slots=$slots -v flows="$flows" '
	BEGIN { split("2 3 4 8", digits, " ")
		for (i = 0; i < flows; i++) wanted[sprintf("%08x", i)] }
	FNR == 1 { next }
	NR == FNR { sum[$1 + 0] = $2; value[$1 + 0] = $3; next }
	!($3 in wanted) { next }
	!($3 in first) { first[$3] = $1 % slots; next }
	{ keys++; a = first[$3]; b = $1 % slots
	for (i in digits) {
		own = substr($2, 9 - digits[i])
		x = substr(sum[a], 9 - digits[i]) == own ? value[a] : ""
		y = substr(sum[b], 9 - digits[i]) == own ? value[b] : ""
		if (x != "" && y != "" && x != y) continue
		answer = x != "" ? x : y
		if (answer != "" && answer != $3) wrong[digits[i]]++
	} } END { for (i = 1; i <= 4; i++)
		printf "%d:%.3g ", digits[i] * 4, 100 * wrong[digits[i]] / keys }' now all)
	for pair in $wrong; do
		bits=${pair%:*} ours=${pair#*:}
		theirs=$(run dta-plan keywrite --load "$(calc "$load / 100"):$load:$(calc "$load / 100")" -n 2 -b "$bits" -o ndjson |
			jq -s '100 * (map(.wrong) | add) / length')
		theory "$bits bits" $load "$theirs"
		[ "$ours" = 0 ] || point "$bits bits" $load "$ours"
		[ "$load" != 1 ] || row "$bits bits, load 1" "bound $(calc "$theirs") %" "$ours %" \
			"$([ "$bits" = 32 ] && echo "the paper's simulations of 100 million keys found none either" || echo "the closed form is an upper bound, here as a mean of all ages; the paper's text has no numbers of the plot")"
	done
done
note "Dotted is the upper bound of section 4 (dta-plan). Points are counted over the memory of $slots slots: tables hold 32 bits of checksum, of which so many are compared here. A point that is not there is 0."
