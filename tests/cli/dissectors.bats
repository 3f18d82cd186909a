# SPDX-License-Identifier: BSD-2-Clause
# The dissectors for Wireshark and tshark: what they show is what dta-dump says.

load ../helpers

setup() {
	need_tools mangle
	PATH=$TOOLS:$PATH
	NAME=dta-test-$$-dissectors-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
	export HOME=$PWD WIRESHARK_PLUGIN_DIR=$PWD # none but ours
}

teardown() {
	remove_regions "$NAME"
}

# With our dissectors; Lua tells of its errors on stderr, or in the tree.
shark() {
	tshark -n -X lua_script:"$BUILD/dta.lua" "$@" 2>stderr
	run ! grep -v '^Running as user' stderr
}

# fields CAPTURE "FIELD..." [OPTIONS...]: a line for each packet, a | between
# fields; truth is 1.
fields() {
	local args=() f

	for f in $2; do
		args+=(-e "$f")
	done
	shark -r "$1" "${@:3}" -T fields -E separator='|' -E aggregator=';' \
		"${args[@]}" >out
	sed 's/True/1/g; s/False/0/g' out
}

# said CAPTURE ARRAY [OPTIONS...]: of each row of dta-dump; of one that is wrong
# the reason alone.
said() {
	dta-dump packets "$1" -o ndjson "${@:3}" | jq -r '
		def opcode: {keywrite: 1, append: 2, keyinc: 3, postcard: 4,
			nack: 15}[.opcode];
		def syndrome: if .syndrome then {state: 0, gap: 1,
			"rate limit": 2, resynchronisation: 3,
			gone: 4}[.syndrome] else null end;
		def flag(f): if .flags // "" | contains(f) then 1 else 0 end;
		if .reason then .reason
		else '"$2"' | map(. // "" | tostring) | join("|") end'
}

# A capture made of UDP payloads, "PORT HEX" a line, on stdin.
datagrams() {
	python3 -c '
import struct, sys
sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
for line in sys.stdin:
    port, payload = line.split()
    payload = bytes.fromhex(payload)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0,
                     bytes([10, 0, 0, 1]), bytes([10, 0, 0, 51]))
    s = sum(struct.unpack(">10H", ip))
    s = (s & 0xffff) + (s >> 16)
    s = (s & 0xffff) + (s >> 16)
    ip = ip[:10] + struct.pack(">H", s ^ 0xffff) + ip[12:]
    udp = struct.pack(">HHHH", 49374, int(port), 8 + len(payload), 0)
    frame = bytes(12) + b"\x08\x00" + ip + udp + payload
    sys.stdout.buffer.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)'
}

# same_dta CAPTURE [FORMAT]
same_dta() {
	fields "$1" "$(printf 'dta.%s ' reason opcode table key list hop \
		path_len copies sequence flags.immediate flags.tracked add \
		data)" ${2:+-o dta.format:$2} >shown
	sed -Ei 's/^([^|]+)\|.*/\1/' shown
	said "$1" '[.reason, opcode, .table, .key, .list, .hop, .path_len,
		.copies, .sequence, flag("I"), flag("T"), .add, .data]' \
		${2:+-F $2} >said
	[ -s said ]
	diff shown said
}

# DTA/0 has no sequence (dta0a), path length, or copies of some kinds: what is
# shown is what is said.
same_dta0() {
	fields "$1" "$(printf 'dta.%s ' reason opcode key list hop add data)" \
		-o "dta.format:$2" >shown
	sed -Ei 's/^([^|]+)\|.*/\1/' shown
	said "$1" '[.reason, opcode, .key, .list, .hop, .add, .data]' -F "$2" \
		>said
	[ -s said ]
	diff shown said
	fields "$1" "dta.copies dta.sequence dta.flags.immediate dta.flags.tracked" \
		-Y '!dta.reason && dta.version == 0' -o "dta.format:$2" >shown
	said "$1" 'select(.table == null) | [.copies, .sequence, flag("I"),
		flag("T")]' -F "$2" | grep '|' >said
	[ "$(wc -l <shown)" = "$(wc -l <said)" ]
	paste -d '|' shown said | awk -F '|' '
		{ for (i = 1; i <= 4; i++) if ($i != "" && $i != $(i + 4)) exit 1 }'
}

