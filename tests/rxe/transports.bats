# SPDX-License-Identifier: BSD-2-Clause
# The invariant: one capture by every road leaves the same memory, byte for
# byte: the local road; RoCEv2 packets to the software responder; to soft-RoCE,
# reliable and unreliable queue pairs; and from host to host by verbs.

load ../helpers
load guest
load traffic

setup_file() {
	export NAME=dta-test-$$-roads
	cd "$BATS_FILE_TMPDIR" || exit 1
	mix "$(size 1500 3000)" reports.pcap
	cp "$BATS_TEST_DIRNAME/mix.ini" rc.ini
	# Counters need atomics, which UC does not have.
	sed '/^kind = keyinc/!s/^kind = .*/&\nqp = uc/' rc.ini >uc.ini
	dta-collect --create --layout rc.ini --region "$NAME"
	dta-translate -q -r reports.pcap --region "$NAME"
	dta-dump digest "$NAME" -o csv >local
	guest_there || return 0
	export GUEST
	guest_start a
	cp reports.pcap rc.ini uc.ini "$GUEST_DIR/a"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	HOST=$GUEST_DIR/a
}

teardown() {
	[ -z "${COLLECTOR:-}" ] || guest_run "kill $COLLECTOR; rm -f /dev/shm/r"
	remove_regions "$NAME-"
}

teardown_file() {
	remove_regions "$NAME"
	guest_stop
}

@test "the local road: something to compare with" {
	filled <local
	[ "$(wc -l <local)" = 6 ]
}

@test "the software responder" {
	dta-collect --create --layout rc.ini --region "$NAME-b"
	dta-collect --region "$NAME-b" --ticket ticket.ini
	dta-translate -q -r reports.pcap --ticket ticket.ini -w frames.pcap
	dta-collect -q --region "$NAME-b" -r frames.pcap
	tables "$NAME-b" | diff local -
}

holds() { # digests
	in_the_guest | cmp -s - "$1"
}

# The frames to the guest's NIC, whose dta-collect is stopped.
by_frames() { # layout
	guest_collect "$1" --peer-ip 10.0.0.101 --ticket new.ini
	patient [ -s "$HOST/new.ini" ]
	guest_run "kill -STOP $COLLECTOR"
	# Each atomic is answered; of writes the last of every queue pair.
	dta-translate -q -r reports.pcap --ticket "$HOST/new.ini" -w frames.pcap
	"$TOP/tests/tools/frames.py" frames.pcap "$GUEST_DIR/switch.sock" \
		"$GUEST_DIR/a.sock"
	patient holds local
	in_the_guest | diff local -
	guest_run "grep -q '^State:.*T (stopped)' /proc/$COLLECTOR/status
		kill -CONT $COLLECTOR"
	[ ! -s "$HOST/collect.err" ]
}

@test "soft-RoCE, RC" {
	guest_needed
	by_frames rc.ini
}

@test "soft-RoCE, UC" {
	guest_needed
	by_frames uc.ini
	[ "$(grep -c '^qp = uc' "$HOST/new.ini")" = 4 ]
}

@test "host to host by verbs" {
	guest_needed
	guest_collect rc.ini --cm 40040
	patient guest_run "dta-translate -r reports.pcap --verbs 10.0.0.51 \
		-o ndjson 2>translate.err"
	in_the_guest | diff local -
	# Ledger of the road: all operations that the translator made.
	jq -se 'map(select(.stage == "transport")) | map({(.counter): .value}) | add |
		.received == .completed and .received == .writes + .atomics and
		.atomics > 1000 and .inlined > 1000 and .inlined < .writes and
		.doorbells * 20 < .received and .tickets == 1' \
		"$HOST/translate.err"
	jq -r 'select(.stage == "transport") | [.stage, .role, .counter] | join(" ")' \
		"$HOST/translate.err" | diff "$TOP/tests/golden/transport.txt" -
	jq -se 'map(select(.stage == "transport" or .stage == "translate")) |
		(map(select(.counter == "ops").value) | add) ==
		(map(select(.stage == "transport" and .counter == "received").value) |
		add)' "$HOST/translate.err"
}

@test "very many frames in a row, RC and UC" {
	local layout n count

	guest_needed
	count=$(size 4000 10000)
	for layout in rc uc; do
		cat >one.ini <<-END
			[flows]
			kind = keywrite
			key = flow4
			value = 4
			slots = 64Ki
			qp = $layout
		END
		cp one.ini "$HOST"
		dta-collect --create --layout one.ini --region "$NAME-n"
		dta-gen uniform --flows "$count" --count "$count" --copies 2 -q -w many.pcap
		dta-translate -q -r many.pcap --region "$NAME-n"
		tables "$NAME-n" >many
		remove_regions "$NAME-n"
		guest_collect one.ini --peer-ip 10.0.0.101 --ticket new.ini
		patient [ -s "$HOST/new.ini" ]
		dta-translate -q -r many.pcap --ticket "$HOST/new.ini" \
			-w frames.pcap --ack-every $((count / 100))
		n=$(dta-dump packets frames.pcap -o csv | wc -l)
		[ "$n" -gt $((2 * count)) ]
		"$TOP/tests/tools/frames.py" frames.pcap \
			"$GUEST_DIR/switch.sock" "$GUEST_DIR/a.sock" \
			$([ $layout = uc ] || echo 200) >answers
		[ $layout = uc ] || [ "$(<answers)" = "200 0x11 0x1f" ]
		patient holds many
		in_the_guest | diff many -
		guest_run "kill $COLLECTOR"
		COLLECTOR=
	done
}
