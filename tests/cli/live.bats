# SPDX-License-Identifier: BSD-2-Clause
# Programs on a live interface: options, signals, times, what is wrong. tests/net
# has what comes through.

load ../helpers
load ../wire

setup() {
	NAME=dta-test-$$-live-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

# run_bg LOG COMMAND...: on the wire; its id is in PID.
run_bg() {
	local log=$1

	shift
	: >"$log" # here, or what an earlier program wrote would be read
	ip netns exec "$WIRE" "$@" 2>"$log" >"$log.out" 3>&- &
	PID=$!
	BG_PIDS+=("$PID")
}

@test "--count: what came is done, exit 0" {
	make_regions "$EXAMPLES/uniform.ini"
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
}

@test "--duration: where nothing comes, too, exit 0" {
	wire_up
	make_regions "$EXAMPLES/uniform.ini" wire
	on_wire dta-translate -q -i lo --region "$NAME-wire" --duration 50ms
	on_wire dta-collect -q -i lo --region "$NAME-wire" --duration 50ms
}

@test "SIGHUP: a ticket that cannot be replaced is told, and no reason to end" {
	wire_up
	make_regions "$EXAMPLES/uniform.ini"
	mkdir tickets
	run_bg collect.log dta-collect -o ndjson --region "$NAME-wire" \
		-i lo --ticket tickets/ticket.ini
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

# refuses TEXT COMMAND...: usage, and a message that says why.
refuses() {
	local text=$1

	shift
	run -2 --separate-stderr "$@"
	echo "$*: $stderr"
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == *"$text"* ]]
}

@test "options that do not go together" {
	make_regions "$EXAMPLES/uniform.ini"
	refuses "one of -r and -i" dta-translate -r x -i lo -R "$NAME-file"
	refuses "--xdp needs -i" dta-translate -r x --xdp -R "$NAME-file"
	refuses "--no-xdp needs -i" dta-collect -r x --no-xdp -R "$NAME-file"
	refuses "one of --xdp and --no-xdp" dta-translate -i lo --xdp --no-xdp -R "$NAME-file"
	refuses "--to needs --ticket" dta-translate -i lo --to lo -R "$NAME-file"
	refuses "one of -w and --to" dta-translate -i lo -w x --to lo --ticket x
	refuses "no such argument" dta-translate -r x -R "$NAME-file" udp
	refuses "no such argument" dta-collect -r x -R "$NAME-file" udp
	refuses "not a duration" dta-translate -i lo --duration 1x -R "$NAME-file"
	refuses "no time at all" dta-translate -i lo --duration 0 -R "$NAME-file"
	refuses "--duration needs" dta-translate -r x --duration 1s \
		-R "$NAME-file"
	refuses "--count needs -r or -i" dta-collect --rotate -c 1 -R "$NAME-file"
	refuses "one of -r, -i and --verbs" dta-collect -r x -i lo -R "$NAME-file"
}

@test "interfaces that are not there" {
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --count 1 -q -w reports.pcap
	run -1 dta-translate -i no-such-if -R "$NAME-file"
	[ "$output" = "dta-translate: no-such-if: no such interface" ]
	run -1 dta-collect -i no-such-if -R "$NAME-file"
	[ "$output" = "dta-collect: no-such-if: no such interface" ]
	run -1 dta-translate -i lo -R "$NAME-file" udp and and
	[[ $output == *"filter 'udp and and': "* ]]
}