@test "DTA/1: every field of reports of all workloads" {
	for w in $(dta-gen --list | awk 'NR > 1 { print $1 }'); do
		echo "workload: $w"
		dta-gen "$w" --flows 60 --count 200 --ipv6 40 -q --tracked -w r.pcap
		same_dta r.pcap
	done
	dta-gen uniform --kind keyinc --copies 3 --immediate --count 9 -q -w r.pcap
	same_dta r.pcap
	grep '|3|0|1|0|' shown
}

@test "DTA/1: NACKs, odd keys, and reports that are wrong" {
	datagrams >odd.pcap <<-'END'
		40040 128004000007000500000009aabbccdd
		40040 1400042500070005000000010000004d
		40040 140004bf000700050000000100000001
		40040 1100000000070005ff
		40040 11000300000700050a0b0c01
		40040 1100110000070005000000070a0000010a00000200500035061a
		40040 11000d00000700050a0000010a000002005000352f01
		40040 1200030000070005aabbccdd
		40040 11000400000700050a0b0c0d
		40040 21000400000700050000002a00
		40040 15000400000700050000002a00
		40040 11090400000700050000002a00
		40040 11000900000700050000002a00
		40040 110004
		40040 00
		40040 ff
	END
	same_dta odd.pcap
	datagrams >nacks.pcap <<-'END'
		40044 1f00000100070041
		40044 1f00000200070041
		40044 1f00000300070041
		40040 1f00000000070041
		40040 1f00000400070041
	END
	# dta-dump leaves out what NACKs have no use for.
	fields nacks.pcap "dta.reason dta.opcode dta.syndrome dta.sequence" >shown
	said nacks.pcap '[.reason, opcode, syndrome, .sequence]' | diff shown -
}

@test "DTA/0: reports of both formats, NACKs, and what is wrong" {
	for f in dta0a dta0b; do
		for k in keywrite append keyinc postcard; do
			echo "$f $k"
			dta-gen uniform --format $f --kind $k --key-type u32 \
				--copies 2 --count 20 -q -w r.pcap
			same_dta0 r.pcap $f
		done
		datagrams >odd.pcap <<-'END'
			40040 0180000000000a00000001
			40040 018000020000000a00000001
			40040 018002000000000a00000001
			40040 0180020000000a00000001
			40040 01800000000a00000001
			40040 0180
			40040 01
			40040 0480000000000a0000000001
			40040 04800000000a0300000001
			40040 0f80000000000a00000001
			40040 2180000000000a00000001
			40040 1100040000070005000000070a
		END
		same_dta0 odd.pcap $f
	done
	printf '40044 0780\n40044 ff80\n' | datagrams >nacks.pcap
	fields nacks.pcap "dta.reason dta.opcode dta.sequence" \
		-o dta.format:dta0b >shown
	said nacks.pcap '[.reason, opcode, .sequence]' -F dta0b | diff shown -
	printf '40040 01800000000a00000001\n' | datagrams >one.pcap
	[ "$(fields one.pcap dta.reason)" = "unknown version" ]
}

@test "iCRC of RoCEv2: good, bad, IPv4 and IPv6, requests and answers" {
	dta-collect --create --layout "$EXAMPLES/int-path.ini" --region "$NAME"
	dta-gen int-path --count 50 -q -w r.pcap
	for ip in 10.0.0. 2001:db8::; do
		dta-collect -q --region "$NAME" --ip ${ip}51 --peer-ip ${ip}1 \
			--ticket ticket.ini
		dta-translate -q -r r.pcap --ticket ticket.ini -w roce.pcap \
			--ack-every 4
		dta-collect -q --region "$NAME" --ip ${ip}51 --peer-ip ${ip}1 \
			-r roce.pcap -w answers.pcap
		mangle -f 0.5 <roce.pcap >bad.pcap 2>log
		for f in roce answers bad; do
			fields $f.pcap roce.icrc >shown
			dta-dump packets $f.pcap -o ndjson |
				jq -r '.icrc // ""' >said
			paste -d: shown said >$f
			sort $f | uniq -c
		done
		[ "$(sort -u roce answers)" = ok:ok ]
		# dta-dump says nothing of packets with an opcode that it does
		# not know.
		run ! grep -vE '^(.*):(\1)?$' bad
		grep -qx ok:ok bad
		grep -qx bad:bad bad
	done
}

