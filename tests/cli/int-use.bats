# SPDX-License-Identifier: BSD-2-Clause
# int-collect and dta-gen int, as somebody meets them who does not know them:
# what is refused says why, and what is told says what it is.

load ../helpers
load ../wire

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { wire_down; }

@test "profiles: a list, and each to begin a file with" {
	int-collect -p help -o csv | sed 1d | cut -d, -f1 >names
	grep -qx any names
	grep -qx geant names
	while read -r name; do
		printf '[profile]\nlike = %s\n' "$name" >"$name".ini
		dta-gen int -q --flows 3 -p 1.0 -w in.pcap
		int-collect -q -r in.pcap -p "$name" -R flow -o csv &>want || :
		int-collect -q -r in.pcap -p "$name".ini -R flow -o csv |&
			diff want -
	done <names
	[ "$(int-collect -q -r in.pcap -p any.ini -R flow -o csv | wc -l)" -gt 1 ]
}

@test "a profile from a file is spoken and understood" {
	printf '[profile]\nlike = 2.1\nname = mine\ndscp = 0x05\n' >mine.ini
	dta-gen int -q --flows 10 -p mine.ini -w in.pcap
	run -1 --separate-stderr int-collect -r in.pcap -R none -o ndjson
	[ "$(counter packets <<<"$stderr")" = 0 ]
	run -0 --separate-stderr int-collect -r in.pcap -R none -o ndjson -p mine.ini
	[ "$(counter packets <<<"$stderr")" -gt 10 ]
	run -0 --separate-stderr int-collect -r - -R none -o ndjson -p mine.ini <in.pcap
	[ "$(counter packets <<<"$stderr")" -gt 10 ]
	printf '[profile]\nlike = 2.1\ndscp = 99\n' >bad.ini
	run -1 int-collect -r in.pcap -p bad.ini
	[[ $output == *"bad.ini:3: "* ]]
}

@test "rows of NDJSON say which measurement they are of" {
	dta-gen int -q --flows 5 -w in.pcap
	int-collect -q -r in.pcap -R all --push 0 -o ndjson -x file:rows |
		jq -r .measurement | sort -u >seen
	printf 'int_%s\n' bin distribution event flow hop >want
	diff want seen
	diff want <(jq -r .measurement rows | sort -u)
	int-collect -q -r in.pcap -R flow -o ndjson | head -n 1 |
		grep -q '^{"measurement":"int_flow","time":"'
}

@test "a list of rows or events with a wrong name: all names are said" {
	run -2 int-collect -r in.pcap -R event,path
	[[ $output == *"--rows: 'event,path' names 'path', which is none of event, value, flow, hop, distribution, bin, snapshot, all, none" ]]
	run -2 int-collect -r in.pcap -e new
	[[ $output == *"names 'new', which is none of new_key, change, rise, fall, path_change, loop, report_loss, restart, drop, all, none" ]]
}

@test "packets and rows are not mixed on stdout" {
	dta-gen int -q --flows 5 -w in.pcap
	run -2 --separate-stderr int-collect -q -r in.pcap -w -
	[[ -z $output && $stderr == *"--rows none"* ]]
	run -2 --separate-stderr int-collect -q -r in.pcap --dta -
	[[ -z $output && $stderr == *"--dta: "*"--rows none"* ]]
	int-collect -q -r in.pcap -R none -w - >out.pcap
	[ "$(packets_in out.pcap)" = "$(packets_in in.pcap)" ]
}

@test "SIGHUP without a file of thresholds says so" {
	mkfifo pipe
	bg int-collect -r pipe
	exec 8>pipe
	dta-gen int -q --flows 5 -w - >&8
	wait_for grep -q new_key "$BATS_TEST_TMPDIR/bg.log"
	kill -HUP "${BG_PIDS[0]}"
	wait_for grep -q "SIGHUP: no file of thresholds to read" "$BATS_TEST_TMPDIR/bg.log"
	exec 8>&-
	wait "${BG_PIDS[0]}"
}

@test "thresholds come from a file, which can be read again" {
	run -1 int-collect -r x -t ./none
	[[ $output == *"./none: No such file"* ]]
	run -2 int-collect -r x -t ./none -t ./more
	[[ $output == *"second file"* ]]
}

@test "a flow cache that cannot be says what can" {
	run -2 int-collect -r in.pcap --flows 5G
	[[ $output == *"--flows"*"4294967283"* ]]
}

@test "a database that is away: nobody waits for it, and it is said once" {
	dta-gen int -q --flows 5 -w in.pcap
	run -1 --separate-stderr int-collect -r in.pcap -R none -o ndjson \
		-x influx://me:secret@127.0.0.1:1/net?rows=50 --linger 100ms
	[ "$(counter unsent <<<"$stderr")" -gt 100 ]
	[ "$(grep -c "^int-collect: influx://127.0.0.1:1/net: .* rows could not be sent" \
		<<<"$stderr")" = 1 ]
	# it may have been told of before the end
	[ "$(grep -c "^int-collect: .*: rows wait:" <<<"$stderr")" -le 1 ]
	[ "$(grep -c '^int-collect: ' <<<"$stderr")" -le 2 ]
	run -1 grep secret <<<"$stderr"
	run -1 --separate-stderr int-collect -q -r in.pcap -R none \
		-x influx://127.0.0.1:1/net --linger 1ms --spool spool
	[[ $stderr == *"int-collect: influx://127.0.0.1:1/net: "*" rows wait in the spool for the next run"* ]]
}

