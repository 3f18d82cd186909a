# SPDX-License-Identifier: BSD-2-Clause
# dta-query: what it answers, against the truth of dta-gen, against a reader of
# its own (tests/tools/region.py), and against memory made by hand.

load ../helpers

setup() {
	PATH=$PATH:$TOP/tests/tools
	NAME=dta-test-$$-query-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# A region with the reports of a workload in it.
prepare() { # workload options...
	local workload=$1
	shift
	dta-collect --create --layout "$EXAMPLES/$workload.ini" --region "$NAME"
	dta-gen "$workload" --count 3000 -q --truth truth.csv -w reports.pcap "$@"
	dta-translate -q -r reports.pcap --region "$NAME"
}

# A small region for memory made by hand; more of a layout on stdin.
hand_made() { # options of --create
	cat >hand.ini
	dta-collect --create --layout hand.ini --region "$NAME" "$@"
}

keywrite_layout() {
	printf '[t]\nkind = keywrite\nkey = u32\nvalue = 4\nslots = 4Ki\n'
}

ask() { # key options: answer,value,agreed,matched
	run --separate-stderr dta-query keywrite --region "$NAME" -o csv "$@"
	answer=$(sed 1d <<<"$output" | cut -d, -f2-5)
	echo "$* -> $answer ($status)"
}

columns() { # names... of a CSV with a header, on stdin
	awk -F, -v names="$*" 'NR == 1 {
		n = split(names, name, " ")
		for (i = 1; i <= NF; i++) at[$i] = i
		next
	} {
		for (i = 1; i <= n; i++)
			printf "%s%s", $at[name[i]], i < n ? " " : "\n"
	}'
}

# The keys and last values of a truth's table.
last_values() { # table
	awk -F, -v t="$1" 'NR > 1 && $1 == t { v[$3] = $7 }
		END { for (k in v) print k, v[k] }' truth.csv | sort
}

@test "keywrite: the last value of every key that theory does not let go" {
	prepare marple-hosts
	last_values 1 >want
	cut -d' ' -f1 want | dta-query keywrite --region "$NAME" --as hex --keys - \
		-o csv | columns key value | sort >got
	[ "$(wc -l <got)" -gt 100 ]
	# 3000 reports in 1M slots: hardly a key is lost, and none is wrong.
	[ "$(comm -13 want got | grep -vc ' $')" = 0 ]
	[ "$(grep -c ' $' got)" -le 2 ]
}

@test "keywrite: as another program reads the region" {
	keywrite_layout | sed 's/4K/8K/' | hand_made
	dta-gen uniform --key-type u32 --copies 2 --count 6000 -q \
		--truth truth.csv -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME"
	sed 1d truth.csv | cut -d, -f3 | sort -un | head -n 60 >keys
	xargs printf '%08x\n' <keys | xargs region.py keywrite "$NAME" t >other
	while read -r key a b _; do
		ask "$key" --copies 2
		echo "other program: $a $b"
		case $answer in
		found,"$a",2,2) [ "$a" = "$b" ] ;;
		found,"$a",1,1) [ "$b" = - ] ;;
		found,"$b",1,1) [ "$a" = - ] ;;
		not_found,,0,0) [ "$a$b" = -- ] ;;
		*) false ;;
		esac
	done < <(paste -d ' ' keys other)
}

