# SPDX-License-Identifier: BSD-2-Clause
# Reporter, translator and collector in three network namespaces, live: what is
# left in memory is what the same reports leave there out of a capture.

load ../helpers
load net

setup() {
	need_net
	EXAMPLES=$TOP/cmd/dta-collect/examples
	TOOLS=$BUILD/tests/tools
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

# make_regions LAYOUT: one for the capture, one for the wire.
make_regions() {
	local road

	for road in file wire; do
		dta-collect --create --layout "$1" --region "$NET-$road"
	done
}

# counter LOG NAME: of the ledger printed last.
counter() {
	jq -r --arg name "$2" 'select(.counter == $name).value' "$1" | tail -n 1
}

# has_received PID LOG COUNT: whether its ledger says so, asked for just now.
has_received() {
	kill -USR1 "$1"
	sleep 0.05 # a look, not a promise: whoever calls looks again
	[ "$(grep '^{' "$2" | counter /dev/stdin received)" = "$3" ]
}

same_memory() {
	cmp -s <(dta-dump digest "$NET-file" -o csv) \
		<(dta-dump digest "$NET-wire" -o csv)
}

# Every stage of an NDJSON ledger adds up: its last printing.
balances() {
	grep '^{' "$1" | jq -se 'group_by(.stage + "/" + .counter) | map(last) |
		length > 0 and (group_by(.stage) | all(
		(map(select(.role == "in").value) | add) ==
		(map(select(.role == "done" or .role == "drop").value) | add)))' \
		>/dev/null
}

packets() { capinfos -cMTr "$1" | awk '{ print $NF }'; }

# live CAPTURE OPTIONS...: from r through t to c, with OPTIONS for all sources.
live() {
	local capture=$1 n

	shift
	n=$(packets "$capture")
	dta-translate -q -r "$capture" --region "$NET-file"
	start c collect.log dta-collect -o ndjson --region "$NET-wire" \
		-i c0 --ticket ticket.ini "$@" "${COLLECT[@]}"
	local collect=$PID
	wait_for listens collect.log
	wait_for test -s ticket.ini
	start t translate.log dta-translate -o ndjson -i t0 --to t1 \
		--ticket ticket.ini "$@"
	local translate=$PID
	wait_for listens translate.log
	on r "$TOOLS/send" "$capture" r0 | tee sent
	grep -qx "sent $n dropped 0" sent
	wait_for has_received "$translate" translate.log "$n"
	stop "$translate" # writes what was waiting
	wait_for same_memory
	stop "$collect"
	balances translate.log
	balances collect.log
	! grep -h "dropped by the kernel\|could not be sent" ./*.log
	grep '^{' collect.log >c.ndjson
	[ "$(jq -s 'map(select(.role == "drop").value) | add' c.ndjson)" = 0 ]
}

one_memory() { # workload options...
	local workload=$1

	shift
	net_up
	make_regions "$EXAMPLES/$workload.ini"
	dta-gen "$workload" --seed 7 --count 20000 -q -w reports.pcap
	live reports.pcap "$@"
}

@test "AF_PACKET: Key-Write" { one_memory uniform --no-xdp; }
@test "AF_PACKET: postcards" { one_memory int-postcard --no-xdp; }
@test "AF_PACKET: Append" { one_memory netseer-loss --no-xdp; }
@test "AF_PACKET: Key-Increment" { one_memory marple-hosts --no-xdp; }
