# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# dta-query why: a chain that is broken in one place, and the place that it names.
#
#   reporter r0 --- ra link rb --- in0 translator t0 --- la link lb --- c0 collector

load ../helpers
load ../wire
load faults

setup() {
	faults_setup
	on_wire ip link del in0
	on_wire ip link add r0 type veth peer name ra
	on_wire ip link add rb type veth peer name in0
	for i in r0 ra rb in0; do
		on_wire ip link set $i up
	done
	export DTA_LEDGERS=$PWD/pages
	mkdir pages
	layout uniform >layout.ini
	dta-collect --create --layout layout.ini --region "$NAME" --epochs 2
}
teardown() {
	faults_teardown
	remove_regions "$NAME"
}

# A chain that works; what follows breaks it.
start_chain() { # options of the link before the translator
	start first.log "$TOOLS/link" "$@" ra rb
	FIRST=$PID
	wait_for grep -q linked first.log
	start_link
	start_collector
	cp ticket.ini given.ini
	start translate.log dta-translate -i in0 "${ROAD[@]}" \
		--ticket given.ini
	TRANSLATE=$PID
	wait_for grep -q "in0: AF_" translate.log
	start gen.log dta-gen uniform -q -i r0 --no-xdp --rate 2000 \
		--to-mac "$(on_wire cat /sys/class/net/in0/address)"
	wait_for acked 1
}

# value COUNTER: of a program's page now; acked N: so much is confirmed.
value() {
	dta-top --once --every 300ms -t counters -o ndjson |
		jq -s "map(select(.counter == \"$1\").value) | add + 0"
}
acked() { [ "$(value acked)" -ge "$1" ]; }
has() { [ "$(value "$1")" -ge "$2" ]; }

# why: PLACES are the lines about places, without the program's name before.
why() {
	run --separate-stderr dta-query why -R "$NAME" "$@" '10.9.9.9:1>10.9.9.8:2/tcp'
	[ "$status" = 3 ]
	PLACES=$(grep -E ' (were lost|ended|requests of .* wait:|cannot be read)' \
		<<<"$stderr" | sed '/10\.9\.9\.9/d; s/^dta-query: //' || :)
	echo "$stderr" # shown if the test fails
}

@test "nothing is lost: each program's counts, and no place" {
	start_chain
	why
	[ -z "$PLACES" ]
	[[ $stderr =~ "dta-gen "[0-9]+", to r0: packets "[0-9]+ ]]
	[[ $stderr =~ "dta-translate $TRANSLATE, from in0, to given.ini: received "[0-9]+", stored "[0-9]+", requests "[0-9]+", acked "[0-9]+ ]]
	[[ $stderr =~ "dta-collect $COLLECT, from c0: received "[0-9]+", executed "[0-9]+ ]]
}

@test "between reporter and translator" {
	start_chain -o 3000:300
	wait_for has missing 1
	wait_for acked 8000
	why
	[[ $PLACES =~ ^([0-9]+)" reports were lost between r0 and in0: missing"$ ]]
	finish "$FIRST"
	grep -q " lost=${BASH_REMATCH[1]} " first.log
}

@test "the translator is killed" {
	start_chain
	kill -KILL "$TRANSLATE"
	wait "$TRANSLATE" || :
	why
	[[ $PLACES =~ ^"dta-translate $TRANSLATE ended "[0-9]+" s ago, killed, "[0-9]+" requests waited"$ ]]
}

@test "between translator and collector" {
	local before

	start_chain
	kill "$LINK"
	wait "$LINK" || :
	wait_for has window_full 1
	before=$(value window_full)
	why
	[[ $PLACES =~ ^"4096 requests of dta-translate $TRANSLATE wait: the collector does not answer"$'\n'([0-9]+)" requests were lost between dta-translate $TRANSLATE and c0: window_full"$ ]]
	[ "${BASH_REMATCH[1]}" -ge "$before" ]
	[ "${BASH_REMATCH[1]}" -le "$(value window_full)" ]
}

@test "the collector has another epoch than the ticket" {
	local before

	start_chain
	dta-collect --rotate --region "$NAME"
	wait_for has refused 1
	before=$(value refused)
	why
	[[ $PLACES =~ ([0-9]+)" requests were lost between dta-translate $TRANSLATE and c0: refused"$ ]]
	[ "${BASH_REMATCH[1]}" -ge "$before" ]
	[ "${BASH_REMATCH[1]}" -le "$(value refused)" ]
	[ "$(wc -l <<<"$PLACES")" -le 2 ]
}

@test "another machine: by ssh; one that is not reached is told" {
	mkdir bin there
	cat >bin/ssh <<-EOS
		#!/bin/bash
		echo "\$*" >>$PWD/asked
		all=" \$* "
		[[ \$all == *" far "* ]] || exit 255
		DTA_LEDGERS=$PWD/there exec ip netns exec $WIRE \${all##* far }
	EOS
	chmod +x bin/ssh
	DTA_LEDGERS=$PWD/there start_chain -o 3000:300
	DTA_LEDGERS=$PWD/there wait_for has missing 1
	PATH=$PWD/bin:$PATH
	why
	[ -z "$PLACES" ]
	why --ssh far --ssh nowhere
	[[ $PLACES =~ ^"nowhere: its counters cannot be read: exit status 255" ]]
	[[ $PLACES =~ [0-9]+" reports were lost between r0 and in0: missing"$ ]]
	[[ $stderr == *"dta-translate $TRANSLATE on far, from in0, to given.ini: "* ]]
}
