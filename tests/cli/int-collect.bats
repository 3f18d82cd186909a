# SPDX-License-Identifier: BSD-2-Clause
# int-collect: what it tells of packets and reports is what dta-gen int put into
# them; packets go on as they were before; bad input is counted.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	FLOWS=$(size 30 300)
}

# generate FORMAT PROFILE [OPTIONS]: in.pcap, and truth.csv.
generate() {
	local format=$1 profile=$2

	shift 2
	[[ "$*" == *--from* ]] || set -- --flows "$FLOWS" "$@"
	dta-gen int -q -F "$format" -p "$profile" --truth truth.csv \
		-w in.pcap "$@"
}

# What nodes said of each flow, one after the other, without repetitions: flow,
# node, column. Each change of 0 or more is an event. A latency may be that of
# both times, whose 19 digits are more than awk knows.
told() { # column
	awk -F, -v c="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) { if ($i == c) n = i; at[$i] = i }
			next }
		c == "latency" && $n == "" && $at["egress_time"] != "" {
			$n = substr($at["egress_time"], 10) - \
				substr($at["ingress_time"], 10)
			if ($n < 0) $n += 10000000000 }
		last[$3, $6] != $n || !(($3, $6) in last) { print $3, $6, $n }
		{ last[$3, $6] = $n }' truth.csv
}

# The same, by int-collect's events.
heard() { # options
	int-collect -q -r in.pcap -R event -o ndjson -t hop_latency=0 "$@" |
		jq -r 'select(.metric == "hop_latency" and
			(.event == "new_key" or .event == "change")) |
			"\(.flow) \(.node) \(.value)"'
}

# Flows and nodes in any order, what each said in its own.
by_node() { sort -s -k1,2; }

# --- what is told ------------------------------------------------------------

@test "hop latencies are those that were put in: every version, every format" {
	for profile in 0.5 1.0 2.0 2.1; do
		for format in md report xd; do
			generate $format $profile
			diff <(told latency | by_node) <(heard | by_node) ||
				{ echo "$format $profile"; false; }
			# by its own profile, too
			diff <(told latency | by_node) \
				<(heard -p $profile | by_node)
		done
	done
}

@test "hop latencies are of both times, where a report has one in its header" {
	# the local header of 0.5; bit 3 of 1.0
	for version in 0.5 1.0; do
		generate xd $version --instructions 0xdd00
		heard | by_node >heard
		[ "$(wc -l <heard)" -gt 20 ]
		diff <(told latency | by_node) heard
	done
}

@test "1, 6, 16 and 32 hops" {
	for hops in 1 6 16 32; do
		for format in md report xd; do
			generate $format 2.1 --hops $hops --instructions 0xe000
			[ "$(told latency | cut -d' ' -f2 | sort -u | wc -l)" -ge $hops ]
			diff <(told latency | by_node) <(heard | by_node)
		done
	done
}

@test "over TCP, UDP, a new UDP header, VXLAN, Geneve, GRE; IPv4 and IPv6" {
	for over in l4 udp new-udp vxlan gre; do
		generate md 2.1 --over $over --ipv6 50
		[ "$(told latency | wc -l)" -gt 20 ]
		diff <(told latency | by_node) <(heard | by_node) ||
			{ echo "$over"; false; }
	done
	# before 2.0 the tunnel is VXLAN-GPE before INT, too
	for version in 0.5 1.0; do
		generate md $version --over vxlan
		diff <(told latency | by_node) <(heard | by_node)
	done
	# an option of Geneve has 124 bytes: 5 hops of 4 words fit
	generate md 2.1 --over geneve --instructions 0xf000
	diff <(told latency | by_node) <(heard | by_node)
}

@test "reports over IPv6 tell what they tell over IPv4" {
	need_tools six
	for version in 0.5 1.0 2.1; do
		dta-gen int -q -F report -p $version --flows 5 -c 200 \
			--ipv6 50 -w four.pcap
		"$TOOLS/six" four.pcap six.pcap
		int-collect -r four.pcap -R all -o ndjson >four 2>four.log
		int-collect -r six.pcap -R all -o ndjson >six 2>six.log
		[ "$(counter six.log reports intake)" = 200 ]
		[ "$(grep -c '"event":"new_key"' six)" -gt 20 ]
		diff four six
		diff four.log six.log
	done
}

