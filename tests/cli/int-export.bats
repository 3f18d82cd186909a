# SPDX-License-Identifier: BSD-2-Clause
# int-collect's rows in real databases: as many as on stdout, and the same.

load ../helpers
load ../databases

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	dta-gen int -q -F report --flows 50 -w in.pcap --truth truth.csv
	events=$(int-collect -q -r in.pcap -R event -o ndjson | wc -l)
	flows=$(sed 1d truth.csv | cut -d, -f3 | sort -u | wc -l)
	[ "$events" -gt 100 ]
}

teardown() { end_bg; }

# collect URL: all rows there; the ledger is in log.
collect() {
	int-collect -r in.pcap -R none -x "$1" -o ndjson 2>log
	balances log
	[ "$(counter log written)" = "$(counter log rows export)" ]
}

# The packets of a flow, by the truth.
flow_of_truth() { sed -n 2p truth.csv | cut -d, -f3; }
packets_of_truth() {
	awk -F, -v f="$1" '$3 == f && $5 == 1' truth.csv | wc -l
}

@test "InfluxDB: events by their tags, flow keys as fields" {
	need influxd influx curl
	PORT=$(free_port)
	influx_up
	collect "influx://127.0.0.1:$PORT/net?create=yes"
	n=$(influx_ask "SELECT count(value) FROM int_event" | cut -d, -f3)
	[ "$n" = "$(int-collect -q -r in.pcap -R event -o ndjson |
		jq -s 'map(select(.value != null)) | length')" ]
	[ "$(influx_ask "SELECT count(packets) FROM int_flow" | cut -d, -f3)" = "$flows" ]
	flow=$(flow_of_truth)
	[ "$(influx_ask "SELECT packets FROM int_flow WHERE flow = '$flow'" |
		cut -d, -f3)" = "$(packets_of_truth "$flow")" ]
}

@test "Redis: events are a stream, flows are hashes" {
	need redis-server redis-cli
	PORT=$(free_port)
	redis_up
	collect "redis://127.0.0.1:$PORT"
	[ "$(redis_ask xlen int_event)" = "$events" ]
	flow=$(flow_of_truth)
	[ "$(redis_ask hget "flow:$flow" packets)" = "$(packets_of_truth "$flow")" ]
}

@test "ClickHouse: tables are made, and all rows are there" {
	need clickhouse-server curl
	PORT=$(free_port)
	clickhouse_up
	collect "clickhouse://127.0.0.1:$PORT/net?create=yes"
	[ "$(clickhouse_ask 'SELECT count() FROM int_event')" = "$events" ]
	[ "$(clickhouse_ask 'SELECT count() FROM int_flow')" = "$flows" ]
}