# once PROGRAM...: exit 1; one line, which names nothing twice in a row, and
# nothing else was said before it: no socket was opened.
once() { # message command...
	local message=$1

	shift
	run -1 --separate-stderr timeout 60 "$@" </dev/null
	[[ -z $output && $stderr == *"$message"* &&
		${#stderr_lines[@]} = 1 ]] || { echo "$*: $stderr"; return 1; }
	run ! grep -E '(^| )([^ ]+: )\2' <<<"$stderr"
}

@test "what is wrong is said before an interface is opened, and once" {
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --count 1 -q -w reports.pcap
	dta-collect --region "$NAME-file" --ticket ticket.ini
	echo junk >junk
	mkdir folder
	local live=(-i lo) r=(--region "$NAME-file")

	for t in none junk folder; do
		once "$t" dta-translate "${live[@]}" --ticket $t
		once "$t" dta-translate "${live[@]}" --dart --ticket $t
		once "$t" dta-translate "${live[@]}" --cluster $t
	done
	for t in none/t junk/t; do
		once "$t" dta-collect "${r[@]}" "${live[@]}" --ticket $t
	done
	printf '[collector 1]\nticket = none\n' >cluster.ini
	once "cluster.ini:" dta-translate "${live[@]}" --cluster cluster.ini \
		--to lo
	for name in no-such-if far-too-long-for-an-interface; do
		once "$name" dta-translate "${live[@]}" --ticket ticket.ini \
			--to $name
		once "$name" dta-translate "${r[@]}" -i $name
		once "$name" dta-collect "${r[@]}" -i $name
		once "$name" dta-gen uniform -i $name --to-mac 02:00:00:00:00:02
		once "$name" dta-gen uniform -i $name --tracked \
			--to-mac 02:00:00:00:00:02
	done
	once "no table 'none'" dta-translate "${r[@]}" "${live[@]}" \
		-t none:copies=1
	once "filter 'and and'" dta-translate "${r[@]}" "${live[@]}" and and
	once "filter 'and and'" dta-collect "${r[@]}" "${live[@]}" and and
	for p in dta-translate dta-collect; do
		run -2 $p "${r[@]}" -i ""
		[ "$output" = "$p: --interface: '' is empty" ]
	done
	[ ! -e truth.csv ]
	[ ! -e w.pcap ]
}

# counted LOG COUNTER: of the ledger printed last.
counted() {
	grep '^{' "$1" | jq -r --arg c "$2" 'select(.counter == $c).value' |
		tail -n 1
}

# more_than N PID LOG: whether so many reports are out.
more_than() {
	grep -q ": AF_" "$3" || return # no handler yet
	kill -USR1 "$2"
	[ "$(counted "$3" reports)" -gt "$1" ] 2>/dev/null
}

@test "dta-gen on a wire goes on until it is stopped, or has sent so many" {
	wire_up
	for options in "" "--flows 2000 --count 1T" "--tracked"; do
		for workload in int-path turboflow; do
			rm -f gen.log
			# shellcheck disable=SC2086
			run_bg gen.log dta-gen $workload -i lo -o ndjson \
				$options
			wait_for more_than 30000 "$PID" gen.log
			kill -TERM "$PID"
			wait "$PID"
			[ "$(counted gen.log reports)" -gt 30000 ]
		done
	done
	# with these it ends by itself
	on_wire dta-gen int-path -i lo --flows 500 -o ndjson 2>flows.log
	[ "$(counted flows.log reports)" = 500 ]
	on_wire dta-gen int-path -i lo --count 20000 -o ndjson 2>count.log
	[ "$(counted count.log reports)" = 20000 ]
	dta-gen int-path -w /dev/null -o ndjson 2>file.log
	[ "$(counted file.log reports)" = 10000 ]
}

@test "a round of flows that brings no report is followed by the next one" {
	wire_up
	goes_on() {
		kill -USR1 "$PID"
		[ "$(counted gen.log packets)" -gt 10000 ] 2>/dev/null
	}
	run_bg gen.log dta-gen int-postcard -i lo \
		--interleave 20000 -o ndjson
	wait_for grep -q ": AF_" gen.log # no handler before
	wait_for goes_on
	kill -TERM "$PID"
	wait "$PID"
}

# As into a capture: what was taken in comes out, cached or not.
@test "SIGTERM: dta-gen reports on a wire what it has taken" {
	wire_up
	local i

	for options in "" "--tracked" "--rate 4K"; do
		for i in 1 2 3; do
			rm -f gen.log
			# shellcheck disable=SC2086
			run_bg gen.log dta-gen int-path -i lo \
				-o ndjson $options
			wait_for more_than 100 "$PID" gen.log
			kill -TERM "$PID"
			wait "$PID"
			[ "$(counted gen.log used)" = "$(counted gen.log reports)" ] || { cat gen.log; false; }
		done
		# each packet is in one counter, and each counter in the truth
		rm -f gen.log
		# shellcheck disable=SC2086
		run_bg gen.log dta-gen turboflow -i lo -o ndjson \
			--truth truth.csv $options
		wait_for more_than 100 "$PID" gen.log
		kill -TERM "$PID"
		wait "$PID"
		[ "$(counted gen.log used)" = \
			"$(awk -F, 'NR > 1 { n += $7 } END { print n }' truth.csv)" ]
	done
	# asked twice, it does not wait for its pace
	rm gen.log
	run_bg gen.log dta-gen turboflow -i lo -o ndjson --rate 1
	wait_for more_than 0 "$PID" gen.log
	while kill -TERM "$PID" 2>/dev/null; do sleep 0.05; done
	wait "$PID"
	[ "$(counted gen.log reports)" -lt 100 ]
}

@test "SIGHUP: the ticket again, where there is one; nothing dies of it" {
	need_tools send
	wire_up in0:in1
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --count 2000 -q -w reports.pcap
	run_bg translate.log dta-translate -o ndjson -i in0 \
		--region "$NAME-wire"
	wait_for grep -q ": AF_" translate.log
	kill -HUP "$PID"
	wait_for grep -q \
		"dta-translate: SIGHUP: there is nothing to read again$" \
		translate.log
	on_wire "$TOOLS/send" reports.pcap in1 >sent
	kill -TERM "$PID"
	wait "$PID"
	[ "$(counted translate.log received)" -gt 0 ]
	# a road that hears no answers has a ticket, too
	dta-collect --region "$NAME-file" --ticket ticket.ini
	run_bg packets.log dta-translate -i in0 \
		--to lo --window 0 --ticket ticket.ini
	wait_for grep -q ": AF_" packets.log
	echo junk >ticket.ini
	kill -HUP "$PID"
	wait_for grep -q "dta-translate: ticket.ini:1: not a line of a ticket$" \
		packets.log
	kill -TERM "$PID"
	wait "$PID"
}

@test "SIGHUP ends dta-gen as SIGTERM does, and not under nohup" {
	wire_up
	# not as whoever runs the tests has it
	run_bg gen.log env --default-signal=HUP \
		dta-gen int-path -i lo -o ndjson
	wait_for more_than 0 "$PID" gen.log
	kill -HUP "$PID"
	wait "$PID"
	[ "$(counted gen.log reports)" -gt 0 ]
	run_bg nohup.log nohup dta-gen int-path -i lo -o ndjson
	wait_for more_than 0 "$PID" nohup.log
	kill -HUP "$PID"
	wait_for more_than "$(counted nohup.log reports)" "$PID" nohup.log
	kill -TERM "$PID"
	wait "$PID"
}

# run_as LOG VARIABLE=VALUE: a translator with that, until it has its interface.
run_as() {
	run_bg "$1" env TZ=Asia/Kolkata "$2" dta-translate -q -i in0 \
		--region "$NAME-file"
	wait_for confined "$PID"
	kill -HUP "$PID"
	wait_for grep -q SIGHUP "$1"
	kill "$PID"
	wait "$PID"
}

confined() { grep -q 'NoNewPrivs:.1' "/proc/$1/status"; }

@test "messages begin with the time, but not in a journal or of a capture" {
	local text="SIGHUP: there is nothing to read again"

	[ -e /usr/share/zoneinfo/Asia/Kolkata ] || skip "no time zones"
	[[ $BUILD != *san* ]] || skip "sanitizers are not confined"
	wire_up in0:in1
	make_regions "$EXAMPLES/uniform.ini"
	run_as log JOURNAL_STREAM=1:2
	cat log
	day='20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9](:[0-5][0-9]){2}'
	grep -qE "^$day\+05:30 dta-translate: $text$" log
	: >journal
	run_as journal "JOURNAL_STREAM=$(stat -c %d:%i journal)"
	grep -qx "dta-translate: $text" journal
	run -1 --separate-stderr dta-translate -r /dev/null --region "$NAME-file"
	[[ $stderr == "dta-translate: /dev/null: "* ]]
}
