# SPDX-License-Identifier: BSD-2-Clause
# dta-gen csv: keys, values and times of one's own, and answers of dta-query.

load ../helpers
load ../wire

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-csv-$BATS_TEST_NUMBER
}

teardown() {
	wire_down
	remove_regions "$NAME" "$NAME-again"
}

# store CAPTURE LAYOUT REGION: a new region, and its digest in REGION.digest.
store() {
	dta-collect --create --layout "$2" --region "$3"
	dta-translate -q -r "$1" --region "$3"
	dta-dump digest "$3" -o csv | cut -d, -f1-4 >"$3.digest"
}

# ask WORKLOAD: all that was reported, as CSV.
ask() {
	case $1 in
	turboflow) dta-query count -R "$NAME" --keys keys -o csv ;;
	netseer-loss) dta-query list -R "$NAME" -q -o csv ;;
	*) dta-query keywrite -R "$NAME" --keys keys -o csv ;;
	esac
}

# round WORKLOAD OPTION...: reports, answers, the same reports; and the truth.
# Exact as long as no key shares its slots with another.
round() {
	local layout=$EXAMPLES/$1.ini

	dta-gen "$@" -q --truth truth.csv -w first.pcap
	sed 1d truth.csv | cut -d, -f3 | sort -u >keys
	store first.pcap "$layout" "$NAME"
	ask "$1" >answers.csv
	dta-gen csv --from answers.csv --layout "$layout" -q -w again.pcap
	store again.pcap "$layout" "$NAME-again"
	cmp "$NAME.digest" "$NAME-again.digest"
	# What was reported, in its order: the same reports but for who sent them.
	dta-gen csv --from truth.csv --region "$NAME" -q --truth - -w third.pcap |
		cmp truth.csv -
	dta-gen csv --from truth.csv -q --truth - -w fourth.pcap | cmp truth.csv -
	cmp third.pcap fourth.pcap
}

@test "answers of keywrite are reports again: the same memory; so is a truth" {
	round int-path --flows 500 --ipv6 30
	grep -q '"' answers.csv # lists are in quotes
	grep -q '^\[' answers.csv
}

@test "answers of count" { round turboflow --flows 300 --ipv6 30; }

@test "answers of list" {
	round netseer-loss --flows 3000 --ipv6 30
	head -n 1 answers.csv | grep -qx \
		list,index,flow,repair,sequence,epoch,source,table
	[ "$(cut -d, -f8 answers.csv | sort -u | wc -l)" = 3 ]
	# Without their table, entries tell by their types whose they are.
	cut -d, -f1-7 answers.csv |
		dta-gen csv --from - --region "$NAME" -q --truth - -w a.pcap |
		sort | diff <(sort truth.csv) -
}

@test "columns of one's own: parts of a flow, a value, times" {
	cat >own.csv <<-CSV
		time,src,dst,sport,dport,proto,latency_us,note
		1700000000.5,10.0.0.1,10.0.0.2,443,5501,tcp,17,"a, b"
		1700000001.25,10.0.0.1,10.0.0.2,443,5502,UDP,0x10000,
		1700000002,2001:db8::1,2001:db8::2,1,2,47,3,"said ""so"""
	CSV
	dta-gen csv --from own.csv --as u32:latency_us -w own.pcap \
		--truth truth.csv
	diff - truth.csv <<-CSV
		table,kind,key,hop,path_len,copies,value
		1,keywrite,10.0.0.1:443>10.0.0.2:5501/tcp,0,0,0,00000011
		1,keywrite,10.0.0.1:443>10.0.0.2:5502/udp,0,0,0,00010000
		2,keywrite,[2001:db8::1]:1>[2001:db8::2]:2/gre,0,0,0,00000003
	CSV
	dta-dump packets own.pcap -o csv | cut -d, -f2 | diff - <(
		printf '%s\n' time 1700000000.500000000 1700000001.250000000 \
			1700000002.000000000)
}

