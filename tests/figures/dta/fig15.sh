#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Append by batch.
. "${BASH_SOURCE%/*}/common.bash"
# shellcheck disable=SC2034
timed=1

figure "DTA Fig. 15" "Append: entries stored in a second by batch"
axes "entries of a write" "million entries/s" logx logy
n=$(scaled 8000000 100000)
run dta-gen uniform --kind append --lists 1 --flows "$n" -q -w reports
for kept in 64Ki 16Mi; do
	table append 'value = 4' "entries = $kept" 'lists = 1' 'batch = 16'
	for batch in 1 2 4 8 16; do
		ours=$(rate "$n" dta-translate -q -r reports -R "$REGION" -t t:batch=$batch)
		point "list of $kept" $batch "$ours"
		[ $kept = 64Ki ] || continue
		messages=$(calc "1e5 / 8 / (98 + 4 * $batch)") # of a full link
		theory "DTA, Bluefield-2" $batch \
			"$(calc "$batch * ($messages < 100 ? $messages : 100)")"
		row "batch of $batch" "$([ $batch = 16 ] && echo "over 1000 M/s" || echo "in the plot only")" \
			"$ours M/s" "$(calc "2 / $batch") writes an entry (entries, and their count); here to read and check an entry takes longer than to write it"
	done
done
paper "DTA, Bluefield-2" 16 1000
note "Dotted: the NIC's messages (100 M/s, as of Key-Write), of a batch each, until the 100G link is full of frames of 98 + 4 x batch bytes; that is at batches of 4, as the paper says. The size of the list makes little difference, as there. From a capture in memory, by one core."
