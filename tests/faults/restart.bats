# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# Ends that die and come back, keys that are wrong: what is stored and what is
# counted as lost is what was sent.

load ../helpers
load ../wire
load faults

setup() {
	faults_setup
	mkfifo reports
}
teardown() { faults_teardown; }

# start_translator: its reports come out of a pipe, which this test holds.
start_translator() {
	start translate.log dta-translate -o ndjson -r reports \
		--ticket ticket.ini "${ROAD[@]}" "$@"
	TRANSLATE=$PID
	exec 9>reports
}

# Packets FIRST to LAST of the reports into the pipe, the file's header first.
feed() { # FIRST LAST
	if [ "$1" = 1 ]; then
		head -c 24 reports.pcap >&9
	fi
	python3 - "$1" "$2" >&9 <<'END'
import struct, sys
first, last = map(int, sys.argv[1:])
data = open('reports.pcap', 'rb').read()
at, number = 24, 0
while at < len(data):
    n = 16 + struct.unpack_from('<I', data, at + 8)[0]
    number += 1
    if first <= number <= last:
        sys.stdout.buffer.write(data[at:at + n])
    at += n
END
}

end_of_reports() {
	exec 9>&-
	wait "$TRANSLATE"
}

# The translator's ledger, asked for now: whether a counter has a value.
has() { # NAME OPERATOR VALUE
	local lines

	lines=$(wc -l <translate.log)
	kill -USR1 "$TRANSLATE"
	wait_for grew translate.log "$lines"
	[ "$(asked "$1")" "$2" "$3" ]
}

grew() { [ "$(grep -c requester "$1")" -gt 0 ] && [ "$(wc -l <"$1")" -gt $(($2 + 40)) ]; }

# Whether two tickets are alike but for the PSNs.
same_but_psns() { cmp -s <(grep -v '^psn' "$1") <(grep -v '^psn' "$2"); }

# No first PSN of one ticket is in another.
other_psns() { [ -z "$(comm -12 <(psns "$1") <(psns "$2"))" ]; }
psns() { grep '^psn' "$1" | sort; }

all_confirmed() {
	has requests -gt 0 && [ "$(asked acked)" = "$(asked requests)" ]
}

@test "collector killed and restarted, with other PSNs" {
	prepare uniform 6000
	start_link
	start_collector
	start_translator
	feed 1 3000
	wait_for all_confirmed
	kill -9 "$COLLECT"
	wait "$COLLECT" || : # its socket is free
	feed 3001 4000
	cp ticket.ini old.ini
	start_collector
	same_but_psns ticket.ini old.ini
	other_psns ticket.ini old.ini # else it could be the old one
	feed 4001 6000
	end_of_reports
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
	only_tables_changed
	tell "collector killed, slots" "$(asked acked)"
}

@test "collector killed and restarted: lists go on" {
	prepare netseer-loss 6000
	start_link
	start_collector
	start_translator
	feed 1 3000
	wait_for all_confirmed
	kill -9 "$COLLECT"
	wait "$COLLECT" || : # its socket is free
	feed 3001 4000
	start_collector
	kill -HUP "$TRANSLATE"
	feed 4001 6000
	end_of_reports
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
}

@test "collector killed amid counters: never twice, and all accounted for" {
	prepare marple-hosts-sum 1500
	start_link -l 0.1 # so that it lasts
	start_collector
	start_translator
	feed 1 100000 # all: it may be through before the collector dies
	wait_for has acked -gt 200
	kill -9 "$COLLECT"
	wait "$COLLECT" || : # its socket is free
	start_collector
	kill -HUP "$TRANSLATE"
	end_of_reports
	balances translate.log
	[ $(($(asked acked) + $(asked unanswered))) = "$(asked requests)" ]
	never_counted_twice
	# Of those without an answer some were carried out.
	[ "$(asked unanswered)" -gt 0 ] || nothing_missing
	only_tables_changed
	tell "collector killed, counters" "$(asked acked)"
}

@test "translator killed and restarted" {
	prepare uniform 6000
	start_link -l 0.02
	start_collector
	start_translator
	feed 1 6000
	wait_for has acked -gt 1000
	kill -9 "$TRANSLATE"
	wait "$TRANSLATE" || :
	exec 9>&-
	rm -f translate.log
	dta-translate -o ndjson -r reports.pcap --ticket ticket.ini \
		"${ROAD[@]}" 2>translate.log
	balances translate.log
	# None of the new ones was taken for one of the old.
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
	only_tables_changed
	tell "translator killed, slots" "$(asked acked)"
}

@test "a wrong R_Key: nothing is written, and all counted as refused" {
	prepare uniform 6000
	start_link
	start_collector
	sed 's/^rkey = .*/rkey = 0x00000bad/' ticket.ini >wrong.ini
	run -1 dta-translate -o ndjson -r reports.pcap --ticket wrong.ini \
		"${ROAD[@]}"
	printf '%s\n' "${lines[@]}" >translate.log
	[[ ${lines[-1]} == "dta-translate: 10.0.0.51: table keys is refused:"* ]]
	finish "$COLLECT"
	balances translate.log
	[ "$(asked refused)" = "$(asked requests)" ]
	[ "$(asked naks_access)" -ge 1 ]
	[ "$(stored 8)" = 0 ]
	only_tables_changed
	tell "wrong R_Key" "$(stored 8)"
}

@test "a wrong R_Key that is put right: nothing is lost" {
	prepare marple-hosts-sum 600
	start_link
	start_collector
	cp ticket.ini right.ini
	sed 's/^rkey = .*/rkey = 0x00000bad/' right.ini >ticket.ini
	start_translator
	feed 1 400
	wait_for has refused -gt 100
	kill -HUP "$COLLECT" # which makes its queue pairs anew, and a ticket
	wait_for same_but_psns ticket.ini right.ini
	other_psns ticket.ini right.ini
	kill -HUP "$TRANSLATE"
	feed 401 600
	end_of_reports
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
	tell "wrong R_Key, put right" "$(asked acked)"
}

@test "a collector that is away for good: counted, and not for ever" {
	prepare uniform 100
	start_link
	start_collector
	finish "$COLLECT"
	run -1 dta-translate -o ndjson -r reports.pcap --ticket ticket.ini \
		"${ROAD[@]}"
	printf '%s\n' "${lines[@]}" >translate.log
	[[ ${lines[-1]} == *"nothing was acknowledged of all that was sent: is dta-collect"* ]]
	balances translate.log
	[ "$(asked unsent)" = "$(asked requests)" ]
	[ "$(asked acked)" = 0 ]
	tell "no collector" 0
}

@test "rotation: nobody is told, the new ticket is found" {
	dta-gen uniform --seed 9 --flows 2000 -q -w reports.pcap
	layout uniform >layout.ini
	dta-collect --create --layout layout.ini --epochs 2 \
		--region "$NAME"
	start_link
	start_collector
	start_translator
	feed 1 1000
	wait_for all_confirmed
	dta-collect --rotate --region "$NAME"
	feed 1001 2000
	end_of_reports
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	tell "rotation" "$(asked acked)"
}
