# SPDX-License-Identifier: BSD-2-Clause
# INT-label through captures: devices that label and give back what came, the
# controller that reads the labels; the live ones are in tests/net.

load ../helpers
load ../label
load ../terminal

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { end_bg; }

# The controller's ledgers add up, and so many frames came.
controls() { # LEDGER FRAMES
	balances "$1"
	[ "$(counter "$1" frames)" = "$2" ]
}

@test "what leaves the last hop is what came to the first; all is covered" {
	traffic plain.pcap
	three_hops plain.pcap
	cmp plain.pcap back.pcap
	run ! cmp -s plain.pcap one.pcap
	int-label-ctl -q -r labels.pcap -R interval -o csv >rows
	[ "$(wc -l <rows)" = 21 ]
	[ "$(tail -n +2 rows | cut -d, -f2-4 | sort -u)" = 3,3,1 ]
}

frames_of() { tcpdump -r "$1" --nano -tt -nn -xx 2>/dev/null; }

@test "real traffic: bit for bit as it was, with each policy" {
	for capture in "${CAPTURES[@]}"; do
		for policy in "-b A -t 1ms" "-b B -t 1ms" "-b B -t 1ms -f f3" \
			"-b B -t 10ms -f 0,0.5,1 --rest 1ms"; do
			# shellcheck disable=SC2086
			three_hops "$capture" $policy
			diff <(frames_of <(zcat -f "$capture")) \
				<(frames_of back.pcap)
		done
	done
}

@test "all frames that carry labels are read: on the way, exported, both" {
	traffic plain.pcap
	three_hops plain.pcap
	# The labels of the last hop are told only behind it.
	for f in one.pcap two.pcap labels.pcap; do
		int-label-ctl -q -r $f -R port -o csv |
			tail -n +2 | cut -d, -f2 | sort -un | tail -n 1
	done >devices
	[ "$(echo $(<devices))" = "1 2 3" ]
	int-label-ctl -r two.pcap -R none -o ndjson 2>ledger
	controls ledger 40000
}

