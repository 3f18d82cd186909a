# SPDX-License-Identifier: BSD-2-Clause
# int-label-ctl sim and theory: what they print, options, and that the
# controller, which reads what the simulator exports, comes to the same. The
# forms and the simulator are tested in tests/unit/test_label_theory.c and
# test_netsim*.c.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { end_bg; }

sim() { # ARGS...: rows as NDJSON in the file rows
	int-label-ctl sim "$@" -q -o ndjson >rows
}

# holds CONDITION: of the array of all rows.
holds() {
	cat rows
	[ "$(jq -s "$1" rows)" = true ]
}

# The controller's rows of a capture, as the simulator has them. every: the
# telemetry interval.
same_as_run() { # ARGS...
	int-label-ctl sim "$@" -q -o ndjson |
		jq -c 'select(.ports > 0) | [.ports, .covered]' >of_sim
	int-label-ctl sim "$@" -q -w - |
		int-label-ctl run -r - -q -o ndjson -R interval \
			-T "${every:-100ms}" |
		jq -c '[.ports, .covered]' >of_run
	[ "$(wc -l <of_sim)" -gt 5 ]
	cmp of_sim of_run
}

@test "the paper's network with Base A: 25 ports, nearly all of them covered" {
	sim -d 20s
	holds 'length == 200 and all(.[]; .ports == 25)'
	holds '(map(.coverage) | add / length) > 0.99'
	holds 'map(.packets) | add | . > 12400 and . < 12600'
}

@test "the controller prints the same of what last hops export" {
	same_as_run -d 2s
	same_as_run -d 2s -b B -f f2
	same_as_run -d 1s -a 8 -R 20000
	same_as_run -d 2s --loss 8-1=30 --loss 8-3=30% --pro 2
	every=30ms same_as_run -d 900ms -T 30ms -t 20ms
	same_as_run -d 2s --specific 3
}

@test "a long run takes no more memory than a short one" {
	most() { # DURATION: KB
		python3 -c 'if True:
			import resource, subprocess, sys
			subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
			print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
			int-label-ctl sim -q -R 50000 -b B --summary -d "$1"
	}
	[ "$(most 20s)" -lt $(($(most 1s) + 10000)) ]
}

@test "the same seed, the same run; another one, another" {
	sim -d 3s -b B
	mv rows first
	sim -d 3s -b B
	cmp rows first
	sim -d 3s -b B --seed 2
	run ! cmp -s rows first
	int-label-ctl sim -d 1s -q -w one.pcap >rows.txt
	int-label-ctl sim -d 1s -q -w - >two.pcap
	cmp one.pcap two.pcap
	[ "$(wc -l <rows.txt)" = 11 ]
}

@test "rows add up to the summary" {
	sim -d 2s -b B
	jq -s '[(map(.packets) | add), (map(.labels) | add),
		(map(.labelled) | add), (map(.items) | add)]' rows >sums
	sim -d 2s -b B --summary
	jq -s '.[0] | [.packets, .labels, .labelled, .items]' rows >summary
	cmp sums summary
	holds 'length == 1 and .[0].interval == 20'
	sim -d 2s --warmup 1s
	holds 'length == 10 and .[0].interval == 10'
}

@test "a run that a signal ends prints what it simulated, and how far it came" {
	int-label-ctl sim -d 1000000s -T 1s -R 5000 -o ndjson >rows 2>log 3>&- &
	BG_PIDS+=($!)
	wait_for [ -s rows ]
	kill -INT "${BG_PIDS[0]}"
	wait "${BG_PIDS[0]}"
	last=$(jq -s '.[-1].time_s' rows)
	[ "$last" -lt 1000000 ]
	grep -qx "int-label-ctl sim: stopped at $last of 1000000 s" log
	holds 'all(.[]; .packets > 0)'
	sed -n '/^{/p' log >ledger
	balances ledger
}

@test "ports forward evenly, unless they are said not to" {
	for jitter in 0 50; do
		int-label-ctl sim -q -R 40000 -t 1us -d 2s --port-rate 100 \
			--port-jitter $jitter -w out.pcap >/dev/null
		tshark -r out.pcap -Y 'ip.dst == 10.1.1.2' -T fields \
			-e frame.time_delta_displayed 2>/dev/null |
			awk 'NR > 1 { if ($1 < least || NR == 2) least = $1
				if ($1 > most) most = $1 }
				END { printf "%.1f %.1f\n", least * 1000, most * 1000 }'
	done >gaps
	[ "$(head -n 1 gaps)" = "10.0 10.0" ]
	awk 'NR == 2 { exit !($1 > 4.9 && $1 < 7 && $2 > 13 && $2 < 15.1) }' gaps
}

@test "loss on one link: Pro raises S there" {
	sim --loss 8-1=80 -d 20s --pro 2 --warmup 2s
	holds '(map(.s_max) | max) > 1'
	holds 'map(.commands) | add > 0'
	sim --loss 8-1=80 -d 20s --warmup 2s
	holds 'all(.[]; .s_max == 0 and .commands == 0)'
}

