# SPDX-License-Identifier: BSD-2-Clause
# make demo-p4: what the switches report, and that nothing of it stays. Where it
# cannot be: tests/net/demo.bats.

load ../helpers
load ../net/net
load p4

setup() {
	need_p4 dta_reporter
	need_p4 dta_translator
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { end_bg; }

demo() {
	mkdir tmp
	TMPDIR=$PWD/tmp "$TOP/tests/demo-p4.sh" "${BUILD#"$TOP"/}" "$BUILD/p4" \
		</dev/null >output 2>&1 3>&- &
	PID=$!
	BG_PIDS+=("$PID")
}

nothing_left() {
	run ! grep "dta-test-$PID-" <(ip netns; ls /dev/shm)
	[ -z "$(ls tmp)" ]
}

# answers TTL: of the flow that was asked for.
answers() {
	grep -cE "10.0.0.1:[0-9]+>10.0.0.2:80/tcp +found +0 +$1 +0 +2 " output
}

@test "flows that begin and end; a flow whose TTL changes; all reports are stored" {
	local n

	demo
	wait "$PID" || { cat output; false; }
	cat output
	[ "$(grep -cE '^ +0 +[0-2]  10.0.0.1:.*>10.0.0.2:80/tcp +2 ' output)" = 3 ]
	[ "$(grep -cE '^ +1 +[0-5]  10.0.0.[12]:.*/tcp +17 ' output)" -ge 5 ]
	[ "$(answers 64)" = 1 ]
	[ "$(answers 63)" = 1 ]
	n=$(sed -n 's/.*ledger\[17]=.*, \([0-9]*\) packets.*/\1/p' output)
	[ "$n" -gt 10 ]
	run ! grep $'\033' output
	nothing_left
}

@test "the demo, interrupted: nothing of it stays" {
	local rc=0

	demo
	wait_for grep '^4\.' output
	kill "$PID"
	wait "$PID" || rc=$?
	[ "$rc" = 1 ]
	nothing_left
}
