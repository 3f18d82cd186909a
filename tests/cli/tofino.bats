# SPDX-License-Identifier: BSD-2-Clause
# dta-switch --tofino: lines for bfrt_python, whose tables, actions and registers
# are those of the programs in p4/tna; and what the switch cannot do is refused.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-tofino
}

teardown() {
	dta-collect --remove --region "$NAME" 2>/dev/null || true
}

# names COMMANDS PROGRAM: the tables, actions and registers of the lines are in
# the program's source, with those parameters.
names() {
	local line table action source list p

	source=$(cat "$TOP"/p4/tna/common/*.p4 "$TOP/p4/tna/$2"/*.p4 | tr '\n\t' '  ')
	while read -r line; do
		table=${line%%.add_with_*}
		table=${table%%.set_default_with_*}
		table=${table%%.mod(*}
		table=${table##*.}
		grep -qE "(table $table \{|\) $table;)" <<<"$source" ||
			{ echo "no $table: $line"; return 1; }
		case $line in
		*.mod*) continue ;;
		esac
		action=${line#*_with_}
		action=${action%%(*}
		list=$(grep -oE "action $action\([^)]*\)" <<<"$source" | head -n 1)
		[ -n "$list" ] || { echo "no $action: $line"; return 1; }
		for p in $(grep -oE '[a-z_0-9]+[,)]' <<<"$list" | tr -d ',)'); do
			grep -qE "[(, ]$p=" <<<"$line" ||
				{ echo "$action: no $p: $line"; return 1; }
		done
	done < <(grep -oE 'p4\.[A-Z][A-Za-z_.]*\.(add_with_|set_default_with_|mod\().*' "$1" |
		sort -u)
}

layout() {
	cat >layout.ini <<-INI
		[seen]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 4Ki
		[events]
		id = 2
		kind = append
		value = 16
		lists = 2
		entries = 60
		batch = 4
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
	dta-collect --create --layout layout.ini --region "$NAME" --ticket t.ini
}

@test "--tofino: its lines name what is in dta_translator" {
	layout
	dta-collect --region "$NAME" --ticket - | dta-switch dta_translator -t - >lines
	names lines dta_translator
	python3 -m py_compile lines
}

@test "dta_reporter: its lines name what is in dta_reporter" {
	layout
	dta-switch dta_reporter --tofino t.ini >lines
	names lines dta_reporter
	python3 -m py_compile lines
}

@test "int_xd: its lines name what is in int_node" {
	layout
	dta-switch int_xd -t 1/5 --tell latency t.ini >lines
	names lines int_node
	grep -q 'card(hop=1, path_len=5, what=2, less_one=0)' lines
	python3 -m py_compile lines
}

@test "dart_reporter: its lines name what is in dart_reporter" {
	layout
	dta-switch dart_reporter -t t.ini t.ini >lines
	names lines dart_reporter
	python3 -m py_compile lines
}

@test "--tofino: slots, batches, chunks, and the fixed part of iCRCs" {
	layout
	dta-switch dta_translator -t t.ini >lines
	# 4 bytes of value behind the checksum: 8; nothing to pad
	grep -q 'lanes.add_with_lane(table_id=1, n=0, kind=1, key_len=13, udp_len=33, copies=2, .* form=8, pad=0x00, ' lines
	grep -q 'mask(lane=0, slots=0xfff)' lines
	grep -q 'geometry(lane=0, shift=3)' lines
	# four entries of four words
	grep -q 'lane(table_id=2, .* form=64, pad=0x00, .* entry_words=4, last_entry=3)' lines
	# its ring has 64 entries, in batches
	grep -q 'mask(lane=1, slots=0x3c)' lines
	grep -q 'geometry(lane=1, shift=4)' lines
	grep -q 'ring(list_row=1, egress_rid=0, at=0x400)' lines
	grep -q 'ring(list_row=1, egress_rid=8, at=0x8' lines
	# five hops in 32 bytes; a path of two has three that are blank
	grep -q 'lane(table_id=4, .* form=32, pad=0x00, hops=0x1f, row_mask=0x3f, row_first=64, ' lines
	grep -q 'path(table_id=4, path_len=2, hop=1, own_hop=0x02, rest=0x01, direct=0)' lines
	grep -q 'path(table_id=4, path_len=1, hop=0, own_hop=0x01, rest=0x00, direct=1)' lines
	[ "$(grep -c 'table_id=4, path_len=' lines)" -eq 20 ]
	# queue pairs and addresses, as the ticket has them
	address=$(sed -n 's/^address = 0x//p' t.ini | head -n 1)
	grep -q "pair(lane=0, .*address=0x$(printf %016x $((16#$address))))" lines
	# an iCRC for each pair and form: 1 + 1 immediate for slots; batch, count
	# and its immediate; the addition; chunk, its immediate, and an entry
	[ "$(grep -c 'frames.add_with_frame(' lines)" -eq 9 ]
	[ "$(grep -o 'icrc=.*' lines | sort -u | wc -l)" -eq 9 ]
}

@test "--tofino: a list goes on with its count" {
	printf '%s\n' '[paths]' kind=postcard key=flow4 chunks=1Ki hops=5 \
		values=1-9 cache=64 '[events]' kind=append value=16 lists=2 \
		entries=60 batch=4 >layout.ini
	dta-collect --create --layout layout.ini --region "$NAME"
	dta-gen uniform --kind append --table 2 --lists 2 --value 16 -c 24 -q -w - |
		dta-translate -q -r - --region "$NAME"
	dta-collect --region "$NAME" --ticket - | dta-switch dta_translator -t - >lines
	grep -q 'lane(table_id=2, .* row_first=64, ' lines
	for list in 0 1; do
		grep -q "owners.port.mod(REGISTER_INDEX=$((64 + list)), f1=0x0000000c)" lines
		grep -q "high_counts.mod(REGISTER_INDEX=$((64 + list)), f1=0x00000000)" lines
	done
	names lines dta_translator
}

@test "--tofino: what the switch cannot do is refused" {
	for fields in 'kind=keywrite slots=1Ki key=u32 value=4' \
		'kind=keywrite slots=1000 key=flow4 value=4' \
		'kind=keywrite slots=1Ki key=flow4 value=6' \
		'kind=keywrite slots=1Ki key=flow4 value=32' \
		'kind=append value=18 batch=2 ring=1Ki lists=1' \
		'kind=append value=4 batch=32 ring=1Ki lists=1' \
		'kind=append value=4 batch=16 ring=1000 lists=1' \
		'kind=append value=4 ring=64 lists=4097' \
		'kind=postcard chunks=1Ki key=flow4 values=1-9 cache=64Ki'; do
		printf '%s\n' '[no]' ${fields// /$'\n'} >no.ini
		dta-collect --create --layout no.ini --region "$NAME" \
			--ticket t.ini
		run -1 --separate-stderr dta-switch dta_translator -t t.ini
		[[ $stderr == *"the switch "* ]]
		[[ $stderr != *"key: "* || $stderr == *"; make a region of a layout that has this otherwise, or is without the table" ]]
		[ -z "$output" ]
		dta-collect --remove --region "$NAME"
	done
	layout
	run -1 --separate-stderr dta-switch dart_reporter -t t.ini t.ini t.ini
	[[ $stderr == *"power of two of collectors"* ]]
	dta-collect --region "$NAME" --ticket six.ini --ip ::1 --peer-ip ::2
	run -1 --separate-stderr dta-switch dta_translator -t six.ini
	[[ $stderr == *"IPv4 only" ]]
	sed '/^tables/s/4/5/' t.ini >part.ini
	run -1 --separate-stderr dta-switch dta_translator -t part.ini
	[[ $stderr == *"part.ini: not a whole ticket"* ]]
	sed '/^rkey/,$d' t.ini | sed 's/^tables.*/tables = 1/' >part.ini
	run -1 --separate-stderr dta-switch dta_translator -t part.ini
	[[ $stderr == *"part.ini: not a whole ticket"* ]]
}