@test "schemes: what each needs" {
	sim -a 6 -S label -d 1s --summary
	holds '.[0] | .generators == 0 and .probes == 0 and .label_bandwidth > 0'
	sim -a 6 -S hula -d 1s --summary
	holds '.[0] | .generators == 18 and .probe_bandwidth > 0 and .labels > 0'
	sim -a 6 -S int-path -d 1s --summary
	holds '.[0] | .generators == 18 and .probes > 0'
	sim -a 8 -S int-path -d 1s --summary
	holds '.[0] | .generators == 1'
	sim -a 6 -S pingmesh -d 1s --summary
	holds '.[0] | .generators == 54 and .labels == 0'
	sim -a 6 -S int -d 1s --summary
	holds '.[0] | .generators == 0 and .items > 0'
	sim -a 6 -S none -d 1s --summary
	holds '.[0] | .labels == 0 and .probes == 0 and .overhead == 0'
	run -2 --separate-stderr int-label-ctl sim -S pingmesh
	[[ $stderr == *"--scheme pingmesh needs --arity"* ]]
}

@test "theory: the check values, to their digits" {
	int-label-ctl theory labels -o ndjson >rows
	holds 'map(.mean_b * 1e6 | round) | unique == [72134]'
	holds 'map(.mean_a * 1e6 | round) | unique == [48920]'
	holds 'map(.base_b * 1e7 | round) | .[1:] ==
		[318139, 103510, 39714, 14399, 3888]'
	int-label-ctl theory coverage -t 100ms -T 100ms -g 25ms -o ndjson >rows
	holds '.[0].window == 0.8'
}

@test "rows on a terminal are no wider than it is" {
	cat >wide <<-'END'
		stty cols 80 rows 24
		int-label-ctl sim -q -d 300ms --pro 2
	END
	script -qc "bash wide" /dev/null >seen
	# What is said once above the rows wraps.
	tr -d '\r' <seen | awk '/^(all rows|no room for):/ { next }
		length($0) > 80 { exit 1 }' || { cat seen; false; }
	grep -q COVERAGE seen
	int-label-ctl sim -q -d 300ms --pro 2 | grep -q GENERATORS
}

@test "a fat tree's traffic is in proportion to its ports" {
	for k in 4 8; do
		sim -a $k -d 1s --summary
		holds ".[0].packets / (25 * 5 * $k * $k * $k / 4) |
			. > 0.9 and . < 1.1"
	done
}

@test "field names: a public interface" {
	run -0 int-label-ctl sim -d 100ms -q -o csv
	names=interval,time_s,coverage,ports,covered,packets
	names+=,labelled,labels,carried,items,label_bandwidth,probe_bandwidth
	names+=,overhead,lost,loss,s_max,commands,probes,generators
	[ "${lines[0]}" = "$names" ]
	run -0 int-label-ctl theory labels -o csv
	[ "${lines[0]}" = arity,hops,ratio,labels,base_a,base_b,mean_a,mean_b ]
	run -0 int-label-ctl theory coverage -o csv
	[ "${lines[0]}" = label,telemetry,gap,window ]
	run -0 int-label-ctl sim --trace 1 -o csv
	[ "${lines[0]}" = scheme,hops,packets,error,extra_bits,path_bits ]
	for name in ${names//,/ } arity hops ratio base_a base_b mean_a mean_b \
		gap window scheme error extra_bits path_bits; do
		echo "field: $name"
		grep -qx "\.It $name" "$TOP/man/int-label-ctl.1"
	done
}

@test "path tracing: one packet with labels, ever more with PINT" {
	int-label-ctl sim --trace 6 -o ndjson >rows
	holds 'length == 18 and all(.[] | select(.scheme != "pint"); .packets == 1)'
	holds 'map(select(.scheme == "pint") | .packets) | . == sort and
		.[0] > 1.5 and .[0] < 2.1 and .[4] > 14 and .[4] < 17'
	holds 'map(select(.scheme == "label" and .hops == 5)) | .[0] |
		.extra_bits == 8 * (2 + 5 * 32) and .path_bits == 176'
}

refused() { # WORDS ARGS...: exit 2, WORDS on stderr, nothing on stdout
	local words=$1

	shift
	run -2 --separate-stderr int-label-ctl "$@"
	echo "int-label-ctl $*: $stderr"
	[[ -z $output && $stderr == *"$words"* ]]
}

@test "nonsense is refused, by name" {
	refused "is odd" sim -a 5
	refused "--arity" sim -a 2
	refused "no operands" sim x
	refused "--scheme" sim -S dart
	refused "--rest" sim -b B --rest 60ms
	refused "--loss: '8-1' is not" sim --loss 8-1
	refused "--loss: '8-9=1': the network has no port 8-9" sim --loss 8-9=1
	refused "'8-1=101': a share is from 0 to 100" sim --loss 8-1=101
	refused "no telemetry interval ends in it" sim -d 50ms
	refused "behind --warmup" sim -d 1s --warmup 1s
	refused "--chance is of Base B" sim -f f2
	refused "--rest is of Base B" sim --rest 1ms
	refused "--pro is for label" sim -S hula --pro 2
	refused "--base is for label and label-flag" sim -S int -b B
	refused "--probe-interval is for hula, int-path and pingmesh" sim \
		--probe-interval 1s
	refused "--trace and --rate" sim --trace 2 -R 5
	refused "--chance" sim -f f9
	refused "labels" theory
	refused "labels" theory x
	refused "for labels" theory coverage -a 4
	refused "is odd" theory labels -a 7
}
