# SPDX-License-Identifier: BSD-2-Clause
# What values are made of: a layout's show, and --as as a list of types.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-sh-$BATS_TEST_NUMBER
}

teardown() { remove_regions "$NAME"; }

prepare() { # workload [option...]
	dta-collect --create --layout "$EXAMPLES/$1.ini" --region "$NAME"
	dta-gen "$@" --flows 400 -q --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME"
}

@test "entries have the columns that the layout tells, IPv6 as IPv6" {
	prepare netseer-loss --ipv6 50
	run -0 --separate-stderr dta-query list -R "$NAME" -o csv
	[ "${lines[0]}" = list,index,flow,repair,sequence,epoch,source,table ]
	# The same as the bytes say: flow4 or flow6, 1, 4.
	dta-query list -R "$NAME" --as hex -o csv -q | tail -n +2 |
		awk -F, '{ n = length($3); s = 0
			for (i = n - 7; i <= n; i++)
				s = s * 16 + index("0123456789abcdef", substr($3, i, 1)) - 1
			print $1, $2, substr($3, n - 9, 2) + 0, s }' >want
	tail -n +2 <<<"$output" | awk -F, '{ print $1, $2, $4, $5 }' | diff want -
	grep -q ',\[fd00::.*,losses6$' <<<"$output"
	run ! grep -E ',\[.*,losses$|,[0-9.]+:.*,losses6$' <<<"$output"
	# --as of all tables makes no IPv4 flows of IPv6 entries.
	dta-query list -R "$NAME" --as flow4 -o csv -q >got
	grep -q '^[0-9]*,[0-9]*,\[fd00::.*,losses6$' got
	run ! grep -E ',[0-9.]+:.*,losses6$' got
}

@test "values of keys, one type and several; --as comes first" {
	prepare int-path
	key=$(sed 1d truth.csv | head -n 1 | cut -d, -f3)
	dta-query keywrite -R "$NAME" "$key" -o csv |
		cmp - <(dta-query keywrite -R "$NAME" "$key" --as u32s -o csv)
	hex=$(dta-query keywrite -R "$NAME" "$key" --as hex -o ndjson | jq -r .value)
	dta-query keywrite -R "$NAME" "$key" --as 'hex4:first, u32, u32, u32s:rest' \
		-o ndjson >row
	jq -e --arg hex "$hex" '.first == $hex[:8] and (.rest | length) == 2 and
		has("u32") and has("u32_2") and (has("value") | not)' row
	run -0 dta-query why -R "$NAME" "$key" -o csv
	[[ $output == *",this_key,"*'"'*,*,*,*,*'"'* ]]
	dta-collect --remove -R "$NAME"
	prepare packetscope-path
	key=$(sed 1d truth.csv | head -n 1 | cut -d, -f3)
	run -0 dta-query keywrite -R "$NAME" "$key" -o csv
	[[ ${lines[0]} == key,answer,ingress_port,port,time_us,agreed,* ]]
	[[ ${lines[1]} =~ ,found,([0-9]+,){4} ]]
}

@test "what types leave over of a value is shown, in hex" {
	prepare int-path
	key=$(sed 1d truth.csv | head -n 1 | cut -d, -f3)
	hex=$(dta-query keywrite -R "$NAME" "$key" --as hex -o ndjson | jq -r .value)
	for as in u8,u64:9:u8+u64 u32:4:value u64:8:value; do
		dta-query keywrite -R "$NAME" "$key" --as "${as%%:*}" -o ndjson >row
		n=${as#*:} n=${n%%:*}
		jq -e --arg rest "${hex:$((2 * n))}" '.rest == $rest' row
		run -0 --separate-stderr dta-query why -R "$NAME" "$key" --as "${as%%:*}" -o csv
		[[ $output == *"${hex:$((2 * n))}"* ]]
	done
	# No blanks in it: they are escaped in text.
	run -0 --separate-stderr dta-query why -R "$NAME" "$key" --as u8,u64
	[[ $output =~ this_key\ +[0-9a-f]+\ +[0-9]+,[0-9]+,${hex:18}\  ]]
	# Several numbers in a row have no rest, and nothing is left of all.
	dta-query keywrite -R "$NAME" "$key" --as u8,u32s -o ndjson | jq -e 'has("rest") | not'
	dta-query keywrite -R "$NAME" "$key" --as u64,u64,u32 -o ndjson | jq -e 'has("rest") | not'
}

@test "dta-dump: the columns come behind the bytes; a snapshot keeps them" {
	prepare netseer-loss
	run -0 dta-dump region "$NAME" --slots -o csv
	[ "${lines[0]}" = \
		table,epoch,unit,list,entry,checksum,count,value,flow,repair,sequence ]
	[[ ${lines[1]} =~ ,[0-9a-f]{36},[0-9.]+:[0-9]+\>.*/tcp,[12],[0-9]+$ ]]
	dta-collect -R "$NAME" --snapshot s.dta
	dta-dump snapshot s.dta --slots -o csv | cmp - <(echo "$output")
	dta-query list --snapshot s.dta -o ndjson -q | jq -se 'all(.repair > 0)'
}

@test "types that are none are refused, in the layout and with --as" {
	printf '[t]\nkind = append\nvalue = 4\nlists = 1\nentries = 64\nshow = %s\n' \
		"u8, u17" >l.ini
	run -1 --separate-stderr dta-collect --create --layout l.ini -R "$NAME"
	[[ $stderr == *"l.ini: table t: show: 'u17' is no type: hex, u8,"* ]]
	printf '[t]\nkind = append\nvalue = 4\nlists = 1\nentries = 64\nshow = %s\n' \
		"u32, u32" >l.ini
	run -1 --separate-stderr dta-collect --create --layout l.ini -R "$NAME"
	[[ $stderr == *"l.ini: table t: show: that is 8 bytes, and values have 4: "* ]]
	sed -i 's/u32, u32/u32, hex/' l.ini
	run -1 --separate-stderr dta-collect --create --layout l.ini -R "$NAME"
	[[ $stderr == *"that is 5 bytes, and values have 4: "* ]]
	prepare netseer-loss
	# Two tables: one of them has 42 bytes.
	run -2 --separate-stderr dta-query list -R "$NAME" --as flow6,u32,u16
	[[ $stderr == *"--as: that is 43 bytes, and values have 42: "* ]]
	run -0 dta-query list -R "$NAME" --as flow6,u32,u8 -q
	run -2 --separate-stderr dta-query list -R "$NAME" --as u8,text,u8
	[[ $stderr == *"nothing can come behind text"* ]]
	run -2 --separate-stderr dta-query list -R "$NAME" --as u8:A,u8
	[[ $stderr == *"'A' is no name"* ]]
}

@test "another machine's region: the same columns over ssh, tables by a cluster file" {
	prepare marple-hosts
	mapfile -t keys < <(sed 1d truth.csv | cut -d, -f3 | sort -u | head -n 2)
	printf '#!/bin/sh\nwhile [ "$1" = -o ]; do shift 2; done\nshift\nexec sh -c "$*"\n' \
		>ssh
	chmod +x ssh
	printf '[cluster]\nversion = 1\n[collector 0]\nhost = far\nregion = %s\n' \
		"$NAME" >cluster.ini
	dta-query keywrite -R "$NAME" "${keys[@]}" -o csv | cut -d, -f1-3 >want
	PATH=$PWD:$PATH dta-query keywrite --cluster cluster.ini "${keys[@]}" -o csv |
		cut -d, -f1-3 | diff want -
	grep -q '^key,answer,packets$' want
}
