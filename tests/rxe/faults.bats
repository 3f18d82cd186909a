# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# The faults of tests/faults on the way to a real RDMA stack: soft-RoCE in the
# guest, a bad link between it and the translator.

load ../helpers
load ../wire
load guest
load traffic
load ../faults/faults

setup_file() {
	export NAME=dta-test-$$-rxe-faults
	cd "$BATS_FILE_TMPDIR" || exit 1
	guest_there || return 0
	export GUEST
	guest_start a
	for workload in uniform marple-hosts-sum; do
		layout $workload >"$GUEST_DIR/a/$workload.ini"
	done
}

setup() {
	guest_needed
	cd "$BATS_TEST_TMPDIR" || exit 1
	HOST=$GUEST_DIR/a
	wire_up t0:la
}

teardown() {
	end_bg
	wire_down
	[ -z "${COLLECTOR:-}" ] || guest_run "kill $COLLECTOR; rm -f /dev/shm/r"
	remove_regions "$NAME"
}

teardown_file() { guest_stop; }

# collect WORKLOAD: the device, ready, and its ticket.
collect() {
	guest_collect "$1.ini" --peer-ip 10.0.0.101 --ticket new.ini
	patient [ -s "$HOST/new.ini" ]
}

# What a road without any fault leaves, in whole.
prepare_whole() { # WORKLOAD COUNT
	dta-gen "$1" --seed 9 --flows "$2" -q -w reports.pcap
	dta-collect --create --layout "$HOST/$1.ini" --region "$NAME"
	dta-translate -q -r reports.pcap --region "$NAME"
	dta-dump digest "$NAME" -o csv >whole
}

bad_link() { # its options
	start link.log "$TOOLS/link" "$@" la \
		"$GUEST_DIR/switch.sock,$GUEST_DIR/a.sock"
	LINK=$PID
	wait_for grep -q linked link.log
}

# rxe_through WORKLOAD COUNT FAULT LINK-OPTIONS...: all gets through.
rxe_through() {
	local workload=$1 count=$2 fault=$3

	shift 3
	prepare_whole "$workload" "$count"
	collect "$workload"
	bad_link "$@"
	dta-translate -o ndjson -r reports.pcap --ticket "$HOST/new.ini" \
		"${ROAD[@]}" "${WINDOW[@]}" 2>translate.log
	finish "$LINK"
	balances translate.log
	[ "$(asked requests)" -gt 0 ]
	[ "$(asked acked)" = "$(asked requests)" ]
	in_the_guest | diff whole -
	tell "soft-RoCE: $fault, ${workload%%-*}" "$(asked acked)"
}

@test "no fault" { rxe_through marple-hosts-sum "$(size 1000 2000)" "none"; }
@test "loss of 0.1 %: slots" { rxe_through uniform "$(size 2000 5000)" "loss 0.1 %" -l 0.001; }
@test "loss of 1 %: counters" { rxe_through marple-hosts-sum 1000 "loss 1 %" -l 0.01; }
@test "loss of 10 %: counters" { rxe_through marple-hosts-sum 500 "loss 10 %" -l 0.1; }
@test "loss of 30 %: slots" { rxe_through uniform 100 "loss 30 %" -l 0.3; }
@test "reordering: counters" { rxe_through marple-hosts-sum 1000 "reordering 10 %" -r 0.1; }
@test "duplication: counters" { rxe_through marple-hosts-sum 1000 "duplication 10 %" -d 0.1; }
@test "bit flips: slots" { rxe_through uniform "$(size 1000 2000)" "bit flips 2 %" -f 0.02; }
@test "unmatched answers: counters" { rxe_through marple-hosts-sum 1000 "unmatched" -x 10; }
@test "an outage of 5 seconds: counters" {
	# Smaller than what there is to send: else the wait were the last one.
	WINDOW=(--window 256)
	rxe_through marple-hosts-sum 1000 "outage of 5 s" -o 500:5000
}

@test "a wrong R_Key: nothing is written, and all counted as refused" {
	prepare_whole uniform 500
	collect uniform
	in_the_guest >before
	sed 's/^rkey = .*/rkey = 0x00bad000/' "$HOST/new.ini" >ticket.ini
	bad_link
	run -1 --separate-stderr dta-translate -o ndjson -r reports.pcap \
		--ticket ticket.ini "${ROAD[@]}"
	echo "$stderr" >translate.log
	balances translate.log
	[ "$(asked refused)" = "$(asked requests)" ]
	in_the_guest | diff before -
	tell "soft-RoCE: wrong R_Key" 0
}

# Something has come, and not all.
in_part() { in_the_guest | grep -v "$EMPTY" | grep -q '^keys'; }

@test "a collector killed and started again: the new ticket, by SIGHUP" {
	prepare_whole uniform 4000
	collect uniform
	cp "$HOST/new.ini" ticket.ini
	EMPTY=$(in_the_guest | grep '^keys')
	bad_link -l 0.05 # so that it lasts
	mkfifo reports
	start translate.log dta-translate -o ndjson -r reports \
		--ticket ticket.ini "${ROAD[@]}" --window 256
	local translate=$PID
	exec 9>reports # it is there now, and hears signals
	head -c 100000 reports.pcap >&9
	wait_for in_part
	guest_run "kill -9 $COLLECTOR; rm new.ini
		dta-collect --region r --verbs rxe0 --peer-ip 10.0.0.101 \
			--ticket new.ini >collect.out 2>collect.err & echo \$!" >pid
	COLLECTOR=$(<pid)
	patient [ -s "$HOST/new.ini" ]
	cp "$HOST/new.ini" ticket.ini
	kill -HUP "$translate"
	tail -c +100001 reports.pcap >&9
	exec 9>&-
	wait "$translate"
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	in_the_guest | diff whole -
	tell "soft-RoCE: collector killed, slots" "$(asked acked)"
}

@test "a rotation in the middle: the connection goes on under the new ticket" {
	dta-gen uniform --seed 9 --flows 4000 -q --truth "$HOST/truth.csv" -w reports.pcap
	guest_run "rm -f new.ini
		dta-collect --create --layout uniform.ini --region r --epochs 2
		dta-collect --region r --verbs rxe0 --peer-ip 10.0.0.101 --grace 8s \
			--ticket new.ini >collect.out 2>collect.err & echo \$!" >pid
	COLLECTOR=$(<pid)
	patient [ -s "$HOST/new.ini" ]
	cp "$HOST/new.ini" ticket.ini
	EMPTY=$(in_the_guest | grep '^keys')
	bad_link
	mkfifo reports
	start translate.log dta-translate -o ndjson -r reports \
		--ticket ticket.ini "${ROAD[@]}" --window 256
	local translate=$PID
	exec 9>reports
	head -c 200000 reports.pcap >&9
	wait_for in_part
	guest_run "dta-collect --region r --rotate >rotate.out 2>&1 & echo \$!" >/dev/null
	patient grep -q '^epoch = 2' "$HOST/new.ini"
	diff <(grep '^qpn' ticket.ini) <(grep '^qpn' "$HOST/new.ini")
	run -1 diff <(grep '^rkey' ticket.ini) <(grep '^rkey' "$HOST/new.ini")
	cp "$HOST/new.ini" ticket.ini
	kill -HUP "$translate"
	tail -c +200001 reports.pcap >&9
	exec 9>&-
	wait "$translate"
	cat translate.log
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	guest_run "dta-query verify --region r --truth truth.csv"
	tell "soft-RoCE: rotation, slots" "$(asked acked)"
}
