# SPDX-License-Identifier: BSD-2-Clause
# make demo-int: what it shows, without a terminal, and what it leaves behind.

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
	[ "$(told rise | grep -c '"queue_occupancy","node":3,"egress":22,"value":2')" = 1 ]
	[ "$(told fall | grep -c '"queue_occupancy","node":3,"egress":22,"value":0,')" = 1 ]
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
