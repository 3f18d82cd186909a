# SPDX-License-Identifier: BSD-2-Clause
# DART: one random copy of each report, and the WRITE with COMPARE_SWAP; by both
# roads, to one collector.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-dart-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# A table of 8-byte slots, and one of counters.
make_layout() { # slots [field=value...]
	local slots=$1

	shift
	cat >layout.ini <<-INI
		[flows]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = $slots
		copies = 2
		[sums]
		id = 2
		kind = keyinc
		key = flow4
		slots = 4Ki
		copies = 2
	INI
	printf '%s\n' "$@" >>layout.ini
}

# Through a ticket and the software responder, into a region.
by_packets() { # region capture option...
	local region=$1 capture=$2

	shift 2
	dta-collect --region "$region" --ticket ticket.ini
	dta-translate -q -r "$capture" --ticket ticket.ini -w roce.pcap "$@"
	dta-collect -o ndjson --region "$region" -r roce.pcap 2>responder.ndjson
	jq -se 'all(select(.role == "loss").value == 0)' responder.ndjson
}

digest() {
	dta-dump digest "$NAME-$1" -o csv
}

right() { # region truth option...
	dta-query verify --region "$NAME-$1" --truth "$2" -o ndjson "${@:3}" |
		jq .right
}

@test "one capture and one seed leave one memory, by both roads" {
	make_layout 64Ki
	make_regions layout.ini a b c
	dta-gen uniform --count 20000 -q -w kw.pcap
	dta-gen uniform --count 5000 --kind keyinc --table 2 -q -w inc.pcap
	cat kw.pcap <(tail -c +25 inc.pcap) >both.pcap
	dta-translate -r both.pcap --region "$NAME-a" --dart --seed 7 \
		-o ndjson 2>ledger
	[ "$(jq -r 'select(.counter == "ops").value' ledger)" -eq 30000 ]
	by_packets "$NAME-b" both.pcap --dart --seed 7
	same_memory "$NAME-a" "$NAME-b"
	dta-translate -q -r both.pcap --region "$NAME-c" --dart --seed 8
	run ! same_memory "$NAME-a" "$NAME-c"
	# Counters are the same for all that: they are written as ever.
	diff <(digest a | grep sums) <(digest c | grep sums)
	# Packets in other batches: the copies stay.
	dta-collect --remove --region "$NAME-c"
	make_regions layout.ini c
	{ head -c 54321 both.pcap; sleep 0.1; tail -c +54322 both.pcap; } |
		dta-translate -q -r - --region "$NAME-c" --dart --seed 7
	same_memory "$NAME-a" "$NAME-c"
}

@test "packets of a DART switch: PSNs count, one queue pair, iCRC right" {
	make_layout 4Ki
	make_regions layout.ini a
	dta-gen uniform --count 300 -q -w kw.pcap
	dta-collect --region "$NAME-a" --ticket ticket.ini
	sed -i '/table flows/,/table sums/s/^psn = 0/psn = 16777200/' ticket.ini
	dta-translate -q -r kw.pcap --ticket ticket.ini -w roce.pcap --dart \
		--ack-every 100
	dta-dump packets roce.pcap -o ndjson >rows
	[ "$(jq -s 'length' rows)" -eq 300 ]
	jq -se '[.[].psn] == [range(300) | (16777200 + .) % 16777216]' rows
	jq -se 'all(.icrc == "ok")' rows
}

@test "copies fill as reports come again" {
	make_layout 1M
	make_regions layout.ini a
	dta-gen uniform --count 20000 -q --truth truth.csv -w kw.pcap
	dta-translate -q -r kw.pcap --region "$NAME-a" --dart --seed 1
	once=$(right a truth.csv --policy consensus:2 || :)
	[ "$(right a truth.csv)" -gt 19300 ] # 1 - average loss of one slot
	for seed in 2 3 4; do
		dta-translate -q -r kw.pcap --region "$NAME-a" --dart \
			--seed $seed
	done
	often=$(right a truth.csv --policy consensus:2)
	echo "both copies: once $once, after four reports $often"
	[ "$once" -eq 0 ]
	# 7 of 8 have both by then, less what others took.
	[ "$often" -gt 16000 ]
	[ "$often" -lt 17800 ]
}

# Every report of a capture again and again, right after itself.
repeat() { # times capture
	python3 - "$@" <<-'PY'
		import sys
		data = open(sys.argv[2], "rb").read()
		out = sys.stdout.buffer
		out.write(data[:24])
		at = 24
		while at < len(data):
		    n = 16 + int.from_bytes(data[at + 8:at + 12], "little")
		    out.write(data[at:at + n] * int(sys.argv[1]))
		    at += n
	PY
}

@test "dta-plan --dart: what it says is what is found" {
	dta-gen uniform --count 131072 --seed 11 -q --truth truth.csv \
		-w once.pcap
	for case in "2 1" "2 3" "4 2" "4 8"; do
		copies=${case% *} reports=${case#* }
		make_layout 256Ki
		sed -i "0,/copies = 2/s//copies = $copies/" layout.ini
		make_regions layout.ini "$copies-$reports"
		repeat "$reports" once.pcap |
			dta-translate -q -r - --dart --seed 5 \
				--region "$NAME-$copies-$reports"
		found=$(right "$copies-$reports" truth.csv)
		want=$(dta-plan keywrite --dart "$reports" --load 0.5 \
			--copies "$copies" -o ndjson | jq .average_success)
		echo "N $copies, r $reports: $found of 131072, plan $want"
		# Five deviations: of sqrt(p (1 - p) / n), 0.0012 at most.
		jq -ne "($found / 131072 - $want) | fabs < 0.006"
	done
}

@test "INT: flow4 keys; postcards: hop4 keys, switch id and flow" {
	for w in int-path packetscope-path; do
		make_regions "$EXAMPLES/$w.ini" $w
		dta-gen $w --count 5000 -q --truth $w.csv -w $w.pcap
		dta-translate -q -r $w.pcap --region "$NAME-$w" --dart
		n=$(right $w $w.csv)
		[ "$n" -gt 4900 ]
		key=$(sed -n 2p $w.csv | cut -d, -f3)
		dta-query keywrite --region "$NAME-$w" "$key"
	done
	[[ $key == *@*'>'* ]]
}

@test "--dart: refused without a Key-Write table" {
	printf '[sums]\nkind = keyinc\nkey = flow4\nslots = 64\n' >none.ini
	dta-gen uniform --count 10 -q -w kw.pcap
	make_regions none.ini none
	run -1 --separate-stderr dta-translate -q -r kw.pcap --region "$NAME-none" --dart
	echo "$stderr"
	[[ $stderr == *"DART writes Key-Write tables; there is none"* ]]
}
