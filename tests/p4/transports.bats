# SPDX-License-Identifier: BSD-2-Clause
# The invariant's fourth road: reports of all primitives, of real traffic, by
# dta_translator on BMv2 leave the memory that dta-translate leaves on the local
# road, byte for byte: in the software responder, and in a guest with soft-RoCE.

load ../helpers
load ../net/net
load ../rxe/guest
load ../rxe/traffic
load p4

REAL=$TOP/../shared/traces/real-mix.pcap
CHUNK=200 # packets at a time: the switch is slower than what sends

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	export REGION=dta-test-$$-p4-roads
	[ -r "$REAL" ] || return 0
	# Batches of 16 would be more than the switch writes at once.
	sed 's/^batch = .*/batch = 8/' "$TOP/tests/rxe/mix.ini" >mix.ini
	mix "$(size 200 1000)" reports.pcap --from "$REAL"
	dta-collect --create --layout mix.ini --region "$REGION"
	dta-translate -o ndjson -r reports.pcap --region "$REGION" 2>c.log
	tables "$REGION" >local
}

setup() {
	need_p4 dta_translator
	need_tools send
	[ -r "$REAL" ] || skip "no shared/traces/real-mix.pcap"
	cd "$BATS_FILE_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
	guest_stop
	remove_regions "$NET"
}

teardown_file() {
	remove_regions "$REGION"
}

@test "the local road: something to compare with" {
	filled <local
	[ "$(wc -l <local)" = 6 ]
	[ "$(counter c.log stored)" -gt 500 ]
}

# has_received N: packets, the translator; of a guest it hears others, too.
has_received() {
	[ "$(on t simple_switch_CLI <<<"counter_read TranslatorIngress.ledger 17" |
		sed -nE 's/.*, ([0-9]+) packets.*/\1/p')" -ge "$1" ]
}

# Reports through the switch, then what waits there.
by_switch() {
	local from n

	n=$(packets reports.pcap)
	for ((from = 1; from <= n; from += CHUNK)); do
		editcap -F nsecpcap -r reports.pcap part.pcap \
			"$from-$((from + CHUNK - 1))"
		on r "$TOOLS/send" part.pcap r0 >sent
		patient has_received $((from + CHUNK > n ? n : from + CHUNK - 1))
	done
	flush r r0 3 1024
	flush r r0 4 1
}

holds() { tables "$NET-r" | cmp -s local -; }

@test "BMv2 and the software responder" {
	dta-collect --create --layout mix.ini --region "$NET-r"
	net_up
	start c collect.log dta-collect --region "$NET-r" -i c0 \
		--ticket ticket.ini
	wait_for listens collect.log
	dta-switch dta_translator ticket.ini >commands
	switch_up t dta_translator t0 t1
	switch_tell t commands
	by_switch
	patient holds
}

guest_holds() { in_the_guest | cmp -s local -; }

@test "BMv2 and soft-RoCE" {
	guest_needed
	guest_start a
	cp mix.ini "$GUEST_DIR/a"
	guest_collect mix.ini --peer-ip 10.0.0.101 --ticket ticket.ini
	patient [ -s "$GUEST_DIR/a/ticket.ini" ]
	dta-switch dta_translator "$GUEST_DIR/a/ticket.ini" >commands
	net_up
	start c plug.log python3 "$TOP/tests/p4/plug.py" c0 \
		"$GUEST_DIR/switch.sock" "$GUEST_DIR/a.sock"
	wait_for grep -q plugged plug.log.out
	switch_up t dta_translator t0 t1
	switch_tell t commands
	# Nobody but the card touches the memory.
	guest_run "kill -STOP $COLLECTOR"
	by_switch
	patient guest_holds
	in_the_guest | diff local -
	guest_run "grep -q '^State:.*T (stopped)' /proc/$COLLECTOR/status"
	[ ! -s "$GUEST_DIR/a/collect.err" ]
	# None was lost between the switch and the card.
	echo "register_read TranslatorEgress.rdma.lost 0" |
		on t simple_switch_CLI | grep -q 'lost\[0\]= *0$'
}