@test "Prometheus: the latest values; promtool has nothing to say" {
	need promtool curl
	PORT=$(free_port)
	mkfifo pipe
	bg int-collect -q -r pipe -R none -x "prometheus://127.0.0.1:$PORT"
	exec 8>pipe
	cat in.pcap >&8
	scraped() {
		curl -sf "http://127.0.0.1:$PORT/metrics" >metrics &&
			grep -q '^int_event_value{.*metric="queue_occupancy"' metrics
	}
	wait_for scraped
	run promtool check metrics <metrics
	echo "$output"
	[ "$status" = 0 ]
	[ "$(curl -sf "http://127.0.0.1:$PORT/healthz")" = ok ]
	exec 8>&-
	wait "${BG_PIDS[0]}"
}

@test "a database that is not there: rows are spooled, and sent by the next run" {
	need redis-server redis-cli
	PORT=$(free_port)
	run -1 int-collect -q -r in.pcap -R none -x "redis://127.0.0.1:$PORT" \
		--spool spool --linger 1s
	redis_up
	int-collect -q -r in.pcap -c 1 -R none -x "redis://127.0.0.1:$PORT" \
		--spool spool
	[ "$(redis_ask xlen int_event)" -ge "$events" ]
}

@test "a spool so large: what it has no room for is counted" {
	dta-gen int -q -F report --flows 500 -c 6000 -w in.pcap
	spooled() {
		run -1 int-collect -r in.pcap -R none -o ndjson --linger 1ms \
			--drop \
			-x "influx://127.0.0.1:1/db?rows=500" --spool "$@"
	}
	spooled small,1M
	[ "$(du -bs small | cut -f1)" -lt 1200000 ]
	[ "$(counter - kept export <<<"$output")" -gt 0 ]
	[ "$(counter - full export <<<"$output")" -gt 0 ]
	spooled large
	[ "$(du -bs large | cut -f1)" -gt 1200000 ]
	[ "$(counter - full export <<<"$output")" = 0 ]
}

# narrow OPTIONS...: more rows than the queue has room for; the ledger is in log.
narrow() {
	int-collect -r in.pcap -R none -o ndjson --queue 64K \
		-x "redis://127.0.0.1:$PORT" "$@" 2>log
}

@test "a database slower than a file is read holds the file up" {
	need redis-server redis-cli
	PORT=$(free_port)
	redis_up
	dta-gen int -q -F report --flows 100 -c 3000 -w in.pcap
	narrow --drop || [ "$?" = 1 ]
	balances log
	[ "$(counter log full export)" -gt 0 ]
	for j in 1 2; do
		narrow -j "$j"
		balances log
		[ "$(counter log full export)" = 0 ]
		[ "$(counter log written export)" = "$(counter log rows export)" ]
	done
}

@test "a database that is away holds a file up, until it comes, or a signal" {
	need redis-server redis-cli
	PORT=$(free_port)
	dta-gen int -q -F report --flows 100 -c 3000 -w in.pcap
	for end in signal database; do
		int-collect -r in.pcap -R none -o ndjson --queue 64K \
			-x "redis://127.0.0.1:$PORT" 2>log 3>&- &
		collect=$!
		BG_PIDS+=("$collect")
		wait_for grep -q "rows wait: " log
		sleep 0.5
		kill -0 "$collect"
		rc=0
		if [ "$end" = signal ]; then
			kill "$collect"
			wait "$collect" || rc=$?
			[ "$rc" = 1 ]
			grep -q "rows could not be sent" log
		else
			redis_up
			wait "$collect"
			[ "$(counter log written export)" = "$(counter log rows export)" ]
		fi
		balances log
	done
}

@test "a spool whose disk is full: that is said, with the file, and counted" {
	unshare -rm mount -t tmpfs none /mnt 2>/dev/null || skip "no tmpfs of our own"
	dta-gen int -q -F report --flows 100 -c 3000 -w in.pcap
	unshare -rm bash -e <<-'END' || [ "$?" = 1 ]
		mkdir small
		mount -t tmpfs -o size=64k none small
		int-collect -r in.pcap -R none -o ndjson --linger 1ms --drop \
			-x influx://127.0.0.1:1/db --queue 64K --spool small 2>log
	END
	balances log
	why="small/influx-[0-9a-f]*/[0-9a-f]*.spool: No space left on device"
	[ "$(grep -c "influx://127.0.0.1:1/db: no room in the spool: $why$" log)" = 1 ]
	grep -q "rows found no room in the spool: $why$" log
	[ "$(counter log spool_full export)" -gt 0 ]
}

# answers REASON: an HTTP server that says so to each request; its port is in
# port.
answers() {
	cat >answers.py <<-'EOP'
		import http.server, os, sys
		class Answer(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        self.rfile.read(int(self.headers["Content-Length"]))
		        body = open("reason", "rb").read()
		        self.send_response(400)
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def log_message(self, *what):
		        pass
		server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
		with open("port.new", "w") as f:
		    f.write(str(server.server_port))
		os.rename("port.new", "port")
		server.serve_forever()
	EOP
	printf '%b' "$1" >reason
	bg python3 answers.py
	wait_for [ -s port ]
}

@test "live, refused rows are told of at once" {
	local port rc=0

	port=$(free_port)
	dta-gen int -q --flows 100 -w in.pcap
	mkfifo in
	int-collect -q -r in --drop -R none -x "prometheus://127.0.0.1:$port?series=3" \
		<&- 2>err 3>&- &
	BG_PIDS+=($!)
	exec 9>in
	cat in.pcap >&9
	wait_for grep -q 'rows are refused: more series than series= allows$' err
	run ! grep 'were refused' err
	exec 9>&-
	wait "${BG_PIDS[-1]}" || rc=$?
	[ "$rc" = 1 ]
	[ "$(grep -c 'are refused' err)" = 1 ]
	grep -q ' rows were refused: more series' err
}

@test "what a database says is text to the terminal, and not more than a line" {
	answers 'bad \033]0;title\007\033[2J row\n\302\233no\n'"$(printf 'x%.0s' {1..5000})"
	for scheme in influx clickhouse; do
		run -1 --separate-stderr int-collect -q -r in.pcap -R none \
			-x "$scheme://127.0.0.1:$(cat port)/db"
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == *' were refused: '*'bad \x1b]0;title\x07\x1b[2J row'* ]]
		[ "${#stderr}" -lt 2000 ]
		run -1 grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2\x9b' <<<"$stderr"
	done
}

@test "Kafka: all that is told of a flow has its key, and is in one partition" {
	[ -x "$TOOLS/kafka_log" ] || skip "built without librdkafka: make setup"
	bg "$TOOLS/kafka_log" int_event int_flow int_hop int_value \
		int_distribution int_bin
	wait_for test -s bg.log
	collect "kafka://$(head -n 1 bg.log)"
	rows=$(counter log rows export)
	all_here() { [ "$(wc -l <bg.log)" = $((rows + 1)) ]; }
	wait_for all_here
	flow=$(flow_of_truth)
	# of each measurement that has flows; what has none has no key of one
	sed 1d bg.log | grep -F "\"flow\":\"$flow\"" | cut -d' ' -f1-3 |
		sort -u >of-flow
	for measurement in int_event int_flow int_hop; do
		grep -q "^$measurement " of-flow
	done
	[ "$(cut -d' ' -f3 of-flow | sort -u)" = "$flow" ]
	[ "$(cut -d' ' -f2 of-flow | sort -u | wc -l)" = 1 ]
	[ "$(sed 1d bg.log | grep -F '"flow":null' | cut -d' ' -f3 | sort -u)" = - ]
	# and flows are not all in one
	[ "$(sed 1d bg.log | cut -d' ' -f2 | sort -u | wc -l)" = 4 ]
}

# example DATABASE ADDRESS: runs what int-collect(1) has for it, there.
example() {
	sed -n "/^\.\\\\\" needs $1\$/,/^\./{/^\./d;s/^\$ //;s/\\\\e\$/\\\\/;p}" \
		"$TOP/man/int-collect.1" >example.sh
	[ "$(grep -c int-collect example.sh)" = 1 ]
	sed -E -i "s|[a-z]+\.example(:[0-9]+)?|$2|" example.sh
	grep -F "$2" example.sh
	dta-gen int --flows 3 -q -w int.pcap
	bash -e example.sh
}

@test "int-collect(1): the example of InfluxDB" {
	need influxd influx curl
	PORT=$(free_port)
	influx_up
	example influx "127.0.0.1:$PORT"
	[ "$(influx_ask "SELECT count(packets) FROM int_flow" | cut -d, -f3)" = 3 ]
}

@test "int-collect(1): the example of ClickHouse" {
	need clickhouse-server curl
	PORT=$(free_port)
	clickhouse_up
	example clickhouse "127.0.0.1:$PORT"
	[ "$(clickhouse_ask 'SELECT count() FROM int_flow')" = 3 ]
}

@test "int-collect(1): the example of Redis" {
	need redis-server redis-cli
	PORT=$(free_port)
	redis_up
	example redis "127.0.0.1:$PORT"
	[ "$(redis_ask keys 'flow:*' | wc -l)" = 3 ]
	[ "$(redis_ask keys 'events:*' | wc -l)" -gt 5 ]
}

@test "int-collect(1): the example of Kafka" {
	[ -x "$TOOLS/kafka_log" ] || skip "built without librdkafka: make setup"
	bg "$TOOLS/kafka_log" int
	wait_for test -s bg.log
	example kafka "$(head -n 1 bg.log)"
	flows_are() { [ "$(grep -c '"measurement":"int_flow"' bg.log)" = 3 ]; }
	wait_for flows_are
}
