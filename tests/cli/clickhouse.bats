# SPDX-License-Identifier: BSD-2-Clause
# Rows to ClickHouse, the real one.

load ../helpers
load ../databases

setup() {
	need clickhouse-server curl
	need_tools rows_to
	cd "$BATS_TEST_TMPDIR" || exit 1
	PORT=$(free_port)
	URL=clickhouse://127.0.0.1:$PORT/net
}

teardown() { end_bg; }

@test "database and tables are made; rows are there, each once, as they were" {
	clickhouse_up
	printf 'put 12345\nput 8 label\n' | rows_to "$URL?create=yes" >log
	balances log 12353
	[ "$(counter log written)" = 12353 ]
	[ "$(clickhouse_ask 'SELECT count(), sum(latency), uniq(time) FROM hop' | xargs)" = \
		"12345 76193340 12345" ]
	run clickhouse_ask 'SELECT * FROM hop WHERE latency IN (3, 6) ORDER BY time'
	[ "${lines[0]}" = $'1600000000.000003000\ta b,c=d\\\\e"f\t0\t10.0.0.0:3->10.0.1.1:443\t3\t-3\t0.75\t1\t[6,5,3]\t00ff' ]
	[ "${lines[1]}" = $'1600000000.000006000\tspine1\t1\t10.0.0.0:6->10.0.1.1:443\t6\t-6\t1.5\t0\t[6,5,2]\t00ff' ]
	[[ $(clickhouse_ask 'SHOW CREATE TABLE hop') == *"ENGINE = MergeTree ORDER BY (node, ifNull(port, 0), time)"* ]]
	[ "$(clickhouse_ask 'SELECT count() FROM label')" = 8 ]
}

@test "what int-collect does not know of a key is NULL, not 0" {
	clickhouse_up
	dta-gen int -q --flows 20 -w in.pcap
	int-collect -q -r in.pcap -R event -o csv -x "$URL?create=yes" >events
	clickhouse_ask 'SELECT metric, node, port, queue FROM int_event' |
		sort >rows
	sed 1d events | awk -F, -v OFS='\t' '
		{ for (i = 4; i <= 6; i++) if ($i == "") $i = "\\N"
			print $3, $4, $5, $6 }' | sort | diff - rows
	grep -qP '^path\t\\N\t\\N\t\\N' rows
	grep -qP '^hop_latency\t\d+\t\\N\t\\N' rows
}

@test "no table, and not asked to make it: rows wait; what does not fit is refused" {
	clickhouse_up
	curl -s -d 'CREATE DATABASE net' "http://127.0.0.1:$PORT/"
	begin "$URL"
	printf 'put 10\nuntil retries 1\nstatus\n' >&7
	wait_for grep -q '^down: HTTP 404: Code: 60' log
	clickhouse_ask 'CREATE TABLE hop (time String, node String, port UInt64,
		flow String, latency UInt64, depth Int64, utilization Float64,
		lost UInt8, path Array(UInt64), key String) ENGINE = Log'
	clickhouse_ask 'CREATE TABLE label (time String) ENGINE = Log'
	printf 'until written 10\nput 5 label\n' >&7
	finish
	balances log 15
	[ "$(counter log refused)" = 5 ]
	grep -q 'refused: HTTP 500: Code: 117' log
	[ "$(clickhouse_ask 'SELECT sum(latency) FROM hop')" = 45 ]
}

@test "over shards: ENGINE = Distributed" {
	clickhouse_up
	clickhouse_up $((PORT + 20))
	for p in "$PORT" $((PORT + 20)); do
		curl -s -d 'CREATE DATABASE net' "http://127.0.0.1:$p/"
		clickhouse_ask 'CREATE TABLE hop_local (time String, node String,
			port Nullable(UInt64), flow Nullable(String),
			latency Nullable(UInt64), depth Nullable(Int64),
			utilization Nullable(Float64), lost Nullable(UInt8),
			path Array(UInt64), key Nullable(String)) ENGINE = MergeTree ORDER BY time' "$p"
	done
	rows_to "$URL?create=yes&engine=Distributed(two,net,{}_local,ifNull(port,0))&rows=1000" \
		<<<"put 5000" >log
	[ "$(counter log written)" = 5000 ]
	all() { [ "$(clickhouse_ask 'SELECT count() FROM hop')" = 5000 ]; }
	wait_for all
	[ "$(clickhouse_ask 'SELECT count() FROM hop_local')" = 2500 ]
	[ "$(clickhouse_ask 'SELECT count() FROM hop_local' $((PORT + 20)))" = 2500 ]
}

@test "killed in the middle, and back: nothing lost" {
	clickhouse_up
	begin "$URL?create=yes&rows=500"
	printf 'put 5000\nuntil written 1000\nstatus\n' >&7
	wait_for grep -q rows log
	crash "$SERVER"
	printf 'put 5000\nuntil retries 1\nstatus\n' >&7
	clickhouse_up
	echo 'until written 10000' >&7
	finish
	balances log 10000
	[ "$(counter log written)" = 10000 ]
	[ "$(clickhouse_ask 'SELECT uniqExact(latency) FROM hop')" = 10000 ]
}
