# SPDX-License-Identifier: BSD-2-Clause
# make demo-int: what it shows, without a terminal, and what it leaves behind; and
# make demo-p4 where it cannot be (tests/p4/demo.bats has the rest).

load ../helpers
load net
load chain

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { end_bg; }

# Of what it said, the rows of events of that kind.
told() { grep '^  {.*"event":"'"$1"'"' output; }

demo() {
	mkdir -p tmp
	TMPDIR=$PWD/tmp "$TOP/tests/demo-int.sh" "${BUILD#"$TOP"/}" \
		</dev/null >output 2>&1 3>&- &
	PID=$!
	BG_PIDS+=("$PID")
}

nothing_left() {
	run ! grep "dta-test-$PID-" <(ip netns)
	[ -z "$(ls tmp)" ]
}

@test "the demo of in-band telemetry: paths, latencies, a queue that comes and goes" {
	need_ioam
	demo
	wait "$PID" || { cat output; false; }
	[ "$(told new_key | grep -c '"metric":"path".*"path":\[2,3]}')" = 3 ]
	[ "$(told new_key | grep -c '"metric":"hop_latency","node":2,')" = 3 ]
	[ "$(told rise | grep -c '"queue_occupancy","node":3,"port":22,"value":2')" = 1 ]
	[ "$(told fall | grep -c '"queue_occupancy","node":3,"port":22,"value":0,')" = 1 ]
	[ "$(grep -c '"measurement":"int_hop".*"hop":2,"node":3,' output)" = 2 ]
	grep '"counter":"traces","role":"done","value":46}' output
	run ! grep $'\033' output
	nothing_left
}

@test "the demo, interrupted: nothing of it stays" {
	need_ioam
	demo
	wait_for grep '^5\.' output
	kill "$PID"
	rc=0
	wait "$PID" || rc=$?
	[ "$rc" = 1 ]
	nothing_left
}

@test "the demo where it cannot be: says why, and fails" {
	local rc=0

	mkdir bin
	printf '#!/bin/sh\necho 1000\n' >bin/id
	chmod +x bin/id
	PATH=$PWD/bin:$PATH demo
	wait "$PID" || rc=$?
	[ "$rc" = 1 ]
	[ "$(cat output)" = "demo-int: only root can make network namespaces" ]
	nothing_left
}

# demo_p4 JSON_DIR: as somebody who is not root, with what is in bin.
demo_p4() {
	run -1 env PATH="$PWD/bin" TMPDIR="$PWD/tmp" "$BASH" "$TOP/tests/demo-p4.sh" \
		"${BUILD#"$TOP"/}" none "$1"
	[ -z "$(ls tmp)" ]
}

@test "the demo of P4 switches: all that is missing is named at once" {
	local p

	mkdir bin tmp json
	for p in dirname mktemp realpath rm ip; do
		ln -s "$(type -P $p)" bin
	done
	printf '#!%s\necho 1000\n' "$BASH" >bin/id
	demo_p4 "$PWD/json"
	[[ $output == "demo-p4: missing: simple_switch simple_switch_CLI ethtool"\
" python3 p4c-bm2-ss."* ]]
	for p in simple_switch ethtool; do
		printf '#!%s\n' "$BASH" >bin/$p
	done
	chmod +x bin/*
	touch json/dta_translator.json json/dta_reporter.json
	demo_p4 "$PWD/json"
	[[ $output == "demo-p4: missing: simple_switch_CLI python3."*p4/README.md* ]]
	cp bin/ethtool bin/simple_switch_CLI
	cp bin/ethtool bin/python3
	demo_p4 "$PWD/json"
	[ "$output" = "demo-p4: only root can make network namespaces" ]
}
