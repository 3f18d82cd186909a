#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Success of Key-Write by age and memory.
. "${BASH_SOURCE%/*}/common.bash"

# The paper's 100 M flows and its memory, both by one factor.
flows=$(scaled 2000000 50000)
figure "DTA Fig. 13" "Key-Write: paths answered by age and memory"
axes "later reports, million of 100 million" "paths answered, %"
for gib in 3 6 10 30; do
	slots=$(calc "int($gib * 2^30 / 24 * $flows / 1e8)" | awk '{ print int($1) }')
	table keywrite 'value = 20' 'stride = packed' "slots = $slots" 'copies = 2'
	run "dta-gen int-path --flows $flows -q --truth truth.csv -w - | dta-translate -q -r - -R $REGION"
	run dta-query verify -R "$REGION" --truth truth.csv --by-age 50 -o ndjson >ages
	while read -r age success planned; do
		point "$gib GiB" "$age" "$success"
		theory "$gib GiB" "$age" "$planned"
	done < <(jq -r '"\(.age * 100 - 1) \(.success * 100) \(.planned * 100)"' ages)
	for theirs in 3:10:99.3 3:100:44.5 30:10:99.99 30:100:98.2; do
		IFS=: read -r g age percent <<<"$theirs"
		[ "$g" = "$gib" ] || continue
		paper "$gib GiB" "$age" "$percent"
		row "$gib GiB, $age million later" "$percent %" \
			"$(jq -s "map(select(.age * 100 <= $age))[-1].success * 1e4 | round / 100" ages) %; mean of all up to there: $(jq -s "map(select(.age * 100 <= $age).success) | add / length * 1e4 | round / 100" ages) %" \
			"$([ "$age" = 10 ] && echo "the paper's number is the mean of flows up to that age" || echo "slots of 24 B here; by the closed form the paper's number is that of 22 to 23 B")"
	done
done
