# SPDX-License-Identifier: BSD-2-Clause
# Rows to InfluxDB 1.x, the real one.

load ../helpers
load ../databases

setup() {
	need influxd influx curl
	need_tools rows_to
	cd "$BATS_TEST_TMPDIR" || exit 1
	PORT=$(free_port)
	URL=influx://127.0.0.1:$PORT/net?create=yes
}

teardown() { end_bg; }


@test "rows are there, each once, as they were" {
	influx_up
	echo "put 12345" | rows_to "$URL" >log
	balances log 12345
	[ "$(counter log written)" = 12345 ]
	[ "$(influx_ask 'SELECT count(latency) FROM hop')" = hop,0,12345 ]
	run influx_ask "SELECT * FROM hop WHERE latency = 3 OR latency = 6"
	[ "${lines[0]}" = 'hop,1600000000000003000,-3,10.0.0.0:3->10.0.1.1:443,00ff,3,true,"a b,c=d\e""f","6,5,3",0,0.75' ]
	[[ ${lines[1]} == hop,1600000000000006000,-6,*,6,false,spine1,\"6,5,2\",1,1.5 ]]
	# tags are tags, nothing else is
	[ "$(influx_ask 'SHOW TAG KEYS' | cut -d, -f2 | xargs)" = "node port" ]
	[ "$(influx_ask 'SHOW FIELD KEYS' | cut -d, -f2,3 | xargs)" = \
		"depth,integer flow,string key,string latency,integer lost,boolean path,string utilization,float" ]
}

@test "rows of one series and time are all kept" {
	influx_up
	echo "put 1000 hop 0" | rows_to "$URL" >log
	[ "$(counter log written)" = 1000 ]
	[ "$(influx_ask 'SELECT count(latency) FROM hop')" = hop,0,1000 ]
}

@test "a rejected row does not take the others with it, nor is it sent again" {
	influx_up
	curl -s -d 'q=CREATE DATABASE net' "http://127.0.0.1:$PORT/query" >/dev/null
	# a shard, of a week, has another type for depth; rows are of six weeks
	curl -s --data-binary 'hop,node=leaf2,port=0 depth="text" 1600000000000000000' \
		"http://127.0.0.1:$PORT/write?db=net"
	echo "put 1000 hop 3600000000000" | rows_to "$URL" >log
	balances log 1000
	n=$(counter log refused)
	[ "$n" -gt 0 ]
	[ "$n" -lt 169 ]
	[ "$(counter log retries)" = 0 ]
	grep -q "refused: partial write: field type conflict" log
	[ "$(influx_ask 'SELECT count(latency) FROM hop')" = "hop,0,$((1000 - n))" ]
}

@test "no database, and not asked to make it: rows wait, nothing is dropped" {
	influx_up
	begin "${URL%\?*}"
	printf 'put 10\nuntil retries 1\nstatus\n' >&7
	wait_for grep -q '^down: HTTP 404' log
	curl -s -d 'q=CREATE DATABASE net' "http://127.0.0.1:$PORT/query" >/dev/null
	echo 'until written 10' >&7
	finish
	balances log 10
	[ "$(influx_ask 'SELECT count(latency) FROM hop')" = hop,0,10 ]
}

@test "killed in the middle, and back: each row once" {
	influx_up
	begin "$URL&rows=100"
	printf 'put 5000\nuntil written 300\nstatus\n' >&7
	wait_for grep -q rows log
	crash "$SERVER"
	printf 'put 5000\nuntil retries 2\nstatus\n' >&7
	wait_for grep -q '^down' log
	influx_up
	echo 'until written 10000' >&7
	finish
	balances log 10000
	[ "$(counter log written)" = 10000 ]
	[ "$(influx_ask 'SELECT count(latency) FROM hop')" = hop,0,10000 ]
}

@test "dead: what does not fit is counted, and the end does not wait for ever" {
	timeout 60 "$TOOLS/rows_to" -e 1 -q 300000 "$URL" <<<"put 100000" >log || rc=$?
	[ "$rc" = 1 ]
	balances log 100000
	[ "$(counter log full)" -gt 50000 ]
	[ "$(counter log unsent)" -gt 0 ]
	grep -q '^down: Failed to connect' log
}

@test "dead, with a spool: all is kept, and sent by the next, in order" {
	run -1 rows_to -e 1 -q 300000 -s spool "$URL" <<<"put 50000"
	balances <(echo "$output") 50000
	[ "$(counter <(echo "$output") full)" -lt 50000 ]
	kept=$(counter <(echo "$output") kept)
	[ "$kept" -gt 0 ]
	influx_up
	echo "put 10" | rows_to -s spool "$URL" >log
	balances log $((kept + 10))
	[ "$(counter log found)" = "$kept" ]
	[ "$(counter log written)" = $((kept + 10)) ]
	[ -z "$(find spool -name '*.spool')" ]
	[ "$(influx_ask 'SELECT count(latency) FROM hop')" = "hop,0,$((kept))" ]
}

@test "users: the URL's, else rows wait" {
	influx_up
	curl -s -d "q=CREATE USER me WITH PASSWORD 'a:b@c' WITH ALL PRIVILEGES" \
		"http://127.0.0.1:$PORT/query" >/dev/null
	kill "$SERVER"
	wait "$SERVER" || :
	export INFLUXDB_HTTP_AUTH_ENABLED=true
	influx_up
	run -1 rows_to -e 1 "$URL" <<<"put 1"
	[[ $output == *"down: HTTP 401"* ]]
	echo "put 1" | rows_to "${URL/127/me:a%3ab%40c@127}" >log
	[ "$(counter log written)" = 1 ]
}
