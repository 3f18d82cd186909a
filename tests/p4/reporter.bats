# SPDX-License-Identifier: BSD-2-Clause
# dta_reporter on BMv2: its reports of real traffic are those of
# tests/tools/reporter, byte for byte; and through dta_translator on BMv2 they
# leave the memory that dta-translate leaves.
#
#	r0 --- t0 reporter u0 (to nobody)
#	          |u2
#	          |v0
#	          translator t1 --- c0

load ../helpers
load ../net/net
load p4

setup() {
	need_p4 dta_reporter
	need_p4 dta_translator
	need_tools send recv reporter
	cd "$BATS_TEST_TMPDIR" || exit 1
	cat >layout.ini <<-INI
		[seen]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 4Ki
		copies = 2
		[events]
		id = 2
		kind = append
		value = 16
		lists = 2
		ring = 64
		batch = 8
		flush = 1h
		[packets]
		id = 3
		kind = keyinc
		key = flow4
		slots = 1Ki
		[paths]
		id = 4
		kind = postcard
		key = flow4
		chunks = 1Ki
		hops = 5
		values = 1-1000
		cache = 64
	INI
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

switches_up() {
	net_up
	ip -n "$NET-t" link add u0 type veth peer name u1
	ip -n "$NET-t" link add u2 type veth peer name v0
	for port in u0 u1 u2 v0; do
		ip -n "$NET-t" link set "$port" up
	done
	switch_up t dta_reporter t0 u0 u2
	switch_tell t reporter.commands
	THRIFT=9091
	switch_up t dta_translator v0 t1
	switch_tell t translator.commands
}

@test "real traffic: the reports, and the memory in the end" {
	local recv reports n

	[ -r "$TOP/../shared/traces/real-mix.pcap" ] ||
		skip "no shared/traces/real-mix.pcap"
	# Some of it, without what no link of 1500 bytes would carry.
	tshark -F nsecpcap -r "$TOP/../shared/traces/real-mix.pcap" -w frames.pcap \
		-Y "frame.len <= 1514 && frame.number > 60000" -c 61500 2>/dev/null
	editcap -F nsecpcap -r frames.pcap mix.pcap 1-900
	[ "$(packets mix.pcap)" = 900 ]
	"$TOOLS/reporter" mix.pcap reports.pcap 1 0 1 127
	n=$(packets reports.pcap)
	[ "$n" -gt 200 ]
	make_regions layout.ini
	dta-collect --region "$NET-wire" --ticket ticket.ini
	dta-switch dta_translator ticket.ini >translator.commands
	dta-switch dta_reporter ticket.ini >reporter.commands
	dta-translate -q -r reports.pcap --ticket ticket.ini -w c.pcap
	dta-translate -q -r reports.pcap --region "$NET-file"
	switches_up
	start t reports.log "$TOOLS/recv" v0 switch-reports.pcap
	reports=$PID
	start c recv.log "$TOOLS/recv" c0 switch.pcap
	recv=$PID
	wait_for grep -q . recv.log.out
	wait_for grep -q . reports.log.out
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come t v0 "$n"
	stop "$reports"
	same_frames reports.pcap switch-reports.pcap
	flush t u2 2 2
	flush t u2 4 64
	will_come c c0 "$(packets c.pcap)"
	stop "$recv"
	dta-collect -q --region "$NET-wire" -r switch.pcap
	same_memory
	for kind in keywrite append keyinc postcard; do
		dta-dump packets reports.pcap | grep -q " dta1 $kind "
	done
}

# nacks: that have come to the reporter.
nacks() {
	on t simple_switch_CLI <<<"counter_read ReporterIngress.nacks 0" |
		sed -nE 's/.*, ([0-9]+) packets.*/\1/p'
}

sequence() { # of the next report
	on t simple_switch_CLI <<<"register_read ReporterEgress.sequence 0" |
		sed -n 's/.*sequence\[0\]= *//p'
}

reported() { [ "$(sequence)" = "$(packets "$1")" ]; }

# Numbers that are left out, as if reports had been lost on the way: the
# translator takes nothing behind them, and says so now and then.
@test "NACKs: as many are counted as dta-translate has sent" {
	local n

	[ -r "$TOP/../shared/traces/real-mix.pcap" ] ||
		skip "no shared/traces/real-mix.pcap"
	tshark -F nsecpcap -r "$TOP/../shared/traces/real-mix.pcap" -w frames.pcap \
		-Y "frame.len <= 1514 && frame.number > 60000" -c 61500 2>/dev/null
	editcap -F nsecpcap -r frames.pcap mix.pcap 1-900
	"$TOOLS/reporter" mix.pcap reports.pcap 1 0 1 127
	n=$(packets reports.pcap)
	sed -i 's/^kind = .*/&\nsequence = strict/' layout.ini
	make_regions layout.ini wire
	dta-collect --region "$NET-wire" --ticket - |
		dta-switch dta_reporter - >reporter.commands
	net_up
	ip -n "$NET-t" link add u0 type veth peer name u1
	ip -n "$NET-t" link add u2 type veth peer name v0
	for port in u0 u1 u2 v0; do
		ip -n "$NET-t" link set "$port" up
	done
	switch_up t dta_reporter t0 u0 u2
	switch_tell t reporter.commands
	start t translate.log dta-translate -i v0 --region "$NET-wire" -o ndjson
	wait_for listens translate.log
	editcap -r mix.pcap first.pcap 1-100
	editcap -r mix.pcap rest.pcap 101-900
	"$TOOLS/reporter" first.pcap some.pcap 1 0 1 127
	on r "$TOOLS/send" first.pcap r0 >sent
	wait_for reported some.pcap
	echo "register_write ReporterEgress.sequence 0 $(($(packets some.pcap) + 5))" \
		>gap
	switch_tell t gap
	on r "$TOOLS/send" rest.pcap r0 >sent
	will_come t v0 "$n"
	# One when the gap opens, and one of 64 reports behind it.
	wait_for nacked $((1 + (n - $(packets some.pcap) - 1) / 64))
	stop "$PID"
	[ "$(nacks)" -gt 3 ]
	[ "$(counter translate.log nacks_sent)" = "$(nacks)" ]
	[ "$(counter translate.log stored)" = "$(packets some.pcap)" ]
}

nacked() { [ "$(nacks)" = "$1" ]; }