@test "each primitive without a layout, by its columns" {
	printf 'src,count\n10.0.0.1,70000000000\n' |
		dta-gen csv --from - -q --key-type src4 --truth - -w a.pcap |
		grep -qx 1,keyinc,10.0.0.1,0,0,0,70000000000
	printf 'key,hop,hops,value\n7,2,5,9\n' |
		dta-gen csv --from - -q --key-type u32 --table 4 --truth - -w a.pcap |
		grep -qx 4,postcard,7,2,5,0,9
	printf 'list,flow,ttl\n3,10.0.0.1:1>10.0.0.2:2/tcp,64\n' |
		dta-gen csv --from - -q --as flow4,u8:ttl --truth - -w a.pcap |
		grep -qx 1,append,3,0,0,0,0a0000010a000002000100020640
	printf 'key,value\nff00,0102\n' |
		dta-gen csv --from - -q --key-type hex:2 --copies 3 --truth - -w a.pcap |
		grep -qx 1,keywrite,ff00,0,0,3,0102
	printf 'key,value,copies\nff00,0102,2\n' |
		dta-gen csv --from - -q --key-type hex:2 --truth - -w a.pcap |
		grep -qx 1,keywrite,ff00,0,0,2,0102
}

@test "a row that is none: file, line and what to do; the others are reported" {
	cat >rows.csv <<-'CSV'
		key,ttl,reason
		10.0.0.1:1>10.0.0.2:2/tcp,64,1
		10.0.0.1:1>10.0.0.2:77777/tcp,64,1
		10.0.0.1:1>10.0.0.2:2/tcp,256,1

		10.0.0.1:1>10.0.0.2:2/tcp,64
		10.0.0.1:1>10.0.0.2:3/tcp,64,"1
		10.0.0.1:1 -> 10.0.0.2:4/TCP,1,1
	CSV
	run -1 --separate-stderr dta-gen csv --from rows.csv --as u8:ttl,u16:reason \
		-w rows.pcap --truth - -o ndjson
	echo "$output" | sed 1d | cut -d, -f3,7 | diff - <(printf '%s\n' \
		'10.0.0.1:1>10.0.0.2:2/tcp,400001' '10.0.0.1:1>10.0.0.2:4/tcp,010001')
	[[ ${stderr_lines[0]} == "dta-gen: rows.csv:3: key "*": '77777' is not a port from 0 to 65535; "* ]]
	[ "${stderr_lines[1]}" = "dta-gen: rows.csv:4: ttl '256' is above 255" ]
	[ "${stderr_lines[2]}" = \
		"dta-gen: rows.csv:6: 2 columns, and the header has 3" ]
	[ "${stderr_lines[3]}" = "dta-gen: rows.csv:7: a quote that is not closed" ]
	printf '%s\n' "${stderr_lines[@]:4}" | jq -se '
		map({(.counter): .value}) | add |
		.rows == 6 and .used == 2 and .malformed == 4 and .reports == 2'
}

@test "ten rows that are none end it" {
	{
		echo key,value
		for i in {1..20}; do echo "flow $i,00"; done
	} >rows.csv
	run -1 --separate-stderr dta-gen csv --from rows.csv -w rows.pcap -q
	[ "${#stderr_lines[@]}" = 11 ]
	[[ ${stderr_lines[9]} == "dta-gen: rows.csv:11: key 'flow 10' is no key "* ]]
	[ "${stderr_lines[10]}" = \
		"dta-gen: rows.csv: 10 rows are no reports: stopped there" ]
}

@test "answers that were not found are counted, not reported" {
	printf 'key,answer,value\n1,found,07\n2,not_found,\n3,ambiguous,\n' |
		dta-gen csv --from - --key-type u32 -w a.pcap -o ndjson 2>&1 |
		jq -se 'map({(.counter): .value}) | add |
			.rows == 3 and .used == 1 and .unanswered == 2'
}

