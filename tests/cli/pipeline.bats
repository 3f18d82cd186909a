# SPDX-License-Identifier: BSD-2-Clause
# dta-gen | dta-translate | dta-collect, asked and checked: every workload by
# both roads, the local one and RoCEv2 packets through the software responder.

load ../helpers

setup() {
	NAME=dta-test-$$-pipe-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	remove_regions "$NAME"
}

# One capture by both roads: equal memories, balanced ledgers.
both_roads() { # workload capture
	make_regions "$EXAMPLES/$1.ini" a b
	dta-translate -o ndjson -r "$2" --region "$NAME-a" 2>local.ndjson
	dta-collect --region "$NAME-b" --ticket ticket.ini
	dta-translate -o ndjson -r "$2" --ticket ticket.ini -w roce.pcap \
		2>translate.ndjson
	dta-collect -o ndjson --region "$NAME-b" -r roce.pcap -w answers.pcap \
		2>responder.ndjson
	for ledger in local translate responder; do
		balances $ledger.ndjson || { cat $ledger.ndjson; return 1; }
	done
	# A clean capture: nothing is dropped on either side.
	jq -se 'all(select(.role == "loss").value == 0)' \
		local.ndjson responder.ndjson >/dev/null
	same_memory "$NAME-a" "$NAME-b"
	cmp "$(dta-dump region "$NAME-a" --no-load -o ndjson | jq -rs '.[0].path')" \
		"$(dta-dump region "$NAME-b" --no-load -o ndjson | jq -rs '.[0].path')" \
		-i "$(dta-dump region "$NAME-a" --no-load -o ndjson |
			jq -s 'map(.offset) | min')"
}

# Nothing wrong, and no more missing than theory allows at the table's load.
answers_agree() { # truth
	dta-query verify --region "$NAME-a" --truth "$1" -o ndjson \
		>verify.ndjson
	cat verify.ndjson
	jq -se 'length > 0 and
		all(.wrong == 0 and .right > 0)' verify.ndjson >/dev/null
	jq -c 'select(.missing + .ambiguous > 0)' \
		verify.ndjson | while read -r row; do
		table=$(jq -r .table <<<"$row")
		dta-dump region "$NAME-a" -o ndjson |
			jq -s --arg t "$table" --argjson v "$row" \
			'map(select(.name == $t or (.id | tostring) == $t))[0] |
			 ($v.asked / .units) as $load | .copies as $n |
			 pow(1 - (-$n * $load | exp); $n) as $lost |
			 ($v.missing + $v.ambiguous) <=
			 ($v.asked * $lost + 4 * ($v.asked * $lost | sqrt) + 3)' |
			grep -qx true || { echo "too many missing: $row"; return 1; }
	done
}

synthetic() { # workload [count]
	dta-gen "$1" --seed 11 --count "${2:-20000}" -q --truth truth.csv -w reports.pcap
	both_roads "$1" reports.pcap
	answers_agree truth.csv
}

from_trace() { # workload
	local capture

	for capture in "${CAPTURES[@]}"; do
		echo "of $capture"
		dta-gen "$1" --from "$capture" -q --truth truth.csv -w reports.pcap
		both_roads "$1" reports.pcap
		answers_agree truth.csv
		remove_regions "$NAME"
	done
}

@test "int-path, synthetic: two roads, one memory, true answers" { synthetic int-path; }
@test "int-postcard, synthetic: two roads, one memory, true answers" { synthetic int-postcard; }
@test "int-congestion, synthetic: two roads, one memory, true answers" { synthetic int-congestion; }
@test "marple-hosts, synthetic: two roads, one memory, true answers" { synthetic marple-hosts; }
@test "marple-hosts-sum, synthetic: two roads, one memory, true answers" { synthetic marple-hosts-sum; }
@test "marple-flowlets, synthetic: two roads, one memory, true answers" { synthetic marple-flowlets; }
@test "marple-timeouts, synthetic: two roads, one memory, true answers" { synthetic marple-timeouts; }
@test "marple-lossy, synthetic: two roads, one memory, true answers" { synthetic marple-lossy; }
@test "netseer-loss, synthetic: two roads, one memory, true answers" { synthetic netseer-loss; }
@test "packetscope-path, synthetic: two roads, one memory, true answers" { synthetic packetscope-path; }
@test "pint, synthetic: two roads, one memory, true answers" { synthetic pint; }
@test "sonata-raw, synthetic: two roads, one memory, true answers" { synthetic sonata-raw; }
@test "trajectory, synthetic: two roads, one memory, true answers" { synthetic trajectory; }
@test "dshark, synthetic: two roads, one memory, true answers" { synthetic dshark; }
@test "turboflow, synthetic: two roads, one memory, true answers" { synthetic turboflow; }
@test "uniform, synthetic: two roads, one memory, true answers" { synthetic uniform; }

@test "int-path, real traffic: two roads, one memory, true answers" { from_trace int-path; }
@test "int-postcard, real traffic: two roads, one memory, true answers" { from_trace int-postcard; }
@test "int-congestion, real traffic: two roads, one memory, true answers" { from_trace int-congestion; }
@test "marple-hosts, real traffic: two roads, one memory, true answers" { from_trace marple-hosts; }
@test "marple-hosts-sum, real traffic: two roads, one memory, true answers" { from_trace marple-hosts-sum; }
@test "marple-flowlets, real traffic: two roads, one memory, true answers" { from_trace marple-flowlets; }
@test "marple-timeouts, real traffic: two roads, one memory, true answers" { from_trace marple-timeouts; }
@test "marple-lossy, real traffic: two roads, one memory, true answers" { from_trace marple-lossy; }
@test "netseer-loss, real traffic: two roads, one memory, true answers" { from_trace netseer-loss; }
@test "packetscope-path, real traffic: two roads, one memory, true answers" { from_trace packetscope-path; }
@test "pint, real traffic: two roads, one memory, true answers" { from_trace pint; }
@test "sonata-raw, real traffic: two roads, one memory, true answers" { from_trace sonata-raw; }
@test "trajectory, real traffic: two roads, one memory, true answers" { from_trace trajectory; }
@test "dshark, real traffic: two roads, one memory, true answers" { from_trace dshark; }
@test "turboflow, real traffic: two roads, one memory, true answers" { from_trace turboflow; }
