# SPDX-License-Identifier: BSD-2-Clause
# The memory itself: byte by byte what a program of its own, which knows only
# the specification (tests/tools/expect.py), says that a capture must leave.

load ../helpers

setup() {
	need_tools mangle
	PATH=$TOOLS:$PATH:$TOP/tests/tools
	NAME=dta-test-$$-memory-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	remove_regions "$NAME"
}

# A region like the example's, but full: so many units, that keys meet.
region_of() { # workload units
	sed -E "s/^(slots|chunks) = .*/\1 = $2/" "$EXAMPLES/$1.ini" >layout.ini
	dta-collect --create --layout layout.ini --region "$NAME"
}

# Both say the same of reports.pcap: how many are good, and what they leave.
agree() { # options of dta-translate
	dta-translate -o ndjson -r reports.pcap --region "$NAME" "$@" 2>ledger
	expect.py "$NAME" reports.pcap | tee seen
	[ "$(jq 'select(.counter == "stored").value' ledger)" = "$(jq .stored seen)" ]
	[ "$(jq .packets seen)" -ge "${PACKETS:-20000}" ]
}

@test "Key-Write: int-path" {
	region_of int-path 16K
	dta-gen int-path --count 20000 --ipv6 20 -q -w reports.pcap
	agree
	jq -e '.stored == .packets and .bytes > 100000' seen
	# A bit of it: the comparison finds it.
	at=$(dta-dump region "$NAME" --no-load -o ndjson | jq -s '.[0].offset + 20000 * 8')
	path=$(dta-dump region "$NAME" --no-load -o ndjson | jq -rs '.[0].path')
	printf '\x5a' | dd of="$path" bs=1 seek="$at" conv=notrunc status=none
	run -1 expect.py "$NAME" reports.pcap
	[[ $output == *'1 bytes differ, the first at 160000'* ]]
}

@test "Key-Increment: marple-hosts-sum" {
	region_of marple-hosts-sum 256
	dta-gen marple-hosts-sum --count 20000 --ipv6 20 -q -w reports.pcap
	agree
	jq -e '.stored == .packets' seen
}

@test "Append: netseer-loss, around the rings" {
	sed -E 's/^ring = .*/entries = 1000/' "$EXAMPLES/netseer-loss.ini" >layout.ini
	dta-collect --create --layout layout.ini --region "$NAME"
	dta-gen netseer-loss --count 20000 --ipv6 20 -q -w reports.pcap
	agree
	jq -e '.stored == .packets' seen
	# By RoCEv2 packets: batches are cut where the ring ends, and in two.
	dta-collect --create --layout layout.ini --region "$NAME-b"
	dta-collect --region "$NAME-b" --ticket ticket.ini --mtu 256
	dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
	dta-collect -q -r roce.pcap --region "$NAME-b"
	diff <(dta-dump digest "$NAME" -o csv) <(dta-dump digest "$NAME-b" -o csv)
	# A second run goes on where the first one ended.
	dta-collect --remove --region "$NAME"
	dta-collect --create --layout layout.ini --region "$NAME"
	dta-gen netseer-loss --count 2000 -q -w reports.pcap
	size=$((24 + 777 * (16 + $(od -An -tu4 -j 32 -N 4 reports.pcap))))
	head -c "$size" reports.pcap >first.pcap
	(head -c 24 reports.pcap && tail -c +$((size + 1)) reports.pcap) >rest.pcap
	for part in first rest; do
		dta-translate -q -r $part.pcap --region "$NAME"
	done
	expect.py "$NAME" reports.pcap | jq -e '.stored == 2000'
}

@test "Postcards: int-postcard, whole paths that share chunks" {
	region_of int-postcard 4K
	dta-gen int-postcard --count 20000 --ipv6 20 -q -w reports.pcap
	agree
	jq -e '.stored == .packets and .chunks > 2000 and
		.unjudged <= 4' seen # the last path may be cut short
}

@test "Postcards: int-postcard, paths of unknown length" {
	region_of int-postcard 1M
	dta-gen int-postcard --count 20000 --ipv6 20 --no-path-len -q -w reports.pcap
	agree
	jq -e '.stored == .packets and .chunks > 4000 and
		.unjudged < .chunks / 100' seen
}

@test "Postcards: int-postcard, interleaved, a small cache, blanks" {
	region_of int-postcard 1M
	for more in "" --no-path-len; do
		dta-gen int-postcard --count 20000 --interleave 500 --hops 3 \
			-q -w reports.pcap $more
		agree -t 1:cache=64
		jq -e '.stored == .packets and .chunks > 4000 and
			.unjudged < .chunks / 100' seen
		dta-collect --remove --region "$NAME"
		region_of int-postcard 1M
	done
}

@test "a bad link: both drop the same, and keep the same" {
	for w in int-path marple-hosts-sum netseer-loss; do
		for seed in $(size 1 "1 2"); do
			region_of $w 16K
			dta-gen $w --count 20000 --ipv6 20 -q -w - |
				mangle -s $seed -l 0.02 -d 0.02 -f 0.4 -c 0.1 \
				-r 0.1 >reports.pcap 2>/dev/null
			PACKETS=19000 agree
			jq -e '.stored < .packets and .stored > .packets / 2' seen
			dta-collect --remove --region "$NAME"
		done
	done
}
