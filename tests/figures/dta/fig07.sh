#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is stored in a second, by primitive.
. "${BASH_SOURCE%/*}/common.bash"
# shellcheck disable=SC2034
timed=1

figure "DTA Fig. 7a" "INT reports stored in a second, by way to store them"
axes "" "million reports/s" logy
run bench_translate >bench
mps() { # PATH FIELD: of the benchmark
	jq -s "map(select(.path | startswith(\"$1\")))[0].$2" bench
}
known=("Key-Write" 100 "Postcarding" 452.5 "Append" 1000)
i=0
for path in "Key-Write, flow4, 4 B, N = 1" "Postcards, 5 hops" "Append, 4 B, batch 16, one"; do
	name=${known[i]} theirs=${known[i + 1]}
	point "here, one core" "$name" "$(mps "$path" rate_mps)"
	point "a hand-written loop on this machine" "$name" "$(mps "$path" limit_mps)"
	paper "DTA, Bluefield-2" "$name" "$theirs"
	row "$name" "$theirs M/s" "$(mps "$path" rate_mps) M/s, $(mps "$path" ratio) of the loop" \
		"there a Tofino and a NIC store them, bounded by the NIC's messages; here one core does all of both"
	i=$((i + 2))
done
row "best CPU collector (MultiLog, 16 cores)" "25 M/s (a fourth of Key-Write)" "-" \
	"INTCollector and BTrDB: in the paper's plot only"
note "Reports in memory, N = 1, batches of 16, paths of 5 hops without others between them, as in the paper; Append of over 1000 M/s there. The loop does the least that the work needs: the same checks and stores by hand, or the reading of the reports alone."

figure "DTA Fig. 7b" "reports of Marple's queries stored in a second"
axes "" "million reports/s" logy
for query in lossy:append:13:'Lossy flows' timeouts:keywrite:4:'TCP timeouts' flowlets:append:13:'Flowlet sizes'; do
	IFS=: read -r workload kind size name <<<"$query"
	if [ "$kind" = append ]; then
		table append "value = $size" 'entries = 64Ki' 'lists = 16' 'batch = 16'
	else
		table keywrite "value = $size" 'slots = 16Mi' 'copies = 1'
	fi
	run "dta-gen marple-$workload -q -c $(scaled 20000 2000) -w once"
	run "{ cat once; for i in {2..100}; do tail -c +25 once; done; } >reports"
	n=$(dta-translate -r reports -R "$REGION" -o ndjson 2>&1 | counter stored)
	reports=$(rate "$n" dta-translate -q -r reports -R "$REGION")
	point "here, one core" "$name" "$reports"
	[ "$workload" != flowlets ] || {
		paper "one switch of 6.4 Tbit/s makes" "$name" 7.2
		row "switches, flowlet sizes" "in the plot only" "$(calc "$reports / 7.2") of 7.2 M/s each" \
			"Table 1 says what a switch makes"
	}
done
note "From a capture in memory, the start of the program included. What a switch makes of lossy flows and timeouts is not in the paper's text."