@test "IOAM: latencies where nodes tell them, and by their neighbours' times" {
	generate ioam 2.1 --instructions 0xc80000 # hop limit, ids; latency
	diff <(told latency | by_node) <(heard | by_node)
}

@test "profiles that depart from the specification" {
	for profile in bmv2 geant intcollector smartnic; do
		generate md $profile
		case $profile in
		# microseconds
		bmv2 | geant) told latency | awk '{ print $1, $2, int($3 / 1000) * 1000 }' |
			by_node | uniq >want ;;
		*) told latency | by_node >want ;;
		esac
		diff want <(heard -p $profile | by_node | uniq) ||
			{ echo "$profile"; false; }
	done
}

@test "the path of a flow, from the source on" {
	generate md 2.1
	int-collect -q -r in.pcap -R event -o ndjson |
		jq -r 'select(.metric == "path") | "\(.flow) \(.path | join(","))"' |
		sort >paths
	awk -F, 'NR > 1 && $1 != p { if (p != "") print f, s; p = $1; f = $3; s = "" }
		NR > 1 { s = s (s == "" ? "" : ",") $6 } END { print f, s }' truth.csv |
		sort -u >want
	diff want paths
}

@test "no rows: the header alone, where one kind was asked for" {
	dta-gen int -q -w int.pcap
	head -c 24 int.pcap >none.pcap
	for c in "int-collect -R flow" "int-collect -R hop" "int-label-ctl -R port"; do
		for f in csv text; do
			$c -q -r none.pcap -o $f >none
			[ "$(wc -l <none)" = 1 ]
		done
		[ -z "$($c -q -r none.pcap -o ndjson)" ]
	done
	int-collect -R flow -q -r none.pcap -o csv >none
	int-collect -R flow -q -r int.pcap -o csv | head -n 1 | diff none -
	[ "$(int-collect -R flow -q -r int.pcap -o csv | grep -c ^time,)" = 1 ]
	[ -z "$(int-collect -R none -q -r none.pcap -o csv)" ]
}

@test "flows: packets, and the mean of what each node said" {
	generate md 2.1 --from "$CAPTURE"
	int-collect -q -r in.pcap -R flow -o ndjson |
		jq -r '"\(.flow) \(.packets)"' | sort >flows
	awk -F, 'NR > 1 && $5 == 1 { n[$3]++ } END { for (f in n) print f, n[f] }' \
		truth.csv | sort >want
	diff want flows
	int-collect -q -r in.pcap -R hop -o ndjson |
		jq -r 'select(.hop != null) |
			"\(.flow) \(.node) \(.hop_latency_mean)"' | sort >hops
	awk -F, 'NR > 1 { n[$3 " " $6]++; sum[$3 " " $6] += $9 }
		END { for (k in n) printf "%s %.6g\n", k, sum[k] / n[k] }' truth.csv |
		sort >want
	[ "$(wc -l <want)" -gt 100 ]
	join -j 1 <(awk '{ print $1 "/" $2, $3 }' want | sort) \
		<(awk '{ print $1 "/" $2, $3 }' hops | sort) |
		awk '{ d = $2 - $3; if (d < 0) d = -d; if (d > 1e-5 * $2) bad++; n++ }
			END { exit bad || n < 100 }'
}

@test "flows: the highest latency is that of the packet that waited longest" {
	generate md 2.1 --count 2000 --spikes 500
	int-collect -q -r in.pcap -R flow -o ndjson |
		jq -r '"\(.flow) \(.flow_latency_max)"' | sort >flows
	awk -F, 'NR > 1 { sum[$1] += $9; flow[$1] = $3 }
		END { for (p in sum) if (sum[p] > max[flow[p]])
				max[flow[p]] = sum[p]
			for (f in max) print f, max[f] }' truth.csv | sort | diff - flows
}