@test "count: sums, as another program reads them" {
	prepare marple-hosts-sum
	awk -F, 'NR > 1 { s[$3] += $7 } END { for (k in s) print k, s[k] }' \
		truth.csv | sort >want
	cut -d' ' -f1 want | dta-query count --region "$NAME" --keys - -o csv |
		columns key count | sort >got
	diff want got
	key=$(head -n 1 want | cut -d' ' -f1)
	[ "$(region.py count "$NAME" hosts \
		"$(printf '%02x' ${key//./ })" 2)" = \
		"$(head -n 1 want | cut -d' ' -f2)" ]
	run -3 --separate-stderr dta-query count --region "$NAME" 203.0.113.9 \
		-o csv
	[ "${lines[1]}" = 203.0.113.9,not_found,0,2,,,hosts ]
}

@test "path: hops in order, as another program reads them" {
	prepare trajectory
	dta-query verify --region "$NAME" --truth truth.csv
	sed 1d truth.csv | cut -d, -f3 | sort -u | head -n 40 >keys
	dta-query path --region "$NAME" --keys keys -o ndjson |
		jq -r 'select(.answer == "found") |
			"\(.key) \(.path | map(tostring) | join(" ")) \(.hops)"' >got
	[ "$(wc -l <got)" -gt 30 ]
	while read -r key path; do
		hops=${path##* } path=${path% *}
		other=$(region.py path "$NAME" trajectories \
			"$(printf %08x "$key")")
		echo "$key: $path, $hops hops; other program: $other"
		[[ "$other " == "$path "* ]]
		[ "$(tr -d ' -' <<<"${other#"$path"}")" = "" ]
		[ "$(wc -w <<<"$path")" = "$hops" ]
	done < <(head -n 10 got)
}

@test "list: entries in order, as another program reads them" {
	prepare int-congestion
	awk -F, 'NR > 1 && $1 == 1 && $3 == 0 { print $7 }' truth.csv >want
	dta-query list --region "$NAME" -t 1 0 -q --as hex -o csv | columns value >got
	diff want got
	region.py list "$NAME" congestion 0 | diff want -
}

@test "policies, on copies made by hand" {
	keywrite_layout | hand_made --pages small
	region.py poke "$NAME" t 00000001 aaaaaaaa aaaaaaaa bbbbbbbb bbbbbbbb
	ask 1
	[ "$answer" = ambiguous,,2,4 ]
	[ "$status" = 3 ]
	ask 1 --policy first
	[ "$answer" = found,aaaaaaaa,1,4 ] || [ "$answer" = found,aaaaaaaa,2,4 ]
	[ "$status" = 0 ]
	ask 1 --policy consensus:2
	[ "$answer" = ambiguous,,2,4 ]
	ask 1 --copies 3
	[ "$answer" = found,aaaaaaaa,2,3 ]
	ask 1 --copies 2 --policy unique
	[ "$answer" = found,aaaaaaaa,2,2 ]
	ask 1 --copies 3 --policy unique
	[ "$answer" = ambiguous,,2,3 ]

	region.py poke "$NAME" t 00000002 - cccccccc cccccccc cccccccc
	ask 2
	[ "$answer" = found,cccccccc,3,3 ]
	ask 2 --copies 1
	[ "$answer" = not_found,,0,0 ]
	[ "$status" = 3 ]
	ask 2 --policy consensus:3
	[ "$answer" = found,cccccccc,3,3 ]
	ask 2 --policy consensus:4
	[ "$answer" = ambiguous,,3,3 ]
}

@test "a stored zero is a value" {
	keywrite_layout | hand_made --pages small
	ask 3
	[ "$answer" = not_found,,0,0 ]
	region.py poke "$NAME" t 00000003 00000000
	ask 3
	[ "$answer" = found,00000000,1,1 ]
}

@test "one answer in many: bulk and single agree" {
	keywrite_layout | hand_made --pages small
	for i in $(seq 700); do
		echo "$i $((i % 3)) $((i % 4))"
	done | while read -r i a b; do
		[ "$b" = 3 ] || echo "$(printf '%08x 0000000%d 0000000%d' "$i" "$a" "$b")"
	done >pokes
	python3 - "$NAME" <<-'EOP'
		import os, sys
		sys.path += os.environ["PATH"].split(":")
		from region import Table
		t = Table(sys.argv[1], "t", True)
		for line in open("pokes"):
		    key, *values = map(bytes.fromhex, line.split())
		    for c, v in enumerate(values):
		        t.poke(key, c, v)
	EOP
	seq 700 >keys
	run dta-query keywrite --region "$NAME" --keys keys -o csv
	echo "$output" >bulk
	[ "$(wc -l <bulk)" = 701 ]
	[ "$(grep -c ,ambiguous, bulk)" -gt 20 ]
	for key in 1 2 5 6 7 255 256 257 300 511 512 513 699 700; do
		ask "$key"
		[ "$(sed -n $((key + 1))p bulk)" = "$(sed 1d <<<"$output")" ]
	done
}

@test "--keys: blank lines, comments, CRLF; malformed keys by line" {
	keywrite_layout | hand_made --pages small
	region.py poke "$NAME" t 00000007 11111111
	printf '# keys\n\n 7 \r\n0x7\n7x\n4294967296\n8' >keys
	run -1 --separate-stderr dta-query keywrite --region "$NAME" \
		--keys keys -o csv
	[ "${#lines[@]}" = 4 ]
	[[ ${lines[1]} == 7,found,11111111,* && ${lines[2]} == 0x7,found,* ]]
	[[ ${lines[3]} == 8,not_found,* ]]
	[ "${#stderr_lines[@]}" = 2 ]
	[[ ${stderr_lines[0]} == "dta-query: keys:5: '7x' "* ]]
	[[ ${stderr_lines[1]} == "dta-query: keys:6: '4294967296' "* ]]
	run -1 --separate-stderr dta-query keywrite --region "$NAME" \
		--keys - --summary -o csv <keys
	[ "${lines[1]}" = 5,2,1,0,0,2 ]
	[[ ${stderr_lines[0]} == "dta-query: standard input:5: "* ]]
	run -0 dta-query keywrite --region "$NAME" 7 8
	run -3 dta-query keywrite --region "$NAME" 8 9
	run -1 dta-query keywrite --region "$NAME" --keys nowhere
	printf '%09000d\n' 7 >keys
	run -1 --separate-stderr dta-query keywrite --region "$NAME" --keys keys
	[[ $stderr == *keys:1:* ]]
	: >keys
	run -3 dta-query keywrite --region "$NAME" --keys keys
}

@test "--keys -: answers come before more is asked" {
	keywrite_layout | hand_made --pages small
	coproc Q { dta-query keywrite --region "$NAME" --keys - -o csv 3>&-; }
	pid=$Q_PID
	exec 5<&"${Q[0]}" 6>&"${Q[1]}"
	eval "exec ${Q[1]}>&-" # the copy below is the only writer
	echo 1 >&6
	read -t 60 -r header <&5
	read -t 60 -r row <&5
	[[ $header == key,answer,* && $row == 1,not_found,* ]]
	exec 6>&-
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" = 3 ]
}

@test "keys go to the table that takes them" {
	prepare int-path --ipv6 40
	sed 1d truth.csv | cut -d, -f1,3 | sort -u -t, -k1,1 >two
	[ "$(wc -l <two)" = 2 ]
	dta-query keywrite --region "$NAME" $(cut -d, -f2 two) --as hex -o csv |
		columns answer table >got
	diff got - <<<$'found flows\nfound flows6'
	key=$(sed -n 's/^2,//p' two)
	run -0 dta-query keywrite --region "$NAME" "$key" --table flows6
	run -1 dta-query keywrite --region "$NAME" "$key" --table flows
	run -0 dta-query keywrite --region "$NAME" "$key" --table 2
	run -1 --separate-stderr dta-query keywrite --region "$NAME" "$key" --table x
	[[ $stderr == *"no table 'x', only flows, flows6" ]]
	run -1 --separate-stderr dta-query keywrite --region "$NAME" 10.0.0.1
	[[ $stderr == *"'10.0.0.1' is no key of table flows (flow4, like "* ]]
	# What it says keys are like are keys.
	grep -oE 'like [^)]*' <<<"$stderr" | sed 's/like //' >keys
	[ "$(wc -l <keys)" = 2 ]
	run -3 dta-query keywrite --region "$NAME" --keys keys
	run -1 --separate-stderr dta-query count --region "$NAME" "$key"
	[[ $stderr == *"$NAME: there is no keyinc table, only flows (keywrite), "* ]]
}

@test "a key that two tables take is refused until one is named" {
	{ keywrite_layout; keywrite_layout | sed 's/\[t\]/[u]/'; } | hand_made
	run -2 --separate-stderr dta-query keywrite --region "$NAME" 7
	[[ $stderr == "dta-query: '7' is a key of tables t and u: say --table" ]]
	run -3 dta-query keywrite --region "$NAME" 7 --table u
}

@test "--as: values as what they stand for" {
	printf '[t]\nkind = keywrite\nkey = u32\nvalue = 14\nslots = 1Ki\n' |
		hand_made --pages small
	region.py poke "$NAME" t 00000001 0a0000010a000002005000350610
	region.py poke "$NAME" t 00000002 61202c5c0a7a0000000000000000
	as() { # type key
		dta-query keywrite --region "$NAME" "$2" --as "$1" -o ndjson |
			jq -c .value
	}
	[ "$(as hex 1)" = '"0a0000010a000002005000350610"' ]
	[ "$(as u8 1)" = 10 ]
	[ "$(as u16 1)" = 2560 ]
	[ "$(as u32 1)" = 167772161 ]
	[ "$(as u32s 1)" = '[167772161,167772162,5242933,1552]' ]
	[ "$(as u16s 1)" = '[2560,1,2560,2,80,53,1552]' ]
	[ "$(as u8s 1)" = '[10,0,0,1,10,0,0,2,0,80,0,53,6,16]' ]
	[ "$(as flow4 1)" = '"10.0.0.1:80>10.0.0.2:53/tcp+10"' ]
	[ "$(as src4 1)" = '"10.0.0.1+0a000002005000350610"' ]
	run -2 --separate-stderr dta-query keywrite --region "$NAME" 1 --as u64,u64
	[[ $stderr == *"--as: that is 16 bytes, and values have 14"* ]]
	[ "$(as text 2)" = '"a ,\\\\\\x0az"' ]
	# In text a blank would break the column.
	run dta-query keywrite --region "$NAME" 2 --as text
	[[ ${lines[1]} == *'  a\x20,\\\x0az '* ]]
	run -2 dta-query keywrite --region "$NAME" 1 --as float
}

@test "epochs: the newest answer wins, and tells where it is from" {
	keywrite_layout | hand_made --pages small --epochs 2
	from() { # key options: value epoch source
		run --separate-stderr dta-query keywrite -o ndjson "$@"
		jq -r '"\(.answer) \(.value) \(.epoch) \(.source)"' <<<"$output"
	}
	region.py poke "$NAME" t 00000001 11111111
	region.py poke "$NAME" t 00000002 11111111
	dta-collect --region "$NAME" --snapshot first.dta
	dta-collect --region "$NAME" --rotate
	region.py poke "$NAME" t 00000001 22222222
	[ "$(from --region "$NAME" 1)" = 'found 22222222 2 region' ]
	[ "$(from --region "$NAME" 2)" = 'found 11111111 1 region' ]
	[ "$(from --region "$NAME" 1 -e 1)" = 'found 11111111 1 region' ]
	[ "$(from --region "$NAME" 2 -e 2)" = 'not_found null null null' ]
	run -1 --separate-stderr dta-query keywrite --region "$NAME" 1 -e 3
	[[ $stderr == *"no epoch 3: $NAME has 1 to 2"* ]]
	# Epoch 1 is cleared: only the snapshot has it.
	dta-collect --region "$NAME" --rotate
	[ "$(from --region "$NAME" 2)" = 'not_found null null null' ]
	[ "$(from --region "$NAME" --snapshot first.dta 2)" = \
		'found 11111111 1 first.dta' ]
	[ "$(from --region "$NAME" --snapshot first.dta 1)" = \
		'found 22222222 2 region' ]
	[ "$(from --snapshot first.dta 1)" = 'found 11111111 1 first.dta' ]
}

@test "a damaged snapshot: unreadable where it is, right elsewhere" {
	printf '[t]\nkind = keywrite\nkey = u32\nvalue = 4\nslots = 256Ki\n' |
		hand_made --pages small
	dta-gen uniform --key-type u32 --copies 1 --count 20000 -q \
		--truth truth.csv -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME"
	dta-collect --region "$NAME" --snapshot s.dta
	last_values 1 >want
	cut -d' ' -f1 want >keys
	dta-query keywrite --region "$NAME" --copies 1 --keys keys -o csv |
		columns key value >before
	size=$(stat -c %s s.dta)
	printf '\125\252\125' | dd of=s.dta bs=1 seek=$((size / 2)) conv=notrunc \
		status=none
	run -0 --separate-stderr dta-query keywrite --snapshot s.dta --copies 1 \
		--keys keys -o csv
	columns key value <<<"$output" >after
	unreadable=$(grep -c ,unreadable, <<<"$output")
	echo "$unreadable of $(wc -l <keys) unreadable"
	[ "$unreadable" -gt 0 ]
	[ "$unreadable" -lt 10000 ]
	# What is readable is right.
	diff <(sort before) <(sort after) >differ || :
	[ "$(grep -c '^>' differ)" -le "$unreadable" ]
	run -0 grep '^>' differ
	[ -z "$(grep '^> .* .' differ)" ]
}

@test "list: --last, rings that wrapped" {
	printf '[t]\nkind = append\nvalue = 4\nentries = 64\nlists = 3\nbatch = 4\n' |
		hand_made
	dta-gen uniform --kind append --lists 3 --count 500 -q \
		--truth truth.csv -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME"
	awk -F, '$3 == 1 && NR > 1 { print $7 }' truth.csv >all
	n=$(wc -l <all)
	[ "$n" -gt 100 ]
	run -0 --separate-stderr dta-query list --region "$NAME" 1 -o csv
	columns value <<<"$output" | diff - <(tail -n 64 all)
	[ "$stderr" = "dta-query: 64 entries, $((n - 64)) lost" ]
	[ "$(columns index <<<"$output" | head -n 1)" = $((n - 64)) ]
	run -0 --separate-stderr dta-query list --region "$NAME" 1 --last 5 -o csv
	columns value <<<"$output" | diff - <(tail -n 5 all)
	[ "$stderr" = "dta-query: 5 entries, $((n - 64)) lost" ]
	run -0 --separate-stderr dta-query list --region "$NAME" 1 --last 70 -o csv
	[ "$stderr" = "dta-query: 64 entries, $((n - 64)) lost" ]
	dta-dump region "$NAME" --lists -o csv | grep -qx "t,1,1,$n,64,$((n - 64))"
	dta-collect --region "$NAME" --snapshot s.dta
	dta-query list --snapshot s.dta 1 -q -o csv | columns value |
		diff - <(tail -n 64 all)
	# All lists; the epoch that the snapshot has too is not shown twice.
	dta-query list --region "$NAME" --snapshot s.dta -q -o csv >all.csv
	[ "$(wc -l <all.csv)" = 193 ]
	run -2 --separate-stderr dta-query list --region "$NAME" 3
	[[ $stderr == *"'3'"* ]]
}

@test "list: its newest entries are there, as many as it promises; none else is" {
	printf '[t]\nkind = append\nvalue = 4\nentries = 100\nlists = 1\n' | hand_made
	dta-gen uniform --kind append --lists 1 --count 500 -q \
		--truth truth.csv -w reports.pcap
	sed 1d truth.csv | cut -d, -f7 >all
	at=0
	for n in 90 100 101 116 117 132 500; do
		editcap -r reports.pcap part.pcap $((at + 1))-$n
		dta-translate -q -r part.pcap --region "$NAME"
		lost=$((n > 100 ? n - 100 : 0))
		run -0 --separate-stderr dta-query list --region "$NAME" -o csv
		columns value <<<"$output" |
			diff - <(head -n $n all | tail -n 100)
		[ "$stderr" = "dta-query: $((n - lost)) entries, $lost lost" ]
		dta-dump region "$NAME" --lists -o csv |
			grep -qx "t,1,0,$n,$((n - lost)),$lost"
		at=$n
	done
}

@test "list: an empty one is nothing found" {
	printf '[t]\nkind = append\nvalue = 4\nentries = 64\nlists = 3\n' | hand_made
	run -3 --separate-stderr dta-query list --region "$NAME" -o csv
	[ "$output" = list,index,value,epoch,source,table ]
	run -3 dta-query list --region "$NAME" 2 -q
}

@test "list -f: new entries, those that were lost, rotation, SIGINT" {
	printf '[t]\nkind = append\nvalue = 4\nentries = 64\nlists = 2\nbatch = 4\n' |
		hand_made --epochs 2
	for seed in 1 2 3; do
		dta-gen uniform --kind append --lists 1 --count 30 --seed $seed \
			-q --truth $seed.csv -w $seed.pcap
		sed 1d $seed.csv | cut -d, -f7 >$seed.want
	done
	dta-translate -q -r 1.pcap --region "$NAME"
	dta-query list -f --region "$NAME" -o csv >out 2>err 3>&- &
	pid=$!
	BG_PIDS+=("$pid")
	lines_are() { [ "$(wc -l <out)" = "$1" ]; }
	wait_for lines_are 11 # as tail: the last ten
	dta-translate -q -r 2.pcap --region "$NAME"
	wait_for lines_are 41
	dta-collect --region "$NAME" --rotate
	dta-translate -q -r 3.pcap --region "$NAME"
	wait_for lines_are 71
	kill -INT "$pid"
	wait "$pid"
	{ tail -n 10 1.want; cat 2.want 3.want; } >want
	columns value <out | diff want -
	[ "$(columns epoch <out | uniq -c | xargs)" = '40 1 30 2' ]
	[ "$(cat err)" = 'dta-query: 70 entries, 0 lost' ]
}

@test "list -f: what was overwritten before it could be read" {
	printf '[t]\nkind = append\nvalue = 4\nentries = 64\nlists = 1\nbatch = 4\n' |
		hand_made
	dta-gen uniform --kind append --lists 1 --count 1000 -q \
		--truth t.csv -w r.pcap
	bg dta-query list -f --region "$NAME" -o csv
	has_header() { [ -s "$BATS_TEST_TMPDIR/bg.log" ]; }
	dta-gen uniform --kind append --lists 1 --count 4 --seed 9 -q -w 4.pcap
	dta-translate -q -r 4.pcap --region "$NAME"
	wait_for has_header
	kill -STOP "${BG_PIDS[0]}"
	dta-translate -q -r r.pcap --region "$NAME"
	kill -CONT "${BG_PIDS[0]}"
	has_last() { grep -q '^0,1003,' "$BATS_TEST_TMPDIR/bg.log"; }
	wait_for has_last
	kill -INT "${BG_PIDS[0]}"
	wait "${BG_PIDS[0]}"
	grep -qx 'dta-query: t: list 0: 936 entries lost' bg.log
	grep -qx 'dta-query: 68 entries, 936 lost' bg.log
}

@test "list -f: ends when the region is removed" {
	prepare netseer-loss
	dta-query list -f --region "$NAME" >out 2>err 3>&- &
	pid=$!
	BG_PIDS+=("$pid")
	follows() { [ -s out ]; }
	wait_for follows
	dta-collect --remove --region "$NAME"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" = 1 ]
	grep -q 'removed' err
}

@test "misuse: exit 2, and what is wrong" {
	keywrite_layout | hand_made
	while IFS='|' read -r args message; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr dta-query $args </dev/null
		echo "$args: $stderr"
		[[ -z $output && $stderr == *"$message"* ]]
	done <<-EOF
		keywrite 1|--region, --verbs, --snapshot or --cluster is missing
		keywrite 1 --verbs 10.0.0.51 --region $NAME|only one of --region and --verbs
		keywrite 1 --verbs 10.0.0.51 --cluster x|--cluster stands alone
		list -f --verbs 10.0.0.51|--follow needs a region
		keywrite --region $NAME|no keys
		keywrite --region $NAME 1 --keys k|not both
		keywrites --region $NAME|'keywrites' is not keywrite
		keywrite --region $NAME 1 --copies 5|--copies
		keywrite --region $NAME 1 --copies 0|--copies
		keywrite --region $NAME 1 --policy consensus:1|--policy
		keywrite --region $NAME 1 --policy consensus:|--policy
		keywrite --region $NAME 1 --last 3|--last is for list
		list --region $NAME --keys x|--keys is for keywrite, path, count and why
		list -f --snapshot x|--follow needs a region
		verify --region $NAME|--truth
		verify --region $NAME --truth x 1|no keys
		list --region $NAME --truth x|--truth is for verify
		-i --region $NAME list|no subcommand
		--region $NAME|keywrite, path, list, count, verify or why?
	EOF
}

@test "regions and snapshots that are none" {
	touch x.pcap
	run -1 --separate-stderr dta-query keywrite --region x.pcap 1
	[[ $stderr == "dta-query: x.pcap: "*"the file here is ./x.pcap" ]]
	prepare int-path
	dta-collect --region "$NAME" --snapshot s.dta
	run -1 --separate-stderr dta-query keywrite --region ./s.dta 1
	[ "$stderr" = "dta-query: ./s.dta: not a region: a snapshot" ]
	cp "$(dta-dump region "$NAME" -o ndjson | jq -r .path | head -n 1)" r
	run -1 --separate-stderr dta-query keywrite --snapshot r 1
	[ "$stderr" = "dta-query: r: not a snapshot: a region" ]
	dta-collect --remove --region "$NAME"

	run -1 --separate-stderr dta-query keywrite --region "$NAME" 1
	[[ $stderr == "dta-query: $NAME: "*"no such region; "* ]]
	run -1 dta-query keywrite --snapshot nowhere.dta 1
	echo hello >file
	run -1 --separate-stderr dta-query keywrite --snapshot file 1
	[[ $stderr == "dta-query: file: "* ]]
	run -1 --separate-stderr dta-query keywrite --region "$PWD/file" 1
	[[ $stderr == "dta-query: "*file* ]]
}

@test "output: the fields of every subcommand" {
	{
		keywrite_layout
		printf '[c]\nkind = keyinc\nkey = u32\nslots = 1Ki\n'
		printf '[l]\nkind = append\nvalue = 4\nentries = 64\nlists = 2\n'
		printf '[p]\nkind = postcard\nkey = u32\nchunks = 1Ki\nhops = 5\n'
		printf 'values = 1-100\n'
	} | hand_made
	header() { # subcommand arguments...
		run dta-query "$@" --region "$NAME" -o csv -q
		echo "${lines[0]}"
	}
	echo table,kind,key,hop,path_len,copies,value >truth.csv
	[ "$(header keywrite 1)" = \
		key,answer,value,agreed,matched,copies,epoch,source,table ]
	[ "$(header path 1)" = \
		key,answer,path,hops,agreed,valid,holes,copies,epoch,source,table ]
	[ "$(header count 1)" = key,answer,count,copies,epoch,source,table ]
	[ "$(header list)" = list,index,value,epoch,source,table ]
	[ "$(header count 1 --summary)" = \
		asked,found,not_found,ambiguous,unreadable,malformed ]
	[ "$(header verify --truth truth.csv)" = \
		table,kind,asked,right,wrong,missing,ambiguous,over,incomplete,too_long,overwritten ]
	for v in keywrite path count; do
		dta-query $v --region "$NAME" 1 -o ndjson >row || [ $? = 3 ]
		dta-query $v --region "$NAME" 1 -o csv >csv || [ $? = 3 ]
		[ "$(jq -r 'keys_unsorted | join(",")' row)" = \
			"$(head -n 1 csv)" ]
	done
}

@test "verify: right, wrong, missing, and what is not asked" {
	prepare int-path
	run -0 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	n=$(sed 1d truth.csv | cut -d, -f3 | sort -u | wc -l)
	jq -e --argjson n "$n" '.table == "flows" and .asked == $n and
		.wrong == 0 and .right + .missing + .ambiguous == $n and
		.right > $n - 3' <<<"$output"
	# One value of another report: wrong.
	{
		cat truth.csv
		tail -n 1 truth.csv | awk -F, -v OFS=, \
			'{ sub(/^......../, "0000000f", $7) } 1'
	} >other.csv
	run -1 dta-query verify --region "$NAME" --truth other.csv -o ndjson
	jq -e '.wrong == 1' <<<"$output"
	# Keys that nobody reported: missing.
	awk -F, -v OFS=, 'NR > 1 { sub(/>.*/, ">192.0.2.1:1/tcp", $3) } 1' \
		truth.csv >none.csv
	run -3 dta-query verify --region "$NAME" --truth none.csv -o ndjson
	jq -e '.missing == .asked and .right == 0' <<<"$output"
	# Through a snapshot, and from stdin.
	dta-collect --region "$NAME" --snapshot s.dta
	dta-query verify --snapshot s.dta --truth - <truth.csv
}

@test "verify: the newest report of a key counts" {
	keywrite_layout | hand_made --pages small
	region.py poke "$NAME" t 00000001 00000002 00000002
	{
		echo table,kind,key,hop,path_len,copies,value
		echo 1,keywrite,1,0,0,2,00000001
		echo 1,keywrite,1,0,0,2,00000002
	} >truth.csv
	dta-query verify --region "$NAME" --truth truth.csv
	echo 1,keywrite,1,0,0,2,00000001 >>truth.csv
	run -1 dta-query verify --region "$NAME" --truth truth.csv
	# Copies that the newest report did not write may be old.
	region.py poke "$NAME" t 00000001 00000003 00000002 00000002
	{
		echo table,kind,key,hop,path_len,copies,value
		echo 1,keywrite,1,0,0,3,00000002
		echo 1,keywrite,1,0,0,1,00000003
	} >truth.csv
	dta-query verify --region "$NAME" --truth truth.csv
	run -1 dta-query verify --region "$NAME" --truth truth.csv --copies 3
}

@test "verify: counters below, at and above their sums" {
	printf '[c]\nkind = keyinc\nkey = u32\nslots = 1Ki\ncopies = 1\n' |
		hand_made
	dta-gen uniform --kind keyinc --key-type u32 --flows 5 --count 50 -q \
		--truth truth.csv -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME"
	n=$(sed 1d truth.csv | cut -d, -f3 | sort -u | wc -l)
	run -0 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	jq -e --argjson n "$n" '.asked == $n and .right == $n' <<<"$output"
	run -0 dta-query verify --region "$NAME" --truth <(sed 2d truth.csv) \
		-o ndjson
	jq -e '.over == 1' <<<"$output"
	{ cat truth.csv; sed -n 2p truth.csv; } >more.csv
	run -1 dta-query verify --region "$NAME" --truth more.csv -o ndjson
	jq -e '.wrong == 1' <<<"$output"
}

@test "verify: list entries that the rings have no room for" {
	printf '[l]\nkind = append\nvalue = 4\nlists = 2\nentries = 100\nbatch = 10\n' |
		hand_made
	dta-gen uniform --kind append --lists 2 --count 500 -q \
		--truth truth.csv -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME"
	lost=$(dta-dump region "$NAME" --lists -o ndjson | jq -s 'map(.lost) | add')
	run -0 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	jq -e --argjson n "$lost" '.asked == 200 and .right == 200 and
		.overwritten == 300 and .overwritten == $n' <<<"$output"
}

@test "verify: paths that were reported whole, and others" {
	printf '[p]\nkind = postcard\nkey = u32\nchunks = 4Ki\nhops = 5\nvalues = 0-100\n' |
		hand_made --pages small
	{
		echo table,kind,key,hop,path_len,copies,value
		echo 1,postcard,1,0,2,1,11
		echo 1,postcard,1,1,2,1,12
		echo 1,postcard,2,0,3,1,11
		echo 1,postcard,2,2,3,1,13
	} >truth.csv
	run -3 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	jq -e '.asked == 1 and .missing == 1 and .incomplete == 1' <<<"$output"
	poke_path() { # key values...: the first copy, blank behind them
		python3 - "$NAME" "$@" <<-'EOP'
			import os, struct, sys
			sys.path += os.environ["PATH"].split(":")
			from region import HOP, Table, crc
			t = Table(sys.argv[1], "p", True)
			key = struct.pack(">I", int(sys.argv[2]))
			for i in range(5):
			    v = int(sys.argv[3 + i]) if len(sys.argv) > 3 + i else -1
			    at = t.at(t.slot(key, 0)) + 4 * i
			    word = crc(HOP[i], key) ^ (v & 0xffffffff)
			    t.mem[at:at + 4] = struct.pack(">I", word)
		EOP
	}
	poke_path 1 11 12
	run -0 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	jq -e '.right == 1' <<<"$output"
	poke_path 1 11 13
	run -1 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	jq -e '.wrong == 1' <<<"$output"
	# A hop that is not in V is no hop: holes, told only with --partial.
	poke_path 2 11 200 13
	run -3 dta-query path --region "$NAME" 2
	run -0 dta-query path --region "$NAME" 2 --partial -o ndjson
	jq -e '.path == [11, 0, 13] and .holes == [1] and .hops == 3 and
		.valid == 0' <<<"$output"
	run -0 dta-query path --region "$NAME" 1 -o ndjson
	jq -e '.path == [11, 13] and .holes == [] and .valid == 1' <<<"$output"
}

@test "verify: paths that the table is too short for are never right" {
	sed 's/^hops.*/hops = 3/; s/^chunks.*/chunks = 64Ki/' \
		"$EXAMPLES/int-postcard.ini" >l.ini
	verify() { # filter of the row, options of dta-gen...
		remove_regions "$NAME"
		hand_made <l.ini
		dta-gen int-postcard --flows 500 --count 2000 -q \
			--truth truth.csv -w reports.pcap "${@:2}"
		dta-translate -q -r reports.pcap --region "$NAME"
		long=$(awk -F, 'NR > 1 && ($4 > 2 || $5 > 3) { print $3 }' truth.csv | sort -u | wc -l)
		[ "$long" -gt 100 ]
		run -1 dta-query verify --region "$NAME" --truth truth.csv -o ndjson
		echo "$output"
		jq -e --argjson long "$long" "$1" <<<"$output"
	}
	# Told: nothing of them is stored.
	verify '.too_long == $long and .wrong == 0 and .right > 0 and
		.right + .missing == .asked and
		.missing >= $long - .incomplete'
	# Untold: what fits the chunk is, and answered as if it were all.
	verify '.too_long == $long and .wrong >= $long - .incomplete and
		.right > 0 and .right + .wrong == .asked' --no-path-len
}

@test "verify: lists, from the newest entry back" {
	printf '[t]\nkind = append\nvalue = 4\nentries = 64\nlists = 2\nbatch = 4\n' |
		hand_made --epochs 2
	gen() {
		dta-gen uniform --kind append --lists 2 --count "$1" --seed "$1" -q \
			--truth "$1.csv" -w "$1.pcap"
	}
	verify() { # truth exit filter
		run "-$2" dta-query verify --region "$NAME" --truth "$1" -o ndjson
		echo "$output"
		jq -e "$3" <<<"$output"
	}
	gen 40
	gen 300
	dta-translate -q -r 40.pcap --region "$NAME"
	verify 40.csv 0 '.asked == 40 and .right == 40'
	head -n 40 40.csv >short.csv # the last entry is another's
	verify short.csv 1 '.wrong > 0'
	{ cat 40.csv; tail -n 1 40.csv; } >long.csv
	verify long.csv 1 '.wrong > 0'
	dta-translate -q -r 300.pcap --region "$NAME"
	{ cat 40.csv; sed 1d 300.csv; } >both.csv
	verify both.csv 0 '.asked == 128 and .right == 128'
	# Over epochs.
	dta-collect --region "$NAME" --rotate
	dta-translate -q -r 40.pcap --region "$NAME"
	{ cat both.csv; sed 1d 40.csv; } >all.csv
	verify all.csv 0 '.asked == 168 and .right == 168'
}

@test "verify: a truth that is none: file and line" {
	prepare int-path
	bad() { # line message
		{ head -n 3 truth.csv; printf '%s\n' "$1"; } >bad.csv
		run -1 --separate-stderr dta-query verify --region "$NAME" \
			--truth bad.csv
		echo "$1: $stderr"
		[[ -z $output && $stderr == "dta-query: bad.csv:4: $2"* ]]
	}
	key='10.0.0.1:1>10.0.0.2:2/tcp'
	value=$(printf '%040d' 1)
	bad "1,keywrite,$key,0,0,0" 'not seven columns'
	bad "1,keywrite,$key,0,0,0,$value,1" 'not seven columns'
	bad "9,keywrite,$key,0,0,0,$value" 'no such table'
	bad "x,keywrite,$key,0,0,0,$value" 'table'
	bad "1,keywrit,$key,0,0,0,$value" 'kind'
	bad "1,append,0,0,0,0,$value" 'kind: the table is another'
	bad "1,keywrite,10.0.0.1,0,0,0,$value" 'key'
	bad "1,keywrite,$key,0,0,5,$value" 'copies'
	bad "1,keywrite,$key,0,0,-1,$value" 'copies'
	bad "1,keywrite,$key,0,0,0,0102" 'value: not as long'
	bad "1,keywrite,$key,0,0,0,${value%0}x" 'value'
	bad "1,keywrite,$key,0,0,0,${value}0" 'value'
	bad "$(printf '%09000d' 0)" 'a line longer than'
	sed 1d truth.csv >bad.csv
	run -1 --separate-stderr dta-query verify --region "$NAME" --truth bad.csv
	[[ $stderr == "dta-query: bad.csv:1: not the header"* ]]
	run -1 --separate-stderr dta-query verify --region "$NAME" --truth /dev/null
	[[ $stderr == *empty* ]]
	run -1 dta-query verify --region "$NAME" --truth nowhere.csv
	# What a killed dta-gen leaves: half a line at the end.
	{ cat truth.csv; printf '1,keywrite,%s,0' "$key"; } >bad.csv
	dta-query verify --region "$NAME" --truth truth.csv >whole
	run -0 --separate-stderr dta-query verify --region "$NAME" --truth bad.csv
	[[ $output == "$(<whole)" && $stderr == *"not seven columns"*": cut short, left out"* ]]
	# A header alone is one; blank lines, CRLF and no end of the last, too.
	head -n 1 truth.csv >bad.csv
	run -3 dta-query verify --region "$NAME" --truth bad.csv -o csv
	run -0 dta-query verify --region "$NAME" --truth truth.csv -o csv
	whole=$output
	sed '5G; 900G; 2000s/$/\r/' truth.csv >bad.csv
	truncate -s -1 bad.csv
	run -0 dta-query verify --region "$NAME" --truth bad.csv -o csv
	[ "$output" = "$whole" ]
}

@test "verify: a row for each table" {
	prepare int-path --ipv6 50
	run -0 dta-query verify --region "$NAME" --truth truth.csv -o csv
	[ "$(sed 1d <<<"$output" | cut -d, -f1,2 | sort)" = \
		$'flows,keywrite\nflows6,keywrite' ]
	# one that is named: rows of others are passed over
	sed '1!s/^2,/7,/' truth.csv >seven.csv
	run -1 --separate-stderr dta-query verify --region "$NAME" --truth seven.csv
	[[ $stderr == *"no such table: '7'" ]]
	run -0 dta-query verify --region "$NAME" -t flows --truth seven.csv -o csv
	[ "$(sed 1d <<<"$output" | cut -d, -f1,2)" = flows,keywrite ]
}

@test "the shell, from a script: errors do not end it" {
	keywrite_layout | hand_made --pages small
	region.py poke "$NAME" t 00000001 00000041
	run -2 --separate-stderr dta-query -i --region "$NAME" <<-'EOF'
		list --verbs 10.0.0.51
	EOF
	[[ $stderr == *"only one of --region and --verbs"* ]]
	run --separate-stderr dta-query -i --region "$NAME" -o csv <<-'EOF'
		# a comment
		nonsense
		keywrite
		keywrite "1
		keywrite '1' --as u32  # again a comment
		keywrite -p sometimes 1
		tables
		keywrite --keys -
		keywrite 2
	EOF
	[ "$status" = 3 ] # of the last command
	[ "${lines[0]}" = key,answer,value,agreed,matched,copies,epoch,source,table ]
	[ "${lines[1]}" = 1,found,65,1,1,2,1,region,t ]
	[[ ${lines[2]} == table,id,kind,* && ${lines[3]} == t,1,keywrite,u32,4,* ]]
	[ "${lines[5]}" = 2,not_found,,0,0,2,,,t ]
	for message in "'nonsense' is not keywrite" 'no keys' 'quote is not closed' \
		sometimes 'standard input holds the commands'; do
		[[ $stderr == *"$message"* ]]
	done
	run -0 dta-query -i --region "$NAME" <<<$'nonsense\nkeywrite 1\nquit\nfoo'
	run -0 dta-query -i --region "$NAME" </dev/null
	[ -z "$output" ]
}

@test "the shell, on a terminal: prompt, completion, history, interrupt" {
	keywrite_layout | hand_made --pages small
	cat >typist.py <<-'EOP'
		import os, pty, select, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.update(TERM="xterm", HOME=os.getcwd())
		    os.execvp("dta-query", ["dta-query", "-i", "--region", sys.argv[1]])
		seen = b""
		def until(what):
		    global seen
		    end = time.time() + 60
		    while what not in seen:
		        assert time.time() < end, (what, seen)
		        if select.select([fd], [], [], 0.1)[0]:
		            seen += os.read(fd, 4096)
		    seen = seen[seen.index(what) + len(what):]
		def type_(text, *answers):
		    os.write(fd, text)
		    for a in answers:
		        until(a)
		until(b"dta> ")
		type_(b"tab\t\n", b"keywrite", b"dta> ")     # tables
		type_(b"nothing here\x03", b"dta> ")         # given up
		type_(b"keywrite --pol\tunique -t \t7\n", b"not_found", b"dta> ")
		type_(b"\x1b[A\n", b"not_found", b"dta> ")   # the line before
		os.write(fd, b"quit\n")
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	EOP
	run python3 typist.py "$NAME"
	echo "$output"
	[ "$status" = 3 ] # of the last command
	grep -q 'policy.*unique' .dta_history
}

@test "full disk: exit 1, and why" {
	keywrite_layout | hand_made
	seq 20000 >keys
	run -1 --separate-stderr bash -c \
		"dta-query keywrite --region $NAME --keys keys >/dev/full"
	[ "$stderr" = 'dta-query: standard output: No space left on device' ]
	# Few rows, which are written at the end: it does not say that they were.
	printf '[t]\nkind = append\nvalue = 4\nlists = 1\nentries = 9\n' >l.ini
	dta-collect --remove --region "$NAME"
	dta-collect --create --layout l.ini --region "$NAME"
	dta-gen uniform -q --kind append -c 5 -w - | dta-translate -q -r - -R "$NAME"
	run -1 --separate-stderr bash -c "dta-query list --region $NAME >/dev/full"
	[ "$stderr" = 'dta-query: standard output: No space left on device' ]
}

@test "the published system's reports, asked and verified" {
	check() { # kind, the rest of the layout
		printf '[t]\nid = 1\nkind = %s\nhash = dta0\n%b' "$1" "$2" | hand_made
		dta-gen uniform --kind "$1" --key-type u32 --format dta0b --copies 2 \
			--count 500 --flows 100 -q --truth truth.csv -w reports.pcap
		dta-translate -q --format dta0b -r reports.pcap --region "$NAME"
		run dta-query verify --region "$NAME" --truth truth.csv -o ndjson
		echo "$1: $output"
		[ "$status" = 0 ]
		jq -e '.asked > 50 and .right + .over > 0.95 * .asked and
			.wrong == 0' <<<"$output"
		dta-collect --remove --region "$NAME"
	}
	check keywrite 'key = u32\nvalue = 4\nslots = 64Ki\n'
	check keyinc 'key = u32\nslots = 64Ki\n'
	check append 'value = 4\nentries = 1Ki\nlists = 16\n'
	check postcard 'key = u32\nchunks = 64Ki\nhops = 5\nvalues = 0-100000\n'
}
