# SPDX-License-Identifier: BSD-2-Clause
# dta-translate -j: on any number of cores the same memory as on one, the same of
# reports in the ledger, NACKs and keys.

load ../helpers
load ../wire
load ../terminal
load ../top

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-cores-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

# When lists are written hangs on the batches, and so do these.
of_reports() {
	grep -vE '"(ops|bytes|batches|partial_batches)"' "$1"
}

# on_all LAYOUT OPTION...: into a region each of 1 to 4 cores, all alike.
on_all() {
	local layout=$1 j

	shift
	make_regions "$layout" 1 2 3 4
	for j in 1 2 3 4; do
		dta-translate "$@" --region "$NAME-$j" -j "$j" -o ndjson 2>ledger.$j
		same_memory "$NAME-1" "$NAME-$j"
		diff <(of_reports ledger.1) <(of_reports ledger.$j)
	done
	balances ledger.4
	[ "$(counter ledger.4 stored)" -gt 0 ]
}

# Real traffic as reports of a workload.
real() { # workload
	local real=${TRACES:-$TOP/../shared/traces}/real-mix.pcap

	[ -r "$real" ] || skip "no $real"
	dta-gen "$1" --from "$real" -q -w reports.pcap
	on_all "$EXAMPLES/$1.ini" -r reports.pcap
}

@test "int-path, real traffic: on 1 to 4 cores the same" { real int-path; }
@test "int-postcard, real traffic: on 1 to 4 cores the same" { real int-postcard; }
@test "int-congestion, real traffic: on 1 to 4 cores the same" { real int-congestion; }
@test "marple-hosts-sum, real traffic: on 1 to 4 cores the same" { real marple-hosts-sum; }
@test "marple-flowlets, real traffic: on 1 to 4 cores the same" { real marple-flowlets; }
@test "packetscope-path, real traffic: on 1 to 4 cores the same" { real packetscope-path; }

@test "few keys, four copies, immediates: the last report wins everywhere" {
	dta-gen uniform --flows 50 --count 50000 --copies 4 --immediate -q -w some.pcap
	dta-gen uniform --flows 3000 --count 50000 --seed 2 -q -w others.pcap
	mergecap -F nsecpcap -a -w reports.pcap some.pcap others.pcap
	on_all "$EXAMPLES/uniform.ini" -r reports.pcap
}

@test "a pipe, gzip, and records of all lengths: the same memory" {
	local j

	dta-gen int-postcard --count 40000 -q -w some.pcap
	dta-gen int-path --count 5000 --collector 10.0.0.9 -q -w others.pcap
	mergecap -F nsecpcap -w reports.pcap some.pcap others.pcap
	gzip -k reports.pcap
	make_regions "$EXAMPLES/int-postcard.ini" 1 gz 2 3
	dta-translate -q -r reports.pcap --region "$NAME-1"
	dta-translate -q -r reports.pcap.gz --region "$NAME-gz" -j 2
	same_memory "$NAME-1" "$NAME-gz"
	for j in 2 3; do
		dd if=reports.pcap bs=777 status=none |
			dta-translate -q -r - --region "$NAME-$j" -j "$j"
		same_memory "$NAME-1" "$NAME-$j"
	done
}

# NACKs go from several cores: those of one reporter in their order.
nacks_of() {
	dta-dump packets "$1" -o csv | sed 1d | cut -d, -f2- | sort
}

@test "strict order and losses: the same NACKs; the same keys are logged" {
	local j

	dta-gen int-path --count 30000 --tracked -q -w all.pcap
	editcap -F nsecpcap all.pcap reports.pcap $(seq 90 1371 30000)
	make_regions "$EXAMPLES/int-path.ini" 1 2 3 4
	for j in 1 2 3 4; do
		dta-translate -r reports.pcap --region "$NAME-$j" -j "$j" \
			-t flows:sequence=strict --nacks nacks.$j \
			--key-log keys.$j -o ndjson 2>ledger.$j
		same_memory "$NAME-1" "$NAME-$j"
		diff <(of_reports ledger.1) <(of_reports ledger.$j)
		diff <(nacks_of nacks.1) <(nacks_of nacks.$j)
		cmp keys.1 keys.$j
	done
	[ "$(counter ledger.4 nacks_sent)" -gt 10 ]
}

