# SPDX-License-Identifier: BSD-2-Clause
# Live on several cores: what must stay in order does: a reporter's numbers, a queue
# pair's, a flow's. Memory, rows and ledger are those of one core.

load ../helpers
load net

setup() {
	need_net
	need_tools send
	cd "$BATS_TEST_TMPDIR" || exit 1
	table 1 2 3 4 5 >strict.ini
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

# table ID...: Key-Write, in order only.
table() {
	local id

	for id; do
		printf '[t%d]\nid = %d\nkind = keywrite\nkey = flow4\n' "$id" "$id"
		printf 'value = 4\nslots = 1Mi\ncopies = 2\nsequence = strict\n\n'
	done
}

# Reports of 10.1.0.1, as of 10.N.0.1.
from_switch() { # N
	python3 -c 'if True:
		import struct, sys
		data = bytearray(sys.stdin.buffer.read())
		at = 24
		while at < len(data):
		    size = struct.unpack_from("<I", data, at + 8)[0]
		    at += 16
		    data[at + 27] = int(sys.argv[1])
		    sum = struct.unpack_from(">H", data, at + 24)[0] + 1 - int(sys.argv[1])
		    struct.pack_into(">H", data, at + 24, sum + (sum < 0) * 0xffff)
		    at += size
		sys.stdout.buffer.write(data)' "$1"
}

# Five reporters at once, each with keys of its own that it writes again and
# again, to a table of its own: the last of its reports must win.
reports() {
	local i

	for i in 1 2 3 4 5; do
		dta-gen uniform --seed "$i" --flows 100 --count 4000 --tracked \
			--rate 100000 --table "$i" -q -w - | from_switch "$i" >"$i.pcap"
	done
	mergecap -F nsecpcap -w reports.pcap ?.pcap
	[ "$(tshark -r reports.pcap -T fields -e ip.src | uniq | wc -l)" -gt 10000 ]
}

# received_all PID LOG COUNT COUNTER
received_all() {
	kill -USR1 "$1"
	wait_for grep -q "\"$4\"" "$2"
	[ "$(counter "$2" "$4")" = "$3" ]
}

# The ledger of a stage that was printed last.
ledger_of() { # stage log
	ledger "$2" | awk -v stage="$1" '$1 == stage { value[$2] = $4 }
		END { for (c in value) print c, value[c] }' | sort
}

# on_each: once CORES LOG REGION on one to three cores.
on_each() {
	local j

	reports
	net_up
	make_regions strict.ini file
	dta-translate -q -r reports.pcap --region "$NET-file"
	for j in 1 2 3; do
		make_regions strict.ini "$j"
		once "$j" "log.$j" "$NET-$j"
		balances "log.$j"
		same_memory "$NET-file" "$NET-$j"
		diff "ledger.log.1" "ledger.log.$j"
	done
}

# sends CAPTURE COUNT LOG [COUNTER]: to the program that start started, until it
# has all.
sends() {
	wait_for listens "$3"
	on r "$TOOLS/send" "$1" r0 >sent
	grep -qx "sent $2 dropped 0" sent
	wait_for received_all "$PID" "$3" "$2" "${4:-received}"
	stop "$PID"
}

@test "dta-translate: strict reporters on one to three cores" {
	once() {
		start t "$2" dta-translate -o ndjson -i t0 --no-xdp -j "$1" \
			--region "$3"
		sends reports.pcap 20000 "$2"
		[ "$(counter "$2" stored)" = 20000 ]
		ledger_of translate "$2" >"ledger.$2"
	}
	on_each
}

@test "dta-collect: queue pairs in order on one to three cores" {
	once() {
		local n at=(--mac 02:00:00:00:00:77 --ip 10.0.0.51)

		dta-collect --region "$3" --ticket ticket "${at[@]}"
		dta-translate -q -r reports.pcap --ticket ticket -w roce.pcap
		n=$(packets_in roce.pcap)
		start t "$2" dta-collect -o ndjson -i t0 "${at[@]}" --no-xdp \
			-j "$1" --region "$3"
		sends roce.pcap "$n" "$2"
		[ "$(counter "$2" executed)" = "$n" ]
		ledger_of responder "$2" >"ledger.$2"
	}
	on_each
}

# What is told of each flow in its order, and of which queues and links; times
# are others each time.
told() { # rows
	jq -r 'select(.flow) | .flow + " " + (del(.time) | tostring)' "$1" |
		sort -s -k 1,1
	jq -c 'select(.event == "new_key" and .flow == null) |
		[.metric, .node, .port, .queue]' "$1" | sort
}

@test "int-collect: flows and reporters in order on one to three cores" {
	local j

	dta-gen int -q --flows 300 --hops 4 -c 15000 --rate 100000 -w md.pcap
	dta-gen int -q -F report -s 2 --flows 300 --hops 4 -c 5000 --loss 1 \
		--rate 30000 -w report.pcap
	mergecap -F nsecpcap -w both.pcap md.pcap report.pcap
	net_up
	for j in 1 2 3; do
		start t "log.$j" int-collect -o ndjson -i t0 -j "$j" \
			--push 0 -t queue_occupancy=off \
			-t link_utilization=off -t hop_latency=1us
		sends both.pcap "$(packets_in both.pcap)" "log.$j" frames
		balances "log.$j"
		told "log.$j.out" >"told.$j"
		ledger_of telemetry "log.$j" >"ledger.$j"
		cmp told.1 "told.$j"
		diff ledger.1 "ledger.$j"
	done
	[ "$(wc -l <told.1)" -gt 5000 ]
	[ "$(counter log.1 reports_lost)" -gt 10 ]
	[ "$(counter log.1 reports_late)" = 0 ]
}
