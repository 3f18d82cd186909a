# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# Host to host: dta-translate --verbs in one guest, dta-collect --cm in another,
# a wire between them that can be cut.

load ../helpers
load guest
load traffic
load ../hook

setup_file() {
	export NAME=dta-test-$$-hosts
	cd "$BATS_FILE_TMPDIR" || exit 1
	guest_there || return 0
	# Synthetic: a capture would leave a path half done, in the cache.
	mix 500 first.pcap --flows 500
	dta-collect --create --layout "$BATS_TEST_DIRNAME/mix.ini" --region "$NAME"
	dta-translate -q -r first.pcap --region "$NAME"
	tables "$NAME" >once
	dta-translate -q -r first.pcap --region "$NAME"
	tables "$NAME" >twice
	export GUEST
	guest_start a b
	guest_start b a
	cp "$BATS_TEST_DIRNAME/mix.ini" "$GUEST_DIR/a/layout.ini"
	cp first.pcap "$GUEST_DIR/b"
	tail -c +25 first.pcap >"$GUEST_DIR/b/more"
}

setup() {
	guest_needed
	cd "$BATS_FILE_TMPDIR" || exit 1
	A=$GUEST_DIR/a B=$GUEST_DIR/b
	rm -f "$A"/r.* "$B"/{go,end,rc,translate.err}
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || { # what they said of it
		cat "$A/r.err" "$B/translate.err" || :
		on_a 'dmesg | tail -n 30' || :
	}
	[ ! -e "$A/r.pid" ] || on_a 'kill -9 $(cat r.pid); rm r.pid'
	on_a 'rm -f /dev/shm/*'
	[ ! -e "$B/translate.pid" ] || on_b 'kill -9 $(cat translate.pid); rm translate.pid'
	: >"$B/go"
	: >"$B/end"
}

teardown_file() {
	remove_regions "$NAME"
	guest_stop
}

create() {
	on_a 'dta-collect --create --layout layout.ini --region r --epochs 2'
}

collect() { guest_hosts r 40040; }

# translate [on]: first.pcap, and when go says so again, once or on and on; ends
# with end.
translate() {
	local again="cat more"

	[ -z "${1:-}" ] || again="until [ -e end ]; do cat more; done"
	on_b "mkfifo /tmp/feed.$BATS_TEST_NUMBER"
	on_b '{ cat first.pcap; until [ -e go ]; do sleep 0.3; done; '"$again"'
		until [ -e end ]; do sleep 0.3; done; } >/tmp/feed.'$BATS_TEST_NUMBER' &
		{ dta-translate -r /tmp/feed.'$BATS_TEST_NUMBER' --verbs 10.0.0.51 -o ndjson \
		2>translate.err & echo $! >translate.pid; wait $!; echo $? >rc; } \
		</dev/null >/dev/null 2>&1 &'
}

has_come() { # digests
	on_a 'dta-dump digest r -o csv' | grep -E ',1,[0-9a-f]{8},' |
		cmp -s - <(grep -E ',1,[0-9a-f]{8},' "$1")
}

says() {
	grep -q -- "$1" "$B/translate.err"
}

# The ledger of the road adds up, and a jq condition holds of its counters.
ledger() {
	grep '^{' "$B/translate.err" | jq -se 'map(select(.stage == "transport")) |
		([.[] | select(.role == "in").value] | add) as $in |
		([.[] | select(.role == "done" or .role == "loss" or .role == "harmless").value] | add) as $out |
		(map({(.counter): .value}) | add) | . as $all | $in == $out and ('"$1"')' ||
		{ grep '"transport"' "$B/translate.err"; return 1; }
}

finish() { # exit status
	: >"$B/go"
	: >"$B/end"
	patient [ -s "$B/rc" ]
	rm -f "$B/translate.pid"
	cat "$B/rc"
	[ "$(<"$B/rc")" = "$1" ]
}

@test "over a wire: the same memory" {
	create
	collect
	on_b 'dta-translate -q -r first.pcap --verbs 10.0.0.51:40040'
	on_a 'dta-dump digest r -o csv' | grep -E ',1,[0-9a-f]{8},' | diff - <(grep -E ',1,[0-9a-f]{8},' once)
}

@test "IPv6" {
	create
	on_a 'dta-collect --region r --verbs rxe0 --ip fd00::51 --cm 40041 2>r.err & echo $! >r.pid'
	patient on_b 'dta-translate -q -r first.pcap --verbs [fd00::51]:40041'
	has_come once
}

