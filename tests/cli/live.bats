# SPDX-License-Identifier: BSD-2-Clause
# Live interfaces that need no privileges: Unix datagrams. And the options of
# those that do. tests/net has network interfaces.

load ../helpers

setup() {
	NAME=test-live-$$-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

make_regions() {
	local road

	for road in file wire; do
		dta-collect --create --region "$NAME-$road" \
			--layout "$TOP/cmd/dta-collect/examples/uniform.ini"
	done
}

same_memory() {
	cmp -s <(dta-dump digest "$NAME-file" -o csv) \
		<(dta-dump digest "$NAME-wire" -o csv)
}

# run_bg LOG COMMAND...: its id is in PID.
run_bg() {
	local log=$1

	shift
	"$@" 2>"$log" >"$log.out" 3>&- &
	PID=$!
	BG_PIDS+=("$PID")
}

@test "reports, RoCEv2 packets and answers as datagrams" {
	make_regions
	dta-gen uniform --count 2000 -q -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NAME-file"
	run_bg collect.log dta-collect -o ndjson --region "$NAME-wire" \
		-i "unix:roce,answers" --ticket ticket.ini
	local collect=$PID
	wait_for test -s ticket.ini
	run_bg translate.log dta-translate -o ndjson -i "unix:reports,nacks" \
		--to "unix:answers,roce" --ticket ticket.ini --stats 1h
	local translate=$PID
	wait_for grep -q "unix:reports,nacks: Unix datagrams" translate.log
	"$BUILD/tests/tools/send" reports.pcap "unix:,reports" >sent
	grep -qx "sent 2000 dropped 0" sent
	wait_for same_memory
	kill "$translate" "$collect"
	wait "$translate"
	wait "$collect"
	[ ! -e roce ] && [ ! -e reports ]
	for log in translate.log collect.log; do
		grep '^{' $log | jq -se 'map(select(.stage == "interface" and
			.counter) | [.role, .counter, .value]) ==
			[["note", "kernel_drops", 0], ["note", "unsent", 0]]'
	done
	# the rows of --stats add up to the ledger
	grep '^{' translate.log | jq -se '(map(select(has("took")).received) |
		add) == 2000'
}

@test "--count and --duration: what came is done, exit 0" {
	make_regions
	dta-gen uniform --count 2000 -q -w reports.pcap
	dta-translate -r reports.pcap --region "$NAME-file" -c 1500 \
		-o ndjson 2>ledger
	jq -se 'map(select(.counter == "received" or .counter == "stored") |
		.value) == [1500, 1500]' ledger
	dta-collect -q --region "$NAME-wire" --ticket ticket.ini
	dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
	dta-collect -r roce.pcap --region "$NAME-wire" --count 3000 \
		-o ndjson 2>ledger
	jq -se 'map(select(.counter == "received" or .counter == "executed") |
		.value) == [3000, 3000]' ledger
	same_memory
	dta-translate -q -i unix:a,b --region "$NAME-wire" --duration 50ms
	dta-collect -q -i unix:a,b --region "$NAME-wire" --duration 50ms
}

@test "SIGHUP: a ticket that cannot be replaced is told, and no reason to end" {
	make_regions
	mkdir tickets
	run_bg collect.log dta-collect -o ndjson --region "$NAME-wire" \
		-i "unix:roce,answers" --ticket tickets/ticket.ini
	wait_for test -s tickets/ticket.ini
	mv tickets moved
	kill -HUP "$PID"
	wait_for grep -q "tickets/ticket.ini: No such file" collect.log
	mv moved tickets
	rm tickets/ticket.ini
	kill -HUP "$PID"
	wait_for test -s tickets/ticket.ini
	kill "$PID"
	wait "$PID"
}

refuses() { # message command...
	local message=$1

	shift
	run -2 "$@"
	[[ ${lines[0]} == *"$message"* ]] || { echo "$output"; return 1; }
}

@test "options that do not go together" {
	make_regions
	refuses "one of -r and -i" dta-translate -r x -i lo -R "$NAME-file"
	refuses "need -i" dta-translate -r x --xdp -R "$NAME-file"
	refuses "need -i" dta-collect -r x --no-xdp -R "$NAME-file"
	refuses "one of them" dta-translate -i lo --xdp --no-xdp -R "$NAME-file"
	refuses "need --ticket" dta-translate -i lo --to lo -R "$NAME-file"
	refuses "one of -w and --to" dta-translate -i lo -w x --to lo --ticket x
	refuses "no such argument" dta-translate -r x -R "$NAME-file" udp
	refuses "no such argument" dta-collect -r x -R "$NAME-file" udp
	refuses "not a duration" dta-translate -i lo --stats 1x -R "$NAME-file"
	refuses "no time at all" dta-translate -i lo --stats 0 -R "$NAME-file"
	refuses "--duration needs" dta-translate -r x --duration 1s \
		-R "$NAME-file"
	refuses "need -r or -i" dta-collect --rotate -c 1 -R "$NAME-file"
	refuses "--user needs" dta-collect -r x --user nobody -R "$NAME-file"
	refuses "one of -r and -i" dta-collect -r x -i lo -R "$NAME-file"
}

@test "interfaces and users that are not there" {
	make_regions
	dta-gen uniform --count 1 -q -w reports.pcap
	run -1 dta-translate -i no-such-if -R "$NAME-file"
	[ "$output" = "dta-translate: no-such-if: no such interface" ]
	run -1 dta-collect -i no-such-if -R "$NAME-file"
	[ "$output" = "dta-collect: no-such-if: no such interface" ]
	run -1 dta-translate -i unix:in,out -R "$NAME-file" udp and and
	[[ $output == *"filter 'udp and and': "* ]]
	run -1 dta-translate -q -r reports.pcap -R "$NAME-file" --user no-such-user
	[ "$output" = "dta-translate: --user: no-such-user: no such user" ]
}
