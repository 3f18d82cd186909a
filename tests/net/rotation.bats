# SPDX-License-Identifier: BSD-2-Clause
# Rotations under a running translator, live: in whatever order and delay the
# two ends are told, or none of them, what is sent afterwards is stored, and
# what is sent meanwhile is stored or counted.

load ../helpers
load net

setup() {
	need_net
	need_tools send
	cd "$BATS_TEST_TMPDIR" || exit 1
	DELAYS=${ROTATION_DELAYS:-0 0.05 0.3}
	CASE=0
	cat >layout.ini <<-END
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 64K
		copies = 2
	END
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

# counter NAME: of the requester, asked for now.
requests() {
	local lines

	lines=$(grep -c '"strangers"' translate.log)
	kill -USR1 "$TRANSLATE" || return
	wait_for more_than "$lines"
	grep '^{' translate.log | tail -n 21 | jq -s --arg name "$1" \
		'map(select(.stage == "requester" and .counter == $name).value)[0]'
}

more_than() { [ "$(grep -c '"strangers"' translate.log)" -gt "$1" ]; }

# Nothing waits for an answer.
settled() { [ "$(requests unanswered)" = "$ABOUT" ] && [ "$(requests unsent)" = 0 ]; }

start_collector() {
	start c collect.log dta-collect -o ndjson -i c0 --no-xdp \
		--region "$NET-r" --ticket ticket.ini
	COLLECT=$PID
	wait_for listens collect.log
}

start_translator() {
	start t translate.log dta-translate -o ndjson -i t0 --to t1 --no-xdp \
		"$@"
	TRANSLATE=$PID
	wait_for listens translate.log
}

traffic() { # for as long as it is let
	start r gen.log dta-gen uniform -i r0 --to-mac 02:00:00:00:00:02 \
		--rate 2000 --seed 99 -q
	TRAFFIC=$PID
}

# What the two ends are told after a rotation, DELAY apart.
order_none() { sleep "$1"; }
order_collector() { kill -HUP "$COLLECT" && sleep "$1" && kill -HUP "$TRANSLATE"; }
order_translator() { kill -HUP "$TRANSLATE" && sleep "$1" && kill -HUP "$COLLECT"; }
order_twice() { order_collector "$1" && order_translator "$1"; }
order_restart() {
	kill "$COLLECT"
	wait "$COLLECT"
	sleep "$1"
	start_collector
	kill -HUP "$TRANSLATE"
}

# one ORDER DELAY TRAFFIC: a rotation, and reports afterwards.
one() {
	CASE=$((CASE + 1))
	[ "$3" = off ] || traffic
	[ "$3" = off ] || sleep 0.1
	dta-collect --region "$NET-r" --rotate
	"order_$1" "$2"
	if [ "$3" = on ]; then
		kill "$TRAFFIC"
		wait "$TRAFFIC" || :
	fi
	dta-gen uniform --seed $CASE --count 200 -q --truth truth.csv -w after.pcap
	on r "$TOOLS/send" after.pcap r0 >/dev/null
	wait_for all_there || {
		echo "case: $*"
		dta-query verify --region "$NET-r" --truth truth.csv || :
		cat ticket.ini
		tail -n 5 collect.log
		tail -n 40 translate.log
		return 1
	}
}

all_there() {
	[ "$(dta-query verify --region "$NET-r" --truth truth.csv -o ndjson |
		jq -s '.[0].right')" = 200 ]
}

matrix() {
	local order delay traffic

	for order in none collector translator twice restart; do
		for delay in $DELAYS; do
			for traffic in off on; do
				one $order "$delay" $traffic
			done
		done
	done
}

@test "on interfaces" {
	net_up
	dta-collect --create --layout layout.ini --epochs 2 --region "$NET-r"
	start_collector
	start_translator --ticket ticket.ini
	matrix
	stop "$TRANSLATE"
}
