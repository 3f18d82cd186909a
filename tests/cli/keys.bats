# SPDX-License-Identifier: BSD-2-Clause
# Keys as people write them, and what is said of those that are none.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-ke-$BATS_TEST_NUMBER
	cat >two.ini <<-INI
		[flows]
		kind = keywrite
		key = flow4
		value = 4
		slots = 16Ki
		[hosts]
		kind = keywrite
		key = src6
		value = 4
		slots = 16Ki
	INI
	dta-collect --create --layout two.ini --region "$NAME"
	dta-gen uniform -q -c 30 --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME"
	sed 1d truth.csv | cut -d, -f3 >flows.txt
	KEY=$(head -n 1 flows.txt)
}

teardown() { remove_regions "$NAME"; }

query() { dta-query keywrite -R "$NAME" "$@"; }

# refused KEY TEXT: exit 1, and what is wrong with it.
refused() {
	run -1 --separate-stderr query "$1"
	echo "$stderr"
	[[ $stderr == "dta-query: '$1' is no key of table flows ("*"$2" ]]
}

@test "blanks, capitals and arrows make no difference; rows show the key itself" {
	query "$KEY" -o csv >want
	grep -q ",found," want
	loose=${KEY/>/ -> }
	query " ${loose^^} " -o csv | cmp - want
	query "${KEY/\// / }" -o csv | cmp - want
	sed 's/>/  ->/; s/.*/\U&/' flows.txt >loose.txt
	query --keys loose.txt -o csv | cmp - <(query --keys flows.txt -o csv)
	run -3 query '[2001:DB8::1] ' -o csv
	[[ ${lines[1]} == 2001:db8::1,* ]]
}

@test "what is wrong with a key" {
	refused '10.0.0.1:77777>10.0.0.2:1/tcp' ": '77777' is not a port from 0 to 65535"
	refused '10.0.0.1:1 -> 10.0.0.256:1/tcp' ": '10.0.0.256' is not an IPv4 address"
	refused '10.0.0.1:1>10.0.0.2:1/tpc' \
		": 'tpc' is not a protocol: tcp, udp, icmp, icmp6, sctp, gre, esp or a number from 0 to 255"
	refused '10.0.0.1:1>10.0.0.2:1' ": it lacks a / and the protocol, like /tcp"
	refused '10.0.0.1:01>10.0.0.2:1/tcp' ": '01' is not a port from 0 to 65535"
	refused '10.0.0.1:x>10.0.0.2:1/tcp' ": 'x' is not a port from 0 to 65535"
	refused 'ABC.DEF:1>10.0.0.2:1/tcp' ": 'abc.def' is not an IPv4 address"
	# Of two tables, the one whose keys it is most like.
	run -1 --separate-stderr query '2001:db8::12345'
	[[ $stderr == *": '2001:db8::12345' is not an IPv6 address"* ]]
}

@test "a > that was not quoted" {
	run -1 --separate-stderr query 10.0.0.1:443
	[[ $stderr == *": it lacks a > and the destination"* ]]
	[[ $stderr == *"a shell wants a > to be quoted"* ]]
}

@test "--keys: ten lines that are none, then how many" {
	{ cat flows.txt; seq -f '10.0.0.%g:99999>10.0.0.1:1/tcp' 1 200; } >mixed
	run -1 --separate-stderr query --keys mixed --summary -o csv
	[ "${lines[1]}" = 230,30,0,0,0,200 ]
	[ "${#stderr_lines[@]}" = 11 ]
	[[ ${stderr_lines[0]} == "dta-query: mixed:31: '10.0.0.1:99999>"*"is not a port from 0 to 65535" ]]
	[ "${stderr_lines[10]}" = \
		"dta-query: mixed: 200 lines are no keys; above are the first 10" ]
}

@test "keys out of CSV with a column key, wherever it is; fields in quotes" {
	query --keys flows.txt -o csv >want
	query --keys truth.csv -o csv | cmp - want
	{
		echo n,key
		sed 's/.*/1,"&"/' flows.txt
	} >quoted.csv
	query --keys quoted.csv -o csv | cmp - want
	query --keys - -o csv <quoted.csv | cmp - want
}

@test "keys come from stdin where none are named, or - is" {
	query --keys flows.txt -o csv >want
	query -o csv <flows.txt | cmp - want
	sed '' flows.txt | query -o csv | cmp - want
	query - -o csv <flows.txt | cmp - want
	run -2 --separate-stderr query </dev/null
	[[ $stderr == *"no keys: name some"* ]]
}