@test "distributions: every sample is in one bin" {
	generate md 2.1
	int-collect -q -r in.pcap -R bin -o ndjson |
		jq -s 'map(select(.metric == "hop_latency" and .node != null) |
			.count) | add' >sum
	[ "$(cat sum)" = "$(($(wc -l <truth.csv) - 1))" ]
	# from end to end, by the path: once a packet
	int-collect -q -r in.pcap -R distribution -o ndjson |
		jq -r 'select(.metric == "flow_latency") |
			"\(.path | map(tostring) | join(",")) \(.samples)"' |
		sort >paths
	awk -F, 'NR > 1 { p[$1] = p[$1] (p[$1] == "" ? "" : ",") $6 }
		END { for (i in p) n[p[i]]++; for (i in n) print i, n[i] }' \
		truth.csv | sort >want
	diff want paths
}

@test "lost reports are told, as many as are missing" {
	generate report 2.1 --loss 5% --hops 5 --nodes 8
	lost=$(dta-gen int -F report -p 2.1 --flows "$FLOWS" --hops 5 --nodes 8 \
		--loss 5 -w lossy.pcap -o ndjson 2>&1 >/dev/null | counter lost)
	int-collect -q -r lossy.pcap -R event -o ndjson |
		jq -s 'map(select(.event == "report_loss") | .value) | add' >told
	# what is missing behind the last one nobody can tell
	[ "$lost" -gt 10 ]
	[ "$(cat told)" -le "$lost" ]
	[ "$(cat told)" -ge $((lost - 8)) ]
}

@test "reports about reports are refused, and are not lost" {
	generate md 2.1
	mv in.pcap md.pcap
	generate report 2.1
	mergecap -F nsecpcap -w both.pcap md.pcap in.pcap
	generate report 2.1 --from both.pcap --nodes 1 --hops 1
	int-collect -r in.pcap -R event -e report_loss,restart -o ndjson \
		>events 2>ledger
	[ "$(counter ledger own_report)" -gt 10 ]
	[ "$(counter ledger taken)" -gt 10 ]
	[ ! -s events ]
	[ "$(counter ledger reports_lost)" = 0 ]
}

@test "reports that change their order are not lost" {
	need_tools mangle
	generate report 2.1
	"$TOOLS/mangle" -s 1 -r 0.2 <in.pcap >late.pcap 2>/dev/null
	mv late.pcap in.pcap
	int-collect -q -r in.pcap -R event -o ndjson >events
	grep -q new_key events
	run -1 grep report_loss events
}

@test "reports 0.5 do not say of which node their numbers are: none is missed" {
	generate report 0.5 --hops 3
	int-collect -r in.pcap -R event -o ndjson >events 2>ledger
	grep -q new_key events
	run -1 grep -e report_loss -e restart events
	[ "$(counter ledger reports_repeated)" = 0 ]
	generate xd 0.5 --loss 5 # these do
	int-collect -q -r in.pcap -R event -o ndjson | grep -q report_loss
}

@test "reports that a filter leaves out are not lost" {
	generate report 2.1
	run -0 --separate-stderr int-collect -r in.pcap -f 'node 24' -R event \
		-e report_loss,restart -o ndjson
	[ -z "$output" ]
	[ "$(counter others <<<"$stderr")" -gt 10 ]
	[ "$(counter matched <<<"$stderr")" -gt 10 ]
	[ "$(counter reports_lost <<<"$stderr")" = 0 ]
}

# --- events ------------------------------------------------------------------

@test "steady values make events when there are spikes: two each" {
	generate md 2.1 --spikes 1000
	spikes=$(dta-gen int -F md --flows "$FLOWS" --spikes 1000 \
		-o ndjson -w in.pcap 2>&1 | counter spikes)
	[ "$spikes" -gt 3 ]
	n=$(int-collect -q -r in.pcap -R event -o ndjson -e change \
		-t hop_latency=1 -t flow_latency=off | wc -l)
	# one at the end of its flow has no fall
	[ "$n" -le $((2 * spikes)) ]
	[ "$n" -gt $spikes ]
	[ "$(int-collect -q -r in.pcap -R event -o ndjson -e change \
		-t hop_latency=1s -t flow_latency=off | wc -l)" = 0 ]
}

