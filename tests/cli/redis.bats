# SPDX-License-Identifier: BSD-2-Clause
# Rows to Redis and Redis Cluster, the real ones.

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

@test "events are streams, flows are hashes that expire, labels are lists" {
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
	[ "$(redis_ask lrange leaf2-1 0 -1 | xargs)" = \
		"1600000000.006005000 10.0.0.6:5->10.0.1.1:443 6005" ]
	[ "$(redis_ask dbsize)" = 3009 ]
}

@test "expire=0: hashes and lists stay" {
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

@test "a cluster: MOVED is followed" {
	redis_cluster_up
	printf 'put 3000 flow\nput 1000 hop\n' | rows_to "$URL" >log
	balances log 4000
	[ "$(counter log written)" = 4000 ]
	[ "$(counter log retries)" = 0 ] # at once
	all=0
	for i in 0 1 2; do
		n=$(redis-cli -p $((PORT + i)) dbsize)
		[ "$n" -gt 500 ]
		all=$((all + n))
	done
	[ "$all" = 3001 ]
	[ "$(redis-cli -c -p "$PORT" xlen hop)" = 1000 ]
	[ "$(redis-cli -c -p "$PORT" hget 'flow:10.0.0.2:7->10.0.1.1:443' latency)" = 2007 ]
}

# slot_goes FROM TO SLOT: the slot is on its way; what FROM has of it stays.
slot_goes() { # ports, slot
	redis-cli -p "$2" cluster setslot "$3" importing \
		"$(redis-cli -p "$1" cluster myid)" >answer
	redis-cli -p "$1" cluster setslot "$3" migrating \
		"$(redis-cli -p "$2" cluster myid)" >>answer
	[ "$(xargs <answer)" = "OK OK" ]
}

# Keys of a slot that is on its way to TO: the slot has arrived now.
slot_is_there() { # ports, slot
	redis-cli -p "$2" cluster setslot "$3" node \
		"$(redis-cli -p "$2" cluster myid)" >answer
	[ "$(cat answer)" = OK ]
}

@test "a cluster: who is to be ASKED is asked, this once" {
	local flow='flow:10.0.0.2:7->10.0.1.1:443' key slot from to

	redis_cluster_up
	for key in hop "$flow"; do
		slot=$(redis_ask cluster keyslot "$key")
		from=$((PORT + slot / 5462)) to=$((PORT + (slot / 5462 + 1) % 3))
		slot_goes "$from" "$to" "$slot"
	done
	begin "$URL?rows=100"
	printf 'put 1000 hop\nput 2000 flow\nuntil written 3000\nstatus\n' >&7
	wait_for grep -q rows log
	for key in "$flow" hop; do
		slot=$(redis_ask cluster keyslot "$key")
		from=$((PORT + slot / 5462)) to=$((PORT + (slot / 5462 + 1) % 3))
		slot_is_there "$from" "$to" "$slot"
	done
	echo 'put 500 hop' >&7
	finish
	balances log 3500
	[ "$(counter log written)" = 3500 ]
	[ "$(counter log retries)" = 0 ]
	# in their order, each once
	redis-cli -p "$to" xrange hop - + | grep -A 1 '^latency$' |
		grep -v -e latency -e -- >latencies
	[ "$(wc -l <latencies)" = 1500 ]
	sort -nuc latencies
	[ "$(redis-cli -c -p "$PORT" hget "$flow" latency)" = 2007 ]
	[ "$(redis-cli -c -p "$PORT" pttl "$flow")" -gt 0 ]
}

@test "a user who may not: those rows are refused, the others are there" {
	redis_up
	redis_ask acl setuser teller on '>pw' '~hop' '~list' +xadd +rpush >answer
	[ "$(cat answer)" = OK ]
	rows_to "redis://teller:pw@127.0.0.1:$PORT?push.label=list" \
		<<<$'put 300 hop\nput 20 flow\nput 10 label' >log
	balances log 330
	[ "$(counter log written)" = 300 ]
	[ "$(counter log refused)" = 30 ] # hset; rpush, but no ltrim
	grep -q '^refused: NOPERM' log
	[ "$(redis_ask xlen hop)" = 300 ]
	# who may not use that database's number waits: rows belong there
	redis_ask acl setuser teller -select >answer
	run -1 rows_to -e 1 "redis://teller:pw@127.0.0.1:$PORT/3" <<<"put 1"
	[[ $output == *"down: NOPERM"* ]]
}

# slot_gone SLOT, slot_back SLOT: no node serves it, or its own does again. What
# is left of it in the cluster is served.
slot_gone() {
	local i

	for i in 0 1 2; do
		redis-cli -p $((PORT + i)) cluster delslots "$1"
	done >answer
	[ "$(xargs <answer)" = "OK OK OK" ]
}

slot_back() {
	local owner=$((PORT + $1 / 5462)) i

	redis-cli -p "$owner" cluster addslots "$1" >answer
	for i in 0 1 2; do
		[ $((PORT + i)) = "$owner" ] ||
			redis-cli -p $((PORT + i)) cluster setslot "$1" node \
				"$(redis-cli -p "$owner" cluster myid)"
	done >>answer
	[ "$(xargs <answer)" = "OK OK OK" ]
}

@test "a cluster: a slot that nobody serves holds up its own rows alone" {
	local slot i

	redis_cluster_up
	for i in 0 1 2; do
		redis-cli -p $((PORT + i)) config set \
			cluster-require-full-coverage no
	done >answer
	slot=$(redis_ask cluster keyslot hop)
	slot_gone "$slot"
	begin "$URL?rows=100"
	printf 'put 1000 hop\nput 2000 flow\nput 500 hop\nuntil written 1990\nstatus\n' >&7
	wait_for grep -q rows log
	# flows, though hops came before; some share the slot
	[ "$(counter log written)" -ge 1990 ]
	[ "$(counter log waiting)" -ge 1500 ]
	grep -q '^down: .*not served' log
	slot_back "$slot"
	echo 'until written 3500' >&7
	finish
	balances log 3500
	[ "$(counter log written)" = 3500 ]
	# in their order, each once
	redis-cli -c -p "$PORT" xrange hop - + | grep -A 1 '^latency$' |
		grep -v -e latency -e -- >latencies
	[ "$(wc -l <latencies)" = 1500 ]
	sort -nuc latencies
}

# A cluster that serves what it can, and finds out soon who died.
patient_cluster_up() {
	local i

	redis_cluster_up
	for i in 0 1 2; do
		redis-cli -p $((PORT + i)) config set \
			cluster-require-full-coverage no
		redis-cli -p $((PORT + i)) config set cluster-node-timeout 1000
	done >answer
	NODE=$(redis_ask info server | sed -n 's/^process_id:\([0-9]*\).*/\1/p')
}

# Rows for all nodes, then the first one dies, which is the URL's.
first_dies() {
	begin "$URL?rows=100"
	printf 'put 300 flow\nuntil written 300\nstatus\n' >&7
	wait_for grep -q '^up' log
	crash "$NODE"
}

@test "a cluster: a node that died holds up its own rows alone" {
	patient_cluster_up
	first_dies
	printf 'put 3000 flow\nuntil written 2100\nstatus\n' >&7
	wait_for grep -q '^down' log
	[ "$(counter log written)" -ge 2100 ]
	[ "$(counter log waiting)" -ge 500 ]
	grep -q "^down: .*:$PORT" log
	redis_up "$PORT" --cluster-enabled yes --cluster-port $((PORT + 10))
	finish
	balances log 3300
	[ "$(counter log written)" = 3300 ]
}

@test "a cluster: the replica of a node that died gets its rows" {
	local replica=$((PORT + 3))

	patient_cluster_up
	redis_up "$replica" --cluster-enabled yes --cluster-port $((PORT + 13)) \
		--cluster-node-timeout 1000
	redis-cli --cluster add-node "127.0.0.1:$replica" "127.0.0.1:$PORT" \
		--cluster-slave --cluster-master-id \
		"$(redis_ask cluster myid)" >cluster.log
	wait_for eval '[ "$(redis-cli -p '"$replica"' info replication |
		grep -c master_link_status:up)" = 1 ]'
	first_dies
	printf 'put 3000 flow\n' >&7
	finish
	balances log 3300
	[ "$(counter log written)" = 3300 ]
	[ "$(redis-cli -p "$replica" dbsize)" -gt 500 ]
}
