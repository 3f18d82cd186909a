#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Memory operations for a report.
. "${BASH_SOURCE%/*}/common.bash"

figure "DTA Fig. 8" "memory operations for a report"
axes "" "operations for a report" logy
n=$(scaled 1000000 10000)
show() { # NAME PAPER WHY WORKLOAD...
	local ops

	ops=$(run "dta-gen ${*:4} -q -w - | dta-translate -r - -R $REGION -o ndjson 2>&1" |
		jq -s '(map({key: .counter, value}) | from_entries) | .ops / .received')
	point "writes, in the ledger" "$1" "$ops"
	paper "the paper's design, section 4" "$1" "$2"
	row "$1" "$2" "$ops" "$3"
}
table keywrite 'value = 4' 'slots = 4Mi' 'copies = 2'
show "Key-Write" 2 "N writes" uniform --flows "$n"
table postcard 'hops = 5' 'values = 1-80' 'chunks = 1Mi' 'copies = 2' 'cache = 32Ki'
show "Postcarding" 0.4 "N writes of the 5 postcards of a path" int-postcard --hops 5 --flows "$((n / 5))"
table append 'value = 4' 'entries = 64Ki' 'lists = 16' 'batch = 16'
show "Append" 0.0625 "a batch is written, and then how many entries there are: readers of a region need it" uniform --kind append --flows "$n"
row "Key-Write, of MultiLog's accesses" "0.58 %" "-" "MultiLog is not here; it would make $(calc "2 / .0058") accesses then"
note "Redundancy 2, paths of 5 hops, batches of 16, as in the paper, whose plot counts instructions of a processor; here the writes to memory of the translator's ledger."
