# SPDX-License-Identifier: BSD-2-Clause
# dta-plan: the papers' numbers as the program prints them, and its options.
# The forms themselves are tested in tests/unit/test_plan.c.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-plan
}

teardown() { remove_regions "$NAME"; }

# plan ARGS...: rows as NDJSON in the file rows.
plan() {
	dta-plan "$@" -o ndjson >rows
}

# row FILTER: a jq condition that must hold for exactly one row.
row() {
	cat rows
	[ "$(jq -s "map(select($1)) | length" rows)" = 1 ]
}

# refused WORDS ARGS...: exit 2, WORDS on stderr, nothing on stdout.
refused() {
	local words=$1

	shift
	run -2 --separate-stderr dta-plan "$@"
	echo "dta-plan $*: $stderr"
	[[ -z $output && $stderr == "dta-plan: "*"$words"* ]]
}

@test "the papers' numbers for Key-Write at a load of 0.1" {
	plan keywrite --load 0.1
	[ "$(wc -l <rows)" = 4 ]
	row '.copies == 1 and (.empty * 1000 | round) == 95'
	row '.copies == 2 and (.empty * 10000 | round) == 329'
	row '.copies == 4 and (.empty * 10000 | round) == 118 and .best'
	row '.copies == 2 and .wrong > 1.5e-11 and .wrong < 1.55e-11'
}

@test "the papers' numbers for Postcarding" {
	plan postcard --load 0.1 --copies 2 --values 262144 --hops 5
	row '.empty <= 0.033 and .wrong < 1e-22 and .wrong > 1e-23'
	row '.slot_bytes == 32'
	plan postcard --load 0.1 --copies 2 --stride packed
	row '.slot_bytes == 20'
}

@test "38.7 % of the oldest, 71.3 % on average; a younger key is one of a lower load" {
	plan keywrite --load 0.764 --copies 2
	row '(.success * 1000 | round) == 387
		and (.average_success * 1000 | round) == 713'
	plan keywrite --load 0.382 --copies 2
	row '(.success * 10000 | round) == 7146'
}

@test "300 bytes a flow in slots of 24" {
	plan keywrite --flows 100000000 --memory 30000000000 --value 20 \
		--stride packed
	row '.copies == 2 and .slot_bytes == 24 and .bytes_per_flow == 300
		and .load == 0.08 and .slots == 1250000000
		and (.average_success * 1000 | round) == 992'
	row '.copies == 4 and (.average_success * 1000 | round) == 999'
	plan keywrite --flows 100000000 --memory 30Gi --value 20 --stride packed
	row '.copies == 2 and (.average_success * 1000 | round) == 993'
}

@test "any two of load, flows and memory give the third" {
	plan keywrite --load 0.5 --flows 1000 -n 1
	row '.slots == 2000 and .memory_bytes == 16000 and .flows == 1000'
	plan keywrite --memory 16000 --flows 1000 -n 1
	row '.slots == 2000 and .load == 0.5'
	plan keywrite --memory 16000 --load 0.5 -n 1
	row '.slots == 2000 and .flows == 1000 and .bytes_per_flow == 16'
	plan keywrite --memory 8Mi --flows 1Mi -n 1
	row '.slots == 1048576 and .load == 1'
	plan keywrite --load 0.5 -n 1
	row '.slots == null and .flows == null and .bytes_per_flow == 16'
}

@test "--want: the memory holds what it promises, and a little less does not" {
	for n in 1 2 3 4; do
		plan keywrite --want 0.99 --flows 1000000 --copies $n
		row '.success >= 0.99 and .flows == 1000000'
		less=$(jq '.memory_bytes * 99 / 100 | floor' rows)
		plan keywrite --memory "$less" --flows 1000000 --copies $n
		row '.success < 0.99'
		plan keywrite --want 0.99 --flows 1000000 --copies $n --average
		row '.average_success >= 0.99 and .success < 0.99'
	done
	plan keywrite --want 0.99 --flows 1000000
	best=$(jq -s 'min_by(.memory_bytes).copies' rows)
	row ".best and .copies == $best"
	plan keywrite --want 0.9 --memory 1Gi -n 2
	row '.memory_bytes == 1073741824 and .flows > 0'
}

