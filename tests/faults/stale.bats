# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# Tickets that are out of date, or no tickets at all, and a collector that is
# away: what both ends say of it, and how often.

load ../helpers
load ../wire
load faults

setup() {
	faults_setup
	need_tools send
}
teardown() { faults_teardown; }

says() { grep -qF "$2" "$1.log"; }
says_once() { [ "$(grep -cF "$2" "$1.log")" = 1 ]; }

# Two epochs, and reports of uniform.
two_epochs() { # COUNT
	dta-gen uniform --seed 9 --flows "$1" -q -w reports.pcap
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --epochs 2 \
		--region "$NAME"
}

# Reports come as datagrams.
start_live() { # option...
	start translate.log dta-translate -o ndjson -i in0 \
		"${ROAD[@]}" --ticket given.ini "$@"
	TRANSLATE=$PID
	wait_for grep -q "in0: AF_" translate.log
}

feed() { on_wire "$TOOLS/send" "$1" in1 >/dev/null; }

OLD="requests are refused, most as access: is the ticket out of date?"
REFUSED="given.ini: epoch 1: the collector refuses its R_Keys: the ticket is out of date"

# A counter of a ledger that is asked for now is at least VALUE.
has() { # LOG PID NAME STAGE VALUE
	kill -USR1 "$2"
	sleep 0.05
	[ "$(counter "$1.log" "$3" "$4")" -ge "$5" ]
}

@test "an old ticket: each end says so once, however often it is tried again" {
	two_epochs 500
	start_link
	start_collector
	cp ticket.ini given.ini
	start_live
	dta-collect --rotate --region "$NAME"
	wait_for grep -qx 'epoch = 2' ticket.ini
	feed reports.pcap
	wait_for says translate "$REFUSED; waiting for a new one"
	wait_for says collect "$OLD"
	wait_for has translate "$TRANSLATE" naks_access requester 2
	wait_for has collect "$COLLECT" access responder 2
	cp ticket.ini given.ini
	wait_for says translate "given.ini: a new ticket, epoch 2"
	kill "$TRANSLATE"
	wait "$TRANSLATE" || { cat translate.log; false; }
	says_once translate "$REFUSED"
	says_once translate "given.ini: a new ticket"
	run ! says translate "still epoch"
	says_once collect "$OLD"
	balances translate.log
	[ "$(asked acked)" = 1000 ]
}

@test "a wrong R_Key: told once" {
	prepare uniform 10
	start_link
	start_collector
	sed 's/^rkey = .*/rkey = 0x00000bad/' ticket.ini >given.ini
	start_live
	feed reports.pcap
	wait_for says collect "$OLD"
	wait_for has collect "$COLLECT" access responder 2
	says_once collect "requests are refused"
}

@test "SIGHUP: what became of the ticket's file is said as it is" {
	two_epochs 100
	start_link
	start_collector
	cp ticket.ini given.ini
	start_live
	kill -HUP "$TRANSLATE"
	wait_for says translate "SIGHUP: given.ini: no new ticket: the old one stays"
	rm given.ini
	echo nonsense >given.ini
	wait_for says translate "given.ini:1: "
	kill -HUP "$TRANSLATE"
	said_twice() { [ "$(grep -cF "given.ini:1: " translate.log)" = 2 ]; }
	wait_for said_twice
	kill -HUP "$COLLECT"
	wait_for says collect "dta-collect: $NAME: SIGHUP: all queue pairs are made anew"
	cp ticket.ini given.ini
	wait_for says translate "given.ini: written again, still epoch 1"
}

@test "a ticket that was no file: nobody waits for a new one" {
	two_epochs 6000
	start_link
	start_collector
	dta-collect --rotate --region "$NAME"
	wait_for grep -qx 'epoch = 2' ticket.ini
	sed 's/^rkey = .*/rkey = 0x00000bad/' ticket.ini >bad.ini
	run -1 dta-translate -o ndjson -r reports.pcap --ticket - "${ROAD[@]}" \
		<bad.ini
	printf '%s\n' "${lines[@]}" >translate.log
	says_once translate "dta-translate: -: epoch 2: the collector refuses its R_Keys: the ticket is out of date; it is no file that could be read again: start anew with a new one"
	run ! says translate "waiting for"
	balances translate.log
	[ "$(asked refused)" = "$(asked requests)" ]
	[ "$(asked naks_access)" = 1 ] # the old one was not tried again
}

@test "more reports than a window, and no collector: said, and an end when asked" {
	local status=0 began

	prepare uniform 6000
	dta-collect -q --region "$NAME" --ticket ticket.ini
	start translate.log dta-translate -o ndjson -r reports.pcap \
		--ticket ticket.ini "${ROAD[@]}"
	wait_for says translate "(dta-collect --mtu)? Reports are left unread while the window is full: start it, or interrupt this"
	began=$SECONDS
	kill "$PID"
	wait "$PID" || status=$?
	[ "$status" = 1 ]
	[ $((SECONDS - began)) -lt 4 ] # of the five seconds that it may wait
	balances translate.log
	[ "$(asked requests)" -gt 4096 ]
	[ "$(asked acked)" = 0 ]
}

@test "a rotation before a pipe without answers: what is lost is said and counted as what it is" {
	two_epochs 1000
	mkfifo frames
	start collect.log dta-collect -o ndjson --region "$NAME" -r frames
	COLLECT=$PID
	dta-collect -q --region "$NAME" --ticket ticket.ini
	dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
	editcap -F nsecpcap -r roce.pcap first.pcap 1-1200
	editcap -F nsecpcap roce.pcap rest.pcap 1-1200
	exec 9>frames
	cat first.pcap >&9
	wait_for has collect "$COLLECT" executed responder 1200
	dta-collect --rotate --region "$NAME"
	tail -c +25 rest.pcap >&9
	wait_for says collect "${OLD/access/old_epoch}"
	exec 9>&-
	wait "$COLLECT"
	says_once collect "${OLD/access/old_epoch}"
	balances collect.log 2000
	[ "$(counter collect.log old_epoch)" = 800 ]
	[ "$(counter collect.log out_of_order)" = 0 ]
	[ "$(counter collect.log duplicate)" = 0 ]
}
