# SPDX-License-Identifier: BSD-2-Clause
# dta-dump: packets, regions, snapshots, digests; checked against the truth of
# dta-gen and a reader of its own (tests/tools/region.py).

load ../helpers

setup() {
	need_tools mangle
	PATH=$TOOLS:$PATH:$TOP/tests/tools
	NAME=dta-test-$$-dump-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	remove_regions "$NAME"
}

four_kinds() {
	printf '[k]\nid = 11\nkind = keywrite\nkey = u32\nvalue = 6\nslots = 1Ki\n'
	printf '[p]\nid = 12\nkind = postcard\nkey = u32\nchunks = 1Ki\nhops = 5\n'
	printf 'values = 1,3,70\n'
	printf '[l]\nid = 13\nkind = append\nvalue = 4\nentries = 64\nlists = 3\n'
	printf 'batch = 4\n'
	printf '[c]\nid = 14\nkind = keyinc\nkey = u32\nslots = 1Ki\ncopies = 2\n'
}

region_of() { # layout on stdin
	cat >layout.ini
	dta-collect --create --layout layout.ini --region "$NAME" "$@"
}

uniform() { # kind table count options...
	dta-gen uniform --kind "$1" --key-type u32 --table "$2" --count "$3" -q \
		--truth truth.csv -w reports.pcap "${@:4}"
}

# A capture made of hexadecimal frames, one a line, on stdin.
capture() {
	python3 -c '
import struct, sys
sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
for n, line in enumerate(sys.stdin):
    frame = bytes.fromhex(line.strip())
    sys.stdout.buffer.write(struct.pack("<IIII", n, 5, len(frame), len(frame)) + frame)'
}

# The frame of a UDP payload (hexadecimal) to a port.
frame() { # port payload
	python3 - "$1" "$2" <<-'EOP'
		import struct, sys
		payload = bytes.fromhex(sys.argv[2])
		ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0,
		                 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 51]))
		s = sum(struct.unpack(">10H", ip))
		s = (s & 0xffff) + (s >> 16)
		s = (s & 0xffff) + (s >> 16)
		ip = ip[:10] + struct.pack(">H", s ^ 0xffff) + ip[12:]
		udp = struct.pack(">HHHH", 49374, int(sys.argv[1]), 8 + len(payload), 0)
		print((bytes(12) + b"\x08\x00" + ip + udp + payload).hex())
	EOP
}

packet() { # dump options: port payload -> the row
	local port=$1 payload=$2
	shift 2
	frame "$port" "$payload" | capture >one.pcap
	dta-dump packets one.pcap -o ndjson "$@" | tee row
}

@test "packets: every field of every workload's reports, as the truth has it" {
	for w in int-path int-postcard netseer-loss marple-hosts-sum pint; do
		echo "workload: $w"
		dta-gen $w --count 200 --ipv6 40 -q --truth truth.csv -w r.pcap
		dta-dump packets r.pcap -o ndjson | jq -r .table >tables
		sed 1d truth.csv | cut -d, -f1 | diff - tables
		# The tables tell the types of keys.
		dta-collect --create --layout "$EXAMPLES/$w.ini" -R "$NAME-$w"
		dta-dump packets r.pcap --region "$NAME-$w" -o ndjson |
			jq -r 'select(.reason == null) | [.opcode, (.key // .list),
				.hop // 0, .path_len // 0, .copies // 0, .data] |
				map(tostring) | join(",")' >got
		# Numbers of the truth, as the bytes of the report.
		sed 1d truth.csv | awk -F, -v OFS=, '
			$2 == "postcard" { $7 = sprintf("%08x", $7) }
			$2 == "keyinc" { $7 = sprintf("%016x", $7) } 1' |
			cut -d, -f2- >want
		diff want got
	done
}

@test "packets: lines of text" {
	frame 40040 11420410000700050000002a01020304 | capture >one.pcap
	run -0 dta-dump packets one.pcap
	[ "$output" = "1 0.000000005 10.0.0.1:49374 > 10.0.0.51:40040 dta1\
 keywrite table=7 key=42 copies=2 sequence=5 flags=T data=01020304" ]
	frame 40040 13c004000007000500 | capture >one.pcap
	run -0 dta-dump packets one.pcap
	[[ $output == *" dta1 data=13c004000007000500 ! cut short"* ]]
}