@test "best: by the oldest, or by the average" {
	plan keywrite --load 0.5
	row '.best and .copies == 1'
	plan keywrite --load 0.5 --average
	row '.best and .copies == 2'
	plan keywrite --load 0.01
	row '.best and .copies == 4'
	# As a report and a layout have it.
	refused "is not a whole number from 1 to 4" keywrite --load 0.01 -n 9
	plan keywrite --load 0.1 --copies 2
	row '.best == false'
}

@test "checksums: half the bits, and bytes to match" {
	plan keywrite --load 0.1 --checksum-bits 16 --copies 2
	row '.wrong > 1e-6 and .wrong < 1.01e-6 and .slot_bytes == 8'
	plan keywrite --load 0.1 --checksum-bits 16 --copies 2 --stride packed \
		--value 6
	row '.slot_bytes == 8'
	plan keywrite --load 0.1 --checksum-bits 64 --copies 2
	row '.slot_bytes == 16'
}

@test "the share of used slots at a load" {
	plan keywrite --load 1 --copies 2
	row '(.used_share * 1e6 | round) == 864665' # 1 - e^-2
	plan keywrite --dart 1 --load 1 --copies 2
	row '(.used_share * 1e6 | round) == 632121' # 1 - e^-1
}

@test "an overview where no load is given" {
	plan keywrite
	[ "$(jq -s 'map(.load) | unique | length' rows)" = 5 ]
	[ "$(jq -s 'map(select(.best)) | length' rows)" = 5 ]
}