@test "no file can be opened or made, and nothing be executed; hosts connect" {
	local refused

	command -v cc >/dev/null || skip "no compiler"
	[[ $BUILD != *san* ]] || skip "sanitizers are not confined"
	(cd "$A" && hook && cp hook.so "$B")
	refused=$(printf 'open: 13\ncreate: 13\nexec: 13\nasked')
	create
	on_a 'LD_PRELOAD=/host/hook.so dta-collect --region r --verbs rxe0 --cm 40040 \
		2>r.err & echo $! >r.pid'
	patient on_b 'dta-translate -q -r first.pcap --verbs 10.0.0.51'
	on_a 'kill -USR2 $(cat r.pid); sleep 0.5'
	[ "$(<"$A/r.err")" = "$refused" ]
	on_b 'mkfifo /tmp/hook; LD_PRELOAD=/host/hook.so dta-translate -q -r /tmp/hook \
			--verbs 10.0.0.51 2>translate.err &
		exec 4>/tmp/hook; cat first.pcap >&4; sleep 1
		kill -USR2 $!; sleep 0.5; exec 4>&-; wait $!'
	[ "$(<"$B/translate.err")" = "$refused" ]
	has_come twice
}

@test "the wire is cut for 5 s: nothing is lost" {
	create
	collect
	translate
	patient has_come once
	# Frames to a socket that has another name now go nowhere.
	mv "$GUEST_DIR/a.sock" "$GUEST_DIR/a.cut"
	mv "$GUEST_DIR/b.sock" "$GUEST_DIR/b.cut"
	: >"$B/go"
	sleep 5
	mv "$GUEST_DIR/a.cut" "$GUEST_DIR/a.sock"
	mv "$GUEST_DIR/b.cut" "$GUEST_DIR/b.sock"
	finish 0
	has_come twice
	ledger '.received == .completed and .disconnections == 0'
}

@test "a collector that dies with much on its way, and comes back" {
	create
	collect
	translate on
	patient has_come once
	: >"$B/go"
	# Once something has come of it, something is on its way nearly always:
	patient eval '! has_come once'
	on_a 'kill -9 $(cat r.pid)'
	patient says 'connection lost'
	collect
	patient says 'connected again, epoch 1'
	finish 0
	# Of the batch in hand some may come when it is known.
	ledger '.received == .completed + .flushed + .unanswered + .unconnected and
		.disconnections == 1 and .connections == 2 and .tickets >= 2'
	# What was lost is counted, if anything was: sent again, all is there.
	# Counters and lists remember, of course.
	on_b 'dta-translate -q -r first.pcap --verbs 10.0.0.51'
	on_a 'dta-dump digest r -o csv' | grep -E '^(flows|wide|paths),.,1,' |
		diff - <(grep -E '^(flows|wide|paths),.,1,' twice)
}

@test "a new epoch: the ticket is fetched again, nothing is lost" {
	create
	collect
	translate
	patient has_come once
	on_a 'dta-collect --region r --rotate'
	patient says 'connected again, epoch 2'
	finish 0
	ledger '.received == .completed and .tickets == 2 and .connections == 2'
	# The new epoch holds what the old one does, as it got the same.
	on_a 'dta-dump digest r -o csv' | sed 's/,2,\([0-9a-f]\{8\},\)/,1,\1/' |
		diff - once
}

@test "a collector with other tables: no operation goes there" {
	create
	collect
	translate
	patient has_come once
	on_a 'kill $(cat r.pid); while [ -e /proc/$(cat r.pid) ]; do sleep 0.1; done
		rm /dev/shm/r
		sed "s/slots = 16Ki/slots = 8Ki/" layout.ini >other.ini
		dta-collect --create --layout other.ini --region r'
	collect
	: >"$B/go"
	patient says 'the collector has other tables'
	finish 1
	ledger '.unconnected > 0 and .completed + .unconnected == .received'
	on_a 'dta-dump digest r -o csv' | awk -F, 'NR > 1 && $1 != "losses" {print $4}' |
		sort -u >sums
	[ "$(wc -l <sums)" -le 3 ] # of empty tables of three lengths
}

@test "told to end while nobody answers" {
	create
	collect
	translate
	patient has_come once
	on_a 'kill $(cat r.pid)'
	: >"$B/go"
	patient says 'connection lost'
	on_b 'kill $(cat translate.pid)'
	finish 1
	ledger '.completed > 0 and .disconnections == 1'
}

refuses() { # ADDRESS MESSAGE
	GUEST=b guest_fails "dta-translate: $1: $2" \
		"dta-translate -q -r first.pcap --verbs '$1'"
}

misused() { # ADDRESS
	GUEST=b guest_fails -2 "dta-translate: --verbs: $1: not ADDRESS" \
		"dta-translate -q -r first.pcap --verbs '$1'"
}

@test "what is wrong with an address" {
	refuses 10.0.0.51:99 "nobody listens at port 99 of this address"
	refuses '[fd00::51]' "nobody listens at port 40040"
	refuses 127.0.0.1 "no RDMA device leads there"
	refuses 10.0.0.77 "Connection timed out"
	misused :9
	misused '[fd00::51'
	misused 10.0.0.51:0
	misused 10.0.0.51:65536
	misused 10.0.0.51:
	on_b 'chmod 600 /dev/infiniband/rdma_cm; chmod 644 first.pcap'
	run on_b "su nobody -s /bin/sh -c 'dta-translate -r /host/first.pcap --verbs 10.0.0.51'"
	echo "$output"
	[[ $output == *"/dev/infiniband/rdma_cm: "*"let this user open it"* ]]
	on_b 'chmod 666 /dev/infiniband/rdma_cm'
}