@test "packets: what each kind of report, answer and wart looks like" {
	is() { # filter
		echo "$1"
		jq -e "$1" row
	}
	packet 40040 128004000007000500000009aabbccdd
	is '.opcode == "append" and .list == 9 and .key == null and .flags == "I"
		and .data == "aabbccdd" and .reason == null'
	packet 40040 13030400000700050000002a0000000000000010
	is '.opcode == "keyinc" and .add == 16 and .copies == 3'
	packet 40040 1400042500070005000000010000004d
	is '.opcode == "postcard" and .hop == 2 and .path_len == 5'
	packet 40044 1f00000100000041
	is '.opcode == "nack" and .sequence == 65 and .syndrome == "gap"'
	packet 40044 1f00000200000041
	is '.opcode == "nack" and .syndrome == "rate limit"'
	packet 40044 1f00000300000041
	is '.opcode == "nack" and .syndrome == "resynchronisation"'
	packet 40040 1f00000000000041
	is '.opcode == "nack" and .sequence == 65 and .syndrome == "state"'
	packet 40040 1f00000400000041
	is '.opcode == "nack" and .sequence == 65 and .syndrome == "gone"'
	# Keys by their lengths.
	packet 40040 11000d00000700050a0000010a000002005000350601
	is '.key == "10.0.0.1:80>10.0.0.2:53/tcp" and .data == "01"'
	packet 40040 1100110000070005000000070a0000010a00000200500035061a
	is '.key == "7@10.0.0.1:80>10.0.0.2:53/tcp" and .data == "1a"'
	packet 40040 11000300000700050a0b0c01
	is '.key == "0a0b0c"'
	# Warts.
	packet 40040 21000400000700050000002a00
	is '.opcode == null and .reason == "unknown version" and .protocol == "dta1"'
	packet 40040 15000400000700050000002a00
	is '.reason == "unknown opcode"'
	packet 40040 11090400000700050000002a00
	is '.reason == "copies not between 1 and 4"'
	packet 40040 11000900000700050000002a00
	is '.reason | startswith("cut short")'
	packet 40040 ""
	is '.reason | startswith("cut short")'
	packet 53 00112233
	is '.protocol == "other" and .reason == null and .dst == "10.0.0.51:53"'
	packet 4791 00112233
	is '.protocol == "roce" and .reason != null and .data == "00112233"'
	echo 0011 | capture >one.pcap
	dta-dump packets one.pcap -o ndjson >row
	is '.protocol == "other"'
	# A wrong IPv4 checksum.
	frame 40040 11020410000700050000002a01020304 | sed 's/^\(.\{48\}\)..../\1dead/' |
		capture >one.pcap
	dta-dump packets one.pcap -o ndjson >row
	is '.protocol == "other" and (.reason | startswith("wrong IPv4"))'
}

@test "packets: the published formats" {
	is() { jq -e "$1" row; }
	# the published formats, variants A and B
	packet 40040 010002000000010000002a --format dta0a
	is '.protocol == "dta0a" and .opcode == "keywrite" and .copies == 2 and
		.key == "1" and .data == "0000002a" and .table == null'
	packet 40040 01054002000000010000002a --format dta0b
	is '.protocol == "dta0b" and .sequence == 5 and .flags == "T" and
		.key == "1" and .data == "0000002a"'
	packet 40040 040000000001030000002a --format dta0a
	is '.opcode == "postcard" and .hop == 2'
	packet 40040 020000000003 --format dta0a
	is '.reason != null'
	packet 40044 0580 --format dta0b
	is '.opcode == "nack" and .sequence == 5'
	packet 40040 010002000000010000002a
	is '.reason == "unknown version"'
	# The table that would take it.
	printf '[t]\nid = 5\nkind = keywrite\nkey = src4\nvalue = 4\nslots = 1Ki\n' |
		region_of
	packet 40040 010002000000010000002a --format dta0a --region "$NAME"
	is '.table == "t" and .key == "0.0.0.1" and .reason == null'
}