@test "field names: a public interface" {
	run -0 dta-plan keywrite --load 1 -n 1 -o csv
	names=primitive,copies,load,success,empty,wrong,wrong_low
	names+=,average_success,best,slots,slot_bytes,memory_bytes,flows
	names+=,bytes_per_flow,used_share
	[ "${lines[0]}" = "$names" ]
	# Each is documented.
	for name in ${names//,/ }; do
		echo "field: $name"
		grep -qx "\.It $name" "$TOP/man/dta-plan.1"
	done
	run -0 dta-plan postcard --load 1 -n 1
	[[ ${lines[0]} == PRIMITIVE\ *USED_SHARE ]]
	[ ${#lines[@]} = 2 ]
}

@test "ranges: a row for each, as if asked one by one" {
	dta-plan keywrite --load 0.1:2:0.1 -n 1:3 -o csv >all
	[ "$(wc -l <all)" = 61 ]
	{
		dta-plan keywrite --load 1 -n 1 -o csv | head -n 1
		for load in 0.{1..9} 1 1.{1..9} 2; do
			for n in 1 2 3; do
				dta-plan keywrite --load $load -n $n -o csv | sed 1d
			done
		done
	} >each
	# What is best is told among four copies, asked together or not.
	cmp all each
	dta-plan keywrite --flows 1K:3K:1K --memory 64Ki:128Ki:64Ki -n 2 -o csv |
		cut -d, -f2,13,12 | diff - <(printf '%s\n' copies,memory_bytes,flows \
		2,65536,1000 2,131072,1000 2,65536,2000 2,131072,2000 \
		2,65536,3000 2,131072,3000)
	[ "$(dta-plan keywrite --want 90%:99%:3% -n 1 -o csv | cut -d, -f4 |
		paste -sd' ')" = "success 0.9 0.93 0.96 0.99" ]
	[ "$(dta-plan keywrite -l 1 -s 4:20:8 -n 1 -o csv | cut -d, -f11 |
		paste -sd' ')" = "slot_bytes 8 16 32" ]
	[ "$(dta-plan keywrite -l 1 -b 16:32:8 -n 1 -o csv | sed 1d | wc -l)" = 3 ]
	for bad in 1:0:1 1:2 1:2:0 1:2:-1 1:2:1:1 : 1: :1 0:1e6:1; do
		refused --load keywrite "--load=$bad"
	done
	refused --copies keywrite --load 1 --copies 1:17
}

@test "edges: no load, absurd loads" {
	plan keywrite --load 0
	row '.copies == 4 and .success == 1 and .wrong == 0
		and .bytes_per_flow == null'
	plan postcard --load 1000000 --checksum-bits 19
	row '.copies == 1 and .success == 0 and .empty > 0.9'
	run -1 --separate-stderr dta-plan keywrite --load 1e-300 --flows 10
	[[ -z $output && $stderr == *"more than 2^50 slots"* ]]
	# 2^47 slots: 2^63 keys are a load of 65536
	plan keywrite --load 65535 --memory 1024Ti -n 1
	row '.flows == 9223231299366420480'
	run -1 --separate-stderr dta-plan keywrite --load 65536 --memory 1024Ti
	[[ -z $output && $stderr == *"more than 2^63 keys"* ]]
}

@test "cores: what keeps each number of them from more, by the closed form" {
	# A round's blocks are more than 64 from 65 cores on, 250 ns each; the
	# source gives a packet in 0.5 ns, to no more than 2 G a second.
	plan cores --alone 200 --work 120 --receive 160 -j 1:512
	[ "$(wc -l <rows)" = 512 ]
	jq -se 'all(.[]; .workload == "own" and .bound == "cores" and
		(.reports_s - (if .cores == 1 then 1e9 / 200 else .cores * 1e9 /
			(280 + ([.cores - 64, 0] | max) * 250 / 4096) end) | fabs) <= 1
		and (.speedup - .reports_s / 5e6 | fabs) < 1e-3)' rows
	plan cores --alone 2 --work 1 --receive 1 -j 8
	row '.reports_s == 2000000000 and .bound == "source"'
	plan cores --alone 20 --work 12 --receive 16 --bandwidth 24G -j 8
	row '.reports_s == 100000000 and .bound == "memory" and .bytes_s == 24000000000'
}

@test "cores: workloads that were measured, and the numbers that are usual" {
	plan cores
	[ "$(jq -r .workload rows | uniq | wc -l)" = 7 ]
	[ "$(jq -r 'select(.workload == "append").cores' rows | xargs)" = \
		"1 2 4 8 16 32 64" ]
	jq -se 'all(.[]; .reports_s > 1e6 and .bytes_s > .reports_s and
		(.cores > 1 or .speedup == 1))' rows
	run -0 --separate-stderr dta-plan cores -j 4 -o csv
	[ "${#lines[@]}" = 8 ]
	# Of which machine, and how to tell of another.
	[[ $stderr == *"AMD EPYC"*"nothing was measured here"*"--alone, --work and --receive"* ]]
	run -0 --separate-stderr dta-plan cores --alone 20 --work 12 --receive 16
	[ -z "$stderr" ]
}

# figures: the figures of rows, an object; of one plan.
figures() {
	jq -s 'map({(.figure): .value}) | add' rows
}

@test "fleet: the papers' fabrics, NICs, memory and look-up state" {
	# k = 48: 2,880 switches, 27,648 hosts. Loss events of 950 K/s a switch
	# (DTA, table 1) for NICs of 100 M messages/s (6.5): 28 of them.
	plan fleet --arity 48 --rate 950K --flows 100M --value 20 \
		--stride packed --want 99.88% --average --copies 4 --dart 1000
	figures | jq -e '.switches == 2880 and .hosts == 27648
		and .reports_s == 2880 * 950000 and .collectors == 28
		and .switch_state == 560 and .queue_pairs == 2880
		and .translators == 0'
	# 300 bytes a flow for 99.9 % (DART 5.2).
	figures | jq -e '.memory / .keys | . > 295 and . < 305'
	# K = 28, DTA 2: some 10,000 cores would be over 11 % of servers with 16.
	plan fleet --arity 28 --rate 7.2M --flows 1M
	figures | jq -e '.switches == 980 and 10000 / 16 / .hosts > 0.11'
	# 2 copies at a load of 0.1 leave 3.3 % of the oldest (DTA 4).
	plan fleet --switches 1 --rate 1 --flows 1M --copies 2 --want 0.9671415
	figures | jq -e '.load * 1000 | round == 100'
}

@test "fleet: what bounds it, what a loss costs, what moves" {
	plan fleet --switches 100 --rate 10M --history 200ms --memory 512Gi
	figures | jq -e '.keys == 2e8 and .copies == 1
		and .collectors == 10 and .nic_load == 1 and .translators == 10
		and .loss_keys == 2e7 and .loss_success == 0.891
		and (.loss_nic_load * 9 - 10 | fabs) < 1e-4
		and (.added_moved_share * 11 - 10 | fabs) < 1e-4
		and (.added_least_share * 11 - 1 | fabs) < 1e-4'
	jq -se 'any(.[]; .source == "as many as their NICs need: DTA 7")' rows
	plan fleet --switches 100 --rate 10M --history 200ms --memory 512Gi --mirror
	figures | jq -e '.collectors == 20 and .nic_load == 1
		and .loss_keys == 0 and .loss_success == 0.99'
	# Less memory each: more collectors, and copies that need less of it.
	plan fleet --switches 100 --rate 10M --history 2s --memory 8Gi
	figures | jq -e '.copies == 3 and .collectors == 30
		and .collector_memory <= 8589934592'
	plan fleet --switches 100 --rate 10M --history 2s --memory 6Gi -n 3
	figures | jq -e '.collector_memory <= 6 * 1024 * 1024 * 1024
		and .memory / (.collectors - 1) > 6 * 1024 * 1024 * 1024'
	jq -se 'any(.[]; .source == "as many as memory needs")' rows
	plan fleet --switches 1 --rate 1 --flows 10G --memory 8Ti -n 1
	jq -se 'any(.[]; .figure == "collectors" and .value == 232 and
		(.source | test("2\\^32")))' rows
	# Ranges: a plan for each.
	plan fleet --switches 100 --rate 1M --history 1s --value 4:20:8 -n 1:2
	[ "$(jq -s 'map(select(.figure == "value") | [.plan, .value])' -c rows)" = \
		"[[1,4],[2,12],[3,20]]" ]
	# With one copy, more than 2^50 slots.
	plan fleet --switches 1 --rate 1 --flows 100G --want 99.99999% --memory 8Ti
	row '.figure == "copies" and .value == 4'
	run -1 --separate-stderr dta-plan fleet --switches 1 --rate 1 --flows 100G \
		--want 99.99999% --copies 1
	[[ $stderr == *"more than 2^50 slots"* ]]
	run -0 --separate-stderr dta-plan fleet --arity 48 --rate 19M --flows 1M
	[[ $stderr == *"548 collectors: a cluster has 256 at most"* ]]
}

