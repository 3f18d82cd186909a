# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# dta-query by RDMA READ: regions in one guest, who asks in another.

load ../helpers
load guest
load traffic

N=$(size 300 700)     # reports for each table
SOME=$(size 50 700)   # their keys, where each is read again and again
LISTS=$(size 500 3000) # most of them empty, others that have come around

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	guest_there || return 0
	# Every table, of real traffic, without IPv6, which goes to the next one; a
	# set of values, and a ring that has come around.
	tshark -n -r "$CAPTURE" -Y ip -w four.pcapng 2>/dev/null
	mix "$N" first.pcap --from four.pcapng
	{ seq 1 60; seq 63 2 80; } | sed 's/^/    /' >values
	sed 's/^entries = .*/entries = 256/; /^values = /{s/=.*/= 1/;r values
		}' "$BATS_TEST_DIRNAME/mix.ini" >layout.ini
	printf '%s\n' '' '[events]' 'id = 9' 'kind = append' 'value = 16' \
		"lists = $LISTS" 'entries = 32' 'batch = 4' >>layout.ini
	dta-gen uniform --kind append --table 9 --lists 200 --value 16 --count 600 -q -w more.pcap
	dta-gen uniform --kind append --table 9 --lists 3 --value 16 --count 300 -q -w - |
		tail -c +25 >>more.pcap
	keys
	export GUEST
	guest_start a b
	guest_start b a
	for guest in a b; do
		cp layout.ini {,some.}{flows,numbers} truth.csv {first,more}.pcap "$GUEST_DIR/$guest"
	done
}

# The truth of all tables, and their keys, with some that nobody reported.
keys() {
	{
		truth int-path 1 --from four.pcapng
		truth uniform 2 --key-type u32 --value 100 --flows "$N"
		truth int-postcard 3 --from four.pcapng
		truth netseer-loss 4 --from four.pcapng
		truth turboflow 5 --from four.pcapng
	} | sed '2,${/^table/d}' >truth.csv
	{
		awk -F, 'NR > 1 && $1 != 2 && $1 != 4 { print $3 }' truth.csv | sort -u
		printf '192.0.2.%d:1>192.0.2.9:2/udp\n' {1..50}
	} >flows
	{
		awk -F, '$1 == 2 { print $3 }' truth.csv | sort -u
		seq 4000000000 4000000050
	} >numbers
	for keys in flows numbers; do
		{ head -n "$SOME" $keys; tail -n 20 $keys; } >some.$keys
	done
}

truth() { # WORKLOAD TABLE OPTION...
	dta-gen "$1" --table "$2" "${@:3}" --count "$N" -q --truth - -w /dev/null
}

setup() {
	guest_needed
	cd "$BATS_FILE_TMPDIR" || exit 1
	A=$GUEST_DIR/a B=$GUEST_DIR/b
	rm -f {"$A","$B"}/{rows*,err*,*.pid,go,cluster.ini}
}

teardown() {
	on_a 'kill -9 $(cat *.pid); rm -f *.pid /dev/shm/*' >/dev/null || :
	on_b 'kill -9 $(cat *.pid); rm -f *.pid /dev/shm/*' >/dev/null || :
}

teardown_file() {
	guest_stop
}

# collect REGION PORT ARGS: a collector with what first.pcap has for it.
collect() {
	on_a "[ -e /dev/shm/$1 ] ||
		dta-collect --create --layout layout.ini --region $1 --epochs 3"
	guest_hosts "$@" --grace 10ms
}

store() { # REGION
	on_a "dta-translate -q -r first.pcap --region $1"
}

# both ARGS: what dta-query says there by itself, it says here by READ.
both() {
	local there here

	there=$(on_a "dta-query $* --region r") && here=0 || here=$?
	[ $here = 0 ] || [ $here = 3 ]
	on_b "dta-query $* --verbs 10.0.0.51 >rows; [ \$? = $here ]"
	diff - "$B/rows" <<<"$there"
	[ "$(wc -l <"$B/rows")" -ge "${ROWS:-2}" ]
}

