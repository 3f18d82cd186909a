# SPDX-License-Identifier: BSD-2-Clause
# The endpoint for Prometheus, asked by the real one.

load ../helpers
load ../databases

setup() {
	need curl
	need_tools rows_to
	cd "$BATS_TEST_TMPDIR" || exit 1
	p=$(free_port)
}

teardown() { end_bg; }

@test "promtool has nothing to say about /metrics; the latest values, by tags" {
	need promtool
	begin "prometheus://127.0.0.1:$p"
	printf 'put 1000\nput 10 label\nuntil written 1010\nstatus\n' >&7
	wait_for grep -q '^up' log
	curl -sf "http://127.0.0.1:$p/metrics" >metrics
	run promtool check metrics <metrics
	echo "$output"
	[ "$status" = 0 ]
	[ "$output" = "" ]
	grep -qFx 'hop_latency_seconds{node="leaf1",port="1"} 9.96e-07' metrics
	grep -qFx 'hop_latency_seconds{node="a b,c=d\\e\"f",port="1"} 9.99e-07' metrics
	grep -qFx 'hop_utilization{node="leaf2",port="0"} 248.25' metrics
	grep -qFx 'hop_rows_total{node="leaf2",port="0"} 125' metrics
	grep -qFx '# TYPE hop_latency_seconds gauge' metrics
	run -1 grep -e flow -e path metrics
	[ "$(curl -sf "http://127.0.0.1:$p/healthz")" = ok ]
	[ "$(curl -s -o body -w '%{http_code}' "http://127.0.0.1:$p/")" = 404 ]
	finish
	balances log 1010
}

@test "series are bounded: rows of more are refused" {
	begin "prometheus://127.0.0.1:$p?series=3"
	printf 'put 800\nuntil refused 500\nuntil written 300\nstatus\n' >&7
	wait_for grep -q '^up' log
	curl -sf "http://127.0.0.1:$p/metrics" >metrics
	[ "$(grep -c '^hop_latency' metrics)" = 3 ]
	grep -qx 'refused: more series than series= allows' log
	finish
}

@test "Prometheus has them" {
	need prometheus jq
	begin "prometheus://127.0.0.1:$p"
	printf 'put 1000\nuntil written 1000\nstatus\n' >&7
	PORT=$(free_port)
	wait_for grep -q '^up' log
	prometheus_up "$p"
	has() { [ "$(prometheus_ask 'sum(hop_rows_total)')" = 1000 ]; }
	wait_for has # it begins with a pause of seconds
	[ "$(prometheus_ask 'hop_latency_seconds{node="leaf2",port="1"}')" = 9.97e-07 ]
	finish
}

@test "an address that is taken, and one that is none" {
	begin "prometheus://127.0.0.1:$p"
	echo status >&7
	wait_for grep -q '^up' log
	run -1 rows_to "prometheus://127.0.0.1:$p" </dev/null
	[ "$output" = "rows_to: prometheus://127.0.0.1:$p: Address already in use" ]
	run -1 rows_to prometheus://nowhere:1 </dev/null
	[ "$output" = "rows_to: prometheus://nowhere:1: 'nowhere' is not an address" ]
	finish
}