@test "thresholds: of a metric, of a node, with hysteresis, from a file" {
	generate md 2.1
	int-collect -q -r in.pcap -R event -o csv -e change,rise,fall \
		-t hop_latency=off,4us,1us -t flow_latency=off \
		-t queue_occupancy=off -t link_utilization=off >crossings
	[ "$(grep -c ,rise, crossings)" -gt 10 ]
	[ "$(grep -c ,change, crossings)" = 0 ]
	# rises and falls of a flow at a node take turns
	awk -F, '$2 == "rise" || $2 == "fall" {
		k = $4 " " $9; if (last[k] == $2) bad = 1
		if (!(k in last) && $2 == "fall") bad = 1
		last[k] = $2 } END { exit bad }' crossings
	node=$(cut -d, -f6 truth.csv | sed -n 2p)
	printf '# for one switch\nhop_latency = off\nhop_latency@%s = 0\n%s\n' \
		"$node" "flow_latency = off" >th.ini
	int-collect -q -r in.pcap -R event -o ndjson -e change \
		-t th.ini |
		jq -r 'select(.metric == "hop_latency") | .node' | sort -u >nodes
	[ "$(cat nodes)" = "$node" ]
}

@test "from end to end: what each flow's path has of the most, if asked for" {
	generate md 2.1
	[ "$(int-collect -q -r in.pcap -R event,value -o ndjson | grep -c flow_link)" = 0 ]
	int-collect -q -r in.pcap -R event -o ndjson -e change,new_key \
		-t link_utilization=0 -t flow_link_utilization=0 >rows
	# The most of a flow is that of one of its nodes, and of all of them.
	int-collect -q -r in.pcap -R hop -o ndjson |
		jq -rs 'group_by(.flow)[] | "\(.[0].flow) \(map(.link_utilization) | max)"' |
		sort >hops
	jq -r 'select(.metric == "flow_link_utilization") | "\(.flow) \(.value)"' rows |
		tac | sort -u -k 1,1 | sort >flows
	[ "$(wc -l <flows)" = "$FLOWS" ]
	diff hops flows
	int-collect -q -r in.pcap -R event,value -t flow_link_utilization=0 \
		-t flow_link_utilization=off -o ndjson >none
	run ! grep flow_link none
	run -2 int-collect -r in.pcap -t flow_link_utilization@3=1
	[[ $output == *"nor is this metric a node's"* ]]
	run -2 int-collect -i lo --xdp -t flow_link_utilization=1
	[[ $output == *"with --xdp"* ]]
}

@test "thresholds that are none are refused, with file and line" {
	generate md 2.1
	printf 'hop_latency = 1us\nqueue = 7\n' >bad.ini
	run -1 int-collect -r in.pcap -t ./bad.ini
	[[ $output == *"bad.ini:2: "*"'queue' is no metric"* ]]
	for bad in hop_latency x=1 hop_latency=x hop_latency=1,2,3 \
		hop_latency=1,off,2 flow_latency@3=1 hop_latency@x=1; do
		run -2 int-collect -r in.pcap -t "$bad"
		[[ $output == *"$bad"* ]]
	done
}

# It has taken so many frames, and what they tell is written.
took() { # frames
	kill -USR1 "${BG_PIDS[0]}"
	sleep 0.05
	[ "$(counter bg.log frames)" = "$1" ] &&
		[ "$(counter bg.log rows export)" = "$(wc -l <out)" ]
}

@test "SIGHUP: new thresholds, and nothing is forgotten" {
	generate md 2.1
	packets=$(packets_in in.pcap)
	echo 'hop_latency = 0' >th.ini
	mkfifo pipe
	bg int-collect -q -r pipe -R event -o ndjson -t th.ini -x file:out
	exec 8>pipe
	cat in.pcap >&8
	wait_for took "$packets"
	grep -q change out
	grep -q new_key out
	echo 'hop_latency = off' >th.ini
	kill -HUP "${BG_PIDS[0]}"
	obeys "${BG_PIDS[0]}" bg.log
	before=$(wc -l <out)
	tail -c +25 in.pcap >&8
	exec 8>&-
	wait "${BG_PIDS[0]}"
	[ "$packets" -gt 10 ]
	[ "$(wc -l <out)" -gt "$before" ]
	# no key is new the second time, no latency of a hop changes
	tail -n +$((before + 1)) out >after
	run -1 grep -E '"event":"(new_key|change)","metric":"(hop_latency|path)' after
}