# into_new CAPTURE: what RoCEv2 packets leave in new regions of three collectors.
into_new() {
	local c

	for c in 1 2 3; do
		dta-collect --remove --region "$NAME-$c"
		dta-collect --create --layout "$EXAMPLES/int-postcard.ini" \
			--region "$NAME-$c"
		# Of one collector's packets none are for the others.
		dta-collect -q --region "$NAME-$c" --ip 10.0.0.$c -r "$1" \
			-w /dev/null || [ "$c" != 1 ]
		dta-dump digest "$NAME-$c" -o csv
	done
}

@test "RoCEv2 packets leave the same memory, of one collector and of three" {
	local j c

	dta-gen int-postcard --count 30000 -q -w reports.pcap
	gzip -k reports.pcap
	make_regions "$EXAMPLES/int-postcard.ini" 1 2 3
	printf "[cluster]\nversion = 1\n" >cluster.ini
	for c in 1 2 3; do
		dta-collect --region "$NAME-$c" --ticket ticket.$c --ip 10.0.0.$c
		printf '[collector %s]\nticket = ticket.%s\n' $c $c >>cluster.ini
	done
	for j in 1 2 3 4; do
		dta-translate -q -r reports.pcap --ticket ticket.1 -w one.$j -j "$j"
		dta-translate -q -r reports.pcap.gz --ticket ticket.1 -w gz.$j \
			-j "$j"
		dta-translate -q -r reports.pcap --cluster cluster.ini -w three.$j \
			-j "$j"
		for c in one gz three; do
			into_new "$c.$j" >"$c.$j.digests"
			diff "$c.1.digests" "$c.$j.digests"
		done
	done
	diff one.1.digests gz.1.digests
	[ "$(packets_in three.4)" -gt 10000 ]
}

@test "DART's random copies, and a limit: drawn and counted alike" {
	dta-gen uniform --flows 2000 --count 60000 --copies 2 -q -w reports.pcap
	on_all "$EXAMPLES/uniform.ini" -r reports.pcap --dart --seed 3
	remove_regions "$NAME"
	on_all "$EXAMPLES/uniform.ini" -r reports.pcap --op-rate 500000
}

@test "-c counts the packets of all cores" {
	dta-gen uniform --count 20000 -q -w reports.pcap
	on_all "$EXAMPLES/uniform.ini" -r reports.pcap -c 12345
	[ "$(counter ledger.4 received)" = 12345 ]
}

@test "a pipe that falls silent: lists are written when it is time; signals" {
	cat >lists.ini <<-INI
		[events]
		kind = append
		value = 4
		lists = 5
		entries = 1Ki
		batch = 16
		flush = 100ms
	INI
	dta-gen uniform --kind append --lists 5 --count 1007 -q -w reports.pcap
	make_regions lists.ini 1 2
	dta-translate -q -r reports.pcap --region "$NAME-1"
	mkfifo pipe
	bg env timeout --foreground 60 dta-translate -r pipe --region "$NAME-2" -j 2 -o ndjson
	exec 7>pipe
	cat reports.pcap >&7
	wait_for same_memory "$NAME-1" "$NAME-2"
	kill -USR1 "$(pgrep -P "${BG_PIDS[0]}")"
	wait_for balances bg.log 1007
	kill -TERM "$(pgrep -P "${BG_PIDS[0]}")"
	wait_for run ! kill -0 "${BG_PIDS[0]}"
	exec 7>&-
	balances bg.log 1007
}

# is_past FILE BYTES: it is longer.
is_past() {
	[ "$(stat -c %s "$1")" -gt "$2" ]
}

