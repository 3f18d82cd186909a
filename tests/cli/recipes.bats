# SPDX-License-Identifier: BSD-2-Clause
# README.md's three questions, with its own commands: what they answer is right.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	ln -s "$TOP"/cmd .
	NAME=dta-test-$$-recipe-
}

teardown() { remove_regions "$NAME"; }

# recipe WORDS: the commands below a heading of README.md, a script; its region
# has a name of our own. They go on while lines begin with >.
recipe() {
	awk -v words="$1" '
		index($0, "**" words) == 1 { inside = 1; next }
		inside && /^\*\*|^## / { exit }
		inside && sub(/^    (\$|>|collector\$) /, "")' "$TOP/README.md" |
		sed -E "s/(--region) (top|figure|fabric)\b/\1 $NAME\2/g" >script
	[ -s script ]
	cat script
}

@test "a capture to a table of the ten largest flows, in two commands" {
	recipe 'Which are the ten largest'
	[ "$(grep -c '^dta-' script)" = 3 ] # the last one tidies up
	cp "$CAPTURE" office.pcap
	bash -e script >out 2>err </dev/null # head ends the others
	cat out err
	tr , ' ' <out >got
	[ "$(wc -l <got)" = 10 ]
	# The same out of what was reported.
	sed 1d counted.csv | awk -F, '{ n[$3] += $7 }
		END { for (k in n) print n[k], k }' | sort -rn | head -n 10 >want
	diff <(awk '{ print $1 }' want) <(awk '{ print $2 }' got)
	while read -r key count; do
		grep -qxF "$count $key" <(sed 1d counted.csv | awk -F, '
			{ n[$3] += $7 } END { for (k in n) print n[k], k }')
	done <got
	[ ! -e "/dev/shm/${NAME}top" ]
}

@test "Figure 12: success by load and copies, measured and planned, as CSV" {
	recipe 'How likely is a key still found'
	sed -i 's/seq 10 10 200/seq '"$(size '20 60 200' '10 10 200')"'/' script
	bash -eo pipefail script >out 2>err </dev/null
	cat out err
	[ "$(head -n 1 figure12.csv)" = copies,load,success,planned ]
	rows=$(size 16 80)
	[ "$(wc -l <figure12.csv)" = $((rows + 1)) ]
	# As theory has it, by both programs: five standard deviations.
	dta-plan keywrite --load 0.1:2:0.1 --copies 1:4 -o csv |
		awk -F, 'NR > 1 { print $2 "," $3 "," $8 }' >planned.csv
	awk -F, 'NR == FNR { plan[$1 "," $2] = $3; next }
		FNR > 1 {
			p = plan[$1 "," $2]
			n++
			off = ($3 - p) ^ 2 * $2 * 1e5
			if (p == "" || off > 25 * p * (1 - p) ||
			    ($4 - p) ^ 2 > 1e-6)
				exit 1
		}
		END { exit !n }' planned.csv figure12.csv
	# The paper's crossing: more copies are better where there is room, and
	# worse where there is none.
	awk -F, '$2 == 0.2 { low[$1] = $3 } $2 == 2 { high[$1] = $3 }
		END { exit !(low[4] > low[2] && low[2] > low[1] &&
			high[1] > high[2] && high[2] > high[4]) }' figure12.csv
	[ ! -e "/dev/shm/${NAME}figure" ]
}

# A collector at work: a writer that stays, one report in a hundred lost before
# it, and seven that its tables do not take.
collector() {
	printf '%s\n' '[flows]' 'kind = keywrite' 'key = flow4' 'value = 4' \
		'slots = 4Ki' >live.ini
	dta-gen uniform -q --flows 3000 --truth truth.csv -w all.pcap
	editcap all.pcap some.pcap 100-140
	dta-gen uniform -q --flows 7 --table 9 --seed 2 -w odd.pcap
	mkfifo pipe
	bg env timeout --foreground 120 dta-translate -r pipe --layout live.ini \
		--region "${NAME}fabric"
	exec 8>pipe
	mergecap -a -F nsecpcap -w - some.pcap odd.pcap >&8
	wait_for sh -c "dta-top --once -R ${NAME}fabric -t counters -o csv |
		grep -q '^dta-translate,.*,translate,bad_table,[^,]*,7,'"
}

@test "why is this key not found, and are we losing reports? at a running collector" {
	collector
	recipe 'Why is this key not found'
	grep -q '^dta-query why ' script
	# The key of README.md was never reported.
	run -3 --separate-stderr bash -c "$(grep '^dta-query' script)"
	[[ ${lines[0]} == KEY*COPY*UNIT*HOLDS* ]]
	# Its slots are other keys' in so small a table.
	[[ $stderr == *': whether it was overwritten or never reported cannot be told: '* ]]
	# One that was lost before it came.
	sed -n '101,141s/^1,keywrite,\([^,]*\),.*/\1/p' truth.csv >lost
	dta-query why -R "${NAME}fabric" --keys lost >/dev/null 2>err || :
	grep -q 'most likely: it was never reported, or its reports were lost' err
	grep -q '41 reports were lost between .*: missing' err
	exec 8>&-
	wait "${BG_PIDS[-1]}"
}