@test "text: columns are below their names, whatever the metric" {
	generate md 2.1
	int-collect -q -r in.pcap -R event -o text -t flow_queue_occupancy=10 >out
	grep -q " flow_queue_occupancy " out
	awk 'NR == 1 { end = index($0, "NODE") + 3; next }
		substr($0, end, 1) == " " || substr($0, end + 1, 1) != " " {
			print; bad = 1 }
		END { exit bad || NR < 10 }' out
}

@test "the flow cache as asked" {
	generate md 2.1
	flows=$(cut -d, -f3 truth.csv | sed 1d | sort -u | wc -l)
	int-collect -r in.pcap -R flow -o ndjson 2>log >all
	[ "$(counter log created)" = "$flows" ]
	[ "$(counter log evicted)" = 0 ]
	# one row: 12 stay
	int-collect -r in.pcap -R flow -o ndjson --flows 12 2>log >few
	[ "$(jq -r 'select(.reason == "flushed") | .flow' few | wc -l)" = 12 ]
	[ "$(counter log evicted)" = $(($(counter log created) - 12)) ]
	[ "$(jq -s 'map(.packets) | add' few)" = \
		"$(jq -s 'map(.packets) | add' all)" ]
}

@test "INT by another UDP port than the profile's, if asked for" {
	dta-gen int -q -p 2.1 --over udp --flows 5 -c 50 -w in.pcap
	printf '[profile]\nlike = 2.1\nudp_port = 5000\n' >other.ini
	dta-gen int -q -p other.ini --over udp --flows 5 -c 50 -w other.pcap
	packets() { int-collect -R none -o ndjson "$@" 2>&1 | counter packets; }
	[ "$(packets -p 2.1 -r in.pcap)" = 50 ]
	[ "$(packets -p 2.1 -r other.pcap)" = 0 ]
	[ "$(packets -p ./other.ini -r other.pcap)" = 50 ]
	[ "$(packets -p ./other.ini -r in.pcap)" = 0 ]
}

# Packets of 5000 nodes with all that they say fill what there is room for.
@test "all but the flow cache takes less than 64 MB" {
	[[ $BUILD != *-san ]] || skip "sanitizers take memory of their own"
	dta-gen int -q -F report -p 1.0 --instructions 0xff00 --hops 6 \
		--nodes 5000 --flows 60K -c 120K -w 1.pcap
	dta-gen int -q -F ioam --instructions 0xf20002 --hops 6 \
		--nodes 5000 --flows 20K -c 30K -w 2.pcap
	mergecap -a -F nsecpcap -w all.pcap 1.pcap 2.pcap
	mkfifo pipe
	int-collect -o ndjson -R all --flows 12 -r pipe >out 2>log 3>&- &
	BG_PIDS+=("$!")
	exec 5>pipe
	cat all.pcap >&5
	taken() {
		kill -USR1 "${BG_PIDS[0]}" && grep '^{"stage"' log >now &&
			[ "$(counter now frames)" = 150000 ]
	}
	wait_for taken
	[ "$(awk '/^VmHWM/ { print $2 }' "/proc/${BG_PIDS[0]}/status")" \
		-lt $((64000000 / 1024)) ]
	exec 5>&-
	wait "${BG_PIDS[0]}"
	for full in unplaced undistributed reporters_full; do
		[ "$(counter log $full)" -gt 0 ]
	done
}

@test "a filter: of nodes, latencies, nets, in one hop" {
	generate md 2.1
	node=$(cut -d, -f6 truth.csv | sed -n 2p)
	run -0 --separate-stderr int-collect -r in.pcap -R flow -o ndjson \
		-f "node $node and hop.latency > 2us and src net 10.128.0.0/9"
	balances - <<<"$stderr"
	jq -r '"\(.flow) \(.packets)"' <<<"$output" | sort >flows
	awk -F, -v node="$node" 'NR > 1 && $6 == node && $9 > 2000 { n[$3]++ }
		END { for (f in n) print f, n[f] }' truth.csv | sort >want
	[ -s want ]
	diff want flows
	run -2 int-collect -r in.pcap -f "node 7 and"
	[[ $output == *"at 'the end'"* ]]
	int-collect -f help -o csv | grep -q '^hop.latency,ns,'
}