@test "counters: as many are too high as keywrite has no answer for" {
	local over

	printf '[c]\nkind = keyinc\nkey = flow4\nslots = 8Ki\ncopies = 2\n' >c.ini
	dta-collect --create -l c.ini -R "$NAME"
	dta-gen uniform --kind keyinc --flows 4096 --count 20000 -q --truth c.csv -w - |
		dta-translate -q -r - -R "$NAME"
	over=$(dta-query verify -q -R "$NAME" --truth c.csv -o ndjson | jq .over/.asked) || :
	plan keywrite --load 0.5 --copies 2
	row "(1 - .success - $over | fabs) < 0.03 and .slot_bytes == 8"
}

@test "what is refused says what would do" {
	refused "'99' is not a number from 1e-06 to 0.999999999999; a share may be 99%" keywrite --want 99
	refused "'0' is not a number from 1e-06 to 0.999999999999; a share may be 99%" keywrite --want 0
	refused "'-1' is not a number from 1 to 1125899906842624 (K, M, G, T: powers of 1000; Ki, Mi...: of 1024)" keywrite --flows -1
	refused "'0' is not a number from 1 to 1125899906842624" keywrite --memory 0
	refused "'0' is not a whole number from 1 to 1024" cores --cores 0
	refused "--flows and --memory together say what the load is" keywrite --flows 1M --memory 1Gi --want 0.9
}

