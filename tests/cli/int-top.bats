# SPDX-License-Identifier: BSD-2-Clause
# int-collect --top: tables of flows, switches, queues, links and paths are what
# dta-gen int put into the packets; the screen draws them, obeys its keys and
# leaves the terminal as it was.

load ../helpers
load ../terminal

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	dta-gen int -q -p 2.1 --flows "$(size 40 400)" --truth truth.csv -w in.pcap
}

teardown() { end_bg; }

# top TABLE [OPTIONS]: rows of it, as CSV.
top() {
	local table=$1

	shift
	int-collect -q -r in.pcap --top "$table" --once -o csv "$@"
}

# column NAME...: those of CSV on stdin, without its head, by blanks; lists stay
# whole.
columns() {
	python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(*(row[c] for c in sys.argv[1:]))' "$@"
}

# said AWK: a program over the truth, its columns by name in c["..."].
said() {
	awk -F, "NR == 1 { for (i = 1; i <= NF; i++) c[\$i] = i; next } $1" \
		truth.csv
}

@test "flows: packets, latency and its mean, and the highest of each metric" {
	said '
		{ f = $c["flow"]; l = $c["latency"] }
		$c["hop"] == 1 { n[f]++; now[f] = h[f] = q[f] = u[f] = 0 }
		{ sum[f] += l; now[f] += l }
		l > h[f] { h[f] = l }
		$c["occupancy"] > q[f] { q[f] = $c["occupancy"] }
		$c["utilization"] > u[f] { u[f] = $c["utilization"] }
		END { for (f in n)
			printf "%s %d %d %.6g %d %d %d\n", f, n[f], now[f],
				sum[f] / n[f], h[f], q[f], u[f] }' |
		sort >want
	[ "$(wc -l <want)" -ge 30 ]
	top flows | columns flow packets flow_latency flow_latency_mean \
		hop_latency queue_occupancy link_utilization | sort >got
	diff want got
	# and the path, the source first
	said '$c["hop"] == 1 { p[$c["flow"]] = "" }
		{ p[$c["flow"]] = p[$c["flow"]] "," $c["node"] }
		END { for (f in p) print f, substr(p[f], 2) }' | sort >want
	diff want <(top flows | columns flow path | sort)
}

@test "nodes: as many samples as they told; the median is in its bin" {
	said '{ n[$c["node"]]++ } END { for (i in n) print i, n[i] }' |
		sort >want
	diff want <(top nodes | columns node samples | sort)
	said '{ print $c["node"], $c["latency"] }' | sort -k1,1 -k2,2n | awk '
		{ v[$1, ++n[$1]] = $2 }
		END { for (i in n) print i, v[i, int((n[i] + 1) / 2)] }' |
		sort >median
	# A bin is not wider than a sixteenth of its values; here is its lower end.
	top nodes | columns node hop_latency_p50 | sort | join median - |
		awk '$3 > $2 || $2 > $3 * 17 / 16 + 1 { bad = 1; print }
			END { exit bad || !NR }'
	# what is highest now, and of how many queues
	said '{ k = $c["node"] " " $c["port"] " " $c["queue"]
			now[k] = $c["occupancy"] }
		END { for (k in now) { split(k, p, " "); q[p[1]]++
				if (now[k] >= m[p[1]]) m[p[1]] = now[k] }
			for (i in q) print i, q[i], m[i] }' | sort >want
	diff want <(top nodes | columns node queues queue_occupancy | sort)
}

@test "queues and links: what each told last" {
	said '{ now[$c["node"] " " $c["port"] " " $c["queue"]] = \
			$c["occupancy"] }
		END { for (k in now) print k, now[k] }' | sort >want
	[ "$(wc -l <want)" -gt 50 ]
	diff want <(top queues | columns node port queue value | sort)
	said '{ now[$c["node"] " " $c["port"]] = $c["utilization"] }
		END { for (k in now) print k, now[k] }' | sort >want
	diff want <(top links | columns node port link_utilization | sort)
	run ! grep -q queue_occupancy <(top links)
}

