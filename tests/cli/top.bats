# SPDX-License-Identifier: BSD-2-Clause
# dta-query top: the largest, against the same from what was reported.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-to-$BATS_TEST_NUMBER
}

teardown() { remove_regions "$NAME"; }

prepare() { # workload [option...]
	dta-collect --create --layout "$EXAMPLES/$1.ini" --region "$NAME"
	dta-gen "$@" --flows 1500 -q --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME"
}

top() { dta-query top -R "$NAME" -o csv "$@"; }

@test "counters: those that were counted most, of both tables" {
	prepare turboflow --ipv6 30
	sed 1d truth.csv | awk -F, '{ n[$3] += $7 } END { for (k in n) print n[k], k }' |
		sort -k1,1nr -k2 >all
	run -0 top --keys truth.csv --lines 20
	[ "${lines[0]}" = rank,key,count,table ]
	[ "${#lines[@]}" = 21 ]
	# Equal ones may come in any order; a shared counter may be above.
	tail -n +2 <<<"$output" | cut -d, -f3 | diff <(head -n 20 all | cut -d' ' -f1) -
	tail -n +2 <<<"$output" | while IFS=, read -r _ key count _; do
		grep -qxF "$count $key" all
	done
	grep -q ',packets6$' <<<"$output"
	cut -d' ' -f2 all | top --lines 20 | cmp - <(echo "$output")
	dta-collect -R "$NAME" --snapshot s.dta
	dta-query top --snapshot s.dta --keys truth.csv --lines 20 -o csv |
		cmp - <(echo "$output")
	run -2 --separate-stderr top </dev/null
	[[ $stderr == *"keys are not stored, only their checksums"* ]]
	run -0 --separate-stderr top --keys truth.csv
	[ -z "$stderr" ]
}

@test "values, by one of their numbers; paths" {
	prepare marple-hosts
	sed 1d truth.csv | while IFS=, read -r _ _ key _ _ _ value; do
		echo "$((16#$value))"
	done >values
	run -0 top --keys truth.csv --lines 1
	[ "${lines[0]}" = rank,key,packets,table ]
	[ "$(cut -d, -f3 <<<"${lines[1]}")" = "$(sort -nr values | head -n 1)" ]
	# Another number than the first, by leaving that one out.
	run -0 top --keys truth.csv --as hex2,u16 --lines 1
	[ "${lines[0]}" = rank,key,u16,table ]
	# Numbers in a row: their sum.
	dta-collect --remove -R "$NAME"
	prepare int-path
	dta-query keywrite -R "$NAME" --keys truth.csv -o ndjson |
		jq -s 'map(.value | select(. != null)) | map(add) | max' >want
	run -0 --separate-stderr top --keys truth.csv --lines 1
	[[ $stderr == *"top: by the sum of all hops"* ]]
	[ "${lines[0]}" = rank,key,sum,table ]
	[ "$(cut -d, -f3 <<<"${lines[1]}")" = "$(<want)" ]
	run -2 --separate-stderr top --keys truth.csv --as hex
	[[ $stderr == "dta-query: values of table flows have no number to rank them by: say with --as"* ]]
	dta-collect --remove -R "$NAME"
	prepare int-postcard
	dta-query path -R "$NAME" --keys truth.csv -o ndjson |
		jq -s 'map(.path) | map(select(. != null)) | map(add) | max' >want
	[ "$(top --keys truth.csv --lines 1 -q | tail -n 1 | cut -d, -f3)" = "$(<want)" ]
}

@test "lists: what they name most often" {
	prepare netseer-loss
	dta-query list -R "$NAME" -o csv -q | tail -n +2 | cut -d, -f3 | sort |
		uniq -c | sort -nr | head -n 5 | awk '{ print $1 }' >want
	run -0 top --lines 5
	[ "${lines[0]}" = rank,flow,entries,table ]
	tail -n +2 <<<"$output" | cut -d, -f3 | diff want -
	[[ ${lines[1]} == 1,*/tcp,* ]]
}

@test "dta-translate --key-log: every key that was reported, and few twice" {
	dta-collect --create --layout "$EXAMPLES/turboflow.ini" --region "$NAME"
	dta-gen turboflow --flows 3000 --ipv6 30 -q --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME" --key-log keys
	sed 1d truth.csv | cut -d, -f3 | sort -u | diff - <(sort -u keys)
	[ "$(wc -l <keys)" -lt "$(($(wc -l <truth.csv) + 1))" ]
	top --keys keys | cmp - <(top --keys truth.csv)
	# A pipe, as the log of one that runs.
	dta-translate -q -r r.pcap -R "$NAME" --key-log - | cmp - keys
	run -1 --separate-stderr dta-translate -q -r r.pcap -R "$NAME" \
		--key-log /dev/full
	[[ $stderr == *"No space left"* ]]
	# Lists have no keys.
	dta-collect --remove -R "$NAME"
	dta-collect --create --layout "$EXAMPLES/netseer-loss.ini" --region "$NAME"
	dta-gen netseer-loss -q -w l.pcap
	dta-translate -q -r l.pcap -R "$NAME" --key-log none
	[ -e none ] && [ ! -s none ]
}