@test "nonsense is refused, by name" {
	refused "for cores" keywrite --receive 3
	refused "for keywrite and postcard" cores --load 1
	refused "--work" cores --alone 3
	refused "--alone" cores --receive 3
	refused --cores cores --cores 0
	refused "keywrite, postcard, cores or fleet"
	refused "keywrite, postcard, cores or fleet" append
	refused "keyinc: plan keywrite for it: its 1 - success is the share of counts that are too high" keyinc --load 1
	refused "how many switches? add --switches or --arity" fleet --flows 1
	refused "--arity needs --flows or --history" fleet --arity 4 --rate 1
	refused "one of --flows and --history" fleet --switches 4 --rate 1 \
		--flows 1 --history 1s
	refused "K is even" fleet --arity 3 --rate 1 --flows 1
	refused "for fleet" keywrite --load 1 --mirror
	refused "for keywrite and postcard" fleet --load 1
	refused "once" keywrite postcard
	refused "from 1e-06 to 0.999999999999" keywrite --want 1
	refused "one of --load and --want" keywrite --load 1 --want 0.9
	refused "one of them" keywrite --load 1 --flows 10 --memory 1Ki
	refused "one of them" keywrite --want 0.5 --flows 10 --memory 1Ki
	refused "--flows alone" keywrite --flows 10
	refused "--memory alone" keywrite --memory 1Gi
	refused "takes 8 bytes" keywrite --flows 10 --memory 7
	refused "for keywrite" postcard --value 4
	refused "for postcard" keywrite --hops 5
	refused "do not fit" postcard --checksum-bits 8 --values 256
	refused "pow2 or packed" keywrite --stride 12
	for bad in '' ' 1' -1 +1 1x 0x1 nan inf 1e7 1,5; do
		refused --load keywrite "--load=$bad"
	done
	for bad in '' 0 17 -1 2.0 2x ' 2' 18446744073709551618; do
		refused --copies keywrite --load 1 "--copies=$bad"
	done
	for bad in '' 0 1m 1KBx -1K 1.5 99999999999999999999 16777216T; do
		refused --memory keywrite --flows 1 "--memory=$bad"
	done
	for bad in 0 1 1.5; do
		refused --want keywrite --want $bad
	done
	refused --hops postcard --hops 9
	refused --checksum-bits keywrite --checksum-bits 65
	refused --value keywrite --value 1021
}

@test "--dart: one report fills one copy; many are as good as all at once" {
	plan keywrite --dart 1 --load 0.3
	# e^-0.3, whatever N is.
	[ "$(jq -s 'map((.success * 10000 | round) == 7408 and
		.wrong == null) | all and length == 4' rows)" = true ]
	plan keywrite --dart 1000 --load 0.1 --copies 2
	row '(.empty * 1e7 | round) == 328585' # (1 - e^-0.2)^2
	# Of two reports, one copy or two: half the time each.
	plan keywrite --dart 2 --load 0.2 --copies 2
	row '(.empty * 1e6 | round) == 163178'
	plan keywrite --dart 4 --want 0.95 --flows 1M --average
	row '.best and .copies == 4'
	run -2 dta-plan postcard --dart 1
	run -2 dta-plan keywrite --dart 0
}

@test "--layout: dta-collect makes a table of it, of the size that was said" {
	local args

	for args in "keywrite --flows 30000 --want 0.99 --value 20" \
		"keywrite --memory 100K --load 0.3 --copies 3 --stride packed" \
		"postcard --flows 2000 --memory 1M --hops 4 --values 80"; do
		# shellcheck disable=SC2086
		dta-plan $args --layout | dta-collect --create -l - --region "$NAME"
		# shellcheck disable=SC2086
		dta-plan $args -o ndjson | jq -s 'if length > 1 then map(select(.best))
			else . end | .[0] | [.slots, .memory_bytes, .copies]' >plan
		dta-dump region "$NAME" --no-load -o ndjson |
			jq -s '.[0] | [.units, .length, .copies]' >region
		diff plan region
		dta-collect --remove --region "$NAME"
	done
	run -2 --separate-stderr dta-plan keywrite --load 0.3 --layout
	[[ $stderr == *"how many slots?"* ]]
	run -2 --separate-stderr dta-plan keywrite -f 1K -l 0.1:0.3:0.1 --layout
	[[ $stderr == *"--load is a range"* ]]
}
