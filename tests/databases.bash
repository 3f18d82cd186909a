# SPDX-License-Identifier: BSD-2-Clause
# Databases for tests, each on loopback, with its data in the test's own
# directory: load ../databases. NAME_up starts one on $PORT, and again after
# NAME_pid was killed; end_bg stops it.

# need PROGRAM...: skips the test where one is not installed.
need() {
	local p

	for p; do
		command -v "$p" >/dev/null || skip "$p is not installed: make setup"
	done
}

# A port that nobody listens on. Two tests at once look in different places.
free_port() {
	local p

	for ((p = 10000 + BASHPID * 7 % 15000; ; p += 13)); do
		(: <"/dev/tcp/127.0.0.1/$p") 2>/dev/null || break
	done
	echo "$p"
}

# serve LOG COMMAND...: a server in the background; its id is in $SERVER.
serve() {
	local log=$BATS_TEST_TMPDIR/$1

	shift
	"$@" >>"$log" 2>&1 3>&- 7>&- </dev/null &
	SERVER=$!
	BG_PIDS+=("$SERVER")
}

# Ends a server at once, as a crash does.
crash() { # pid
	kill -9 "$1"
	wait "$1" 2>/dev/null || :
}

influx_up() {
	local dir=$BATS_TEST_TMPDIR/influx

	serve influx.log env INFLUXDB_META_DIR="$dir/meta" \
		INFLUXDB_DATA_DIR="$dir/data" INFLUXDB_DATA_WAL_DIR="$dir/wal" \
		INFLUXDB_HTTP_BIND_ADDRESS="127.0.0.1:$PORT" \
		INFLUXDB_BIND_ADDRESS="127.0.0.1:$((PORT + 1))" \
		INFLUXDB_REPORTING_DISABLED=true influxd "$@"
	wait_for curl -sf "http://127.0.0.1:$PORT/ping"
}

# influx_ask QUERY: rows as CSV, without the header.
influx_ask() {
	influx -host 127.0.0.1 -port "$PORT" -database net -precision ns -format csv \
		-execute "$1" | sed 1d
}

# rows_to ARGUMENTS...: the tool; begin starts it, with its commands from file
# descriptor 7 and its output in the file log, finish lets it end.
rows_to() { "$TOOLS/rows_to" "$@"; }

begin() {
	mkfifo in
	"$TOOLS/rows_to" "$@" <in >log 3>&- &
	ROWS_TO=$!
	BG_PIDS+=("$ROWS_TO")
	exec 7>in
}

finish() {
	exec 7>&-
	wait "$ROWS_TO"
}

# prometheus_up PORT...: one that asks these every second.
prometheus_up() {
	local dir=$BATS_TEST_TMPDIR/prometheus p targets=

	mkdir -p "$dir"
	for p; do
		targets+="'127.0.0.1:$p',"
	done
	printf '%s\n' 'global: {scrape_interval: 1s}' 'scrape_configs:' \
		"- {job_name: rows, static_configs: [{targets: [$targets]}]}" \
		>"$dir/conf.yml"
	serve prometheus.log prometheus --config.file="$dir/conf.yml" \
		--storage.tsdb.path="$dir/data" \
		--web.listen-address="127.0.0.1:$PORT"
	wait_for curl -sf -o "$dir/ready" "http://127.0.0.1:$PORT/-/ready"
}

# prometheus_ask QUERY: the value of its first sample.
prometheus_ask() {
	curl -sG --data-urlencode "query=$1" \
		"http://127.0.0.1:$PORT/api/v1/query" |
		jq -r '.data.result[0].value[1]'
}

# redis_up [PORT [OPTIONS...]]: an own directory for each.
redis_up() {
	local port=${1:-$PORT} dir

	shift || :
	dir=$BATS_TEST_TMPDIR/redis-$port
	mkdir -p "$dir"
	serve "redis-$port.log" redis-server --port "$port" --bind 127.0.0.1 \
		--dir "$dir" --save '' --daemonize no "$@"
	wait_for redis_is_up "$port"
}

redis_is_up() { [[ $(redis-cli -p "$1" ping 2>&1) =~ PONG|NOAUTH ]]; }

redis_ask() { redis-cli -p "$PORT" "$@"; }

# redis_cluster_up: three nodes from $PORT on, a third of the slots each.
redis_cluster_up() {
	local i

	for i in 0 1 2; do
		redis_up $((PORT + i)) --cluster-enabled yes \
			--cluster-port $((PORT + 10 + i))
	done
	redis-cli --cluster create 127.0.0.1:$PORT 127.0.0.1:$((PORT + 1)) \
		127.0.0.1:$((PORT + 2)) --cluster-yes >cluster.log
	for i in 0 1 2; do
		wait_for redis_cluster_is_up $((PORT + i))
	done
}

redis_cluster_is_up() {
	redis-cli -p "$1" cluster info | grep -q cluster_state:ok
}

# clickhouse_up [PORT]: its HTTP is on PORT, its own protocol on the next. The
# cluster "two" is those on $PORT and on $PORT + 20.
clickhouse_up() {
	local port=${1:-$PORT} dir

	dir=$BATS_TEST_TMPDIR/clickhouse-$port
	mkdir -p "$dir"
	cat >"$dir/config.xml" <<-END
		<yandex>
		<logger><level>warning</level><log>$dir/log</log>
		<errorlog>$dir/err</errorlog></logger>
		<http_port>$port</http_port>
		<tcp_port>$((port + 1))</tcp_port>
		<listen_host>127.0.0.1</listen_host>
		<path>$dir/data/</path><tmp_path>$dir/tmp/</tmp_path>
		<mark_cache_size>10000000</mark_cache_size>
		<users_config>users.xml</users_config>
		<default_profile>default</default_profile>
		<default_database>default</default_database>
		<remote_servers><two>
		<shard><replica><host>127.0.0.1</host>
		<port>$((PORT + 1))</port></replica></shard>
		<shard><replica><host>127.0.0.1</host>
		<port>$((PORT + 21))</port></replica></shard>
		</two></remote_servers>
		</yandex>
	END
	cat >"$dir/users.xml" <<-END
		<yandex><profiles><default/></profiles><users><default>
		<password></password><networks><ip>::/0</ip></networks>
		<profile>default</profile><quota>default</quota>
		</default></users><quotas><default/></quotas></yandex>
	END
	serve "clickhouse-$port.log" clickhouse-server \
		--config-file="$dir/config.xml"
	wait_for curl -sf -o "$dir/up" "http://127.0.0.1:$port/"
}

# clickhouse_ask QUERY [PORT]
clickhouse_ask() {
	curl -s --data-binary "$1" "http://127.0.0.1:${2:-$PORT}/?database=net"
}