@test "packets: reports judged by the tables they are for" {
	four_kinds | region_of
	why() { # table-and-rest of a report -> reason
		packet 40040 "$1" --region "$NAME" >/dev/null
		jq -r '"\(.table): \(.reason)"' row
	}
	[ "$(why 11000400000b00000000002a010203040506)" = 'k: null' ]
	[ "$(why 11000400000c00000000002a010203040506)" = 'p: the table is of another kind' ]
	[ "$(why 11000400006300000000002a010203040506)" = '99: no such table' ]
	[ "$(why 11000500000b00000000002a000102030405)" = 'k: the key is not as long as the table'\''s' ]
	[ "$(why 11000400000b00000000002a0102030405)" = 'k: the data is not as long as the table'\''s' ]
	[ "$(why 14000445000c00000000002a00000001)" = 'p: null' ]
	[ "$(why 14000455000c00000000002a00000001)" = "p: the hop, or the path's end, is outside chunk or path" ]
	[ "$(why 14000406000c00000000002a00000001)" = "p: the hop, or the path's end, is outside chunk or path" ]
	[ "$(why 14000432000c00000000002a00000001)" = "p: the hop, or the path's end, is outside chunk or path" ]
	[ "$(why 14000405000c00000000002affffffff)" = 'p: the value stands for no hop' ]
	[ "$(why 11000400ffff00000000002a010203040506)" = '65535: no such table' ]
	[ "$(why 12000400000d00000000000200000001)" = 'l: null' ]
	[ "$(why 12000400000d00000000000300000001)" = 'l: no such list' ]
	[ "$(why 12000400000d0000000000020000000102)" = 'l: not whole entries of the table' ]
	[ "$(why 13000400000e00000000002a0000000000000001)" = 'c: null' ]
}

@test "packets: the slot that a write hits, by ticket and by region" {
	four_kinds | region_of --epochs 2
	dta-collect --region "$NAME" --ticket t.ini
	for kind in keywrite:11:k:6 keyinc:14:c:8; do
		IFS=: read -r verb id table value <<<"$kind"
		uniform "$verb" "$id" 20 --value "$value" --copies 2
		dta-translate -q -r reports.pcap --ticket t.ini -w roce.pcap
		dta-dump packets roce.pcap --ticket t.ini -o ndjson >rows
		dta-dump packets roce.pcap --region "$NAME" -o ndjson | diff rows -
		jq -se 'length == 40 and all(.icrc == "ok" and .reason == null)' rows
		sed 1d truth.csv | cut -d, -f3 | xargs printf '%08x\n' |
			xargs region.py slot "$NAME" "$table" 2 | sort >want
		jq -r "select(.table == \"$table\") | .slot" rows | sort | diff want -
	done
	jq -se 'all(.opcode == "rc_fetch_add" and .length == 8 and .data == null
		and .add > 0 and .qp > 0 and (.rkey | startswith("0x")))' rows
	[ "$(jq .psn rows | xargs)" = "$(seq 0 39 | xargs)" ]
	# Lists: entries, then the count.
	uniform append 13 8 --lists 2
	dta-translate -q -r reports.pcap --ticket t.ini -w roce.pcap
	dta-dump packets roce.pcap --ticket t.ini -o ndjson >rows
	jq -se '[.[] | select(.entry != null)] as $e | [.[] | select(.entry == null)]
		as $n | ($e | length) == ($n | length) and ($e | map(.length) | add) == 32
		and all(.table == "l" and .slot == null and .list < 2)
		and ($n | all(.length == 8))' rows
	# A key of another epoch opens nothing.
	dta-collect --region "$NAME" --rotate
	dta-dump packets roce.pcap --region "$NAME" -o ndjson |
		jq -se 'all(.table == null and (.reason | startswith("no table")))'
}

@test "packets: the verdict on the iCRC, and answers" {
	four_kinds | region_of
	dta-collect --region "$NAME" --ticket t.ini
	uniform keyinc 14 20 --copies 1
	dta-translate -q -r reports.pcap --ticket t.ini -w roce.pcap
	dta-collect -q --region "$NAME" -r roce.pcap -w answers.pcap
	dta-dump packets answers.pcap -o ndjson |
		jq -se 'length == 20 and all(.opcode == "rc_atomic_ack" and
			.syndrome == "ack" and .icrc == "ok" and .original != null)'
	# The last bytes of the file are the last packet's iCRC.
	size=$(stat -c %s roce.pcap)
	printf '\0\0\0\0' | dd of=roce.pcap bs=1 seek=$((size - 4)) conv=notrunc \
		status=none
	dta-dump packets roce.pcap -o ndjson |
		jq -se 'map(.icrc) == [range(19) | "ok"] + ["bad"]'
	# Without the second packet the responder says what it misses.
	dta-translate -q -r reports.pcap --ticket t.ini -w roce.pcap
	python3 - <<-'EOP'
		data = open("roce.pcap", "rb").read()
		size = 16 + int.from_bytes(data[32:36], "little")
		open("gap.pcap", "wb").write(data[:24 + size] + data[24 + 2 * size:])
	EOP
	dta-collect -q --region "$NAME" -r gap.pcap -w answers.pcap
	dta-dump packets answers.pcap -o ndjson |
		jq -se 'map(select(.syndrome == "nak_psn")) | length == 1 and
			.[0].psn == 1 and .[0].opcode == "rc_ack"'
}