@test "a database that goes away is told of at once" {
	mkfifo pipe
	bg int-collect -q -r pipe -R none --linger 1ms \
		-x redis://:secret@127.0.0.1:1
	exec 8>pipe
	dta-gen int -q --flows 5 -w - >&8
	wait_for grep -q "^int-collect: redis://127.0.0.1:1: rows wait: .*refused" \
		"$BATS_TEST_TMPDIR/bg.log"
	exec 8>&-
	rc=0
	wait "${BG_PIDS[0]}" || rc=$?
	[ "$rc" = 1 ]
	[ "$(grep -c "rows wait:" "$BATS_TEST_TMPDIR/bg.log")" = 1 ]
}

@test "a pipe that falls silent: values are told, flows expire, by the clock" {
	mkfifo pipe
	bg int-collect -q -r pipe -R value,flow --push 100ms --flow-idle 200ms \
		-x file:rows
	exec 8>pipe
	dta-gen int -q --flows 5 -c 20 -w - >&8
	wait_for grep -qs '"int_value"' rows
	wait_for grep -q '"reason":"expired"' rows
	exec 8>&-
	wait "${BG_PIDS[0]}"
}

@test "rows that cannot be written are a failure" {
	dta-gen int -q --flows 5 -w in.pcap
	run -1 --separate-stderr int-collect -q -r in.pcap -R none -x file:/dev/full \
		--linger 100ms
	[[ $stderr == "int-collect: file:/dev/full: "*" rows could not be sent: No space left on device" ]]
}

@test "a pipe that nobody reads, or that somebody does not empty, ends" {
	dta-gen int -q -w in.pcap
	mkfifo pipe
	run -1 timeout -s KILL 60 int-collect -q -r in.pcap -R none -x file:pipe
	[[ $output == "int-collect: --export: file:/pipe: nobody reads from it" ||
		$output == *"pipe: nobody reads from it" ]]
	exec 8<>pipe
	run -1 --separate-stderr timeout -s KILL 60 \
		int-collect -q -r in.pcap -R none -x file:pipe --linger 100ms
	exec 8>&-
	[[ $stderr == *"pipe: "*" rows could not be sent: Operation canceled"* ]]
}

@test "dta-gen int: counters by their names, and -h where they are" {
	dta-gen int --flows 5 -w x.pcap -o ndjson 2>gen
	[ "$(counter packets <gen)" = "$(counter carried <gen)" ]
	[ "$(counter packets <gen)" -gt 5 ]
	run -2 dta-gen int --nonsense
	[[ $output == *"dta-gen int -h"* ]]
	dta-gen -h | grep -q 'dta-gen int -h'
}

@test "dta-gen int: what a version does not have is refused" {
	for bad in "-p 1.0 -F mx" "-p 0.5 -F mx" "-p 1.0 --over gre" \
		"-p 0.5 --over new-udp" "-p 1.0 -F report --over udp"; do
		run -2 dta-gen int $bad -w x.pcap
		[[ $output == *"--profile 2.1 has it"* ]]
		[ ! -e x.pcap ]
	done
	run -2 dta-gen int -p any -w x.pcap
	[[ $output == *"which version"* ]]
}

@test "signals end the last wait for a database" {
	local status=0

	dta-gen int -q --flows 10 -w in.pcap
	mkfifo pipe
	bg int-collect -r pipe -R none -x redis://127.0.0.1:1 --linger 1h
	exec 8>pipe
	cat in.pcap >&8
	wait_for grep -q 'rows wait' bg.log
	exec 8>&-
	# one may come before the end of the capture is seen
	gone() { ! kill -TERM "${BG_PIDS[0]}" 2>/dev/null; }
	wait_for gone
	wait "${BG_PIDS[0]}" || status=$?
	[ "$status" = 1 ]
}

@test "dta-gen int: packets that are all of another protocol have no place for it" {
	# these three are TCP
	run -1 dta-gen int -q --over udp --flows 3 -w x.pcap
	[[ $output == *"none has a place for it: another --over, or more flows"* ]]
	dta-gen int -q --over udp --flows 30 -w x.pcap
	[ "$(int-collect -q -r x.pcap -R flow -o csv | grep -c /udp,)" -gt 1 ]
}

@test "dta-gen int -i: never more frames than --rate has" {
	# the 21st is due 20 times 40 ms behind the first, on a slow machine, too
	local start

	wire_up
	start=$(date +%s%N)
	on_wire dta-gen int -q --flows 5 -c 21 --rate 25 -i lo
	[ $(($(date +%s%N) - start)) -ge 800000000 ]
}

@test "int-collect: --push of less than the sink can do is refused" {
	dta-gen int -q --flows 5 -w in.pcap
	run -2 int-collect -r in.pcap --push 9999us
	[[ $output == *"--push: less than 10 ms, "* ]]
	int-collect -q -r in.pcap --push 10ms
	int-collect -q -r in.pcap --push 0
}