@test "as DTA reports into a region: paths, postcards, counters, events" {
	local region=dta-test-$$-int n

	generate md 2.1 --ipv6 30
	dta-collect --create --layout "$EXAMPLES/int-collect.ini" --region "$region"
	int-collect -r in.pcap -R none --dta reports.pcap -o ndjson 2>ledger
	int-collect -r in.pcap -R none --dta - -q |
		dta-translate -q -r - --region "$region"
	awk -F, 'NR > 1 && $1 != p { if (p != "") print f, s; p = $1; f = $3; s = "" }
		NR > 1 { s = s (s == "" ? "" : ",") $6 } END { print f, s }' truth.csv |
		sort -u >paths
	for v in 4 6; do
		{ [ $v = 4 ] && grep -v '^\[' paths || grep '^\[' paths; } >want
		[ -s want ]
		cut -d' ' -f1 want >keys
		dta-query path --region "$region" --keys keys \
			-t $([ $v = 4 ] && echo cards || echo cards6) -o ndjson |
			jq -r '"\(.key) \(.path | join(","))"' | sort |
			diff want -
		awk -F, -v v=$v 'NR > 1 && $5 == 1 && (v == 6) == ($3 ~ /^\[/) { n[$3]++ }
			END { for (f in n) print f, n[f] }' truth.csv | sort >want
		dta-query count --region "$region" --keys keys \
			-t $([ $v = 4 ] && echo packets || echo packets6) -o ndjson |
			jq -r '"\(.key) \(.count)"' | sort | diff want -
	done
	n=$(int-collect -q -r in.pcap -R event -e change -o ndjson | wc -l)
	[ "$n" -gt 0 ]
	[ "$(dta-query list --region "$region" -t events 1 -o ndjson | wc -l)" = "$n" ]
	balances - <<<"$(grep '"stage":"dta"' ledger)"
	dta-collect --remove --region "$region"
}

# --- packets on --------------------------------------------------------------

# Records of the two captures; their file headers differ.
same_packets() { cmp -i 24 plain.pcap out.pcap; }

# Frames with their times, by tshark.
frames() { tshark -r "$1" -x 2>/dev/null; }

# A TCP checksum of 0xffff comes back as 0, which is the same number: INT's
# source has changed both into the same (RFC 1624).
@test "packets go on as they were, whatever carried the telemetry" {
	tshark -r "$CAPTURE" -Y '(tcp || udp) && !ip.flags.mf && !ip.frag_offset &&
		!ipv6.fraghdr && !icmp && !icmpv6 && !(tcp.checksum == 0xffff)' -w plain.pcap -F nsecpcap 2>/dev/null
	[ "$(packets_in plain.pcap)" -gt 10000 ]
	for args in "0.5 md" "1.0 md" "2.1 md" "smartnic md" \
		"2.1 md --over gre" "2.1 mx"; do
		dta-gen int -p ${args/ / -F } --from plain.pcap -w in.pcap \
			-o ndjson 2>gen
		[ "$(counter gen unfit)" = 0 ]
		for profile in "${args%% *}" any; do
			int-collect -q -r in.pcap -p $profile -R none -w out.pcap
			same_packets || { echo "$profile $args"; false; }
		done
	done
}

@test "packets go on as they were: IOAM" {
	tshark -r "$CAPTURE" -Y 'ipv6 && (tcp || udp)' -w plain.pcap -F nsecpcap 2>/dev/null
	[ "$(packets_in plain.pcap)" -gt 10 ]
	dta-gen int -q -F ioam --from plain.pcap -w in.pcap
	run cmp plain.pcap in.pcap
	[ "$status" = 1 ]
	int-collect -q -r in.pcap -R none -w out.pcap
	same_packets
}