@test "RoCEv2 and a ticket: tables, slots, entries, counts and values" {
	local prefs=-odta-memory.ticket:$PWD/t.ini w

	for w in uniform int-path int-postcard netseer-loss dshark \
		marple-hosts-sum; do
		echo "workload: $w"
		dta-collect --create --layout "$EXAMPLES/$w.ini" \
			--region "$NAME" -q
		dta-collect -q --region "$NAME" --ticket t.ini
		dta-gen $w --flows 60 --count 500 --ipv6 40 --copies 2 -q \
			-w r.pcap
		dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
		fields roce.pcap "$(printf 'dta.memory.%s ' table slot list \
			entry)" "$prefs" >shown
		dta-dump packets roce.pcap --ticket t.ini -o ndjson >rows
		jq -r '[.table, .slot, .list, .entry] |
			map(. // "" | tostring) | join("|")' rows | diff shown -
		run ! grep '^|' shown
		# A slot or chunk is what is shown of it; lists: below.
		fields roce.pcap "$(printf 'dta.memory.%s ' checksum value count \
			hop)" "$prefs" | tr -d '|;,' | sed 's/0x//g' >shown
		jq -r '.data // ""' rows | paste shown - | awk -v w=$w '
			{ gsub(/00*$/, "", $1); gsub(/00*$/, "", $2) }
			$1 != $2 && w !~ /netseer|dshark/ { print; exit 1 }'
		dta-collect --remove --region "$NAME"
	done
	# Each entry of lists is what was reported.
	dta-collect --create --layout "$EXAMPLES/netseer-loss.ini" --region "$NAME"
	dta-collect -q --region "$NAME" --ticket t.ini
	dta-gen netseer-loss --flows 60 --count 500 -q -w r.pcap
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	fields roce.pcap dta.memory.value "$prefs" | tr ';' '\n' | grep . >shown
	dta-dump packets r.pcap -o ndjson | jq -r .data | diff shown -
	# A ticket that is none is told of, once for each packet.
	fields roce.pcap dta.memory.reason -odta-memory.ticket:none >shown
	grep -q '^none: No such file' shown
	fields roce.pcap dta.memory.reason "-odta-memory.ticket:$PWD/r.pcap" >shown
	grep -q 'r.pcap: no tables$' shown
}

@test "packets in packets without end: no error of Lua" {
	python3 - >nested.pcap <<-'END'
		import struct, sys

		def ip(protocol, inner):
		    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(inner), 0, 0,
		                       64, protocol, 0, bytes([10, 0, 0, 1]),
		                       bytes([10, 0, 0, 2])) + inner

		def udp(port, inner):
		    return ip(17, struct.pack(">HHHH", 1, port, 8 + len(inner), 0) + inner)

		labelled = exported = b""
		for i in range(1000):
		    labelled = ip(253, b"\x04\x00" + labelled)
		    exported = udp(54322, ip(253, b"\x11\x00" + exported))
		report = b""
		while len(report) < 60000:
		    report = udp(54321, struct.pack(">III12xH", 0x200000, 1, 2, 0x800) +
		                 report)
		sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0,
		                                    65535, 1))
		for p in ip(253, b"\xfd\x00" * 20000), labelled, exported, report:
		    p = struct.pack(">12xH", 0x800) + p
		    sys.stdout.buffer.write(struct.pack("<IIII", 0, 0, len(p), len(p)) + p)
	END
	shark -r nested.pcap -V >tree
	run ! grep -iE 'lua error|dissector bug' tree
	[ "$(grep -c '^INT-label$' tree)" -gt 30 ]
}

