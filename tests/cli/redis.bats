# SPDX-License-Identifier: BSD-2-Clause
# Rows to Redis, the real one.

load ../helpers
load ../databases

setup() {
	need redis-server redis-cli
	need_tools rows_to
	cd "$BATS_TEST_TMPDIR" || exit 1
	PORT=$(free_port)
	URL=redis://127.0.0.1:$PORT
}

teardown() { end_bg; }

@test "events are streams, flows and labels are hashes that expire" {
	redis_up
	printf 'put 3000 hop\nput 3000 flow\nput 8 label\n' | rows_to "$URL" >log
	balances log 6008
	[ "$(counter log written)" = 6008 ]
	[ "$(redis_ask xlen hop)" = 3000 ]
	[ "$(redis_ask xrange hop - + count 1 | sed 1d | xargs)" = \
		"time 1600000000.000000000 node leaf1 port 0 flow 10.0.0.0:0->10.0.1.1:443 latency 0 depth 0 utilization 0 lost false path 6:5:0 key 00ff" ]
	# of flow rows 3000 to 5999
	[ "$(redis_ask hget 'flow:10.0.0.5:7->10.0.1.1:443' latency)" = 5007 ]
	[ "$(redis_ask hget 'flow:10.0.0.5:7->10.0.1.1:443' node)" = 'a b,c=d\e"f' ]
	ttl=$(redis_ask pttl 'flow:10.0.0.5:7->10.0.1.1:443')
	[ "$ttl" -gt 0 ]
	[ "$ttl" -le 60000 ]
	[ "$(redis_ask hget leaf2-1 latency)" = 6005 ]
	[ "$(redis_ask dbsize)" = 3009 ]
}

@test "expire=0: hashes stay" {
	redis_up
	rows_to "$URL?expire=0" <<<$'put 10 flow\nput 10 label' >log
	[ "$(counter log written)" = 20 ]
	[ "$(redis_ask dbsize)" -gt 10 ]
	[ "$(redis_ask pttl 'flow:10.0.0.0:7->10.0.1.1:443')" = -1 ]
	[ "$(redis_ask pttl leaf2-1)" = -1 ]
}

@test "keys, expiry and length by the URL; a database's number" {
	redis_up
	run rows_to "$URL/3?hash.hop=at:{node}&expire=500ms&stream.flow=of:{}&maxlen=100" \
		<<<$'put 1000 hop\nput 1000 flow'
	[ "$status" = 0 ]
	[ "$(redis_ask -n 3 hget at:leaf1 latency)" = 996 ]
	[ "$(redis_ask -n 3 xlen of:flow)" -lt 300 ]
	# each stream of a key that fields say, though all are added to in turn
	rows_to "$URL/3?stream.hop=in:{node}&maxlen=100" <<<'put 4000' >log
	[ "$(counter log written)" = 4000 ]
	for key in $(redis_ask -n 3 keys 'in:*'); do
		[ "$(redis_ask -n 3 xlen "$key")" -lt 300 ]
	done
	[ "$(redis_ask -n 3 keys 'in:*' | wc -l)" -ge 4 ]
	expired() { [ "$(redis_ask -n 3 exists at:leaf1)" = 0 ]; }
	wait_for expired
	[ "$(redis_ask dbsize)" = 0 ]
	run rows_to "$URL?hash.hop={nowhere}" <<<"put 1"
	balances <(echo "$output") 1
	[[ $output == *'refused: {nowhere}: hop has no such field'* ]]
}

@test "a row that Redis refuses is counted, the others are there" {
	redis_up
	redis_ask set at:leaf1 text >answer
	rows_to "$URL?hash.hop=at:{node}" <<<"put 400" >log
	balances log 400
	[ "$(counter log refused)" = 100 ]
	grep -q '^refused: WRONGTYPE' log
	[ "$(redis_ask hget at:leaf2 latency)" = 397 ]
}

@test "a password; without it rows wait" {
	redis_up "$PORT" --requirepass 'a@b'
	run -1 rows_to -e 1 "$URL" <<<"put 1"
	[[ $output == *"down: NOAUTH"* ]]
	rows_to "redis://:a%40b@127.0.0.1:$PORT" <<<"put 1" >log
	[ "$(counter log written)" = 1 ]
}

@test "killed in the middle, and back: nothing lost uncounted" {
	redis_up "$PORT" --appendonly yes --appendfsync always
	begin "$URL?rows=100"
	printf 'put 20000\nuntil written 300\nstatus\n' >&7
	wait_for grep -q rows log
	crash "$SERVER"
	printf 'put 5000\nuntil retries 1\nstatus\n' >&7
	redis_up "$PORT" --appendonly yes --appendfsync always
	echo 'until written 25000' >&7
	finish
	balances log 25000
	[ "$(counter log written)" = 25000 ]
	# what was answered is on its disk; a block that was not comes again
	n=$(redis_ask xlen hop)
	[ "$n" -ge 25000 ]
	[ "$n" -le 25100 ]
}

@test "a cluster is not supported: that is said, and rows of other nodes wait" {
	redis_cluster_up
	run -1 rows_to -e 1 "$URL" <<<"put 300 flow"
	balances <(echo "$output") 300
	[[ $output == *"down: a node of a Redis Cluster, which is not supported (MOVED "*"): take one Redis server, or kafka: or clickhouse:"* ]]
	[ "$(counter unsent <<<"$output")" -gt 0 ]
	[ "$(counter refused <<<"$output")" = 0 ]
}

@test "a user who may not: those rows are refused, the others are there" {
	redis_up
	redis_ask acl setuser teller on '>pw' '~hop' '~leaf*' +xadd +hset >answer
	[ "$(cat answer)" = OK ]
	rows_to "redis://teller:pw@127.0.0.1:$PORT" \
		<<<$'put 300 hop\nput 20 flow\nput 10 label' >log
	balances log 330
	[ "$(counter log written)" = 300 ]
	[ "$(counter log refused)" = 30 ] # no such key; hset, but no pexpire
	grep -q '^refused: NOPERM' log
	[ "$(redis_ask xlen hop)" = 300 ]
	# who may not use that database's number waits: rows belong there
	redis_ask acl setuser teller -select >answer
	run -1 rows_to -e 1 "redis://teller:pw@127.0.0.1:$PORT/3" <<<"put 1"
	[[ $output == *"down: NOPERM"* ]]
}
