# SPDX-License-Identifier: BSD-2-Clause
# The published formats, DTA/0: reports in both variants, through both roads,
# into tables of hash family dta0. What is then in the region's file is compared,
# byte by byte, with a calculation of its own.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-dta0-$BATS_TEST_NUMBER
	cat >layout.ini <<-INI
		[kw]
		kind = keywrite
		key = u32
		value = 4
		slots = 4096
		hash = dta0
		[ap]
		kind = append
		value = 4
		entries = 500
		lists = 4
		batch = 16
		hash = dta0
		[ki]
		kind = keyinc
		key = u32
		slots = 4096
		hash = dta0
		[pc]
		kind = postcard
		key = u32
		chunks = 1024
		hops = 5
		values = 0-4294967294
		hash = dta0
	INI
	cat >expect.py <<-'PYTHON'
		# expect.py TABLES.ndjson TRUTH.csv...: what each table must hold.
		import csv, json, struct, sys, zlib

		HOPS = [0x1e12a701, 0x65b96595, 0x49cf878b, 0x36518f0d, 0x7a40a909]

		def crc(poly, data):
		    mirrored = int(f"{poly:032b}"[::-1], 2)
		    reg = 0xffffffff
		    for byte in data:
		        reg ^= byte
		        for _ in range(8):
		            reg = reg >> 1 ^ (mirrored if reg & 1 else 0)
		    return reg ^ 0xffffffff

		def slots(key, copies, units):
		    little = struct.pack("<I", key)
		    return [zlib.crc32(little + bytes([n])) % units * 8
		            for n in range(copies)]

		tables = {t["kind"]: t for t in map(json.loads, open(sys.argv[1]))}
		want = {k: bytearray(t["length"]) for k, t in tables.items()}
		count = {}
		for path in sys.argv[2:]:
		    for row in csv.DictReader(open(path)):
		        kind, key = row["kind"], int(row["key"])
		        units, mem = tables[kind]["units"], want[kind]
		        if kind == "keywrite":
		            sum = zlib.crc32(struct.pack("<I", key))
		            for at in slots(key, int(row["copies"]), units):
		                struct.pack_into("<I4s", mem, at, sum,
		                                 bytes.fromhex(row["value"]))
		        elif kind == "keyinc":
		            for at in slots(key, int(row["copies"]), units):
		                old, = struct.unpack_from("=Q", mem, at)
		                struct.pack_into("=Q", mem, at, old + int(row["value"]))
		        elif kind == "append":
		            n = count.get(key, 0)
		            struct.pack_into("<I", mem, (key * units + n % units) * 4,
		                             int(row["value"], 16))
		            count[key] = n + 1
		        else:
		            big, hop = struct.pack(">I", key), int(row["hop"])
		            at = zlib.crc32(big) % units * 32 + hop * 4
		            struct.pack_into(">I", mem, at,
		                             crc(HOPS[hop], big) ^ int(row["value"]))
		append = tables["append"]
		for key, n in count.items():
		    struct.pack_into(">Q", want["append"],
		                     append["heads"] - append["offset"] + 8 * key, n)
		for kind, table in tables.items():
		    file = open(table["path"], "rb")
		    file.seek(table["offset"])
		    got = file.read(table["length"])
		    bad = [i for i in range(len(got)) if got[i] != want[kind][i]]
		    print(kind, "differs at", bad[:4], "of", len(bad)) if bad else \
		        print(kind, "is right,", len(got) - got.count(0), "bytes used")
	PYTHON
}

teardown() {
	remove_regions "$NAME"
}

# Reports of all four kinds, in one capture each, with their truth.
make_reports() { # format
	local kinds=(keywrite append keyinc postcard) copies=(4 0 3 0) i

	for i in 0 1 2 3; do
		dta-gen uniform -q --kind ${kinds[i]} --key-type u32 --lists 4 \
			--copies ${copies[i]} --table $((i + 1)) --format "$1" \
			--count 3001 --truth $i.csv -w $i.pcap
	done
}

memory_is_right() {
	dta-dump region "$NAME" --no-load -o ndjson >tables
	python3 expect.py tables 0.csv 1.csv 2.csv 3.csv >verdict
	cat verdict
	[ "$(grep -c 'is right, [1-9][0-9]\{3,\} bytes used' verdict)" = 4 ]
	[ "$(wc -l <verdict)" = 4 ]
}

stored() { # format
	make_reports "$1"
	dta-collect --create --layout layout.ini --region "$NAME"
	for i in 0 1 2 3; do
		dta-translate -q -r $i.pcap --region "$NAME" --format "$1"
	done
	memory_is_right
	dta-collect --remove --region "$NAME"

	dta-collect --create --layout layout.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket ticket
	for i in 0 1 2 3; do
		dta-translate -q -r $i.pcap --ticket ticket --format "$1" -w - |
			dta-collect -q --region "$NAME" -r -
		# A ticket tells how far the lists are.
		dta-collect --region "$NAME" --ticket ticket
	done
	memory_is_right
}

@test "dta0a reports: memory as the published system has it, by both roads" {
	stored dta0a
}

@test "dta0b reports: memory as the published system has it, by both roads" {
	stored dta0b
}

@test "the published packets, as bytes, and the published slots" {
	# Key-Write n=2 key=1 data=0x2a, in both published variants; and its hash:
	# key 1 has slots 0xfb42dead, 0x8c45ee3b and checksum 79b8f899 in memory.
	dta-collect --create --layout layout.ini --region "$NAME"
	path=$(dta-dump region "$NAME" --no-load -o ndjson | jq -rs '.[0].path')
	base=$(dta-dump region "$NAME" --no-load -o ndjson | jq -s '.[0].offset')
	hex="01 00 02 00 00 00 01 00 00 00 2a"
	for format in dta0a dta0b; do
		echo "0000 $hex" | text2pcap -q -u 49374,40040 -F pcap - in.pcap
		dta-translate -q -r in.pcap --format $format --region "$NAME"
		for slot in $((0xfb42dead % 4096)) $((0x8c45ee3b % 4096)); do
			got=$(od -An -tx1 -j $((base + 8 * slot)) -N 8 "$path")
			[ "$got" = " 79 b8 f8 99 00 00 00 2a" ]
		done
		hex="01 05 40 02 00 00 00 01 00 00 00 2a"
	done
}

@test "the other variant and other versions are refused, each by its reason" {
	make_reports dta0b
	dta-collect --create --layout layout.ini --region "$NAME"
	dta-dump digest "$NAME" -o csv >before
	for format in dta1 dta0a; do
		for i in 0 1 2 3; do
			run -1 --separate-stderr dta-translate -o ndjson \
				-r $i.pcap --region "$NAME" --format $format
			grep '^{' <<<"$stderr" >ledger
			jq -se '(map(select(.role == "in").value) | add) == 3001
				and all(select(.role == "done").value == 0)' \
				ledger >/dev/null || { cat ledger; return 1; }
		done
		dta-dump digest "$NAME" -o csv | diff before -
	done
}
