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

# switch_and_c CAPTURE LAYOUT [ROWS...]: reports through the switch, and through
# dta-translate; file and wire are the two memories. At the end the switch
# flushes so many rows of table 1, 2, ...
switch_and_c() {
	local capture=$1 recv nacks id=0 rows

	make_regions "$2"
	shift 2
	dta-collect --region "$NET-wire" --ticket ticket.ini
	dta-switch dta_translator ticket.ini >commands
	dta-translate -o ndjson -r "$capture" --ticket ticket.ini -w c.pcap \
		--nacks c-nacks.pcap 2>c.log
	dta-translate -q -r "$capture" --region "$NET-file"
	net_up
	switch_up t dta_translator t0 t1
	switch_tell t commands
	start c recv.log "$TOOLS/recv" c0 switch.pcap
	recv=$PID
	start r nacks.log "$TOOLS/recv" r0 switch-nacks.pcap
	nacks=$PID
	wait_for grep -q . recv.log.out
	wait_for grep -q . nacks.log.out
	on r "$TOOLS/send" "$capture" r0 >sent
	for rows; do
		id=$((id + 1))
		flush r r0 "$id" "$rows"
	done
	will_come c c0 "$(packets c.pcap)"
	wait_for has_come r r0 "$(packets c-nacks.pcap)"
	stop "$recv"
	stop "$nacks"
	dta-collect -q --region "$NET-wire" -r switch.pcap
}

# The counters of ledger.p4, by the names that dta-translate's ledger has, too.
same_ledger() {
	local name index n=0

	switch_counters t TranslatorIngress.ledger >switch.counters
	while read -r name index; do
		[ -n "$(counter c.log "$name")" ] || continue
		n=$((n + 1))
		[ "$(counter c.log "$name")" = "$(awk -v i="$index" \
			'$1 == i { print $2 }' switch.counters)" ] ||
			{ echo "$name: $index of" && cat switch.counters; return 1; }
	done < <(sed -nE 's/^const bit<8> LEDGER_([A-Z_]+) = ([0-9]+);.*/\L\1 \2/p' \
		"$TOP/p4/include/ledger.p4")
	[ "$n" -gt 15 ]
}

same_packets() {
	[ "$(packets c.pcap)" -gt 50 ]
	same_frames c.pcap switch.pcap
}

@test "each calculation has its polynomial" {
	local name to

	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$NET-wire"
	dta-collect --region "$NET-wire" --ticket - |
		dta-switch dta_translator - >commands
	jq -r '.actions[].primitives[] |
		select(.op == "modify_field_with_hash_based_offset") |
		[.parameters[2].value, .parameters[0].value[1]] | @tsv' \
		"$BUILD/p4/dta_translator.json" >calculations
	while read -r name to; do
		case $to in
		*slot[0-3]*) to=${to#*slot} to=SLOT${to:0:1} ;;
		*checksum*) to=CHECKSUM ;;
		*hash_hops_h[0-7]) to=HOP${to: -1} ;;
		*) continue ;;
		esac
		echo "$name $(sed -n "s/.* CRC_$to = \(.*\);.*/\1/p" \
			"$TOP/p4/include/hash.p4")"
	done <calculations >want
	[ "$(wc -l <want)" = 13 ]
	# of the data, for the iCRC: the last of four
	echo "$(awk '$2 ~ /rdma_sum/ { last = $1 } END { print last }' \
		calculations) 0x04c11db7" >>want
	diff <(sort want) <(awk '/^set_crc32/ { print $2, $3 }' commands | sort)
}

@test "Key-Write: the packets and the memory of dta-translate" {
	dta-gen uniform -q --flows 300 -w reports.pcap
	switch_and_c reports.pcap "$EXAMPLES/uniform.ini"
	same_packets
	same_memory
	same_ledger
}

