# SPDX-License-Identifier: BSD-2-Clause
# dart_reporter on BMv2: reports of real traffic as writes into the memory of two
# collectors, those that dta-translate makes of tests/tools/reporter's reports.
#
#	r0 --- t0 switch u0 (to nobody)
#	             |t1 --- c0 collector 0
#	             |u2 --- v0 collector 1

load ../helpers
load ../net/net
load p4

setup() {
	need_p4 dart_reporter
	need_tools send recv reporter
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

layout() { # copies
	cat <<-INI
		[seen]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 1000
		copies = $1
	INI
}

# run COPIES: the mix through the switch. Leaves reports.pcap, Key-Write only;
# 0.pcap and 1.pcap: what came to the collectors; c.pcap: what dta-translate
# sends to them.
run_mix() {
	local i first

	[ -r "$TOP/../shared/traces/real-mix.pcap" ] ||
		skip "no shared/traces/real-mix.pcap"
	tshark -F nsecpcap -r "$TOP/../shared/traces/real-mix.pcap" -w frames.pcap \
		-Y "frame.len <= 1514 && frame.number > 60000" -c 61500 2>/dev/null
	editcap -F nsecpcap -r frames.pcap mix.pcap 1-900
	"$TOOLS/reporter" mix.pcap all.pcap 1 0 1 127
	tshark -F nsecpcap -r all.pcap -w reports.pcap -Y 'frame[42:1] == 11' \
		2>/dev/null
	layout "$1" >layout.ini
	printf '[cluster]\nversion = 1\n[generation 1]\ncollectors = 0 1\n' \
		>cluster.ini
	for i in 0 1; do
		make_regions layout.ini $i file-$i
		dta-collect --region "$NET-$i" --ip 10.0.0.5$i --ticket $i.ini
		printf '[collector %d]\nticket = %d.ini\n' $i $i
	done >>cluster.ini
	dta-switch dart_reporter 0.ini 1.ini >commands
	dta-translate -q -r reports.pcap --cluster cluster.ini -w c.pcap
	net_up
	ip -n "$NET-t" link add u0 type veth peer name u1
	ip -n "$NET-t" link add u2 type veth peer name v0
	for i in u0 u1 u2 v0; do
		ip -n "$NET-t" link set $i up
	done
	switch_up t dart_reporter t0 u0 t1 u2
	switch_tell t commands
	start c 0.log "$TOOLS/recv" c0 0.pcap
	first=$PID
	start t 1.log "$TOOLS/recv" v0 1.pcap
	wait_for grep -q . 0.log.out
	wait_for grep -q . 1.log.out
	on r "$TOOLS/send" mix.pcap r0 >sent
	will_come c c0 $(($(packets_to 10.0.0.50) / $1))
	will_come t v0 $(($(packets_to 10.0.0.51) / $1))
	stop "$first"
	stop "$PID"
}

packets_to() { # address
	to "$1"
	packets to.pcap
}

to() { tshark -F nsecpcap -r c.pcap -w to.pcap -Y "ip.dst == $1" 2>/dev/null; }

@test "one copy: the packets of dta-translate, to the collector of each key" {
	run_mix 1
	for i in 0 1; do
		to 10.0.0.5$i
		[ "$(packets to.pcap)" -gt 50 ]
		same_frames to.pcap $i.pcap
	done
}

# What a frame writes: address, R_Key, length, slot.
writes() { frames "$1" | cut -c 109-156; }

@test "four copies: one of them is written, drawn at random" {
	local n=0

	run_mix 4
	for i in 0 1; do
		to 10.0.0.5$i
		[ $(($(packets $i.pcap) * 4)) = "$(packets to.pcap)" ]
		[ -z "$(comm -23 <(writes $i.pcap | sort -u) \
			<(writes to.pcap | sort -u))" ]
		# of copy 0 there are as many in to.pcap as reports
		n=$((n + $(comm -12 <(writes $i.pcap | sort -u) \
			<(writes to.pcap | sed -n '1~4p' | sort -u) | wc -l)))
	done
	[ "$n" -gt 0 ]
	[ "$n" -lt $(($(packets reports.pcap) / 2)) ]
}
