# SPDX-License-Identifier: BSD-2-Clause
# --prefetch: whether lines of memory are asked for before they are written or not,
# the same memory and ledgers are left, on any number of cores.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-prefetch-$BATS_TEST_NUMBER
}

teardown() {
	remove_regions "$NAME"
}

# both PROGRAM OPTION...: into regions off, 1, 2, 3 and l2, which are there: without,
# with on so many cores, and into the second cache on two.
both() {
	local program=$1 r how j

	shift
	timeout 60 "$program" "$@" --region "$NAME-off" --prefetch off -o ndjson \
		2>ledger.off
	for r in 1 2 3 l2; do
		how=on j=$r
		[ $r != l2 ] || how=l2 j=2
		timeout 60 "$program" "$@" --region "$NAME-$r" --prefetch $how \
			-j $j -o ndjson 2>ledger.$r
		sed -i "s/$NAME-$r/$NAME-off/" ledger.$r
		same_memory "$NAME-off" "$NAME-$r"
		diff ledger.off ledger.$r
	done
	balances ledger.3
}

# A workload's reports from real traffic, in small and in huge pages.
real() { # workload
	local real=${TRACES:-$TOP/../shared/traces}/real-mix.pcap pages

	[ -r "$real" ] || skip "no $real"
	dta-gen "$1" --from "$real" -q -w reports.pcap
	for pages in small auto; do
		for r in off 1 2 3 l2; do
			dta-collect --create --layout "$EXAMPLES/$1.ini" \
				--pages $pages --region "$NAME-$r"
		done
		both dta-translate -r reports.pcap
		[ "$(counter ledger.off stored)" -gt 1000 ]
		remove_regions "$NAME"
	done
}

@test "Key-Write, real traffic: asked for or not, the same" { real int-path; }
@test "postcards, real traffic: asked for or not, the same" { real int-postcard; }
@test "Append, real traffic: asked for or not, the same" { real int-congestion; }
@test "Key-Increment, real traffic: asked for or not, the same" {
	real marple-hosts-sum
}

# mixed: reports.pcap for layout.ini, tables of each kind; the smallest there can be.
mixed() {
	cat >layout.ini <<-INI
		[one]
		kind = keywrite
		key = flow4
		value = 4
		slots = 1
		id = 1
		[lines]
		kind = keywrite
		key = flow4
		value = 60
		slots = 3
		id = 2
		[sums]
		kind = keyinc
		key = flow4
		slots = 1
		id = 3
		[paths]
		kind = postcard
		key = flow4
		chunks = 1
		values = 1-100
		cache = 16
		id = 4
		[events]
		kind = append
		value = 4
		lists = 3
		entries = 32
		batch = 8
		id = 5
	INI
	dta-gen uniform --table 1 --flows 100 --count 5000 --copies 2 -q -w 1.pcap
	dta-gen uniform --table 2 --value 60 --flows 100 --count 5000 -q -w 2.pcap
	dta-gen uniform --table 3 --kind keyinc --flows 100 --count 5000 -q -w 3.pcap
	dta-gen uniform --table 4 --kind postcard --flows 100 --count 5000 -q -w 4.pcap
	dta-gen uniform --table 5 --kind append --lists 3 --count 5000 -q -w 5.pcap
	mergecap -F nsecpcap -w reports.pcap [1-5].pcap
}

@test "tables of one slot, all kinds mixed: the same" {
	mixed
	make_regions layout.ini off 1 2 3 l2
	both dta-translate -r reports.pcap
	[ "$(counter ledger.off stored)" -gt 20000 ]
}

@test "RoCEv2 requests: the responder leaves the same, and gives the same answers" {
	mixed
	make_regions layout.ini off
	dta-collect --region "$NAME-off" --ticket ticket
	dta-translate -q -r reports.pcap --ticket ticket -w requests.pcap --ack-every 3
	remove_regions "$NAME"
	make_regions layout.ini off 1 2 3 l2
	both dta-collect -r requests.pcap
	[ "$(counter ledger.off executed)" -gt 10000 ]
	dta-collect -q -r requests.pcap --region "$NAME-off" --prefetch off -w off
	DTA_PREFETCH=on dta-collect -q -r requests.pcap --region "$NAME-1" -w on
	cmp off on
	same_memory "$NAME-off" "$NAME-1"
}

@test "a cluster of regions of this machine: the same" {
	local how i

	mixed
	make_regions layout.ini off-1 off-2 off-3 on-1 on-2 on-3
	for how in off on; do
		printf '[cluster]\nversion = 1\n' >$how.ini
		for i in 1 2 3; do
			printf '[collector %s]\nregion = %s\n' $i \
				"$NAME-$how-$i" >>$how.ini
		done
		DTA_PREFETCH=$how dta-translate -r reports.pcap --cluster $how.ini \
			-o ndjson 2>ledger.$how
	done
	for i in 1 2 3; do
		same_memory "$NAME-off-$i" "$NAME-on-$i"
	done
	diff <(ledger ledger.off) <(ledger ledger.on)
}

@test "--prefetch and DTA_PREFETCH take auto, on, l2 and off" {
	local p

	for p in dta-translate dta-collect; do
		run -2 "$p" -r x -R x --prefetch yes
		[[ $output == *"--prefetch: 'yes' is not auto, on, l2 or off"* ]]
		DTA_PREFETCH=yes run -2 "$p" -r x -R x
		[[ $output == *"--prefetch: 'yes' is not auto, on, l2 or off"* ]]
		# What is said goes before what is set; then x is not there.
		DTA_PREFETCH=yes run -1 "$p" -r x -R x --prefetch auto
	done
}
