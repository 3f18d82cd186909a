# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# Faults between translator and collector: go-back-N suffices, so the memory is
# what it is without any, counters included.

load ../helpers
load ../wire
load faults

setup() { faults_setup; }
teardown() { faults_teardown; }

@test "no fault" { through uniform "$(size 5000 20000)" 8 "none"; }
@test "loss of 0.1 %: slots" { through uniform "$(size 5000 20000)" 8 "loss 0.1 %" -l 0.001; }
@test "loss of 0.1 %: counters" { through marple-hosts-sum 2000 8 "loss 0.1 %" -l 0.001; }
@test "loss of 1 %: slots" { through uniform "$(size 3000 10000)" 8 "loss 1 %" -l 0.01; }
@test "loss of 1 %: counters" { through marple-hosts-sum 2000 8 "loss 1 %" -l 0.01; }
@test "loss of 10 %: slots" { through uniform "$(size 1000 3000)" 8 "loss 10 %" -l 0.1; }
@test "loss of 10 %: counters" { through marple-hosts-sum 1000 8 "loss 10 %" -l 0.1; }
@test "loss of 30 %: slots" { through uniform 500 8 "loss 30 %" -l 0.3; }
@test "loss of 30 %: counters" { through marple-hosts-sum 200 8 "loss 30 %" -l 0.3; }
@test "reordering: slots" { through uniform "$(size 2000 5000)" 8 "reordering 10 %" -r 0.1; }
@test "reordering: counters" { through marple-hosts-sum 2000 8 "reordering 10 %" -r 0.1; }
@test "duplication: slots" { through uniform "$(size 3000 10000)" 8 "duplication 10 %" -d 0.1; }
@test "duplication: counters" { through marple-hosts-sum 2000 8 "duplication 10 %" -d 0.1; }
@test "bit flips: slots" { through uniform "$(size 3000 10000)" 8 "bit flips 2 %" -f 0.02; }
@test "bit flips: counters" { through marple-hosts-sum 2000 8 "bit flips 2 %" -f 0.02; }
@test "an outage of 5 seconds: slots" { through uniform 20000 8 "outage of 5 s" -o 7000:5000; }
@test "an outage of 1 second: counters" { through marple-hosts-sum 2000 8 "outage of 1 s" -o 2000:1000; }
@test "unmatched answers: slots" { through uniform "$(size 3000 10000)" 8 "unmatched" -x 10; }
@test "unmatched answers: counters" { through marple-hosts-sum 2000 8 "unmatched" -x 10; }

@test "everything at once: counters" {
	through marple-hosts-sum 1000 8 "all of it" \
		-l 0.03 -r 0.03 -d 0.03 -f 0.01 -x 20 -o 1500:300
}

@test "loss of 1 %: lists" {
	prepare netseer-loss 20000
	start_link -l 0.01
	start_collector
	dta-translate -o ndjson -r reports.pcap --ticket ticket.ini \
		"${ROAD[@]}" 2>translate.log
	finish "$COLLECT"
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
	only_tables_changed
}

@test "postcards through loss of 1 %" {
	prepare int-postcard 20000
	start_link -l 0.01
	start_collector
	dta-translate -o ndjson -r reports.pcap --ticket ticket.ini \
		"${ROAD[@]}" 2>translate.log
	finish "$COLLECT"
	balances translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
}

@test "two pipes instead of a link" {
	prepare marple-hosts-sum 2000
	dta-collect --region "$NAME" --ticket ticket.ini
	mkfifo a b
	start collect.log dta-collect -o ndjson --region "$NAME" -r a -w b
	dta-translate -o ndjson -r reports.pcap --ticket ticket.ini -w a \
		--answers b --window 64 2>translate.log
	[ "$(asked acked)" = "$(asked requests)" ]
	nothing_missing
}
