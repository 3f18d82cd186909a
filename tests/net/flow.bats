# SPDX-License-Identifier: BSD-2-Clause
# Reporters on an interface, a strict translator on the one at its other end:
# NACKs find their way back, and what is stored is what was sent.

load ../helpers
load net

setup() {
	need_net
	cd "$BATS_TEST_TMPDIR" || exit 1
	cat >keyinc.ini <<-END
		[sums]
		id = 1
		kind = keyinc
		key = flow4
		slots = 1Mi
		copies = 2
		sequence = strict
	END
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

mac() { on t cat /sys/class/net/t0/address; }

# flow TRANSLATE-OPTIONS -- REPORTER-OPTIONS: ledgers in t.ndjson, r.ndjson.
flow() {
	local translate=()

	while [ "$1" != -- ]; do
		translate+=("$1")
		shift
	done
	shift
	net_up
	dta-collect --create --layout keyinc.ini --region "$NET"
	start t translate.log dta-translate -o ndjson -i t0 --region "$NET" \
		"${translate[@]}"
	wait_for listens translate.log
	on r timeout --foreground 60 dta-gen uniform --kind keyinc --flows 1000 \
		--tracked \
		--truth truth.csv -o ndjson -i r0 --to-mac "$(mac)" "$@" \
		2>reporter.log
	stop "$PID"
	grep '^{' translate.log >t.ndjson
	grep '^{' reporter.log >r.ndjson
	dta-query verify --region "$NET" --truth truth.csv
}

@test "a pace that the link bears: all confirmed" {
	flow --no-xdp -- --count 5000 --rate 20000
	[ "$(counter r.ndjson confirmed)" = 5000 ]
	[ "$(counter t.ndjson stored)" = 5000 ]
}

@test "the limit on operations: the reporter slows down, all is there" {
	flow --no-xdp --op-rate 20000 -- --count 5000 --wait
	[ "$(counter t.ndjson rate_limited)" -gt 0 ]
	[ "$(counter r.ndjson nacks_rate)" -gt 0 ]
	[ "$(counter r.ndjson backoffs)" -gt 0 ]
	[ "$(counter t.ndjson stored)" = 5000 ]
}

@test "nobody knows who takes the reports: a message with the cure" {
	net_up
	run -1 --separate-stderr on r dta-gen uniform --count 1 -i r0
	[[ $stderr == *"--to-mac"* ]]
}