@test "Key-Write: one to four copies, a byte of value, IPv6 keys, immediates" {
	dta-gen pint -q --immediate -c 200 -w reports.pcap
	cat >layout.ini <<-INI
		[digests]
		id = 1
		kind = keywrite
		key = flow4
		value = 1
		slots = 1000
		[digests6]
		id = 2
		kind = keywrite
		key = flow6
		value = 1
		slots = 1Ki
		stride = packed
	INI
	switch_and_c reports.pcap layout.ini
	same_memory
	same_packets
}

@test "Key-Increment" {
	dta-gen turboflow -q --flows 300 -w reports.pcap
	cat >layout.ini <<-INI
		[counters]
		id = 1
		kind = keyinc
		key = flow4
		slots = 64
		copies = 3
	INI
	switch_and_c reports.pcap layout.ini
	same_packets
	same_memory
}

@test "Append: batches, the end of the ring, what is left" {
	dta-gen netseer-loss -q -c 203 -w reports.pcap
	cat >layout.ini <<-INI
		[losses]
		id = 1
		kind = append
		value = 18
		lists = 1
		ring = 21
		batch = 8
		flush = 1h
	INI
	switch_and_c reports.pcap layout.ini 1
	same_packets
	same_memory
	same_ledger
	[ "$(counter c.log partial_batches)" = 1 ]
}

@test "Append: many lists, immediates, entries side by side" {
	dta-gen sonata-raw -q --immediate -c 300 -w reports.pcap
	cat >layout.ini <<-INI
		[tuples]
		id = 1
		kind = append
		value = 16
		stride = packed
		lists = 4
		ring = 16
		batch = 4
		[tuples6]
		id = 2
		kind = append
		value = 40
		lists = 4
		ring = 16
		batch = 4
	INI
	switch_and_c reports.pcap layout.ini 4 4
	same_memory
}

@test "Postcards: rows that are complete, rows that make room, what is left" {
	dta-gen int-postcard -q --flows 40 --interleave 7 -w all.pcap
	# without some: rows with two or three runs of hops
	seq 2 3 200 | xargs editcap -F nsecpcap all.pcap reports.pcap
	cat >layout.ini <<-INI
		[paths]
		id = 1
		kind = postcard
		key = flow4
		chunks = 256
		hops = 5
		copies = 4
		values = 1-1000
		cache = 4
	INI
	switch_and_c reports.pcap layout.ini 4
	same_packets
	same_memory
	same_ledger
}

@test "strict order: gaps, repeated reports and questions; the NACKs of dta-translate" {
	dta-gen uniform -q --tracked --flows 200 -w all.pcap
	cat >layout.ini <<-INI
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		sequence = strict
	INI
	# A gap, what closes it, another one, questions
	editcap -r all.pcap a.pcap 1-20 23-40
	editcap -r all.pcap b.pcap 21-90 95-199
	ask 0 5 >asks.txt && ask 4 94 >>asks.txt && ask 0 0 >>asks.txt
	text2pcap -q asks.txt asks.pcap
	editcap -r all.pcap d.pcap 95-130 96
	mergecap -a -F nsecpcap -w reports.pcap a.pcap b.pcap asks.pcap d.pcap
	switch_and_c reports.pcap layout.ini
	[ "$(packets c-nacks.pcap)" -gt 5 ]
	same_frames c-nacks.pcap switch-nacks.pcap
	same_packets
	same_memory
	same_ledger
}

# ask REASON NUMBER: a reporter's question, as a frame in text.
ask() {
	local frame

	frame=$(dta-gen uniform -q -c 1 -w - | tshark -r - -T json -x 2>/dev/null |
		jq -r '.[0]._source.layers.frame_raw[0]')
	# lengths, IP checksum, then the report as a question
	printf '0000 %s\n' "$(python3 "$TOP/tests/p4/ask.py" "$frame" "$1" "$2" |
		sed 's/../& /g')"
}

