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
		slots = 64K
		copies = 2
		[sums]
		id = 2
		kind = keyinc
		key = flow4
		slots = 64K
		copies = 2
	INI
	for n in file wire; do
		for c in 0 1 2; do
			dta-collect --create --layout layout.ini \
				--region "$NET-$n$c"
		done
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

counter() { # log name
	grep '^{' "$1" | jq -r --arg name "$2" \
		'select(.counter == $name).value' | tail -n 1
}

# Once the translator has seen so many reports, and all are confirmed.
stored() { # count
	kill -USR1 "$TRANSLATE"
	sleep 0.05
	[ "$(counter translate.log stored)" = "$1" ]
}

same_memories() {
	for c in 0 1 2; do
		diff <(dta-dump digest "$NET-file$c" -o csv) \
			<(dta-dump digest "$NET-wire$c" -o csv)
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
	sleep 0.3
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