@test "every table, every epoch: the answers that it gives itself" {
	collect r 40040 --readable
	store r
	ROWS=$((N + 50)) both keywrite -t flows -k flows -o csv
	ROWS=$((SOME + 20)) both keywrite -t wide -k some.numbers -o csv
	ROWS=$((SOME + 20)) both path -k some.flows -o csv
	ROWS=$((SOME + 20)) both count -k some.flows -o csv
	for policy in first unique consensus:2; do
		both keywrite -t flows -k some.flows -o csv -p $policy -n 3
	done
	both path -k some.flows --summary --partial -n 1
	on_a "dta-translate -q -r more.pcap --region r"
	ROWS=700 both list -q -o csv
	both list -q -o csv -t events 1 2 $((LISTS - 1))
	ROWS=8 both list -q -o csv -t losses --last 7 0
	both verify --truth truth.csv -o csv
	# Counters and lists go on in the new epoch, the rest is older.
	on_a 'dta-collect --region r --rotate'
	on_a 'dta-gen turboflow --table 5 --flows 50 --count 50 -q -w - |
		dta-translate -q -r - --region r'
	on_a 'dta-gen netseer-loss --table 4 --flows 50 --count 50 -q -w - |
		dta-translate -q -r - --region r'
	both keywrite -t flows -k some.flows -o csv
	both path -k some.flows -o csv
	both count -k some.flows -o csv
	ROWS=750 both list -q -o csv
	ROWS=50 both list -q -o csv -e 2
	both verify --truth truth.csv -o csv -e 1
	for i in 3 4 5; do on_a 'dta-collect --region r --rotate'; done
	ROWS=1 both list -q -o csv
	ROWS=1 both count -k some.flows --summary
	run on_b 'dta-query count -k flows --verbs 10.0.0.51 -e 1'
	[ "$status" = 1 ]
	[ "$output" = "dta-query: no epoch 1: 10.0.0.51 has 3 to 5" ]
}

# query: dta-query in guest b, that answers to keys that it is told.
query() {
	on_b 'rm -f /tmp/talk; mkfifo /tmp/talk
		dta-query keywrite -t flows -k - -o csv --verbs 10.0.0.51 </tmp/talk \
			>rows 2>err & echo $! >query.pid
		sleep 1000 >/tmp/talk & echo $! >open.pid'
}

say() {
	on_b "echo '$1' >/tmp/talk"
}

told() { # LINES
	[ "$(wc -l <"$B/rows")" -ge "$1" ]
}

@test "the collector's processor has no part in it; epochs come and go" {
	collect r 40040 --readable
	store r
	key=$(head -n 1 "$B/flows")
	query
	say 192.0.2.1:1\>192.0.2.9:2/udp
	patient told 2
	on_a 'kill -STOP $(cat r.pid)'
	say "$key"
	patient told 3
	sed -n 3p "$B/rows" | grep "^$key,found,.*,1,region,flows"
	on_a 'kill -CONT $(cat r.pid)'
	on_a 'dta-collect --region r --rotate'
	say "$key"
	patient told 4
	sed -n 4p "$B/rows" | grep "^$key,found,.*,1,region,flows"
	for _ in 3 4 5; do on_a 'dta-collect --region r --rotate'; done
	say "$key"
	patient told 5
	sed -n 5p "$B/rows" | grep "^$key,not_found,"
	store r
	say "$key"
	patient told 6
	sed -n 6p "$B/rows" | grep "^$key,found,.*,5,region,flows"
	[ ! -s "$B/err" ]
}

# members MIRROR: a cluster of r and s, as each guest sees it.
members() {
	{
		printf '[cluster]\nversion = 1\nmirror = %s\n' "$1"
		printf '[collector %d]\nregion = %s\n' 0 r 1 s
	} >"$A/cluster.ini"
	{
		printf '[cluster]\nversion = 1\nmirror = %s\n' "$1"
		printf '[collector %d]\nverbs = 10.0.0.51:%d\n' 0 40040 1 40041
	} >"$B/cluster.ini"
}

