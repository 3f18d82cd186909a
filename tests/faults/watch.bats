# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# A collector that does not take what it is sent: the translator says so while
# it runs, in its rows and once on its own, and at the end.

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
		"${TO[@]}" --stats 100ms "$@"
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

NOTHING="dta-translate: 10.0.0.51: nothing is acknowledged: no answer: is dta-collect running there, with --peer-ip 10.0.0.101 and this ticket?"
REFUSED="dta-translate: given.ini: epoch 1: the collector refuses its R_Keys: the ticket is out of date; waiting for a new one"
RENEWED="dta-translate: given.ini: a new ticket, epoch 2"
NOW="dta-translate: 10.0.0.51: requests are acknowledged now"

# rows FILTER: of the rows of --stats (ndjson).
rows() { grep '^{' translate.log | jq -se "map(select(has(\"took\"))) | $1"; }

# In the rows and in the ledger, the same was acknowledged, and not.
rows_add_up() {
	rows "(map(.acked) | add) == $(asked acked)" &&
		rows "(map(.not_acked) | add) + .[-1].waiting + (map(.acked) | add)
			== $(asked requests)" &&
		rows "map(.missing) | add == 0" && rows "map(.received) | add == $1"
}

@test "no collector: rows, a warning, exit 1" {
	prepare uniform 6000
	dta-collect -q --region "$NAME" --ticket ticket.ini
	start_live
	feed
	feed
	# as text: reports come in, none is done, as nothing is acknowledged
	wait_for grep -qE '^[0-9.]+ +[1-9][0-9]* +0 .* 4096 +' translate.log
	grep -qE '^SECONDS +RECEIVED_S +DONE_S +LOST_S +HARMLESS_S +WAITING +REASONS$' \
		translate.log
	run ! says "$NOTHING"
	wait_for says "$NOTHING"
	ends_with 1
	says_once "$NOTHING"
	says_once "10.0.0.51: nothing was acknowledged of all that was sent: no answer:"
}

@test "a collector that comes late: one warning, one all-clear" {
	prepare uniform 1000
	start_link
	dta-collect -q --region "$NAME" --ticket ticket.ini
	start_live -o ndjson
	feed
	wait_for says "$NOTHING"
	start_collector
	wait_for says "$NOW"
	feed
	all_there() { rows '.[-1].waiting == 0 and (map(.acked) | add) == 4000'; }
	wait_for all_there
	ends_with 0
	says_once "$NOTHING"
	says_once "$NOW"
	rows_add_up 2000
}

@test "the wrong --peer-ip: as if there were no collector" {
	prepare uniform 1000
	start_link
	start_collector --peer-ip 10.0.0.77
	sed -i 's/^peer_ip = .*/peer_ip = 10.0.0.101/' ticket.ini
	start_live -o ndjson
	feed
	wait_for says "$NOTHING"
	ends_with 1
	rows_add_up 1000
	rows 'all(.acked == 0 and .not_acked == 0)'
}

@test "a ticket that is out of date: the table is refused, then not" {
	dta-gen uniform -n 1000 -q -w reports.pcap
	layout uniform >layout.ini
	dta-collect --create --layout layout.ini --epochs 2 \
		--region "$NAME"
	start_link
	start_collector
	cp ticket.ini given.ini
	TO=(--ticket given.ini)
	start_live -o ndjson
	feed
	all_there() { rows '.[-1].waiting == 0 and (map(.acked) | add) == 2000'; }
	wait_for all_there
	dta-collect --rotate --region "$NAME"
	feed
	feed
	feed
	wait_for says "$REFUSED"
	wait_for rows '.[-1].waiting == 4096 and
		(map(.not_acked) | add) == 6000 - 4096'
	wait_for grep -qx 'epoch = 2' ticket.ini
	cp ticket.ini new.ini
	mv new.ini given.ini
	wait_for says "$RENEWED"
	ends_with 0
	says_once "$REFUSED"
	says_once "$RENEWED"
	rows_add_up 4000
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
	start_live -o ndjson
	feed
	wait_for says "${NOTHING/.51/.52}"
	run ! says "$NOTHING"
	ends_with 0
	rows_add_up 1000
	rows '.[-1].waiting as $w | $w > 0 and (map(.acked) | add) == 2000 - $w'
}

@test "packets too long for the way: it answers, and acknowledges nothing" {
	prepare uniform 100
	start_link -m 80 # what asks is shorter, what is sent is not
	start_collector
	start_live -o ndjson
	feed
	wait_for says "10.0.0.51: nothing is acknowledged, though it answers: do packets with 1024 bytes of payload get there?"
	run ! says "no answer"
	ends_with 1
}

@test "roads that tell nothing: no numbers are made up" {
	prepare uniform 100
	dta-translate -r reports.pcap --region "$NAME" -q -o ndjson --stats 1h \
		2>translate.log
	rows 'all(.stored == 100 and .acked == null and .not_acked == null and
		.waiting == null)'
	dta-collect -q --region "$NAME" --ticket ticket.ini
	dta-translate -r reports.pcap --ticket ticket.ini -w roce.pcap -q \
		-o ndjson --stats 1h 2>translate.log
	rows 'all(.stored == 100 and .acked == null and .waiting == null)'
	sed 's/^qp = rc/qp = uc/' ticket.ini >uc.ini
	grep -q '^qp = uc' uc.ini || sed '/^\[table/a qp = uc' ticket.ini >uc.ini
	dta-translate -r reports.pcap --ticket uc.ini "${ROAD[@]}" -q \
		-o ndjson --stats 1h 2>translate.log
	rows 'all(.stored == 100 and .acked == null and .waiting == null)'
	dta-translate -r reports.pcap --ticket ticket.ini "${ROAD[@]}" --dart \
		-q -o csv --stats 1h 2>translate.log
	[[ $(tail -n 1 translate.log) == *,,, ]]
}