@test "a header without what is needed: which column, and where values come from" {
	refused() { # TEXT HEADER OPTION...
		local text=$1

		echo "$2" >head.csv
		shift 2
		run -1 --separate-stderr dta-gen csv --from head.csv -w a.pcap "$@"
		echo "$stderr"
		[[ $stderr == "dta-gen: head.csv:1: $text"* ]]
	}
	refused 'no column named value, as table 1 (keywrite) needs, nor those of --as' key,ttl
	refused 'no column named value, as table 1 (keywrite) needs, nor those of --as' \
		key,ttl --as u8:hops
	refused 'no column named key' value
	refused 'no column named sport' src,dst,value
	refused 'no column named list' value --kind append
	refused 'no column named hop' key,value --kind postcard
	refused 'no column named value, as table losses (append) needs, nor those of flow4,u8:repair,u32:sequence' \
		list,flow --layout "$EXAMPLES/netseer-loss.ini"
	refused 'no table takes such rows' key,count --kind keyinc \
		--layout "$EXAMPLES/netseer-loss.ini"
	cat >two.ini <<-INI
		[values]
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		[counts]
		kind = keyinc
		key = flow4
		slots = 1Ki
	INI
	refused 'rows may be for table values (keywrite) or counts (keyinc): say --kind' \
		key,value --layout two.ini
	printf 'key,value\n10.0.0.1:1>10.0.0.2:2/tcp,7\n' |
		dta-gen csv --from - -q --layout two.ini --kind keyinc --truth - -w a.pcap |
		grep -qx '2,keyinc,10.0.0.1:1>10.0.0.2:2/tcp,0,0,0,7'
	echo 'key,value' >head.csv
	sed 's/1K/1Q/' two.ini >bad.ini
	run -1 --separate-stderr dta-gen csv --from head.csv -w a.pcap --layout bad.ini
	[[ $stderr == "dta-gen: bad.ini:"* ]]
	run -1 --separate-stderr dta-gen csv --from head.csv -w a.pcap --region "$NAME"
	[[ $stderr == "dta-gen: $NAME: "* ]]
	: >head.csv
	run -1 --separate-stderr dta-gen csv --from head.csv -w a.pcap
	[ "$stderr" = "dta-gen: head.csv: empty: not even a header" ]
	run -2 --separate-stderr dta-gen csv -w a.pcap
	[[ $stderr == *'say with --from where the rows are'* ]]
	run -2 dta-gen uniform -w a.pcap --as u8
	run -2 dta-gen csv --from head.csv -w a.pcap --lists 7
}

@test "a value of another length than the table's, a table that is a name" {
	printf 'key,value\n10.0.0.1:1>10.0.0.2:2/tcp,0102\n' >a.csv
	run -1 --separate-stderr dta-gen csv --from a.csv -q -w a.pcap \
		--layout "$EXAMPLES/uniform.ini"
	[[ ${stderr_lines[0]} == "dta-gen: a.csv:2: value '0102' is 2 bytes of 4" ]]
	printf 'key,value,table\n10.0.0.1:1>10.0.0.2:2/tcp,0102,flows\n' >a.csv
	run -1 --separate-stderr dta-gen csv --from a.csv -q -w a.pcap
	[[ ${stderr_lines[0]} == *"table 'flows': --layout or --region tells which"* ]]
	dta-gen csv --from a.csv -q -w a.pcap --table 7 --truth - | grep -q '^7,keywrite,'
	run -1 --separate-stderr dta-gen csv --from a.csv -q -w a.pcap --table 7 -F dta0a
	[[ ${stderr_lines[0]} == *'does not fit dta0a: keys and values of 4 bytes do' ]]
}

@test "a mark before UTF-8, CRLF; a pipe whose writer pauses holds nothing back" {
	printf '\xef\xbb\xbfkey,value\r\n5,01\r\n' |
		dta-gen csv --from - -q --key-type u32 --truth - -w a.pcap |
		grep -qx 1,keywrite,5,0,0,0,01
	mkfifo rows
	env timeout --foreground 60 dta-gen csv --from rows -q --key-type u32 \
		-w live.pcap 3>&- &
	exec 7>rows
	printf 'key,value\n5,01\n' >&7
	wait_for sh -c 'dta-dump packets live.pcap 2>/dev/null | grep -q data=01'
	exec 7>&-
	wait $!
}