@test "a cluster: each key is read at its owner" {
	local ask

	members no
	collect r 40040 --readable
	collect s 40041 --readable
	on_a 'dta-translate -q -r first.pcap --cluster cluster.ini'
	for ask in 'path -k some.flows' 'count -k some.flows' \
		'keywrite -t wide -k some.numbers' 'list -q' 'verify --truth truth.csv' \
		'keywrite -t flows -k flows'; do
		on_a "dta-query $ask -o csv --cluster cluster.ini >rows"
		on_b "dta-query $ask -o csv --cluster cluster.ini >rows"
		cmp "$A/rows" "$B/rows"
		[ "$(wc -l <"$A/rows")" -ge 2 ]
	done
	awk -F, '$2 == "found" { n[$8]++ } END { exit !(n[0] > 100 && n[1] > 100) }' \
		"$B/rows"
	run on_b 'dta-query list -f --cluster cluster.ini'
	[ "$status" = 2 ]
	[[ $output == *"--follow needs a region, alone"* ]]
}

@test "a collector dies between two batches: said, and its mirror answers" {
	members yes
	collect r 40040 --readable
	collect s 40041 --readable
	on_a 'dta-translate -q -r first.pcap --cluster cluster.ini'
	on_b 'dta-query keywrite -t flows -k flows -o csv --cluster cluster.ini >rows.all'
	on_b "{ head -n 300 flows; until [ -e go ]; do sleep 0.1; done; tail -n +301 flows; } |
		dta-query keywrite -t flows -k - -o csv --cluster cluster.ini >rows 2>err &
		echo \$! >query.pid"
	patient told 250
	on_a 'kill -9 $(cat s.pid)'
	: >"$B/go"
	patient told "$(wc -l <"$B/rows.all")"
	cat "$B/err"
	[ "$(sed -n 1p "$B/err")" = "dta-query: collector 1: connection lost" ]
	[ "$(sed -n 2p "$B/err")" = "dta-query: collector 1: asking its mirror, collector 0" ]
	diff <(cut -d , -f 1-3 "$B/rows.all") <(cut -d , -f 1-3 "$B/rows")
	# Without a mirror, what it had is unreadable, and the status is 1.
	members no
	run on_b 'dta-query keywrite -t flows -k flows -o csv --cluster cluster.ini >rows'
	[ "$status" = 1 ]
	[[ $output == "dta-query: collector 1: 10.0.0.51:40041: nobody listens at port 40041"* ]]
	grep -q ',unreadable,' "$B/rows"
	grep -q ',found,.*,0,flows' "$B/rows"
}

@test "one that dies alone, and a wire that is cut" {
	local key

	collect r 40040 --readable
	store r
	key=$(head -n 1 "$B/flows")
	query
	say "$key"
	patient told 2
	on_a 'kill -9 $(cat r.pid)'
	say "$key"
	patient grep -x 'dta-query: 10.0.0.51: connection lost' "$B/err"
	collect r 40040 --readable
	query
	say "$key"
	patient told 2
	mv "$GUEST_DIR/a.sock" "$GUEST_DIR/a.cut"
	mv "$GUEST_DIR/b.sock" "$GUEST_DIR/b.cut"
	say "$key"
	patient grep -x 'dta-query: 10.0.0.51: the collector does not answer any more' "$B/err"
	mv "$GUEST_DIR/a.cut" "$GUEST_DIR/a.sock"
	mv "$GUEST_DIR/b.cut" "$GUEST_DIR/b.sock"
}

refuses() { # ADDRESS MESSAGE
	GUEST=b guest_fails "dta-query: $1: $2" \
		"dta-query count -k flows --verbs '$1'"
}

misused() { # ADDRESS
	GUEST=b guest_fails -2 "dta-query: --verbs: $1: not ADDRESS" \
		"dta-query count -k flows --verbs '$1'"
}

@test "what is wrong with an address; one that is not to be read" {
	collect r 40040
	refuses 10.0.0.51 "the collector does not let itself be read: dta-collect --cm 40040 --readable does"
	refuses 10.0.0.51:99 "nobody listens at port 99 of this address"
	refuses 127.0.0.1 "no RDMA device leads there"
	misused 10.0.0.51:
	refuses no.such.host ""
}