# requests_of TIMEOUT LOG N: whether that program has taken so many.
requests_of() {
	kill -USR1 "$(pgrep -P "$1")"
	sleep 0.05
	[ "$(counter "$2" received)" = "$3" ]
}

# A cluster of two collectors by tickets.
make_cluster() {
	local c

	make_regions "$1" 1 2
	printf "[cluster]\nversion = 1\n" >cluster.ini
	for c in 1 2; do
		dta-collect --region "$NAME-$c" --ticket ticket.$c --ip 10.0.0.$c
		printf '[collector %s]\nticket = ticket.%s\n' $c $c >>cluster.ini
	done
}

@test "a window is full of what another core has sent: signals are heard" {
	local pid

	make_cluster "$EXAMPLES/uniform.ini"
	# The first batch sends nothing, the second more than a window takes; the
	# cluster is read again before the last.
	dta-gen uniform --count 4096 --table 99 -q -w none.pcap
	dta-gen uniform --count 4096 -q -w some.pcap
	mergecap -F nsecpcap -a -w reports.pcap none.pcap some.pcap \
		none.pcap none.pcap none.pcap none.pcap none.pcap none.pcap
	mkfifo answers
	exec 8<>answers
	head -c 24 some.pcap >&8 # a capture, so far without packets
	bg env timeout --foreground 60 dta-translate -r reports.pcap -j 2 \
		--cluster cluster.ini -w requests.pcap --answers answers -o ndjson
	wait_for is_past requests.pcap 1000
	pid=$(pgrep -P "${BG_PIDS[0]}")
	kill -USR1 "$pid"
	wait_for grep -q '"counter":"bad_table"' bg.log
	echo nonsense >cluster.ini
	kill -HUP "$pid"
	wait_for grep -q "cluster.ini:1: " bg.log
	kill -TERM "$pid" || : # it may have come to its end
	exec 8>&-
	wait_for run ! kill -0 "${BG_PIDS[0]}"
	balances bg.log
}

@test "to another cluster, and the way out is full: told, and that is the end" {
	local j rc

	sed 's/cache = .*/cache = 64Ki/' "$EXAMPLES/int-postcard.ini" >layout.ini
	make_cluster layout.ini
	cp cluster.ini members.ini
	# The first hops of paths: nearly all stay in the cache until then.
	dta-gen int-postcard --flows 20000 --interleave 20000 --count 15000 -q \
		-w reports.pcap
	for j in 1 2; do
		printf '[generation 1]\ncollectors = 1\n' |
			cat members.ini - >cluster.ini
		rm -f pipe
		mkfifo pipe
		(
			trap '' XFSZ # a write fails
			ulimit -f 256
			exec env timeout --foreground 60 dta-translate -r pipe -j $j \
				--cluster cluster.ini -w requests.$j -o ndjson \
				>log.$j 2>&1 3>&-
		) &
		BG_PIDS+=("$!")
		exec 9>pipe
		cat reports.pcap >&9
		wait_for requests_of "$!" log.$j 15000
		printf '%s\n' '[generation 1]' 'collectors = 1' '[generation 2]' \
			'collectors = 1 2' 'epoch = 2' | cat members.ini - >cluster.ini
		kill -HUP "$(pgrep -P "$!")"
		rc=0
		wait "$!" || rc=$?
		[ $rc = 1 ]
		exec 9>&-
		tail -n 1 log.$j | tee /dev/stderr | grep "requests.$j: File too large"
	done
}