@test "a truth file, and answers, are files of keys" {
	query --keys flows.txt -o csv >want
	query --keys truth.csv -o csv | cmp - want
	query --keys want -o csv | cmp - want
	query - -o csv <truth.csv | cmp - want
}

@test "CSV whose quote is not closed: that line is no key" {
	printf 'key,n\n"%s"\n"%s\n' "$KEY" "$KEY" >odd.csv
	run -1 --separate-stderr query --keys odd.csv --summary -o csv
	[[ ${lines[1]} == *,1,0,0,0,1 ]]
	[[ $stderr == *"odd.csv:3: "*"is no CSV: a quote that is not closed" ]]
}

@test "CSV without a column key: that is said, once, and what to do" {
	sed 's/key/flow/' truth.csv >other.csv
	for j in 1 3; do
		run -2 --separate-stderr query --keys other.csv -o csv -j $j
		[ "${stderr_lines[0]}" = "dta-query: --keys: 'other.csv' has no column key: its first line, 'table,kind,flow,hop,path_len,copies,value', is to name one so" ]
		[ "${#stderr_lines[@]}" = 1 ]
	done
}

@test "a key that several tables take: the rows before it, one message, exit 2" {
	for t in a:u32 b:hex:4; do
		printf '[%s]\nkind=keywrite\nkey=%s\nvalue=4\nslots=1Ki\n' ${t%%:*} ${t#*:}
	done >l.ini
	remove_regions "$NAME"
	dta-collect --create --layout l.ini --region "$NAME"
	{ seq 1 9000; seq 10000000 10009000; } >numbers
	for j in 1 4; do
		run -2 --separate-stderr query --keys numbers -o csv -j $j
		[ "$stderr" = "dta-query: '10000000' is a key of tables a and b: say --table" ]
		[ "${#lines[@]}" = 9001 ]
	done
}

@test "tcp left out: where the layout says what keys without a protocol are of" {
	cat >tcp.ini <<-INI
		[flows]
		kind = keywrite
		key = flow4
		protocol = tcp
		value = 4
		show = u16:port, u16:count
		slots = 16Ki
		[paths]
		kind = postcard
		key = hop4
		protocol = 47
		values = 1-9
		chunks = 1Ki
	INI
	dta-collect --remove --region "$NAME"
	dta-collect --create --layout tcp.ini --region "$NAME"
	printf 'key,value\n%s\n' '10.0.0.1:1>10.0.0.2:2,01bb0007' |
		dta-gen csv --from - --region "$NAME" --kind keywrite -q -w - |
		dta-translate -q -r - --region "$NAME"
	for key in '10.0.0.1:1>10.0.0.2:2' '10.0.0.1:1 -> 10.0.0.2:2' \
		'10.0.0.1:1>10.0.0.2:2/tcp' '10.0.0.1:1>10.0.0.2:2/6'; do
		dta-query keywrite -R "$NAME" "$key" -o csv | sed 's/[^,]*,//' |
			grep -q '^found,443,7,'
	done
	dta-query keywrite -R "$NAME" '10.0.0.1:1>10.0.0.2:2' -o csv |
		grep -q '^10.0.0.1:1>10.0.0.2:2/tcp,'
	run -3 dta-query keywrite -R "$NAME" '10.0.0.1:1>10.0.0.2:2/udp'
	run -3 dta-query path -R "$NAME" '7@10.0.0.1:1>10.0.0.2:2' -o csv
	[[ ${lines[1]} == '7@10.0.0.1:1>10.0.0.2:2/gre,not_found,'* ]]
	# A ticket tells the same, and what values are made of.
	dta-collect --region "$NAME" --ticket ticket.ini
	grep -qx 'protocol = tcp' ticket.ini
	grep -qx 'protocol = gre' ticket.ini
	grep -qx 'show = u16:port,u16:count' ticket.ini
	refuse() {
		sed "s/protocol = tcp/$1/" tcp.ini >bad.ini
		run -1 --separate-stderr dta-collect --create --layout bad.ini \
			--region "$NAME-bad"
		[[ $stderr == *"$2"* ]]
	}
	refuse 'protocol = tpc' "'tpc' is no protocol: tcp, udp"
	refuse 'protocol = 0' "'0' is no protocol"
	sed 's/flow4/src4/' tcp.ini >bad.ini
	run -1 --separate-stderr dta-collect --create --layout bad.ini \
		--region "$NAME-bad"
	[[ $stderr == *"protocol: src4 keys have none"* ]]
}