@test "no RDMA there: the host is asked" {
	on_b 'dta-collect --create --layout layout.ini --region r
		dta-collect --region r --ticket t.ini
		dta-translate -q -r first.pcap --region r
		printf "#!/bin/sh\nwhile [ \$1 != collector ]; do shift; done; shift\nexec \"\$@\"\n" >/tmp/ssh
		chmod +x /tmp/ssh'
	printf '%s\n' '[cluster]' 'version = 1' '[collector 0]' 'region = r' \
		'host = collector' 'ticket = t.ini' 'verbs = 10.0.0.51:99' >"$B/cluster.ini"
	run on_b 'PATH=/tmp:$PATH dta-query keywrite -t flows -k flows --cluster cluster.ini -o csv >rows'
	echo "$output"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == "dta-query: collector 0: 10.0.0.51:99: nobody listens at port 99"*"; asking by ssh" ]]
	on_b 'dta-query keywrite -t flows -k flows --region r -o csv | sed s/,region,/,0,/' |
		diff - "$B/rows"
}

tries() { # ASK OPERATION [RKEY ADDRESS]
	on_b "verbs_try 10.0.0.51 40040 $*"
}

@test "who reads cannot write, and who writes cannot read tables" {
	local reader=4454413200000001 writer=4454413200000000
	local place_r place_t place before

	collect r 40040 --readable --peer-ip 10.0.0.101 --ticket t.ini
	store r
	before=$(on_a 'dta-dump digest r -o csv')
	place_r=$(tries $reader read)
	[[ $place_r == *": success" ]]
	place_r=${place_r%:*}
	[[ $(tries $reader write) == "$place_r: remote "*" error" ]]
	[[ $(tries $reader add) == "$place_r: remote "*" error" ]]
	# The first table's place, as the ticket has it.
	place_t=$(sed -n 's/^rkey = 0x\(.*\)/\1/p; s/^address = 0x//p' "$A/t.ini" |
		head -n 2 | tr '\n' ' ' | sed 's/ $//')
	place_t=$(printf '%08x %s' "0x${place_t% *}" "${place_t#* }")
	[ "${place_r% *}" != "${place_t% *}" ]
	for operation in read write add; do
		[[ $(tries $reader $operation "$place_t") == "$place_t: remote "*" error" ]]
	done
	[[ $(tries $writer read "$place_t") == "$place_t: remote "*" error" ]]
	for operation in write add; do
		[[ $(tries $writer $operation "$place_r") == "$place_r: remote "*" error" ]]
	done
	# Who writes reads the ticket's text, and does not change it.
	place=$(tries $writer read)
	[[ $place == *": success" ]]
	place=${place%:*}
	[ "${place% *}" != "${place_r% *}" ]
	for operation in write add; do
		[[ $(tries $writer $operation) == *": remote "*" error" ]]
	done
	# Not past the end of the region, either.
	[[ $(tries $reader read "${place_r% *}" "$(printf %x $((0x${place_r#* } +
		$(on_a 'stat -c %s /dev/shm/r'))))") == *": remote access error" ]]
	diff <(echo "$before") <(on_a 'dta-dump digest r -o csv')
	# And it is still there for those who do as they should.
	[[ $(tries $writer write "$place_t") == "$place_t: success" ]]
	both keywrite -t flows -k some.flows -o csv
}

@test "readers leave room for those who write" {
	collect r 40040 --readable
	on_b 'verbs_ask 10.0.0.51 40040 4454413200000001 140 60 >rows.asked &
		echo $! >asked.pid'
	patient eval '[ "$(wc -l <"$B/rows.asked")" = 140 ]'
	[ "$(grep -c ^accepted "$B/rows.asked")" = 128 ]
	run on_b 'dta-query count -k flows --verbs 10.0.0.51'
	[ "$status" = 1 ]
	[[ $output == "dta-query: 10.0.0.51: "*"too many guests"* ]]
	on_b 'dta-translate -q -r first.pcap --verbs 10.0.0.51'
	# And who has left without a word is not counted for long.
	on_b 'kill -9 $(cat asked.pid); rm asked.pid'
	patient on_b 'dta-query count -k flows --summary --verbs 10.0.0.51'
}
