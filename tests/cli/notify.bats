# SPDX-License-Identifier: BSD-2-Clause
# dta-collect --notify: immediates as rows, from the software
# responder and from translators of other processes.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-notify-$BATS_TEST_NUMBER
	cat >layout.ini <<-INI
		[flows]
		kind = keywrite
		key = flow4
		value = 4
		slots = 16Ki
		[drops]
		kind = append
		value = 4
		entries = 1000
		lists = 16
	INI
	dta-collect --create --layout layout.ini --region "$NAME"
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

reports() { # TABLE KIND COUNT
	dta-gen uniform -q --kind "$2" --table "$1" --count "$3" --immediate -w -
}

# listen ARGS: in the background; rows to rows, messages to bg.log.
listen() {
	dta-collect --region "$NAME" "$@" >rows 2>bg.log 3>&- &
	BG_PIDS+=("$!")
	LISTENER=$!
	wait_for waits
}

# It has the region, and sleeps.
waits() {
	grep -q -- "$NAME" "/proc/$LISTENER/maps" &&
		grep -q '^State:.S' "/proc/$LISTENER/status"
}

@test "local road: a row for each immediate of another process" {
	listen --notify -o csv
	reports 1 keywrite 20 | dta-translate -q -r - --region "$NAME"
	reports 2 append 20 | dta-translate -q -r - --region "$NAME"
	wait_for grep -q ',40$' rows
	kill "$LISTENER"
	wait "$LISTENER"
	[ "$(cut -d, -f2- rows)" = "table,id,sequence,count
$(seq 0 19 | awk '{ print "flows,1," $1 "," ++n }')
$(seq 0 19 | awk '{ print "drops,2," $1 "," 20 + ++n }')" ]
	# Seconds since 1970, to the nanosecond.
	sed 1d rows >told
	run -1 grep -vE '^[0-9]{10,}\.[0-9]{9},' told
	grep -q '^notify,printed,done,40$' bg.log
	grep -q '^notify,missed,loss,0$' bg.log
}

@test "software responder: the same rows, and all formats" {
	dta-collect --region "$NAME" --ticket t.ini
	reports 1 keywrite 300 | dta-translate -q -r - --ticket t.ini -w roce.pcap
	run --separate-stderr dta-collect -q --region "$NAME" -r roce.pcap --notify -o ndjson
	[ "$status" = 0 ]
	[ "$(jq -r '[.table, .id, .sequence, .count] | @csv' <<<"$output")" = \
		"$(seq 0 299 | awk '{ print "\"flows\",1," $1 "," $1 + 1 }')" ]
	run --separate-stderr dta-collect -q --region "$NAME" -r roce.pcap --notify
	[[ ${lines[0]} == *"TIME"*"TABLE"*"ID"*"SEQUENCE"*"COUNT" ]]
	[ "${#lines[@]}" = 301 ]
}

@test "rows that cannot be written are counted as missed" {
	dta-collect --region "$NAME" --ticket t.ini
	reports 1 keywrite 100 | dta-translate -q -r - --ticket t.ini -w roce.pcap
	run -1 --separate-stderr bash -c \
		"dta-collect --region $NAME -r roce.pcap --notify -o csv >/dev/full"
	[ "$(grep -c 'No space left on device' <<<"$stderr")" = 1 ]
	[[ $stderr == *notify,printed,done,0* && $stderr == *notify,missed,loss,100* ]]
}

@test "what was overwritten before it was told is counted as missed" {
	listen --notify -o csv
	kill -STOP "$LISTENER"
	reports 1 keywrite 1000 | dta-translate -q -r - --region "$NAME"
	kill -CONT "$LISTENER"
	wait_for grep -q ',1000$' rows
	kill "$LISTENER"
	wait "$LISTENER"
	[ "$(sed 1d rows | wc -l)" = 256 ]
	grep -q '^notify,received,in,1000$' bg.log
	grep -q '^notify,missed,loss,744$' bg.log
}

@test "a writer that died between counting and telling: missed, not waited for" {
	reports 1 keywrite 3 | dta-translate -q -r - --region "$NAME"
	listen --notify -o csv
	# notified, at 16 in the state: 3, becomes 4
	printf '\4' | dd of="/dev/shm/$NAME" bs=1 seek=20496 conv=notrunc status=none
	reports 1 keywrite 2 | dta-translate -q -r - --region "$NAME"
	wait_for grep -q ',6$' rows
	kill "$LISTENER"
	wait "$LISTENER"
	[ "$(cut -d, -f2- rows)" = "table,id,sequence,count
flows,1,0,5
flows,1,1,6" ]
	grep -q '^notify,missed,loss,1$' bg.log
}

@test "who may not write hears of them, too" {
	[ "$(id -u)" = 0 ] || skip "needs another user"
	chmod 755 "$BATS_TEST_TMPDIR"
	setpriv --reuid 65534 --clear-groups "$BUILD/dta-collect" \
		--region "$NAME" --notify -o csv >rows 2>bg.log 3>&- &
	BG_PIDS+=("$!")
	wait_for maps "$!"
	reports 1 keywrite 5 | dta-translate -q -r - --region "$NAME"
	wait_for grep -q ',5$' rows
}

maps() {
	grep -q "r--s.*$NAME" "/proc/$1/maps"
}

@test "SIGUSR1 prints the ledger; options that do not go together" {
	listen --notify
	kill -USR1 "$LISTENER"
	wait_for grep -q 'notify, notifications' bg.log
	for args in "--notify --ticket -" "--cm 1" "--grace 2s" "--verbs rxe0" \
		"--verbs rxe0 --peer-ip 10.0.0.1 --rotate" \
		"--verbs a --cm 99 --ticket t" \
		"--verbs rxe0 --peer-ip 10.0.0.1 --grace 9s" \
		"--verbs rxe0 --peer-ip 10.0.0.1 --receives 0"; do
		# shellcheck disable=SC2086
		run --separate-stderr dta-collect --region "$NAME" $args
		echo "$args: $status"
		[ "$status" = 2 ]
		[ -z "$output" ]
	done
}
