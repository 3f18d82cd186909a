# SPDX-License-Identifier: BSD-2-Clause
# dta_translator on BMv2: of the same reports it makes the packets that
# dta-translate makes, byte for byte, and so the same memory.

load ../helpers
load ../net/net
load p4

setup() {
	need_p4 dta_translator
	need_tools send recv
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

# switch_and_c CAPTURE LAYOUT: reports through the switch, and through
# dta-translate; file and wire are the two memories.
switch_and_c() {
	local recv

	make_regions "$2"
	dta-collect --region "$NET-wire" --ticket ticket.ini
	dta-collect --region "$NET-wire" --ticket commands -o bmv2
	dta-translate -q -r "$1" --ticket ticket.ini -w c.pcap
	dta-translate -q -r "$1" --region "$NET-file"
	net_up
	switch_up t dta_translator t0 t1
	switch_tell t commands
	start c recv.log "$TOOLS/recv" c0 switch.pcap
	recv=$PID
	wait_for grep -q . recv.log.out
	on r "$TOOLS/send" "$1" r0 >sent
	will_come c c0 "$(packets c.pcap)"
	stop "$recv"
	dta-collect -q --region "$NET-wire" -r switch.pcap
}

# of all that a ledger has, by its name
ledger_has() { # INDEX COUNT
	[ "$(switch_count t TranslatorIngress.ledger "$1")" = "$2" ]
}

@test "Key-Write: the packets and the memory of dta-translate" {
	dta-gen uniform -q -n 300 -w reports.pcap
	switch_and_c reports.pcap "$EXAMPLES/uniform.ini"
	diff <(frames c.pcap) <(frames switch.pcap)
	same_memory
	ledger_has 0 300
}
