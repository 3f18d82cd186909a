# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# Rotations under a running translator, on soft-RoCE: as a switch by tickets
# and their packets, and host to host. In whatever order and delay the two ends
# are told, or if none of them is, what is sent afterwards is stored, and what
# is sent meanwhile is stored or counted.

load ../helpers
load ../wire
load ../rotation
load guest
load ../faults/faults

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	guest_there || return 0
	export GUEST
	guest_start a b
	cat >layout.ini <<-INI
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 64Ki
		copies = 2
	INI
	cp layout.ini "$GUEST_DIR/a"
}

setup() {
	guest_needed
	cd "$BATS_TEST_TMPDIR" || exit 1
	A=$GUEST_DIR/a B=$GUEST_DIR/b
	rotation_cases none collector translator restart
}

teardown() {
	rm -f traffic
	end_bg
	wire_down
}

teardown_file() { guest_stop; }

on_a() {
	local GUEST=a
	guest_run "$@"
}

on_b() {
	local GUEST=b
	guest_run "$@"
}

# collect OPTIONS...: the device, ready.
collect() {
	echo "$*" >"$A/options"
	on_a 'dta-collect --region r --verbs rxe0 --grace 100ms $(cat options) \
		2>>collect.err & echo $! >collect.pid'
}

order_restart() {
	on_a 'kill $(cat collect.pid)
		while kill -0 $(cat collect.pid) 2>/dev/null; do sleep 0.05; done'
	sleep "$1"
	collect $(<"$A/options")
	hup_translator
}
hup_collector() { on_a 'kill -HUP $(cat collect.pid)'; }

one() { # order delay traffic road
	CASE=$((CASE + 1))
	[ "$3" = off ] || traffic
	on_a 'dta-collect --region r --rotate'
	"order_$1" "$2"
	[ "$3" = off ] || end_traffic
	arrives "$*"
	echo "$4: $1 $2 $3"
}

# arrives CASE: what is sent now is stored.
arrives() {
	command dta-gen uniform --seed $CASE --count 200 -q --truth truth.csv \
		-w after.pcap
	sed 1d truth.csv | cut -d, -f3 >"$A/keys"
	give after.pcap
	patient all_there || {
		echo "case: $*"
		tail -n 20 "$A/collect.err" "$LOG"
		return 1
	}
}

all_there() {
	[ "$(on_a "dta-query keywrite --region r --keys keys -e $((CASE + 1)) -o csv" |
		grep -c ',found,')" = 200 ]
}

begin() { # options of dta-collect
	on_a 'rm -f /dev/shm/r collect.err
		dta-collect --create --layout layout.ini --epochs 2 --region r'
	collect "$@"
}

@test "packets by a ticket" {
	begin --peer-ip 10.0.0.101 --ticket new.ini
	patient [ -s "$A/new.ini" ]
	hup_translator() { kill -HUP "$TRANSLATE"; }
	give() { tail -c +25 "$1" >&9; }
	need_tools link
	mkfifo reports
	wire_up t0:la
	start link.log "$TOOLS/link" la "$GUEST_DIR/b.sock,$GUEST_DIR/a.sock"
	wait_for grep -q linked link.log
	start translate.log dta-translate -o ndjson -r reports \
		--ticket "$A/new.ini" "${ROAD[@]}"
	TRANSLATE=$PID LOG=translate.log
	exec 9>reports
	head -c 24 chunk.pcap >&9
	matrix ticket
	exec 9>&-
	wait "$TRANSLATE"
	balances translate.log
	on_a 'kill $(cat collect.pid)'
}

@test "host to host" {
	guest_start b a
	begin --cm 40040
	# It does not say when it listens; who asks does.
	patient on_b "verbs_ask 10.0.0.51 40040 4454413200000000" \
		>/dev/null
	LOG=$B/translate.log
	hup_translator() { on_b 'kill -HUP $(cat translate.pid)'; }
	# Files come in at one end of a pipe, one after the other.
	give() {
		local n

		n=$(ls "$B" | grep -c '^part') || :
		tail -c +25 "$1" >"$B/part.new"
		mv "$B/part.new" "$B/part$(printf %05d "$n")"
	}
	head -c 24 chunk.pcap >"$B/part00000"
	on_b '(n=0; while [ ! -e end ]; do
			f=part$(printf %05d $n)
			if [ -e $f ]; then cat $f; n=$((n + 1)); else sleep 0.02; fi
		done) | dta-translate -o ndjson -r - --verbs 10.0.0.51 2>translate.log &
		sleep 0.1
		pidof dta-translate >translate.pid'
	# A connection that the collector has ended takes what is posted before
	# its end is known: that is counted, and lost.
	there() {
		[ "$(on_a "dta-query keywrite --region r --keys keys -e $((CASE + 1)) -o csv" |
			grep -c ',found,')" = 200 ]
	}
	all_there() { there || { give after.pcap; sleep 0.2; there; }; }
	arrives "before any rotation" # so it is connected
	matrix host
	: >"$B/end"
	patient grep -qs disconnections "$B/translate.log"
	balances "$B/translate.log"
}

# A ticket that is fetched in one epoch, and a connection that is asked for in
# the next: what is sent behind that is not lost with the translator.
@test "host to host: who comes while the epochs change, comes in" {
	guest_start b a
	begin --cm 40041
	patient on_b "verbs_ask 10.0.0.51 40041 4454413200000000" \
		>/dev/null
	cp chunk.pcap "$B"
	on_a '(while [ ! -e still ]; do
			dta-collect --region r --rotate || break
		done) 2>rotate.err & echo $! >rotate.pid'
	for _ in {1..8}; do
		on_b 'dta-translate -q -r chunk.pcap --verbs 10.0.0.51:40041'
	done
	: >"$A/still"
	patient on_a '! kill -0 $(cat rotate.pid) 2>/dev/null'
	[ ! -s "$A/rotate.err" ]
	on_a 'kill $(cat collect.pid)'
}
