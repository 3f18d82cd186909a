#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Success of Key-Write by load and copies.
. "${BASH_SOURCE%/*}/common.bash"

slots=$(scaled 1000000 20000)
figure "DTA Fig. 12" "Key-Write: keys answered by load and copies"
axes "load: keys by slots" "keys answered, %"
for copies in 1 2 3 4; do
	for load in .05 .1 .2 .3 .4 .5 .75 1 1.25 1.5 1.75 2; do
		table keywrite 'value = 4' "slots = $slots" "copies = $copies"
		run "dta-gen uniform --flows $(calc "int($load * $slots)") -q --truth truth.csv -w - | dta-translate -q -r - -R $REGION"
		run dta-query verify -R "$REGION" --truth truth.csv --by-age 20 -o ndjson >ages
		run dta-plan keywrite --load $load -n $copies -o ndjson >plan
		point "N = $copies" $load \
			"$(jq -s '100 * (map(.right) | add) / (map(.asked) | add)' ages)"
		theory "N = $copies" $load "$(jq '100 * .average_success' plan)"
		echo "$copies $load $(jq -s '100 * .[19].success' ages) $(jq '100 * .success' plan)"
	done
done >oldest
note "The paper has the curves without numbers. As there N = 4 is best at a low load and N = 1 at a high one. Success is the mean of all keys; the dotted lines are the mean of the paper's closed form (1) to (3)."

figure "DTA Fig. 12, oldest keys" "Key-Write: oldest keys answered by load and copies"
axes "load: keys by slots" "keys answered, %"
while read -r copies load ours bound; do
	[ "$(calc "$load <= .5")" = 1 ] || continue
	point "N = $copies" "$load" "$ours"
	theory "N = $copies" "$load" "$bound"
	case $load$copies in # section 4
	.11) theirs=90.5 ;;
	.12) theirs=96.7 ;;
	.14) theirs=98.8 ;;
	*) continue ;;
	esac
	paper "N = $copies" "$load" $theirs
	row "N = $copies, load 0.1" "$theirs %" "$(calc "$bound") %; stored: $(calc "$ours") %" \
		"the form is of the oldest key; what was stored is the mean of the oldest twentieth, younger by a fortieth"
done <oldest
note "The example of section 4 of the paper, by the same runs."