@test "packets with faults: no error of Lua, and what is cut is malformed" {
	for w in int-path int-postcard netseer-loss turboflow; do
		dta-gen $w --count "$(size 300 20000)" --ipv6 30 -q -w - |
			mangle -s 7 -f 0.5 -c 0.3 2>log >dta.pcap
		int-label-ctl label -q -t 1us -d 1 -r dta.pcap -w - |
			mangle -s 8 -f 0.5 -c 0.3 2>log >bad.pcap
		shark -r bad.pcap -V >tree
		grep -q 'Direct Telemetry Access' tree
		grep -q '^INT-label' tree
		run ! grep -i 'lua error' tree
		shark -r bad.pcap -Y 'dta.reason' >wrong
		grep -qF '[Malformed: malformed or cut short]' wrong
	done
}

same_labels() { # CAPTURE
	fields "$1" "$(printf 'label.%s ' opcode key path_len label)" \
		-Y label.opcode >shown
	said "$1" 'select(.protocol == "int-label") |
		[.opcode, .key, .path_len, .labels]' | grep '|' >said
	[ -s said ]
	diff shown said
}

@test "INT-label: every field, on the way and exported, IPv4 and IPv6" {
	int-label-ctl sim -q -d 1s --specific 3 -w sim.pcap >/dev/null
	same_labels sim.pcap
	grep -q ^specific shown
	dta-gen int-path --count 300 --ipv6 50 -q -w plain.pcap
	dta-gen int --format mx --ipv6 50 --count 300 -q -w flows.pcap
	for f in plain flows; do
		int-label-ctl label -q -d 4000000000 -t 1us -r $f.pcap -w one.pcap
		int-label-ctl label -q -d 2 -t 1us -r one.pcap -w two.pcap
		same_labels two.pcap
		for n in 55 60 90; do
			editcap -s $n -F nsecpcap two.pcap cut.pcap
			fields cut.pcap label.reason -Y label.reason >shown
			dta-dump packets cut.pcap -o ndjson | jq -r '
				select(.protocol == "int-label") |
				.reason // empty' | diff shown -
			[ -s shown ]
		done
	done
	# The packet within is dissected, too.
	dta-gen int-path --count 1 -q -w plain.pcap
	int-label-ctl label -q -d 1 -r plain.pcap -w one.pcap
	[ "$(fields one.pcap dta.table)" = 1 ]
	echo "54322 $(xxd -s 54 -p -c 9999 one.pcap)" | datagrams >export.pcap
	same_labels export.pcap
}

# same_int CAPTURE: of each packet that is said to have INT, or reports of it;
# and no other is shown to. dta-dump does not look into those whose UDP, or what is
# around it, is wrong.
same_int() {
	dta-dump packets "$1" -o ndjson >rows
	jq 'select(.reason and .protocol == "other") | .number' rows >wrong
	fields "$1" "frame.number $(printf 'int.%s ' opcode key path_len \
		flags hop) treport.sequence" -Y int.opcode |
		awk -F '|' 'FILENAME == "wrong" { wrong[$1]; next }
			!($1 in wrong)' wrong - >shown
	jq -sr 'def all(f): map(f // empty | tostring) | join(";");
		map(select(.protocol == "int" or .protocol == "report") |
			select(.reason | not)) | group_by(.number)[] |
		[.[0].number, all(.opcode), all(.key), all(.path_len),
			all(.flags), all(.hops), .[0].sequence // ""] |
		map(tostring) | join("|")' rows >said
	[ -s said ]
	diff shown said
}

@test "INT: every field of MD and MX, of all versions, over all that carries it" {
	for p in 0.5 1.0 2.0 2.1; do
		for over in l4 vxlan geneve new-udp gre udp; do
			case $p-$over in
			[01]*-udp | [01]*-new-udp | [01]*-gre) continue ;;
			esac
			echo "$p over $over"
			dta-gen int --profile $p --over $over --ipv6 30 \
				--count 40 -q -w i.pcap
			same_int i.pcap
		done
	done
	dta-gen int --format mx --ipv6 30 --count 40 -q -w i.pcap
	same_int i.pcap
	dta-gen int --instructions 0xff80 --hops 9 --from "$CAPTURE" -c 300 -q \
		-w i.pcap
	same_int i.pcap
}

