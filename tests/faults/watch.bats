# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# A collector that does not take what it is sent: the translator says so while
# it runs, once, and at the end.

load ../helpers
load ../wire
load faults

setup() {
	faults_setup
	need_tools send
}
teardown() { faults_teardown; }

TO=(--ticket ticket.ini)

# Reports come as datagrams, and cannot wait.
start_live() { # option...
	start translate.log dta-translate -i in0 "${ROAD[@]}" \
		"${TO[@]}" -o ndjson "$@"
	TRANSLATE=$PID
	wait_for grep -q "in0: AF_" translate.log
}

feed() { on_wire "$TOOLS/send" "${1:-reports.pcap}" in1 >/dev/null; }

# ends_with STATUS: when it is interrupted.
ends_with() {
	local status=0

	kill "$TRANSLATE"
	wait "$TRANSLATE" || status=$?
	[ "$status" = "$1" ]
}

says() { grep -qF "$1" translate.log; }
says_once() { [ "$(grep -cF "$1" translate.log)" = 1 ]; }

NOTHING="dta-translate: 10.0.0.51: nothing is acknowledged: is dta-collect running there, with --peer-ip 10.0.0.101 and this ticket?"
REFUSED="dta-translate: given.ini: epoch 1: the collector refuses its R_Keys: the ticket is out of date; waiting for a new one"
RENEWED="dta-translate: given.ini: a new ticket, epoch 2"
NOW="dta-translate: 10.0.0.51: requests are acknowledged now"

# is_now COUNTER VALUE: of the requester's ledger, which is asked for.
is_now() { kill -USR1 "$TRANSLATE" && [ "$(asked "$1")" = "$2" ]; }

# All reports have come in.
has_come() {
	kill -USR1 "$TRANSLATE" &&
		[ "$(counter translate.log received translate)" = "$1" ]
}

@test "no collector: a warning, exit 1" {
	prepare uniform 6000
	dta-collect -q --region "$NAME" --ticket ticket.ini
	start_live
	feed
	feed
	run ! says "$NOTHING"
	wait_for says "$NOTHING"
	ends_with 1
	says_once "$NOTHING"
	says_once "10.0.0.51: nothing was acknowledged of all that was sent: is dta-collect"
}

@test "a collector that comes late: one warning, one all-clear" {
	prepare uniform 1000
	start_link
	dta-collect -q --region "$NAME" --ticket ticket.ini
	start_live
	feed
	wait_for says "$NOTHING"
	start_collector
	wait_for says "$NOW"
	feed
	wait_for is_now acked 4000
	ends_with 0
	says_once "$NOTHING"
	says_once "$NOW"
	balances translate.log
	[ "$(counter translate.log received translate)" = 2000 ]
}

@test "the wrong --peer-ip: as if there were no collector" {
	prepare uniform 1000
	start_link
	start_collector --peer-ip 10.0.0.77
	sed -i 's/^peer_ip = .*/peer_ip = 10.0.0.101/' ticket.ini
	start_live
	feed
	wait_for says "$NOTHING"
	ends_with 1
	balances translate.log
	[ "$(counter translate.log received translate)" = 1000 ]
	[ "$(asked acked)" = 0 ]
}

@test "a ticket that is out of date: the table is refused, then not" {
	dta-gen uniform --flows 1000 -q -w reports.pcap
	layout uniform >layout.ini
	dta-collect --create --layout layout.ini --epochs 2 \
		--region "$NAME"
	start_link
	start_collector
	cp ticket.ini given.ini
	TO=(--ticket given.ini)
	start_live
	feed
	wait_for is_now acked 2000
	dta-collect --rotate --region "$NAME"
	feed
	feed
	feed
	wait_for says "$REFUSED"
	wait_for has_come 4000
	wait_for grep -qx 'epoch = 2' ticket.ini
	cp ticket.ini new.ini
	mv new.ini given.ini
	wait_for says "$RENEWED"
	ends_with 0
	says_once "$REFUSED"
	says_once "$RENEWED"
	balances translate.log
	[ "$(counter translate.log received translate)" = 4000 ]
}

@test "a cluster: the collector that does not answer is named, exit 0" {
	prepare uniform 1000
	start_link
	dta-collect -q --region "$NAME-whole" --ticket other.ini --ip 10.0.0.52
	start_collector
	printf '[cluster]\nversion = 1\n[collector 0]\nticket = ticket.ini\n' \
		>cluster.ini
	printf '[collector 1]\nticket = other.ini\n' >>cluster.ini
	TO=(--cluster cluster.ini)
	start_live
	feed
	wait_for says "${NOTHING/.51/.52}"
	run ! says "$NOTHING"
	ends_with 0
	balances translate.log
	[ "$(counter translate.log received translate)" = 1000 ]
	[ "$(asked acked)" -gt 0 ] && [ "$(asked acked)" -lt 2000 ]
}

@test "packets too long for the way: nothing is acknowledged, and why" {
	prepare uniform 100
	start_link -m 80 # what asks is shorter, what is sent is not
	start_collector
	start_live
	feed
	wait_for says "Do packets with 1024 bytes of payload get there (dta-collect --mtu)?"
	ends_with 1
}