@test "reports that are none: each under its reason, as dta-translate counts" {
	dta-gen uniform -q --flows 40 -w all.pcap
	cat >layout.ini <<-INI
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		[lists]
		id = 2
		kind = append
		value = 4
		ring = 64
		lists = 2
		[paths]
		id = 3
		kind = postcard
		key = u32
		chunks = 64
		hops = 5
		values = 1-9
		cache = 16
	INI
	python3 "$TOP/tests/p4/bad.py" all.pcap reports.pcap
	switch_and_c reports.pcap layout.ini 1 2 16
	same_ledger
	same_memory
	for name in malformed bad_version bad_opcode bad_table bad_key bad_data \
		bad_copies bad_hop bad_list bad_value foreign; do
		[ "$(counter c.log "$name")" -gt 0 ] || { echo "no $name"; false; }
	done
}

# A queue pair whose PSN is not the one that the collector wants: as if packets
# had been lost behind the switch.
@test "a NAK: on with the PSN that it tells, what is lost is counted" {
	local psn

	dta-gen uniform -q --flows 120 -w all.pcap
	editcap -r all.pcap a.pcap 1-60
	editcap -r all.pcap lost.pcap 61
	editcap -r all.pcap b.pcap 62-120
	make_regions "$EXAMPLES/uniform.ini"
	net_up
	start c collect.log dta-collect --region "$NET-wire" -i c0 \
		--ticket ticket.ini
	wait_for listens collect.log
	dta-switch dta_translator ticket.ini >commands
	switch_up t dta_translator t0 t1
	switch_tell t commands
	on r "$TOOLS/send" a.pcap r0 >sent
	wait_for has_psn 120
	psn=$(register rdma.psn)
	echo "register_write TranslatorEgress.rdma.psn 0 $((psn + 5))" >gap
	switch_tell t gap
	on r "$TOOLS/send" lost.pcap r0 >sent
	wait_for has_lost 7 # a gap of five, and the two copies
	on r "$TOOLS/send" b.pcap r0 >sent
	dta-translate -q -r a.pcap --region "$NET-file"
	dta-translate -q -r b.pcap --region "$NET-file"
	wait_for same_memory >/dev/null
	[ "$(register rdma.psn)" = $(((psn + 118) % (1 << 24))) ]
}

register() { # name
	on t simple_switch_CLI <<<"register_read TranslatorEgress.$1 0" |
		sed -n 's/.*= *//p' | tail -n 1
}

# So many operations since the ticket.
has_psn() {
	[ "$(register rdma.psn)" = $((($(sed -n \
		's/register_write .*psn 0 //p' commands) + $1) % (1 << 24))) ]
}

has_lost() { [ "$(register rdma.lost)" = "$1" ]; }

@test "a rate: reports above it are left, and in strict order NACKed" {
	dta-gen uniform -q --tracked --flows 20 -w reports.pcap
	cat >layout.ini <<-INI
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		sequence = strict
	INI
	make_regions layout.ini wire
	dta-collect --region "$NET-wire" --ticket - |
		dta-switch dta_translator - >commands
	# packets in a microsecond, and at once: no more than five in a test
	echo "meter_set_rates TranslatorIngress.sequence.rate 0" \
		"0.0000000001:5 0.0000000001:5" >>commands
	net_up
	switch_up t dta_translator t0 t1
	switch_tell t commands
	start r nacks.log "$TOOLS/recv" r0 nacks.pcap
	wait_for grep -q . nacks.log.out
	on r "$TOOLS/send" reports.pcap r0 >sent
	will_come c c0 10
	wait_for has_come r r0 1
	stop "$PID"
	switch_counters t TranslatorIngress.ledger >counters
	grep -qx '0 5' counters  # stored
	grep -qx '14 1' counters # rate_limited
	grep -qx '12 14' counters # out_of_order
	dta-dump packets nacks.pcap >nacks
	[ "$(grep -c 'nack' nacks)" = 1 ]
	cat nacks
	grep 'sequence=4' nacks
}