@test "paths: as many packets as took them" {
	said '$c["hop"] == 1 { if (p != "") n[p]++; p = "" }
		{ p = p (p == "" ? "" : ",") $c["node"] }
		END { n[p]++; for (p in n) print n[p], p }' | sort >want
	[ "$(wc -l <want)" -gt 5 ]
	diff want <(top paths | columns samples path | sort)
}

@test "sorted by any column, the greatest first" {
	for sort in packets bytes flow_latency_mean hop_latency; do
		top flows --sort $sort | columns $sort >got
		diff got <(sort -s -g -r got)
	done
	# without a column: packets
	diff <(top flows) <(top flows --sort packets)
	# addresses are numbers
	top flows --sort flow | columns flow | cut -d: -f1 >got
	diff got <(sort -rV got)
}

@test "what stdout has: the table, in any format; exports go on" {
	run -0 --separate-stderr int-collect -r in.pcap --top flows \
		-o ndjson -x file:all.ndjson
	[ "$(jq -s length <<<"$output")" -gt 10 ]
	jq -es 'all(.packets > 0 and (.path | length > 0))' <<<"$output"
	[ "$(jq -s '[.[] | select(.measurement == "int_event")] | length > 100' \
		all.ndjson)" = true ]
	[[ $stderr == *telemetry* ]] # the ledger
	run -0 int-collect -q -r in.pcap --top links
	[ ${#lines[@]} -gt 4 ]
	[[ ${lines[0]} == *LINK_UTILIZATION* ]]
	# only packets that the filter lets through
	node=$(said 'NR == 2 { print $c["node"] }')
	top flows -f "node $node" | columns path | tr , ' ' >got
	[ -s got ]
	run ! grep -vw "$node" got
}

@test "what does not go with it" {
	run -2 int-collect -r in.pcap --top flows --sort nonsense
	[[ $output == *nonsense*packets* ]]
	run -2 int-collect -r in.pcap --top switches
	run -2 int-collect -r in.pcap --top flows --rows event
	run -2 int-collect -r in.pcap --top flows -w -
	for option in '--once' '--sort packets' '--every 1s'; do
		# shellcheck disable=SC2086
		run -2 int-collect -r in.pcap $option
		[[ $output == *--top* ]]
	done
}

@test "the screen: tables, sorting, the filter, scrolling, help; q ends it" {
	typist '
until(b"\x1b[?1049h", b"the input has ended", b"by packets; ? for keys")
until(b"= %d live + 0 evicted" % len(set(
    l.split(",")[2] for l in list(open("truth.csv"))[1:])))
key(b"n"); until(b": nodes", b"by hop_latency_p99")
key(b">"); until(b"by queues;")
key(b"<"); until(b"by hop_latency_p99;")
key(b"r"); until(b"the least first")
key(b"s"); until(b"by queues, the least first")
key(b"3"); until(b": queues", b"by value;")
key(b"u"); until(b": queues")
key(b"l"); until(b": links")
key(b"p"); until(b": paths")
key(b"f"); until(b": flows", b"by packets;")
first = rows()
key(b"\x1b[B"); until(b"\r\n2 to "[2:])
assert rows()[0] == first[1], (rows(), first)
key(b"\x1b[H"); until(b"1 to ")
key(b"?"); until(b"the other order")
key(b"x"); until(b"1 to ")
key(b" "); until(b"paused")
key(b" "); until(b"1 to ")
key(b"/"); until(b"filter: _")
key(b"udp\r"); until(b"only udp", b"filter on")
assert all("/udp" in r for r in rows() if r), rows()
assert "/udp" in rows()[0]
key(b"/\x15\r"); until(b"by packets; ?")
key(b"q")' int-collect -q -r in.pcap --top flows
	[ "$output" = 'status 0' ]
}

@test "the screen: its rows are those of --once; other sizes clip them" {
	int-collect -q -r in.pcap --top links --sort node \
		--once >once
	TZ=UTC typist '
until(b"the input has ended", b"by node;")
def shown(of): # as people read it
    seconds, ns = of[-1].split(".")
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(int(seconds)))
    return of[:-2] + (["*"] if of[-2] == "true" else []) + (at + "." + ns[:6]).split()
want = [shown(l.split()) for l in open("once").readlines()[1:20]]
assert [r.split() for r in rows()] == want, (rows(), want)
resize(10, 30); key(b"\x1b[H"); until(b"1 to 5 of")
assert len(rows()) == 5
assert all(len(r) <= 30 for r in rows()), rows()
resize(2, 1); key(b"\x1b[H"); until(b"\x1b[H")
resize(24, 100); key(b"\x1b[H"); until(b"1 to 19 of")
key(b"q")' int-collect -q -r in.pcap --top links --sort node
}

@test "the screen: signals and errors leave the terminal as it was, too" {
	for signal in INT TERM; do
		typist "
until(b'the input has ended')
seen = b''
os.kill(pid, signal.SIG$signal)" int-collect -q -r in.pcap --top flows
		[ "$output" = 'status 0' ]
	done
	# ^C is a signal
	typist 'until(b"the input has ended"); key(b"\x03")' \
		int-collect -q -r in.pcap --top flows
	# a capture that is cut off in a packet
	head -c 5000 in.pcap >cut.pcap
	typist '' int-collect -q -r cut.pcap --top flows
	[[ $output == 'status 1' ]]
}

@test "the screen: the filter is a text of the row, or a number of it" {
	node=$(said 'NR == 2 { print $c["node"] }')
	typist "
until(b'the input has ended')
for table in b'np':
    key(bytes([table])); until(b'; ? for keys')
    key(b'/\x15$node\r'); until(b'only $node')
    got = [r.split() for r in rows() if r]
    assert got and all('$node' == r[0] or '$node' in r[-1].split(':')
                       for r in got), (table, got)
key(b'f/\x15/tcp\r'); until(b': flows', b'only /tcp')
assert all('/tcp' in r for r in rows() if r) and rows()[0], rows()
key(b'q')" int-collect -q -r in.pcap --top flows
}

@test "the screen: more flows than are looked at in one go" {
	dta-gen int -q -p 2.1 --flows 20000 -c 60000 -w in.pcap
	int-collect -q -r in.pcap --top flows --sort bytes --once >once
	[ "$(wc -l <once)" -gt 9000 ]
	typist '
until(b"the input has ended")
want = [l.split()[:2] for l in open("once")][1:20]
key(b" "); until(b"paused") # what was begun is finished
key(b">"); until(b"by flow_latency, paused;")
key(b"<"); until(b"by bytes, paused;")
end = time.time() + 60
while [r.split()[:2] for r in rows()] != want:
    assert time.time() < end, (rows(), want)
key(b"q")' int-collect -q -r in.pcap --top flows --sort bytes
}

@test "once, live: after the first interval" {
	# A namespace of its own: nobody else's packets come by its lo.
	unshare -n ip link set lo up 2>/dev/null ||
		skip "no network namespace: not root"
	run -0 --separate-stderr timeout 60 unshare -n sh -c 'ip link set lo up &&
		exec int-collect -i lo --top flows --once --every 100ms -o csv'
	[[ ${lines[0]} == flow,packets,* ]]
}

@test "the screen: a terminal that nobody reads holds up no packets" {
	dta-gen int -q -p 2.1 --flows 3000 -w in.pcap
	int-collect -q -r in.pcap -w want.pcap -R none
	typist '
end = time.time() + 60
size = lambda name: os.path.exists(name) and os.path.getsize(name)
while size("out.pcap") != size("want.pcap"):
    assert time.time() < end, size("out.pcap")
    time.sleep(0.05)
os.kill(pid, signal.SIGTERM)' \
		int-collect -q -r in.pcap --top flows --every 1ms -w out.pcap
	[ "$output" = 'status 0' ]
}

@test "the screen: packets from a pipe, keys from the terminal; rows are off" {
	mkfifo pipe
	bg bash -c 'cat in.pcap >pipe'
	typist '
until(b"the input has ended")
assert b"new_key" not in seen
key(b"n"); until(b": nodes")
key(b"q")' bash -c 'int-collect -q -r - --top flows <pipe'
	[ "$output" = 'status 0' ]
}

@test "the screen: messages are in a line of it, and come again when it is left" {
	mkfifo pipe
	bg bash -c 'exec >pipe; cat in.pcap; exec sleep 60' # without an end
	typist '
import re
# a screen: lines to their ends, one below the other, and nothing else
line = rb"(?:[^\x1b\r\n]|\x1b\[[0-9;]*m)*\x1b\[K"
screens = rb"(?:\x1b\[H(?:%s\r+\n){%d}%s)*" % (line, 23, line)
def undisturbed():
    drawn = seen[seen.index(b"\x1b[H"):seen.rindex(b"\x1b[H")]
    assert drawn and re.fullmatch(screens, drawn), drawn
until(b"influx://127.0.0.1:1/net: rows wait: ")
time.sleep(0.3); more(); more()
undisturbed()
key(b"/udp\r"); until(b"only udp; influx://127.0.0.1:1/net: rows wait: ")
key(b" "); until(b"paused")
key(b" "); until(b"only udp; influx://127.0.0.1:1/net: rows wait: ")
time.sleep(0.3); more(); more()
undisturbed()
key(b"q")
until(b"\x1b[?1049l")
until(b"int-collect: influx://127.0.0.1:1/net: rows wait: ")
assert seen.index(b"int-collect: influx:") > seen.index(b"\x1b[?1049l")' \
		int-collect -q -r pipe --top flows --every 100ms --linger 1ms \
		-x influx://127.0.0.1:1/net
	[ "${lines[-1]}" = 'status 1' ]
}

@test "the screen: ledgers that are asked for wait for its end" {
	typist '
until(b"the input has ended")
for i in range(2):
    os.kill(pid, signal.SIGUSR1)
    key(b"n"); until(b": nodes"); key(b"f"); until(b": flows")
assert b"telemetry" not in seen
time.sleep(0.5); more() # it is seen between two looks at the keys
assert b"telemetry" not in seen
key(b"q")
until(b"\x1b[?1049l"); until(b"int-collect: telemetry, views")
assert seen.count(b"int-collect: flows, flows") >= 1' \
		int-collect -q -r in.pcap --top flows
	[ "$output" = 'status 0' ]
	# while packets come
	mkfifo pipe
	bg bash -c 'exec >pipe; cat in.pcap; exec sleep 60' # without an end
	typist '
until(b": flows;")
os.kill(pid, signal.SIGUSR1)
time.sleep(0.5); more()
assert b"telemetry" not in seen, seen
key(b"q")
until(b"\x1b[?1049l"); until(b"int-collect: telemetry, views")' \
		int-collect -q -r pipe --top flows --every 100ms
}

@test "the screen: messages after the input has ended, too" {
	typist '
until(b"the input has ended", b"influx://127.0.0.1:1/net: rows wait: ")
key(b"q")' int-collect -q -r in.pcap --top flows --every 100ms --linger 1ms \
		-x influx://127.0.0.1:1/net
}

@test "the screen: who has stderr in a file has messages at once" {
	mkfifo pipe
	bg bash -c 'exec >pipe; cat in.pcap; exec sleep 60' # without an end
	typist '
end = time.time() + 60
while not os.path.exists("log") or b"rows wait" not in open("log", "rb").read():
    assert time.time() < end
    more()
assert b"rows wait" not in seen
key(b"q")' bash -c 'int-collect -q -r pipe --top flows --linger 1ms \
		-x influx://127.0.0.1:1/net 2>log'
}