@test "odd times: false ones are not believed, a reboot is" {
	labels_to odd.pcap <<-END
		100.000000 1 50000000 1
		100.050000 1 50050000 2
		100.100000 1 99950050000 3
		100.150000 1 50150000 4
		100.200000 2 70000000 0
		100.250000 2 1000 0
		100.300000 2 51000 0
		100.350000 2 101000 0
		100.400000 1 2000 1
		100.450000 1 52000 2
	END
	run -0 --separate-stderr int-label-ctl -r odd.pcap -R port -o csv
	[ "$(tail -n +2 <<<"$output" | cut -d, -f2,7,8,11)" = "\
1,50000000,1,0
1,50050000,2,0
1,50150000,4,1
2,70000000,,
2,101000,,
1,2000,1,1
1,52000,2,1" ]
	int-label-ctl -r odd.pcap -R none -o ndjson 2>ledger
	controls ledger 10
	[ "$(jq -r 'select(.counter | IN("future", "back", "reset"))
		| "\(.counter) \(.value)"' ledger | sort)" = "back 2
future 1
reset 2" ]
}

@test "repeated and late exports; labels of foreign devices" {
	labels_to late.pcap <<-END
		100.000000 1 1000 1
		100.010000 1 3000 3
		100.020000 1 2000 2
		100.030000 1 2000 2
		100.040000 9 1000 1
		100.050000 1 5000 5
	END
	int-label-ctl -r late.pcap -R none -D 1-3,5 -o ndjson 2>ledger
	controls ledger 6
	[ "$(jq -r 'select((.stage == "database" or .stage == "arrival") and .role != "done" and .value > 0)
		| "\(.counter) \(.value)"' ledger | xargs)" = \
		"items 6 late 1 duplicate 1 unknown 1 missing 1 found 1" ]
}

@test "silence, and what Pro makes of it" {
	labels_to silent.pcap <<-END
		100.000000 1 1000 1
		100.000000 2 1000 1
		100.090000 2 91000 2
		100.180000 2 181000 3
		100.270000 2 271000 4
		100.360000 2 361000 5
		100.450000 1 451000 9
		100.540000 2 541000 7
	END
	run -0 --separate-stderr int-label-ctl -q -r silent.pcap \
		-R silence,decision -o ndjson
	# Device 1 is silent from 100.0 to 100.45: a step each k * T, as the
	# paper's algorithm 3 has it.
	[ "$(jq -r 'select(.node == 1) | if .measurement == "label_silence"
		then "\(.time) \(.event) since \(.since)"
		else "\(.time) S \(.s_before) to \(.s), lost \(.lost)" end' \
		<<<"$output")" = "\
100.100000000 silent since 100.000000000
100.100000000 S 0 to 1, lost 0
100.200000000 S 1 to 2, lost 0
100.300000000 S 2 to 3, lost 0
100.400000000 S 3 to 4, lost 0
100.450000000 heard since 100.000000000
100.500000000 S 4 to 3, lost 7" ]
}

@test "a pipe whose writer pauses: time is that of its packets" {
	falls_silent silent.pcap
	int-label-ctl -q -r silent.pcap -o ndjson >whole
	bytes=$(stat -c %s silent.pcap)
	{
		head -c $((bytes / 2)) silent.pcap
		sleep 0.5
		tail -c +$((bytes / 2 + 1)) silent.pcap
	} | int-label-ctl -q -r - -o ndjson >paused
	cmp whole paused
}

@test "labels over a bad link: all are counted, nothing crashes" {
	need_tools mangle
	traffic plain.pcap
	three_hops plain.pcap -t 1ms -b B
	for seed in 1 2 3 4 5; do
		"$TOOLS/mangle" -s $seed -l 0.1 -d 0.1 -f 0.5 -c 0.2 -r 0.1 \
			<labels.pcap >bad.pcap 2>told
		int-label-ctl -r bad.pcap -R none -o ndjson 2>ledger
		controls ledger "$(sed -n 's/.* out=\([0-9]*\)$/\1/p' told)"
		"$TOOLS/mangle" -s $seed -l 0.1 -f 0.5 -c 0.2 <two.pcap >bad.pcap 2>told
		int-label-ctl label -d 3 --edge out -r bad.pcap -w back.pcap \
			-o ndjson 2>ledger
		balances - "$(sed -n 's/.* out=\([0-9]*\)$/\1/p' told)" <ledger
	done
}

@test "commands to a hop: S, flows; what is none is refused" {
	traffic plain.pcap
	printf '%s\n' 'register_write label_s 2 2' 'register_write label_s 2 99' \
		'table_add label_flow label_specific 10.1.0.1 10.0.0.51 17 1 2 => 100' \
		nonsense >lines
	run -0 --separate-stderr int-label-ctl label -q -d 1 -r plain.pcap \
		-w one.pcap --control - <lines
	[[ $stderr == *"'register_write label_s 2 99' is no command"* ]]
	[[ $stderr == *"'nonsense' is no command"* ]]
	# 2 s of labels each 50 / 4 ms, and the first one
	n=$(int-label-ctl -q -r one.pcap -R port -o csv | tail -n +2 | wc -l)
	[ "$n" -ge 155 ]
	[ "$n" -le 161 ]
}

@test "commands by a socket: it is told of; a datagram that is cut is none" {
	mkfifo in.pcap
	int-label-ctl label -d 1 -r in.pcap -w one.pcap --control "$PWD/hop" \
		2>log 3>&- &
	BG_PIDS+=($!)
	exec 7>in.pcap
	wait_for test -S hop
	[[ $(<log) == *"--control: a socket is at $PWD/hop, for commands"* ]]
	# All lines of one are obeyed; what is cut is none.
	python3 -c 'if True:
		import socket
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		line = b"register_write label_s 2 2\n"
		s.sendto(line * 100 + b"nonsense", "hop")
		s.sendto(line.ljust(70000), "hop")'
	dta-gen uniform -q -c 40000 --rate 20000 --seed 1 -w - >&7
	exec 7>&-
	wait "${BG_PIDS[-1]}"
	[ "$(grep -c "too long" log)" = 1 ]
	[ "$(grep -c "nonsense" log)" = 1 ]
	[ ! -e hop ]
}

@test "commands from stdin: all of them before the first packet" {
	traffic plain.pcap
	# However late they come.
	{
		sleep 0.2
		echo 'register_write label_s 9 2'
		sleep 0.2
		echo 'register_write label_s 2 2'
	} | int-label-ctl label -q -d 1 -r plain.pcap -w one.pcap --control -
	n=$(int-label-ctl -q -r one.pcap -R port -o csv | tail -n +2 | wc -l)
	[ "$n" -ge 155 ]
	run -2 --separate-stderr int-label-ctl label -d 1 -r - --control - </dev/null
	[[ $stderr == *"--control: packets come from stdin already"* ]]
}

@test "a full disk is not the input's fault" {
	traffic plain.pcap
	run -1 --separate-stderr int-label-ctl label -q -d 1 -r plain.pcap \
		-w /dev/full
	[ "$stderr" = "int-label-ctl label: /dev/full: No space left on device" ]
	run -1 --separate-stderr int-label-ctl label -q -d 1 -r plain.pcap \
		--edge out -e /dev/full
	[ "$stderr" = "int-label-ctl label: /dev/full: No space left on device" ]
}

@test "packets that a router may cut up are not labelled" {
	traffic plain.pcap
	python3 - plain.pcap df.pcap <<-'END'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at = 24
		while at < len(data):
		    size = struct.unpack_from("<I", data, at + 8)[0]
		    at += 16
		    if data[at + 12:at + 14] == b"\x08\x00":
		        data[at + 20] &= 0xbf
		        old = struct.unpack_from(">H", data, at + 24)[0] + 0x4000
		        struct.pack_into(">H", data, at + 24, old % 0xffff)
		    at += size
		open(sys.argv[2], "wb").write(data)
	END
	run -0 --separate-stderr int-label-ctl label -d 1 -r df.pcap -w one.pcap \
		-o ndjson
	balances - <<<"$stderr"
	[ "$(counter - fragmentable <<<"$stderr")" -gt 0 ]
	[ -z "$(tshark -r one.pcap -Y "ip.proto == 253" 2>/dev/null)" ]
	[ "$(counter - labels <<<"$stderr")" = 0 ]
}

@test "checksums: damaged labels make no ports" {
	need_tools mangle
	traffic plain.pcap
	int-label-ctl label -q -d 1 -r plain.pcap -w one.pcap
	labels_to odd.pcap <<-END
		100.000000 1 1000 1
	END
	sed 's/0a 00 00 01/0a 00 00 07/' hex >bad
	text2pcap -q -F pcap bad bad.pcap 2>/dev/null
	run -1 --separate-stderr int-label-ctl -r bad.pcap -R port -o ndjson
	[ -z "$output" ]
	[ "$(counter - checksum controller <<<"$stderr")" = 1 ]
	[[ $stderr == *"bad.pcap: nothing was taken: no packet with good labels"* ]]
	balances - <<<"$stderr"
}

@test "ports that are forgotten: after a day, those of one label sooner; it is told" {
	{
		echo 100.000000 666 1000 1
		echo 100.000000 2 1000 1
		echo 100.050000 2 51000 2
		for i in 0 5 {10000..90000..10000}; do
			echo $((100 + i)).000000 1 $((1000 + 1000000 * i)) $((i + 1))
		done
	} | sort -s -k 1,1n | labels_to once.pcap
	run -0 --separate-stderr int-label-ctl -r once.pcap -R silence,decision \
		-o ndjson
	[ "$(jq -r 'select(.event == "forgotten") | "\(.node) \(.since)"' \
		<<<"$output")" = "666 100.000000000
2 100.050000000" ]
	[ "$(jq -r 'select(.reason == "forgotten") | "\(.node) \(.s)"' \
		<<<"$output" | xargs)" = "666 0 2 0" ]
	[ "$(told_of - forgotten <<<"$stderr")" = 2 ]
}

@test "usage: what is missing, and what does not go together" {
	run -2 --separate-stderr int-label-ctl run
	[[ $stderr == "int-label-ctl: where are the packets?"* ]]
	run -2 --separate-stderr int-label-ctl label -r x
	[[ $stderr == "int-label-ctl label: which --node is it?"* ]]
	run -2 --separate-stderr int-label-ctl label -d 1 -i lo
	[[ $stderr == *"--to"* ]]
	run -2 --separate-stderr int-label-ctl label -d 1 -r x -b B --rest 60ms
	[[ $stderr == *"longer than the labelling interval"* ]]
	run -2 --separate-stderr int-label-ctl label -d 1 -r x -f f9
	[[ $stderr == *"--chance: 'f9' is not f1, f2, f3 or"* ]]
	run -2 --separate-stderr int-label-ctl -r x --nodes 3-1
	[[ $stderr == *"--nodes: '3-1' is not a list of N or N-M"* ]]
	for o in "-f f2:--chance is of Base B" "--rest 1ms:--rest is of Base B" \
		"-e x.pcap:--export: no labels end here: say --edge" \
		"--edge in -e x.pcap:--export: no labels end here" \
		"--collector 10.0.0.1:--collector: no labels end here"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr int-label-ctl label -d 1 -r x ${o%%:*}
		[[ $stderr == *"${o#*:}"* ]] || { echo "$o: $stderr"; false; }
	done
	run -2 --separate-stderr int-label-ctl label -d 1 -i lo --to lo
	[[ $stderr == *"--to: 'lo' is --interface, too"* ]]
	run -2 --separate-stderr int-label-ctl lable -d 1
	[[ $stderr == "int-label-ctl: 'lable' is not run, label, sim, theory or flow; did you mean label?"* ]]
	run -2 --separate-stderr int-label-ctl foo
	[[ $stderr == *"'foo' is not run, label, sim, theory or flow"* ]]
	run -1 --separate-stderr int-label-ctl -r nothing.pcap
	[ "$stderr" = "int-label-ctl: nothing.pcap: No such file or directory" ]
}

@test "specific flows: added, followed hop by hop, taken away again" {
	traffic plain.pcap
	read -r src sport dst dport < <(tshark -r plain.pcap -c 1 -T fields \
		-e ip.src -e udp.srcport -e ip.dst -e udp.dstport 2>/dev/null)
	flow="$src:$sport>$dst:$dport/udp"
	int-label-ctl flow add "$flow" | sed "s/10000$/5000/" >lines
	int-label-ctl label -q -d 1 --edge in -r plain.pcap -w one.pcap \
		--control lines
	int-label-ctl label -q -d 2 -r one.pcap -w two.pcap
	int-label-ctl label -q -d 3 --edge out -r two.pcap -w back.pcap \
		-e labels.pcap
	cmp plain.pcap back.pcap
	int-label-ctl -q -r labels.pcap -R hop -o csv >hops
	[ "$(tail -n +2 hops | cut -d, -f2 | sort -u)" = "$flow" ]
	[ "$(tail -n +2 hops | cut -d, -f3-5 | sort | uniq -c |
		awk '{ print ($1 > 390), $2 }' | xargs)" = "1 1,3,1 1 2,3,2 1 3,3,3" ]
	int-label-ctl flow del "$flow" >>lines
	int-label-ctl label -q -d 1 -r plain.pcap -w one.pcap --control lines
	int-label-ctl -r one.pcap -R none -o ndjson 2>ledger
	[ "$(counter ledger specific controller)" = 0 ]
	run -2 --separate-stderr int-label-ctl flow add 10.0.0.1
	[[ $stderr == *"'10.0.0.1' is no flow"* ]]
	run -2 int-label-ctl flow add
}

@test "dta-dump packets shows labels, and the prototype's" {
	labels_to one.pcap <<-END
		100.000000 7 1000 3
	END
	run -0 dta-dump packets one.pcap
	[ "$output" = "1 100.000000000 10.0.0.1 > 10.0.0.2 int-label normal \
key=10.0.0.1:0>10.0.0.2:0/udp path_len=1 length=76 \
labels=7:1>2@1000us,latency=0,queue=0,number=3" ]
	# As the controller counts them: checksum, malformed.
	sed 's/0a 00 00 01/0a 00 00 07/' hex >bad
	text2pcap -q -F pcap bad bad.pcap 2>/dev/null
	run -0 dta-dump packets bad.pcap
	[[ $output == *" labels=7:1>2@1000us,latency=0,queue=0,number=3 ! wrong \
IPv4 header or UDP checksum" ]]
	for format in csv ndjson; do
		dta-dump packets -o $format one.pcap >good
		run ! grep -q wrong good
		run -0 dta-dump packets -o $format bad.pcap
		[[ $output == *"wrong IPv4 header or UDP checksum"*"7:1>2@1000us"* ]]
	done
	sed 's/11 01 00 00 00 07/11 02 00 00 00 07/' hex >cut
	text2pcap -q -F pcap cut cut.pcap 2>/dev/null
	run -0 dta-dump packets cut.pcap
	[[ $output == *" int-label length=76 ! malformed or cut short" ]]
}

# Devices 1 to 3 in a row; the line behind device 2 loses every third packet,
# and all of them in the last half second.
over_a_line_that_loses() {
	traffic plain.pcap
	int-label-ctl flow add "$(dta-dump packets plain.pcap -c 1 -o ndjson |
		jq -r '"\(.src)>\(.dst)/udp"')" | sed "s/10000$/3000/" >lines
	int-label-ctl label -q -d 1 --edge in -r plain.pcap -w one.pcap \
		-t 7ms --control lines
	int-label-ctl label -q -d 2 -r one.pcap -w two.pcap -t 7ms
	editcap -F nsecpcap -B 1700000001.5 two.pcap some.pcap
	"$TOOLS/mangle" -s 1 -l 0.3 <some.pcap >lossy.pcap 2>/dev/null
	int-label-ctl label -q -d 3 --edge out -r lossy.pcap -w back.pcap \
		-e labels.pcap -t 7ms
}

# table NAME OPTION...: as CSV, without its head.
table() {
	local name=$1

	shift
	int-label-ctl -q -r labels.pcap --top "$name" --once -o csv "$@" |
		tail -n +2
}

@test "tables: worst queues, suspected loss, silent ports, ways of flows" {
	need_tools mangle
	over_a_line_that_loses
	[ "$(table ports --sort node | cut -d, -f2,3 | xargs)" = "3,2 2,2 1,2" ]
	# Where numbers are missing, and what is behind these ports.
	table links --sort lost >links
	[ "$(cut -d, -f1-4,10 links | sort | xargs)" = "1,2,2,1,numbers 2,2,3,1,numbers" ]
	while IFS=, read -r _ _ _ _ labels lost loss minutes _; do
		[ "$loss" = "$minutes" ] # all of it was in the last minutes
		awk -v n="$labels" -v lost="$lost" -v loss="$loss" 'BEGIN {
			exit !(lost > n / 10 && lost < n &&
				(loss - lost / (n + lost)) ^ 2 < 1e-6) }'
	done <links
	[ "$(table paths | cut -d'"' -f2)" = 1,2,3 ]
	[ -z "$(table silent)" ]
	# Device 9 stops in the middle.
	int-label-ctl label -q -d 9 -r plain.pcap -w - -t 7ms |
		editcap -F nsecpcap -B 1700000000.5 - nine.pcap
	mergecap -F nsecpcap -w labels.pcap nine.pcap one.pcap
	[[ $(table silent | cut -d, -f2-5) == 9,2,silent,1700000000.4* ]]
	[ "$(table links | cut -d, -f1,9,10)" = 9,6,silence ]
	run -2 int-label-ctl -r labels.pcap --top links --sort nonsense
	[[ $output == *"--sort: 'nonsense': links have node, port"* ]]
	run -2 int-label-ctl -r labels.pcap --top links -R port
	[[ $output == *"the table has stdout"* ]]
}

@test "the screen: tables and their keys; the filter" {
	traffic plain.pcap
	three_hops plain.pcap
	typist '
until(b"the input has ended", b"by queue; ? for keys", b"ports 3; labels")
assert len([r for r in rows() if r]) == 3, rows()
key(b"s"); until(b"by label_time")
key(b"2"); until(b": silent", b"by silent_for")
key(b"l"); until(b": links", b"by loss_minutes")
key(b"4"); until(b": paths", b"by latency")
key(b"1/2\r"); until(b"only 2", b"filter on")
assert all("2" in r.split()[2:4] for r in rows() if r), rows()
key(b"q")' int-label-ctl -q -r labels.pcap --top ports
	[ "$output" = 'status 0' ]
}

# label_of NUMBER SECONDS: of device 1, whose clock goes as ours does.
label_of() { echo "$2.000000 1 $(($2 * 1000000)) $1"; }

@test "loss of the last minutes" {
	# 600 s of a label a second, the last ones each of three.
	{
		for i in {1..570}; do label_of $i $((1000 + i)); done
		for i in {1..30}; do label_of $((570 + 3 * i)) $((1570 + i)); done
	} | labels_to labels.pcap
	# This minute and the one before it: since 1500 s.
	[ "$(table links | cut -d, -f5-8)" = 600,60,0.0909091,0.372671 ]
}