@test "INT: each flag" {
	for p in 0.5 1.0 2.1; do
		dta-gen int --profile $p --count 40 -q -w i.pcap
		# Packet by packet other bits behind the version, which are flags
		# or reserved; without TCP options, the header is behind the shim.
		python3 - <<-'END'
			import struct
			d = bytearray(open("i.pcap", "rb").read())
			at, n = 24, 0
			while at < len(d):
			    ip = at + 16 + 14
			    h = ip + 20 + (20 if d[ip + 9] == 6 else 8) + 4
			    d[h:h + 2] = struct.pack(">H", struct.unpack(">H", d[h:h + 2])[0]
			                             | n % 32 << 7)
			    if d[ip + 9] == 17:
			        d[ip + 26:ip + 28] = b"\0\0"
			    at += 16 + struct.unpack("<I", d[at + 8:at + 12])[0]
			    n += 1
			open("flags.pcap", "wb").write(d)
		END
		same_int flags.pcap
		[ "$(cut -d '|' -f 5 said | sort -u | wc -l)" -ge 4 ]
	done
}

@test "telemetry reports: every field, of all versions" {
	for p in 0.5 1.0 2.0; do
		for f in report xd; do
			echo "$f $p"
			dta-gen int --format $f --profile $p --ipv6 30 \
				--count 40 -q -w i.pcap
			same_int i.pcap
		done
	done
	# A group; drops, in it and by 0.5; the end left open. Then what is wrong:
	# all of it, or one of a group.
	datagrams >odd.pcap <<-'END'
		54321 204000070000000910030100400000000000000000010002100301800001000000000000000a050000
		54321 01a000030000000700000000000000420001000209050000
		54321 20400007000000090000ff00
		54321 204000070000000910030100400000000000000000010002100401800001000000000000000a050000
		54321 204000070000000900ff000000
		54321 2040000700000009
		54321 3000
		54321 0100000300000007000000000000
		54321 13000003000000070000000000000042
		54321 14f000030000000700000000000000420001
		54321 07a000030000000700000000000000420001000209050000
	END
	same_int odd.pcap
	[ "$(wc -l <said)" = 4 ]
	grep '^1|xd;xd|' said
	fields odd.pcap frame.number -Y 'treport.reason && !int.opcode' >shown
	jq -r 'select(.reason) | .number' rows | diff shown -
	[ "$(wc -l <shown)" = 7 ]
}

@test "columns say what it is, whatever is within" {
	local columns="_ws.col.Protocol _ws.col.Info"

	dta-gen int-path --count 1 -q -w dta.pcap
	fields dta.pcap "$columns" | grep '^DTA|keywrite table=1 '
	int-label-ctl label -q -d 1 -r dta.pcap -w label.pcap
	fields label.pcap "$columns" | grep '^DTA/INT-label|key.* \[labels=1\]$'
	for o in l4 vxlan gre; do
		dta-gen int --over $o --hops 3 --count 20 -q -w int.pcap
		fields int.pcap "$columns" >shown
		[ "$(grep -c '/INT|.* \[INT md .*p hops=3\]$' shown)" = 20 ]
	done
	for p in 0.5 1.0 2.0; do
		dta-gen int --format report --profile $p --hops 3 --count 20 -q \
			-w report.pcap
		fields report.pcap "$columns" >shown
		[ "$(grep -c '^Telemetry|report md .*p hops=3$' shown)" = 20 ]
	done
}

@test "INT with faults: no error of Lua, and what can be read is read the same" {
	for o in "--over l4" "--over vxlan" "--over geneve" "--over gre" \
		"--over new-udp" "--over l4 --profile 0.5" "--format report" \
		"--format xd" "--format xd --profile 1.0" \
		"--format report --profile 0.5"; do
		echo "$o"
		# shellcheck disable=SC2086
		dta-gen int $o --ipv6 30 --count "$(size 300 10000)" -q -w - |
			mangle -s 5 -f 0.6 -c 0.3 2>log >bad.pcap
		shark -r bad.pcap -V >tree
		run ! grep -i 'lua error' tree
		grep -qE '^    Malformed: ' tree
		same_int bad.pcap
	done
}