@test "packets: -c, stdin, and captures that end too soon" {
	dta-gen uniform --count 50 -q -w r.pcap
	[ "$(dta-dump packets r.pcap -c 7 | wc -l)" = 7 ]
	[ "$(dta-dump packets - <r.pcap -o csv | wc -l)" = 51 ]
	head -c 1000 r.pcap >cut.pcap
	run -1 --separate-stderr dta-dump packets cut.pcap
	[[ ${#lines[@]} -gt 5 && $stderr == "dta-dump: cut.pcap: "* ]]
	run -1 --separate-stderr dta-dump packets nowhere.pcap
	[[ $stderr == "dta-dump: nowhere.pcap: "* ]]
	echo hello >text
	run -1 dta-dump packets text
}

@test "packets: real traffic, and a bad link: a row for every packet" {
	dta-gen int-postcard --count 2000 -q -w r.pcap
	dta-collect --create --layout "$EXAMPLES/int-postcard.ini" -R "$NAME"
	for seed in 1 2 3; do
		mangle -s $seed -l 0.05 -d 0.05 -f 0.5 -c 0.3 -r 0.1 <r.pcap \
			>bad.pcap 2>told
		n=$(sed -n 's/.* out=\([0-9]*\)$/\1/p' told)
		[ "$(dta-dump packets bad.pcap -o ndjson --region "$NAME" |
			jq -s length)" = "$n" ]
		[ "$(dta-dump packets bad.pcap | wc -l)" = "$n" ]
	done
	for capture in "${CAPTURES[@]}"; do
		[ "$(dta-dump packets "$capture" -o csv | sed 1d | wc -l)" = \
			"$(packets_in "$capture")" ]
	done
}

@test "packets: INT and telemetry reports, hop by hop as the truth has them" {
	local version format

	for version in 0.5 1.0 2.0 2.1; do
		for format in md report xd; do
			dta-gen int -q -p $version -F $format --flows 40 -w in.pcap \
				--truth truth.csv
			dta-dump packets in.pcap -o ndjson >rows
			jq -r '.key as $k | .hops | split(";")[] |
				capture("node=(?<n>[0-9]+),ingress=(?<i>[0-9]+),egress=(?<e>[0-9]+).*occupancy=(?<o>[0-9]+)") |
				[$k, .n, .i, .e, .o] | join(",")' rows |
				sort >got
			sed 1d truth.csv | cut -d, -f3,6-8,11 | sort |
				diff - got
			[ $format = xd ] || [ "$(wc -l <rows)" = "$(packets_in in.pcap)" ]
			[ $format != md ] ||
				[ "$(jq -r .protocol,.opcode rows | sort -u | xargs)" = "int md" ]
			[ $format = md ] ||
				[ "$(jq -r .protocol rows | sort -u)" = report ]
		done
	done
	dta-gen int -q -p 2.1 -F mx --flows 9 -w in.pcap
	[ "$(dta-dump packets in.pcap | grep -c ' int mx key=')" = "$(packets_in in.pcap)" ]
}

@test "packets: IOAM, and a telemetry report that is cut" {
	# Hop-by-hop: PadN; option 0x31, two nodes of 8 bytes, the newest first.
	{
		printf '%s' "$(printf '0%.0s' {1..24})" 86dd6000000000200040 \
			fd000000000000000000000000000001 \
			fd000000000000000000000000000002 3b030100 311a0000 \
			00011000c0000000 3f00000700010002 4000000600030004
		echo
		frame 54321 20
	} >frames
	capture <frames >io.pcap
	run -0 dta-dump packets io.pcap
	echo "$output"
	[[ ${lines[0]} == *" ioam key=[fd00::1]:0>[fd00::2]:0/59 path_len=2 length=86 hops=node=6,ingress=3,egress=4,hop_limit=64;node=7,ingress=1,egress=2,hop_limit=63" ]]
	[[ ${lines[1]} == *":54321 report length=43 ! malformed or cut short" ]]
}

@test "region: geometry that another program can use" {
	four_kinds | region_of --epochs 2 --pages small
	dta-dump region "$NAME" -o ndjson >rows
	jq -se 'length == 4 and (map(.name) == ["k", "p", "l", "c"]) and
		(map(.id) == [11, 12, 13, 14]) and
		(map(.kind) == ["keywrite", "postcard", "append", "keyinc"]) and
		all(.epoch == 1 and .epochs == 2 and .used == 0 and .used_share == 0 and
			.load == if .kind == "append" then null else 0 end)' rows
	jq -se '.[0] | .stride == 16 and .value_length == 6 and .key_length == 4 and
		.key_type == "u32" and .units == 1024 and .hash == "dta1"' rows
	jq -se '.[1] | .stride == 32 and .hops == 5 and .values == 3' rows
	jq -se '.[2] | .lists == 3 and .entries == 64 and .units == 68 and
		.batch == 4 and .heads >= .offset + 3 * 68 * .stride' rows
	path=$(jq -rs '.[0].path' rows)
	[ "$(stat -c %s "$path")" = "$(jq -s '.[0].size' rows)" ]
	# The V set lies where the row says.
	at=$(jq -s '.[1].values_offset' rows)
	[ "$(od -An -tu4 -j "$at" -N 12 "$path" | xargs)" = '1 3 70' ]
	# The other epoch lies elsewhere.
	dta-collect --region "$NAME" --rotate
	dta-dump region "$NAME" --epoch all -o ndjson |
		jq -se 'length == 8 and (map(.epoch) | unique == [1, 2]) and
			(map(.offset) | unique | length == 8)'
	[ "$(dta-dump region "$NAME" --table l -o ndjson | jq -r .name)" = l ]
	[ "$(dta-dump region "$NAME" --table 14 -o ndjson | jq -r .name)" = c ]
	run -1 dta-dump region "$NAME" --table x
	run -1 --separate-stderr dta-dump region "$NAME" --epoch 3
	[[ $stderr == *"no epoch 3; there are 1 to 2"* ]]
	dta-dump region "$NAME" --no-load -o ndjson |
		jq -se 'all(.used == null and .used_share == null and .load == null)'
	run -0 dta-dump region "$NAME"
	[ "${#lines[@]}" = 13 ] # file, tables, load, lists; a header each
	[[ ${lines[2]} == NAME\ *\ LISTS ]]
	[[ ${lines[7]} == NAME\ *\ USED_SHARE\ *\ LOAD\ *\ OLDEST_SUCCESS\ * ]]
	[[ ${lines[11]} == NAME\ *\ LISTS\ *\ ENTRIES\ *\ LOST\ * ]]
	run -0 dta-dump region "$NAME" --table l
	[ "${#lines[@]}" = 6 ] # nothing but lists: no load
	run -0 dta-dump region "$NAME" --table k
	[ "${#lines[@]}" = 6 ]
	run -0 dta-dump region "$NAME" --no-load
	[ "${#lines[@]}" = 7 ]
}

@test "region: load, slots and lists, as another program counts them" {
	four_kinds | region_of --pages small
	uniform keywrite 11 300 --flows 300 --value 6 --copies 2
	dta-translate -q -r reports.pcap --region "$NAME"
	dta-dump region "$NAME" --slots --table k -o ndjson >slots
	used=$(jq -s length slots)
	dta-dump region "$NAME" -o ndjson |
		jq -se --argjson n "$used" '.[0] | .used == $n and
			(.used_share - $n / 1024 | fabs) < 1e-5'
	[ "$used" -gt 300 ]
	python3 - "$NAME" <<-'EOP' >want
		import os, sys
		sys.path += os.environ["PATH"].split(":")
		from region import Table
		t = Table(sys.argv[1], "k")
		for u in range(t.g["units"]):
		    slot = t.mem[t.at(u):t.at(u) + t.g["stride"]]
		    if any(slot):
		        print(u, slot[:4].hex(), slot[4:10].hex())
	EOP
	jq -r '"\(.unit) \(.checksum) \(.value)"' slots | diff want -
	uniform keyinc 14 300 --copies 2
	dta-translate -q -r reports.pcap --region "$NAME"
	sum=$(awk -F, 'NR > 1 { s += $7 } END { print 2 * s }' truth.csv)
	dta-dump region "$NAME" --slots --table c -o ndjson |
		jq -se --argjson s "$sum" '(map(.count) | add) == $s'
	dta-dump region "$NAME" -o ndjson |
		jq -se --argjson s "$sum" 'map(.sum) == [null, null, null, $s]'
	uniform append 13 300 --lists 2
	dta-translate -q -r reports.pcap --region "$NAME"
	n=$(awk -F, '$3 == 1 && NR > 1' truth.csv | wc -l)
	dta-dump region "$NAME" --lists -o csv >lists
	grep -qx "l,1,1,$n,64,$((n - 64))" lists
	[ "$(wc -l <lists)" = 3 ]
	dta-dump region "$NAME" --table l -o ndjson |
		jq -e '.written == 300 and .lists_used == 2 and .used == 128 and
			.lost == 172 and (.used_share - 2 / 3 | fabs) < 1e-5'
	dta-dump region "$NAME" --slots --table l -o ndjson >slots
	jq -se 'all(.unit == .list * 68 + .entry)' slots
	[ "$(jq -r 'select(.list == 1 and .entry == 0) | .value' slots)" = \
		"$(awk -F, '$3 == 1 && NR > 1 { print $7 }' truth.csv |
			awk 'NR % 68 == 1 { v = $0 } END { print v }')" ]
}

@test "snapshot: the same tables; damage is found, and the rest shown" {
	four_kinds | region_of
	uniform keywrite 11 300 --flows 300 --value 6
	dta-translate -q -r reports.pcap --region "$NAME"
	dta-collect --region "$NAME" --snapshot s.dta
	columns='[.name, .kind, .id, .epoch, .stride, .units, .used, .used_share,
		.load, .load_above, .success, .average_success,
		.success_below, .average_success_below, .sum, .lists_used]'
	diff <(dta-dump region "$NAME" -o ndjson | jq -c "$columns") \
		<(dta-dump snapshot s.dta -o ndjson | jq -c "$columns")
	diff <(dta-dump region "$NAME" --slots -o csv) \
		<(dta-dump snapshot s.dta --slots -o csv)
	dta-dump snapshot s.dta -o ndjson | jq -se --argjson n "$(stat -c %s s.dta)" \
		'all(.damaged == 0 and .blocks > 0 and .size == $n and
			.path == "s.dta" and .offset == null and .unreadable == 0)'
	# One bit, anywhere: damaged (exit 1), or no snapshot at all.
	size=$(stat -c %s s.dta)
	found=0
	for at in $(seq 64 $((size / 12)) $((size - 1))); do
		cp s.dta bad.dta
		python3 -c '
import sys
f = open("bad.dta", "r+b"); at = int(sys.argv[1])
f.seek(at); b = f.read(1)[0]; f.seek(at); f.write(bytes([b ^ 4]))' "$at"
		run --separate-stderr dta-dump snapshot bad.dta -o ndjson
		echo "byte $at: $status, $stderr"
		[ "$status" = 1 ]
		[[ $stderr == "dta-dump: bad.dta: "* ]]
		if [ -n "$output" ]; then
			[ "${#lines[@]}" = 4 ]
			jq -se 'all(.damaged > 0)' <<<"$output"
			# A share of what could be read.
			jq -se 'map(select(.used_share and .kind != "append")) |
				all((.used / (.units - .unreadable) - .used_share |
				fabs) < 1e-5)' <<<"$output"
			found=$((found + 1))
		fi
	done
	[ "$found" -gt 0 ]
	head -c $((size / 2)) s.dta >cut.dta
	run -1 --separate-stderr dta-dump snapshot cut.dta
	run -1 --separate-stderr dta-dump snapshot nowhere.dta
	run -1 --separate-stderr dta-dump snapshot layout.ini
	[[ $stderr == "dta-dump: layout.ini: "* ]]
}

@test "digest: a CRC-32C of each table, of regions and snapshots alike" {
	four_kinds | region_of --epochs 2 --pages small
	uniform append 13 30 --lists 2
	dta-translate -q -r reports.pcap --region "$NAME"
	dta-dump digest "$NAME" -o csv >now
	[ "$(head -n 1 now)" = table,id,epoch,digest,bytes ]
	for t in k p l c; do
		[ "$(awk -F, -v t=$t '$1 == t { print $4 }' now)" = \
			"$(region.py digest "$NAME" $t)" ]
	done
	dta-collect --region "$NAME" --rotate --snapshot s.dta
	dta-dump digest --snapshot s.dta -o csv | diff now -
	dta-dump digest "$NAME" --epoch 1 -o csv | diff now -
	dta-dump digest "$NAME" -o csv >new
	[ "$(grep -c ',2,' new)" = 4 ]
	dta-dump digest "$NAME" --epoch all -o csv | diff - <(cat new <(sed 1d now))
	[ "$(dta-dump digest "$NAME" --table l -o csv | wc -l)" = 2 ]
}

# Requests to serve: pieces of offset and length, as hexadecimal.
piece() { printf '%016x%08x' "$@"; }
request() { # pieces
	printf '%08x%s' $((${#1} / 24)) "$1" | xxd -r -p
}

@test "serve: bytes of the file, in order; nothing else, and to no other" {
	four_kinds | region_of
	dta-collect --region "$NAME" --snapshot s.dta
	size=$(stat -c %s "/dev/shm/$NAME")
	{
		request "$(piece 0 8)$(piece 20480 16)$(piece $((size - 3)) 3)"
		request "$(piece "$size" 0)"
		request "$(piece 1 9)"
	} | dta-dump serve "$NAME" >out
	{
		printf 'DTAm0002 0000 %016x 0000001b' "$size" | sed 's/^DTAm/4454416d/' | xxd -r -p
		head -c 8 "/dev/shm/$NAME"
		tail -c +20481 "/dev/shm/$NAME" | head -c 16
		tail -c 3 "/dev/shm/$NAME"
		printf 0000000000000009 | xxd -r -p
		tail -c +2 "/dev/shm/$NAME" | head -c 9
	} | cmp - out
	# What is asked for that is not there, or no request, ends it.
	bad() { # message
		run -1 --separate-stderr bash -c "dta-dump serve $NAME <request | wc -c; exit \${PIPESTATUS[0]}"
		echo "$stderr"
		[[ $stderr == "dta-dump: $NAME: "*"$1"* ]]
		[ "$output" = 16 ]
	}
	request "$(piece $((size - 3)) 4)" >request
	bad "not in the region"
	request "$(piece 0 16777217)" >request
	bad "too much at once"
	printf 00000000 | xxd -r -p >request
	bad "a request that is none"
	printf 0000000100 | xxd -r -p >request
	bad "cut short"
	run -1 --separate-stderr dta-dump serve ./s.dta
	[[ -z $output && $stderr == *"a snapshot"* ]]
	run -1 --separate-stderr dta-dump serve "$NAME-none"
	[[ -z $output && $stderr == *"no such region"* ]]
	chmod 000 "/dev/shm/$NAME"
	[ "$(id -u)" = 0 ] || run -1 dta-dump serve "$NAME"
	run -2 dta-dump serve "$NAME" --epoch 1
}

@test "misuse: exit 2, and what is wrong" {
	while IFS='|' read -r args message; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr dta-dump $args
		echo "$args: $stderr"
		[[ -z $output && $stderr == *"$message"* ]]
	done <<-'EOF'
		packet x|'packet' is not packets, region, snapshot, digest, serve or regions
		packets|packets of what?
		packets a b|'b': one at a time
		packets a --region x --ticket y|only one of --region and --ticket may
		packets a --slots|--slots is for region and snapshot
		packets a --epoch 3|--epoch is for region, snapshot and digest
		packets a --format dta2|--format
		packets a -c x|--count
		region x --slots --no-load|only one of --slots, --lists and --no-load may
		region x --ticket y|--ticket is for packets
		region x --epoch 0|--epoch
		region x --snapshot y|--snapshot is for digest
		digest x --snapshot y|stands in for NAME
		digest|digest of what?
	EOF
	run -1 --separate-stderr dta-dump region "$NAME"
	[[ $stderr == "dta-dump: $NAME: "*"no such region; "* ]]
	run -1 dta-dump packets x --ticket nowhere
}

@test "full disk: exit 1, and why" {
	dta-gen uniform --count 20000 -q -w r.pcap
	for format in text csv; do
		run -1 --separate-stderr bash -c \
			"dta-dump packets r.pcap -o $format >/dev/full"
		[ "$stderr" = 'dta-dump: standard output: No space left on device' ]
	done
}