# catches PID: whether it has a handler for SIGUSR1, bit 9; and not the one of the
# shell that it was before.
catches() {
	[ "$(<"/proc/$1/comm")" != bash ] || return 1
	(((0x$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status") >> 9) & 1))
}

@test "a signal before the first byte of a pipe: the capture is read all the same" {
	dta-gen int-path --flows 2000 -q -w reports.pcap
	make_regions "$EXAMPLES/int-path.ini" 1 2
	dta-translate -q -r reports.pcap --region "$NAME-1"
	mkfifo pipe
	exec 7<>pipe
	dta-translate -q -r pipe --region "$NAME-2" -j 2 -o ndjson 2>log 3>&- 7>&- &
	BG_PIDS+=("$!")
	wait_for catches "$!"
	kill -USR1 "$!"
	wait_for [ -s log ]
	cat reports.pcap >&7
	wait_for same_memory "$NAME-1" "$NAME-2"
}

@test "as many cores as there can be: the same memory, out of a file and a pipe" {
	dta-gen int-path --count 300000 -q -w reports.pcap
	make_regions "$EXAMPLES/int-path.ini" 1 file pipe
	dta-translate -q -r reports.pcap --region "$NAME-1"
	dta-translate -q -r reports.pcap --region "$NAME-file" -j 32
	dta-translate -q -r - --region "$NAME-pipe" -j 32 < <(cat reports.pcap)
	same_memory "$NAME-1" "$NAME-file"
	same_memory "$NAME-1" "$NAME-pipe"
}

@test "a number of cores that cannot be" {
	run -2 --separate-stderr dta-translate -r x --region y -j 0
	run -2 --separate-stderr dta-translate -r x --region y -j 33
	[[ $stderr == *"from 1 to 32"* ]]
}

@test "live: what comes by an interface is the same on three cores" {
	local pid

	make_regions "$EXAMPLES/int-postcard.ini" 1 3
	# So few flows that none are for one chunk.
	dta-gen int-postcard --flows 200 --count 20000 -q -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME-1"
	wire_up t0:g0
	bg ip netns exec "$WIRE" timeout --foreground 60 \
		dta-translate -i t0 --no-xdp -j 3 --region "$NAME-3" -o ndjson
	wait_for grep -q "AF_PACKET" bg.log
	on_wire dta-gen int-postcard --flows 200 --count 20000 --rate 100000 -q -i g0 \
		--no-xdp --to-mac 02:00:00:00:00:02
	all_came() {
		kill -USR1 "$(pgrep -P "${BG_PIDS[0]}")" && sleep 0.1 &&
			balances bg.log 20000
	}
	wait_for all_came
	kill -TERM "$(pgrep -P "${BG_PIDS[0]}")"
	wait_for run ! kill -0 "${BG_PIDS[0]}"
	same_memory "$NAME-1" "$NAME-3"
}

# unsent: the page of the program tells that NACKs were not taken.
unsent() {
	sees losses 'any(.program == "dta-translate" and .counter == "unsent" and
		.value >= 1)'
}

@test "live: NACKs that nobody takes are told while three cores work" {
	local pid

	need_tools send
	export DTA_LEDGERS=$PWD/pages
	mkdir pages
	make_regions "$EXAMPLES/int-path.ini" 3
	dta-gen int-path --count 3000 --tracked -q -w all.pcap
	editcap -F nsecpcap all.pcap reports.pcap $(seq 90 371 3000)
	wire_up t0:g0
	bg ip netns exec "$WIRE" timeout --foreground 60 \
		dta-translate -i t0 --no-xdp -j 3 --region "$NAME-3" \
		-t flows:sequence=strict -o ndjson
	wait_for grep -q "AF_PACKET" bg.log
	pid=$(pgrep -P "${BG_PIDS[0]}")
	# It gets to them when the link is gone already.
	kill -STOP "$pid"
	on_wire "$TOOLS/send" reports.pcap g0 >sent
	on_wire ip link set g0 down
	kill -CONT "$pid"
	wait_for unsent
	kill -TERM "$pid"
	wait_for run ! kill -0 "${BG_PIDS[0]}"
	[ "$(counter bg.log nacks_sent)" -gt 0 ]
	[ "$(counter bg.log unsent)" = "$(counter bg.log nacks_sent)" ]
}
