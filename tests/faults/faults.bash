# SPDX-License-Identifier: BSD-2-Clause
# A translator and a software collector on the two ends of a bad link, all in a
# network namespace: load ../helpers, load ../wire, load faults
#
#   send in1 --- in0 translator t0 --- la link lb --- c0 collector

ROAD=(--to t0 --no-xdp) # the translator's end

faults_setup() {
	need_tools link
	NAME=dta-test-$$-faults-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
	wire_up in0:in1 t0:la lb:c0
}

faults_teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

dta-translate() { on_wire dta-translate "$@"; }

# start LOG COMMAND...: in the background; PID is its id.
start() {
	local log=$1

	shift
	ip netns exec "$WIRE" "$@" >>"$log" 2>&1 3>&- 9>&- &
	PID=$!
	BG_PIDS+=("$PID")
}

# layout WORKLOAD: the example; in make check with few slots, which take long to
# compare.
layout() {
	sed -E "$(size 's/^(slots|chunks) = .*/\1 = 128K/' '')" "$EXAMPLES/$1.ini"
}

# prepare WORKLOAD COUNT: reports, a region for them, and one that holds what a
# road without any loss stores.
prepare() {
	dta-gen "$1" --seed 9 --flows "$2" -q -w reports.pcap
	layout "$1" >layout.ini
	for r in "$NAME" "$NAME-whole"; do
		dta-collect --create --layout layout.ini --region "$r"
	done
	dta-translate -q -r reports.pcap --region "$NAME-whole"
	cp "$(path_of "$NAME")" before
}

path_of() { dta-dump region "$1" --no-load -o ndjson | jq -rs '.[0].path'; }

start_link() { # its options
	start link.log "$TOOLS/link" "$@" la lb
	LINK=$PID
	wait_for grep -q linked link.log
}

start_collector() { # more options
	rm -f ticket.ini
	start collect.log dta-collect -o ndjson --region "$NAME" \
		-i c0 --no-xdp --ticket ticket.ini "$@"
	COLLECT=$PID
	wait_for [ -s ticket.ini ]
}

# Ends a program, which says then what it counted.
finish() {
	kill "$1" 2>/dev/null || :
	wait "$1" || :
}

asked() { counter translate.log "$1" requester; }
lost() {
	echo $(($(asked window_full) + $(asked refused) + $(asked outdated) +
		$(asked unsent)))
}

nothing_missing() { same_memory "$NAME" "$NAME-whole"; }

# Whatever came, nothing but the tables has changed (and the first pages, where
# a region keeps its writers).
only_tables_changed() {
	dta-dump region "$NAME" --no-load -o ndjson |
		jq -r '"\(.offset) \(.length)"' >tables
	python3 - before "$(path_of "$NAME")" <<'END'
import sys
a, b = (bytearray(open(p, 'rb').read()) for p in sys.argv[1:])
assert len(a) == len(b)
for line in open('tables'):
    at, n = map(int, line.split())
    a[at:at + n] = b[at:at + n] = bytes(n)
assert a[294912:] == b[294912:]
END
}

# No counter is above what it would be without any loss.
never_counted_twice() {
	local n

	for r in "$NAME" "$NAME-whole"; do
		dta-dump region "$r" --slots -o ndjson |
			jq -r '"\(.table)/\(.unit) \(.count)"' | sort >"$r.counts"
	done
	join -a 1 "$NAME.counts" "$NAME-whole.counts" >both
	awk '$2 > $3 + 0 { exit 1 }' both
}

# A line of the fault table: what, sent, stored, lost, resent.
tell() { # FAULT STORED
	local line

	[ -s "$BUILD/faults.txt" ] ||
		printf '%-34s %9s %9s %9s %9s %9s\n' fault sent stored lost \
			unanswered resent >"$BUILD/faults.txt"
	line=$(printf '%-34s %9s %9s %9s %9s %9s' "$1" "$(asked requests)" \
		"$2" "$(lost)" "$(asked unanswered)" "$(asked resent)")
	echo "$line" >>"$BUILD/faults.txt"
	echo "# $line" >&3
}

# Requests carried out; probes, which are empty, left out.
stored() { # BYTES of a request
	echo $(($(counter collect.log bytes responder) / $1))
}

# through WORKLOAD COUNT BYTES FAULT LINK-OPTIONS...: all gets through.
through() {
	local workload=$1 count=$2 bytes=$3 fault=$4

	shift 4
	prepare "$workload" "$count"
	start_link "$@"
	start_collector
	dta-translate -o ndjson -r reports.pcap --ticket ticket.ini \
		"${ROAD[@]}" 2>translate.log
	finish "$COLLECT"
	finish "$LINK"
	balances translate.log
	balances collect.log
	[ "$(asked requests)" -gt 0 ]
	[ "$(asked acked)" = "$(asked requests)" ]
	[ "$(stored "$bytes")" = "$(asked requests)" ]
	nothing_missing
	only_tables_changed
	tell "$fault, ${workload%%-*}" "$(stored "$bytes")"
}
