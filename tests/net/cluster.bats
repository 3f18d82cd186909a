# SPDX-License-Identifier: BSD-2-Clause
# Three collectors behind one interface, live: every request is confirmed, and
# each memory is what the same reports leave there out of a capture.

load ../helpers
load net

setup() {
	need_net
	need_tools send
	cd "$BATS_TEST_TMPDIR" || exit 1
	cat >layout.ini <<-INI
		[flows]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 64Ki
		copies = 2
		[sums]
		id = 2
		kind = keyinc
		key = flow4
		slots = 64Ki
		copies = 2
	INI
	make_regions layout.ini {file,wire}{0,1,2}
	for n in file wire; do
		printf '[cluster]\nversion = 1\n' >$n.ini
	done
	for c in 0 1 2; do
		printf '[collector %s]\nregion = %s\n' $c "$NET-file$c" \
			>>file.ini
		printf '[collector %s]\nticket = t%s.ini\n' $c $c >>wire.ini
	done
	dta-gen uniform --count 6000 -q -w kw.pcap
	dta-gen uniform --kind keyinc --table 2 --count 3000 -q -w inc.pcap
	cat kw.pcap <(tail -c +25 inc.pcap) >reports.pcap
	net_up
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

collector() { # number
	rm -f collect$1.log
	start c collect$1.log dta-collect -o ndjson --region "$NET-wire$1" \
		-i c0 --no-xdp --promiscuous --mac 02:00:00:00:01:0$1 --ip 10.0.0.5$1 \
		--ticket t$1.ini
	COLLECT[$1]=$PID
	wait_for listens collect$1.log
	wait_for test -s t$1.ini
}

# Once the translator has seen so many reports, and all are confirmed.
stored() { # count
	kill -USR1 "$TRANSLATE"
	sleep 0.05
	[ "$(counter translate.log stored)" = "$1" ]
}

same_memories() {
	for c in 0 1 2; do
		same_memory "$NET-file$c" "$NET-wire$c" || return
	done
}

@test "live, by hash: all requests confirmed; a collector that starts again" {
	for c in 0 1 2; do
		collector $c
	done
	start t translate.log dta-translate -o ndjson -i t0 --to t1 \
		--cluster wire.ini
	TRANSLATE=$PID
	wait_for listens translate.log
	dta-translate -q -r reports.pcap --cluster file.ini
	on r "$TOOLS/send" reports.pcap r0 >sent
	wait_for stored 9000
	same() { same_memories >/dev/null 2>&1; }
	wait_for same
	# Collector 1 starts again: a new ticket, of the same PSNs.
	stop "${COLLECT[1]}"
	rm t1.ini
	collector 1
	kill -HUP "$TRANSLATE"
	dta-gen uniform --count 3000 --seed 8000000 -q -w more.pcap
	dta-translate -q -r more.pcap --cluster file.ini
	obeys "$TRANSLATE" translate.log
	on r "$TOOLS/send" more.pcap r0 >sent
	wait_for stored 12000
	wait_for same
	same_memories
	stop "$TRANSLATE"
	for c in unanswered window_full refused unsent; do
		[ "$(counter translate.log $c)" -eq 0 ]
	done
	# N = 2 for each.
	[ "$(counter translate.log acked)" -eq 24000 ]
}

# Generation number, and its members in their order, by tickets and by regions.
generation() { # number collectors
	printf '[generation %s]\ncollectors = %s\nepoch = %s\n' "$1" "$2" "$1" |
		tee -a wire.ini >>file.ini
}

# Goes on when the translator has them.
send_on() { # capture count
	SENT=$((SENT + $2))
	dta-translate -q -r "$1" --cluster file.ini
	on r "$TOOLS/send" "$1" r0 >sent
	wait_for stored "$SENT"
}

hang_up() { # generation
	kill -HUP "$TRANSLATE"
	wait_for grep "wire.ini: generation $1: " translate.log
}

settled() { # requests that wait, sent or not; lost when nobody is there
	kill -USR1 "$TRANSLATE"
	sleep 0.05
	[ $(($(counter translate.log waiting) +
		$(counter translate.log unanswered) +
		$(counter translate.log unsent))) = "$1" ]
}

@test "live: one comes, one dies and is taken out, and comes back" {
	for n in 1 2 3 4 5; do
		dta-gen uniform --count 2000 --seed ${n}000000 -q -w kw$n.pcap
		cat kw$n.pcap <(tail -c +25 inc.pcap) >part$n.pcap
	done
	for c in 0 1 2; do
		collector $c
	done
	SENT=0
	generation 1 "0 1"
	start t translate.log dta-translate -o ndjson -i t0 --to t1 \
		--cluster wire.ini
	TRANSLATE=$PID
	wait_for listens translate.log
	send_on part1.pcap 5000
	generation 2 "0 1 2"
	hang_up 2
	send_on part2.pcap 5000
	wait_for settled 0
	# Collector 1 dies; what it would have had is known.
	kill -KILL "${COLLECT[1]}"
	dta-translate -q -r kw3.pcap --cluster wire.ini -w - |
		dta-dump packets - -o ndjson >rows
	expected=$(jq -r .dst rows | grep -c 10.0.0.51)
	[ "$expected" -gt 1000 ]
	send_on kw3.pcap 2000
	generation 3 "2 0"
	hang_up 3
	send_on part4.pcap 5000
	wait_for settled "$expected"
	for c in 0 2; do
		diff <(dta-dump digest "$NET-file$c" -o csv) \
			<(dta-dump digest "$NET-wire$c" -o csv)
	done
	[ "$(counter translate.log requests)" -eq $((2 * SENT)) ]
	[ "$(counter translate.log acked)" -eq $((2 * SENT - expected)) ]
	# It comes back: the same reports again, and nothing is missing.
	rm t1.ini
	collector 1
	generation 4 "0-2"
	hang_up 4
	send_on part5.pcap 5000
	send_on kw3.pcap 2000
	wait_for settled "$expected"
	same_memories
	stop "$TRANSLATE"
	[ "$(counter translate.log acked)" -eq $((2 * SENT - expected)) ]
	[ $(($(counter translate.log unanswered) +
		$(counter translate.log unsent requester))) -eq "$expected" ]
	for c in window_full refused outdated; do
		[ "$(counter translate.log $c)" -eq 0 ]
	done
}