@test "packets go on as they were: INT beside IOAM, which stays" {
	tshark -r "$CAPTURE" -Y 'ipv6 && tcp && !(tcp.checksum == 0xffff)' -w real.pcap -F nsecpcap 2>/dev/null
	dta-gen int -q -F ioam --from real.pcap -w plain.pcap
	dta-gen int -q --from plain.pcap -w in.pcap
	run -0 --separate-stderr int-collect -o ndjson -r in.pcap -R none -w out.pcap
	balances - <<<"$stderr"
	[ "$(counter packets <<<"$stderr")" = "$(packets_in plain.pcap)" ]
	same_packets
}

@test "packets without telemetry pass untouched" {
	gzip -dc "$CAPTURE" >plain.pcap
	run -0 --separate-stderr int-collect -o ndjson -r plain.pcap -R none -w out.pcap
	balances - "$(packets_in plain.pcap)" <<<"$stderr"
	[ "$(counter restored <<<"$stderr")" = 0 ]
	[ "$(frames plain.pcap | wc -l)" -gt 10000 ]
	diff <(frames plain.pcap) <(frames out.pcap)
}

# --- bad input ---------------------------------------------------------------

@test "a bad link: every frame and every report is counted" {
	need_tools mangle
	for format in md mx report xd ioam; do
		for profile in 0.5 1.0 2.1; do
			[ "$format $profile" != "mx ${profile/2.1/}" ] || continue
			generate $format $profile
			"$TOOLS/mangle" -s 1 -l 0.1 -d 0.1 -f 0.5 -c 0.3 -r 0.1 \
				<in.pcap >bad.pcap 2>told
			run -0 --separate-stderr int-collect -o ndjson -r bad.pcap \
				-R none -w out.pcap
			balances - <<<"$stderr"
			[ "$(counter frames <<<"$stderr")" = \
				"$(sed -n 's/.* out=\([0-9]*\)$/\1/p' told)" ]
		done
	done
}

@test "a capture that is none, a profile that is none, no input" {
	echo nonsense >x
	run -1 int-collect -r x
	[[ $output == *"x: "* ]]
	run -1 int-collect -r missing
	run -2 int-collect -r x -p nonsense
	[[ $output == *nonsense*"-p help"* ]]
	run -2 int-collect
	run -2 int-collect -r x -R nonsense
	run -2 int-collect -r x -x nonsense:
	run -2 int-collect -r x -f 'nodd = 5'
	[[ $output == *"at 'nodd': there is no such test or field; see -f help"* ]]
}

@test "exit 2 is for what is wrong as it stands, 1 for what cannot be had" {
	dta-gen int -q --flows 5 -w in.pcap
	for bad in "-t hop_latency" "-f (" "-x none:" "-x influx://h/a?names=none"; do
		run -2 int-collect -r in.pcap -R none ${bad% *} "${bad#* }"
	done
	for bad in "-t ./none" "-p ./none" "-x file:/nonexistent/x" \
		"--spool /proc/none -x redis://127.0.0.1:1" "-r none" "-w /nonexistent/x"; do
		[[ $bad == -r* ]] || bad="-r in.pcap $bad"
		# shellcheck disable=SC2086 # words
		run -1 int-collect -R none $bad
		[[ $output == *"No such file or directory"* ]]
	done
}

@test "CSV is one kind of rows, events, unless more are asked for" {
	dta-gen int -q --rate 100 -c 3000 -w in.pcap
	int-collect -q -r in.pcap -o csv >rows
	[ "$(grep -c '^time' rows)" = 1 ]
	diff rows <(int-collect -q -r in.pcap -R event -o csv)
	run -2 --separate-stderr int-collect -q -r in.pcap -R all -o csv
	[[ $stderr == *"-o csv: a header is that of one kind of row"* ]]
	int-collect -q -r in.pcap -R none -x 'file:%m.csv?format=csv'
	diff rows int_event.csv
	[ "$(cut -d, -f2 rows | sort -u | grep -c .)" -gt 1 ]
	int-label-ctl sim -q -d 3s -w labels.pcap >/dev/null
	int-label-ctl -q -r labels.pcap -o csv >rows
	[ "$(grep -c '^time' rows)" = 1 ]
	diff rows <(int-label-ctl -q -r labels.pcap -R interval -o csv)
	run -2 int-label-ctl -q -r labels.pcap -R all -o csv
}
