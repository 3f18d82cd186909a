#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Paths that are answered, by age and memory.
. "${BASH_SOURCE%/*}/common.bash"

# Flows and memory of the paper, both by the same factor: what counts is the load.
flows=$(scaled 2000000 50000)
slot=24 # a checksum of 32 bits and a value of 160

# ages GB COPIES: into the file ages, tenths of the flows, the youngest first.
ages() {
	table 20 "$(awk "BEGIN { print int($1 * 1e9 / $slot * $flows / 1e8) }")" "$2"
	store "$flows" 20
	run dta-query verify --region "$REGION" --truth truth.csv --by-age 10 -o ndjson >ages
}
mean() { jq -s '[.[].success * 1e4] | add / length | round / 100' ages; }
oldest() { jq -s '.[-1].success * 1e4 | round / 100' ages; }

figure "DART Fig. 4" "paths answered by age and memory, N = 2"
axes "age: later reports, million of 100 million" "paths answered, %"
for gb in 3 6 10 20 30; do
	ages $gb 2
	while read -r age ours theirs; do
		point "$gb GB" "$age" "$ours"
		theory "$gb GB" "$age" "$theirs"
	done < <(jq -r '"\(.age * 100 - 5) \(.success * 100) \(.planned * 100)"' ages)
	case $gb in
	3)
		paper "3 GB" 95 39.0
		row "3 GB, the oldest" "39.0 %, theory 38.7 %" "$(oldest) %, theory $(jq -s '.[-1].planned * 1e4 | round / 100' ages) %" "the oldest tenth; where the paper cuts, its text does not say"
		row "3 GB, all flows" "71.4 %" "$(mean) %" "the paper's lies between GB of 10^9 bytes, as here, and of 2^30, with which the form tells $(dta-plan keywrite --flows 100M --memory 3Gi --value 20 --stride packed -n 2 -o ndjson | jq '.average_success * 1e4 | round / 100') %"
		;;
	30) row "30 GB, all flows" "99.3 %" "$(mean) %" "the same: $(dta-plan keywrite --flows 100M --memory 30Gi --value 20 --stride packed -n 2 -o ndjson | jq '.average_success * 1e4 | round / 100') % with 2^30" ;;
	esac
done
ages 30 4
row "30 GB, all flows, N = 4" "99.9 %" "$(mean) %" "300 bytes a flow, the number of the abstract"
note "$flows flows in so much less memory stand for the paper's 100 million. Dotted is the closed form. Each point is a tenth of the flows."

figure "DART Fig. 4, flows" "flows kept by memory, N = 2"
axes "memory, GB" "flows, million" logx logy
for percent in 90 95 99; do
	for gb in 1 3 10 30 100; do
		theory "$percent % of all answered" $gb "$(run dta-plan keywrite --want $percent% --average --memory ${gb}G --value 20 --stride packed -n 2 -o ndjson | jq '.flows / 1e6')"
	done
done
row "flows by memory" "linear" "linear" "success depends on the load alone"
