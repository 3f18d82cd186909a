# SPDX-License-Identifier: BSD-2-Clause
# dta-translate: options, exit status, settings, signals, what is left when the
# input or the output breaks.

load ../helpers
load ../wire

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-tr-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

make_region() { # workload
	dta-collect --create --layout "$EXAMPLES/$1.ini" --region "$NAME"
}

# A list of 4-byte entries, batches of 16 that wait for 100 ms.
make_lists() {
	cat >lists.ini <<-INI
		[events]
		kind = append
		value = 4
		lists = 1
		entries = 1Ki
		batch = 16
		flush = 100ms
	INI
	dta-collect --create --layout lists.ini --region "$NAME"
}

usage_error() { # text option...
	local text=$1

	shift
	run -2 --separate-stderr dta-translate "$@"
	[ -z "$output" ]
	[[ $stderr == *"$text"* && $stderr == *"try 'dta-"* ]]
}

@test "options that do not go together: usage on stderr, exit 2" {
	usage_error "where are the reports? Say -r or -i" --region x
	usage_error "where do the operations go? Say --region, --ticket, --cluster or --verbs" -r x
	usage_error "only one of --region" -r x --region y --verbs z
	usage_error "one of --region, --ticket, --cluster and --verbs" \
		-r x --region y --ticket z -w w
	usage_error "one of --region, --ticket, --cluster and --verbs" \
		-r x --region y --cluster z
	usage_error "--ticket needs -w or --to" -r x --ticket z
	usage_error "--write needs --ticket or --cluster" -r x --region z -w y
	usage_error "--ack-every needs" -r x --region y --ack-every 4
	usage_error "standard input cannot" -r - --ticket - -w y
	usage_error "standard output cannot" -r x --ticket t -w - --nacks -
	run -2 --separate-stderr dta-translate -r x --region y --format dta2
	[[ $stderr == *"--format: 'dta2'"* ]]
	usage_error "no such argument" -r x --region y z
	usage_error "unknown" -Z
}

@test "no file is an input and an output, or two outputs" {
	dta-gen uniform -c 3 -q -w r.pcap
	cp r.pcap saved.pcap
	for options in "--region x --nacks r.pcap" "--ticket t -w r.pcap" \
		"--ticket saved.pcap -w saved.pcap" "--ticket t -w x --nacks x"; do
		run -2 --separate-stderr dta-translate -r r.pcap $options
		[[ $stderr == *"named twice"* ]]
	done
	cmp r.pcap saved.pcap
}

@test "what is not there: its name and the reason, exit 1" {
	run -1 --separate-stderr dta-translate -r none.pcap --region "$NAME"
	[[ $stderr == "dta-translate: none.pcap: No such file"* ]]
	dta-gen uniform -c 1 -q -w r.pcap
	run -1 --separate-stderr dta-translate -r r.pcap --region "$NAME"
	[[ $stderr == "dta-translate: $NAME: "* ]]
	run -1 --separate-stderr dta-translate -r r.pcap --ticket none -w w.pcap
	[[ $stderr == *none* ]]
}

@test "a ticket whose packets would cut the slots of a UC table is refused" {
	printf '%s\n' '[big]' 'kind = keywrite' 'key = u32' 'value = 300' \
		'slots = 64' 'qp = uc' >uc.ini
	dta-collect --create --layout uc.ini --region "$NAME" --ticket t.ini
	dta-gen uniform -c 10 -q --key-type u32 --value 300 -w r.pcap
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	sed 's/^mtu = 1024/mtu = 256/' t.ini >small.ini # made elsewhere
	run -1 --separate-stderr dta-translate -q -r r.pcap --ticket small.ini \
		-w small.pcap
	[[ $stderr == "dta-translate: small.ini: table big: qp: packets of 256 bytes, the path MTU, cut slots of 304 bytes, and on UC "*"qp = rc"* ]]
}

@test "-t: settings that may change, and those that may not" {
	make_region netseer-loss
	dta-gen netseer-loss -c 100 -q -w r.pcap
	for bad in nonsense 1 1:batch 1:slots=5 1:stride=8 1:value=5 1:batch=0 \
		1:batch=x 1:hops=5 1:entries=1Ki; do
		run -2 --separate-stderr dta-translate -r r.pcap -R "$NAME" -t "$bad"
		[[ $stderr == "dta-translate: -t"[:\ ]* ]]
	done
	for bad in 9 x loss; do
		run -1 --separate-stderr dta-translate -r r.pcap -R "$NAME" \
			-t "$bad:batch=1"
		[[ $stderr == *"no table '$bad', only losses, losses6"* ]]
	done
	run -1 --separate-stderr dta-translate -r r.pcap -R "$NAME" -t 1:batch=17
	[[ $stderr == *"batches of 16 at most"* ]]
	dta-translate -o ndjson -r r.pcap -R "$NAME" -t 1:batch=4 \
		-t 1:immediate=yes -t 1:sequence=off 2>ledger
	[ "$(counter ledger batches)" = 100 ] # every entry at once
	[ "$(counter ledger immediates)" = 100 ]
	dta-translate -o ndjson -r r.pcap -R "$NAME" -t losses:batch=4 2>ledger
	[ "$(counter ledger batches)" = 25 ]
}

@test "-t cache: more than the memory limit is refused with the number" {
	make_region int-postcard
	dta-gen int-postcard --flows 10 -q -w r.pcap
	run -1 --separate-stderr dta-translate -r r.pcap -R "$NAME" -t 1:cache=4Mi
	[[ $stderr == *"paths: cache: 4194304 rows"* ]]
	dta-translate -q -r r.pcap -R "$NAME" -t 1:cache=1
}

@test "-t copies: N of reports that leave it to the table" {
	make_region uniform
	dta-gen uniform -c 100 -q -w r.pcap
	dta-translate -o ndjson -r r.pcap -R "$NAME" -t 1:copies=4 2>ledger
	[ "$(counter ledger ops)" = 400 ]
	dta-gen uniform -c 100 --copies 3 -q -w r.pcap
	dta-translate -o ndjson -r r.pcap -R "$NAME" -t 1:copies=4 2>ledger
	[ "$(counter ledger ops)" = 300 ]
}

@test "a path longer than the chunk is dropped, not cut" {
	sed 's/^hops = 5/hops = 3/' "$EXAMPLES/int-postcard.ini" >layout.ini
	dta-collect --create --layout layout.ini --region "$NAME"
	dta-gen int-postcard --flows 100 --hops 5 -q -w r.pcap --truth truth.csv
	run -1 --separate-stderr dta-translate -o ndjson -r r.pcap -R "$NAME"
	[[ $stderr == *"all are bad_hop: table "*"(paths) is postcard"*" 3 hops;"* ]]
	echo "$stderr" >ledger
	[ "$(counter ledger bad_hop)" = 500 ]
	[ "$(counter ledger stored)" = 0 ]
	dta-dump region "$NAME" -o ndjson >rows
	jq -se 'length > 0 and all(.used == 0)' rows
	run -1 --separate-stderr dta-query verify -R "$NAME" --truth truth.csv \
		-o ndjson
	jq -e '.too_long == .asked and .missing == .asked' <<<"$output"
	dta-gen int-postcard --flows 100 --hops 3 -q -w r.pcap --truth truth.csv
	dta-translate -q -r r.pcap -R "$NAME"
	dta-query verify -R "$NAME" --truth truth.csv -o ndjson |
		jq -e '.right == .asked and .asked > 90'
}

@test "strict sequence: drops after a gap, one NACK for it" {
	make_region uniform
	dta-gen uniform -c 5 -q --tracked -w r.pcap
	editcap -F nsecpcap r.pcap gap.pcap 3
	dta-translate -o ndjson -r gap.pcap -R "$NAME" -t 1:sequence=strict \
		--nacks nacks.pcap 2>ledger
	[ "$(counter ledger stored)" = 2 ]
	[ "$(counter ledger out_of_order)" = 2 ]
	[ "$(counter ledger gaps)" = 1 ]
	run -0 --separate-stderr dta-dump packets nacks.pcap
	[ "${#lines[@]}" = 1 ]
	[[ ${lines[0]} == *"nack"*"sequence=1"* ]]
	# an independent dissector agrees on addresses, ports and sums
	run -0 --separate-stderr tshark -r nacks.pcap -T fields -e ip.dst \
		-e udp.dstport -e udp.length -o ip.check_checksum:TRUE \
		-e ip.checksum.status
	[[ ${lines[0]} == $'10.1.0.1\t40044\t16\t1' ]]
}

# missing_is N [GAPS]: of r.pcap, less what was taken away, which is cut.pcap.
missing_is() {
	dta-translate -o ndjson -r cut.pcap -R "$NAME" 2>ledger
	[ "$(counter ledger missing)" = "$1" ]
	[ -z "${2:-}" ] || [ "$(counter ledger gaps)" = "$2" ]
	[ "$(counter ledger restarts)" = 0 ]
	[ "$(counter ledger stored)" = "$(counter ledger received)" ]
}

@test "reports that do not come are missing, by their number, tracked or not" {
	make_region uniform
	for tracked in "" --tracked; do
		dta-gen uniform -c 10000 -q $tracked -w r.pcap
		editcap -F nsecpcap r.pcap cut.pcap 4001-5000
		missing_is 1000 1
		editcap -F nsecpcap r.pcap cut.pcap 2-301 777 3000-3498 9800-9999
		missing_is 1000 4
		# what comes twice does not make up for it, what is late does
		editcap -F nsecpcap r.pcap cut.pcap 2-302 400-499 900-10000
		editcap -F nsecpcap -r r.pcap late.pcap 400-499
		mergecap -a -F nsecpcap -w some.pcap cut.pcap cut.pcap late.pcap
		mv some.pcap cut.pcap
		missing_is 301 2
		dta-translate -r cut.pcap -R "$NAME" 2>text
		grep -qE '^  missing +301$' text
		# numbers wrap
		dta-gen uniform -c 100000 -q $tracked -w r.pcap
		editcap -F nsecpcap r.pcap cut.pcap 65000-65499 65530-66029
		missing_is 1000 2
	done
}

@test "missing: of each reporter, whatever else the link does" {
	need_tools mangle
	make_region int-postcard
	for tracked in "" --tracked; do
		dta-gen int-postcard --flows 30000 -q $tracked -w r.pcap
		editcap -F nsecpcap -r r.pcap a.pcap 1-10000
		editcap -F nsecpcap -r r.pcap b.pcap 10001-20000
		editcap -F nsecpcap -r r.pcap c.pcap 20001-30000
		"$TOOLS/mangle" -l 0.1 -d 0.1 -r 0.1 <b.pcap >bad.pcap 2>link
		lost=$(sed 's/.* lost=\([0-9]*\) .*/\1/' link)
		[ "$lost" -gt 500 ]
		mergecap -a -F nsecpcap -w cut.pcap a.pcap bad.pcap c.pcap
		missing_is "$lost"
		"$TOOLS/mangle" -d 0.1 -r 0.1 <r.pcap >cut.pcap 2>link
		missing_is 0
	done
}

@test "missing: a reporter that begins anew has lost nothing" {
	make_region uniform
	dta-gen uniform -c 60000 -q -w a.pcap
	dta-gen uniform -c 5000 -q -w b.pcap
	mergecap -a -F nsecpcap -w r.pcap a.pcap b.pcap b.pcap
	dta-translate -o ndjson -r r.pcap -R "$NAME" 2>ledger
	[ "$(counter ledger missing)" = 0 ]
	[ "$(counter ledger restarts)" = 2 ]
	dta-translate -o ndjson -r r.pcap -R "$NAME" -t 1:sequence=off 2>ledger
	[ "$(counter ledger restarts)" = 0 ]
}

@test "a capture that ends inside a packet: what came before is stored, exit 1" {
	make_region uniform
	dta-gen uniform -c 1000 -q --truth truth.csv -w r.pcap
	size=$(stat -c %s r.pcap)
	head -c $((size - 30)) r.pcap >cut.pcap
	run -1 --separate-stderr dta-translate -o ndjson -r cut.pcap -R "$NAME"
	[[ $stderr == *"dta-translate: cut.pcap: "* ]]
	grep '^{' <<<"$stderr" >ledger
	[ "$(counter ledger stored)" = 999 ]
	run dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	[ "$(jq -r '.right' <<<"$output")" = 999 ]
}

@test "a full disk is exit 1, and said" {
	make_region uniform
	dta-collect --region "$NAME" --ticket ticket.ini
	dta-gen uniform -c 1000 -q -w r.pcap
	run -1 --separate-stderr dta-translate -q -r r.pcap --ticket ticket.ini \
		-w /dev/full
	[[ $stderr == "dta-translate: /dev/full: No space left on device" ]]
	run -1 --separate-stderr dta-translate -r r.pcap --ticket ticket.ini \
		-w /dev/full -o ndjson
	grep "^{" <<<"$stderr" >ledger
	[ "$(counter ledger received)" = 1000 ]
	[ "$(counter ledger stored)" = 0 ]
	[ "$(counter ledger unwritten)" = 1000 ]
}

@test "a closed pipe ends quietly" {
	make_region uniform
	dta-collect --region "$NAME" --ticket ticket.ini
	dta-gen uniform -c 100000 -q -w r.pcap
	dta-translate -q -r r.pcap --ticket ticket.ini -w - 2>err | head -c 10 >/dev/null
	[ ! -s err ]
}

# A translator that waits for more, in the background.
start_waiting() { # option...
	mkfifo pipe
	bg dta-translate -o ndjson -r pipe -R "$NAME" "$@"
	exec 7>pipe
	cat r.pcap >&7
}

entries_are() {
	local written

	written=$(dta-dump region "$NAME" --lists -o ndjson |
		jq 'select(.list == 0).written')
	[ "${written:-0}" = "$1" ] # of none there is no row
}

@test "SIGUSR1 prints the ledger; SIGTERM flushes, prints it, exit 0" {
	make_lists
	dta-gen uniform --kind append --lists 1 -c 5 -q -w r.pcap
	start_waiting -t 1:flush=1000s
	pid=${BG_PIDS[0]}
	ask() { kill -USR1 "$pid" && grep -q '"counter":"stored".*"value":5' bg.log; }
	wait_for ask
	entries_are 0
	kill -TERM "$pid"
	wait "$pid" # exit status 0
	exec 7>&-
	BG_PIDS=()
	entries_are 5
	tail -n 30 bg.log | grep -q '"counter":"partial_batches".*"value":1'
}

@test "a pipe that falls silent: a partial batch waits for the flush time only" {
	make_lists
	dta-gen uniform --kind append --lists 1 -c 5 -q -w r.pcap
	start_waiting
	wait_for entries_are 5 # and the pipe is still open
	exec 7>&-
	wait "${BG_PIDS[0]}"
	BG_PIDS=()
}

# Sets the times of a capture's packets: STEP ms apart, but for a gap of 204 s
# before the last.
spread() { # step
	python3 -c 'import struct, sys
data, out, at, step = sys.stdin.buffer.read(), sys.stdout.buffer, 24, int(sys.argv[1])
out.write(data[:at])
n = 0
while at < len(data):
    caplen = struct.unpack_from("<4I", data, at)[2]
    last = at + 16 + caplen == len(data)
    ms = n * step + (204000 if last else 0)
    out.write(struct.pack("<2I", 1700000000 + ms // 1000, ms % 1000 * 1000000))
    out.write(data[at + 8:at + 16 + caplen])
    at += 16 + caplen
    n += 1' "$1"
}

@test "a capture: partial batches wait for the flush time by its own stamps" {
	make_lists
	dta-gen uniform --kind append --lists 1 -c 1000 -q -w - | spread 40 >r.pcap
	dta-collect --region "$NAME" --ticket t.ini
	dta-translate -o ndjson -r r.pcap --ticket t.ini -w roce.pcap 2>ledger
	# Entries at 0, 40 and 80 ms, at 100 ms the batch.
	[ "$(counter ledger batches)" = 334 ]
	[ "$(counter ledger partial_batches)" = 334 ]
	dta-dump packets roce.pcap --ticket t.ini -o ndjson |
		jq -r 'select(.length == 8).time' >times
	[ "$(wc -l <times)" = 334 ]
	# The last batch ends with the capture.
	awk 'NR < 334 && ($1 - 1700000000 - (NR - 1) * 0.12 - 0.1) ^ 2 > 1e-9 { bad++ }
		END { exit bad > 0 }' times
	dta-collect -q -r roce.pcap --region "$NAME"
	dta-dump region "$NAME" --lists -o ndjson | jq -e '.written == 1000'
}

# times FILE OPTION...: of its packets.
times() {
	dta-dump packets "$@" -o ndjson | jq -r .time
}

@test "a RoCEv2 packet bears the time of the report that it comes from" {
	local workload

	# Two tables, of two copies, and with DART of one.
	printf '[flows]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 1Ki\n' >layout.ini
	printf '[hosts]\nkind = keyinc\nkey = src4\nslots = 1Ki\n' >>layout.ini
	dta-collect --create --layout layout.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen uniform -c 3000 --copies 2 --table 1 -q -w a.pcap
	dta-gen uniform -c 3000 --copies 2 --table 1 --seed 2 --rate 123457 -q -w b.pcap
	dta-gen marple-hosts-sum --flows 1000 --copies 2 --table 2 --rate 777777 -q -w c.pcap
	mergecap -F nsecpcap -w r.pcap a.pcap b.pcap c.pcap
	times r.pcap | sort >reports
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	times roce.pcap --ticket t.ini | sort >packets
	diff packets <(sed p reports)
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap -j 2
	diff <(times roce.pcap --ticket t.ini | sort) packets
	mergecap -F nsecpcap -w r.pcap a.pcap b.pcap
	times r.pcap >reports
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	diff <(times roce.pcap --ticket t.ini) <(sed p reports)
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap --dart
	diff <(times roce.pcap --ticket t.ini) reports
}

@test "what is gathered bears the time of the report that completed it" {
	make_region int-postcard
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen int-postcard --flows 2000 -q -w - | spread 1 >r.pcap
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	# A path's postcards follow each other, and its last one completes it.
	dta-dump packets r.pcap -o ndjson |
		jq -r 'select(.hop == .path_len - 1).time' >last
	[ "$(wc -l <last)" = 2000 ]
	diff <(times roce.pcap --ticket t.ini) <(sed p last)
}

# The most memory that a command had, in KB: regions that it maps included.
peak() { # command...
	python3 -c 'import resource, subprocess, sys
rc = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(rc)' "$@"
}

@test "memory: the region plus less than 64 MB, however long the input is" {
	make_region int-postcard
	region=$(($(dta-dump region "$NAME" --no-load -o ndjson |
		jq -s '.[0].size') / 1024))
	short=$(dta-gen int-postcard --flows 2000 -q -w - |
		peak dta-translate -q -r - -R "$NAME")
	long=$(dta-gen int-postcard --flows 400000 -q -w - |
		peak dta-translate -q -r - -R "$NAME")
	echo "region $region KB, short $short KB, long $long KB"
	[ "$long" -lt $((short + region + 8192)) ]
	# The sanitizers have memory of their own.
	[[ $BUILD == *-san ]] || [ "$long" -lt $((region + 65536)) ]
}

@test "RoCEv2 packets of a live pipe go out at once" {
	make_region uniform
	dta-collect --region "$NAME" --ticket ticket.ini
	dta-gen uniform -c 5 -q -w r.pcap
	mkfifo pipe
	bg dta-translate -q -r pipe --ticket ticket.ini -w roce.pcap
	exec 7>pipe
	cat r.pcap >&7
	# Five reports, two copies each, while the pipe is still open.
	arrived() { [ "$(dta-dump packets roce.pcap -o csv | wc -l)" = 11 ]; }
	wait_for arrived
	exec 7>&-
	wait "${BG_PIDS[0]}"
	BG_PIDS=()
}

@test "--verbs: with what it goes, and what is said where it cannot" {
	dta-gen uniform --flows 10 --count 10 -q -w few.pcap
	for wrong in "--region x" "--ticket t.ini" "-w x.pcap" "--to lo" "--ack-every 1"; do
		run -2 dta-translate -r few.pcap --verbs 10.0.0.1 $wrong
	done
	for address in :1 10.0.0.1:0 10.0.0.1:99999 10.0.0.1:x '[::1' '[::1]x' '[]:1'; do
		run dta-translate -q -r few.pcap --verbs "$address"
		echo "$output"
		[[ $status == 2 && $output == *"not ADDRESS, ADDRESS:PORT"* ||
			$status == 1 && $output == *"libibverbs"* ]]
	done
	# This network is nobody's (RFC 5737).
	run -1 dta-translate -q -r few.pcap --verbs 192.0.2.1
	echo "$output"
	[ "${#lines[@]}" = 1 ]
	[[ $output == "dta-translate: "* ]]
}

@test "--to: what nobody takes is told at the end, in each format" {
	wire_up own:nobody
	on_wire ip link set own down
	make_region int-path
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen int-path -q --flows 50 --count 50 -w few.pcap
	run -0 --separate-stderr on_wire dta-translate -r few.pcap --ticket t.ini --window 0 \
		--to own -o ndjson
	grep '^{' <<<"$stderr" | jq -es \
		'any(.stage == "interface" and .counter == "unsent" and .value >= 50)'
	run -0 --separate-stderr on_wire dta-translate -r few.pcap --ticket t.ini --window 0 \
		--to own
	[[ $stderr == *" packets could not be sent"* ]]
}

@test "--layout of a region that is there with other tables is refused; which one is said" {
	printf '[a]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 1K\n[b]\nkind = keyinc\nkey = src4\nslots = 1K\n' >l.ini
	dta-gen uniform -c 100 --table 1 -q -w r.pcap
	dta-translate -q -r r.pcap --layout l.ini --region "$NAME"
	dta-translate -q -r r.pcap --layout l.ini --region "$NAME"
	dta-dump digest "$NAME" -o csv >before
	sed '$s/1K/2K/' l.ini >big.ini
	for input in '-r r.pcap' '-i lo'; do
		run -1 --separate-stderr timeout 20 dta-translate $input \
			--layout big.ini --region "$NAME"
		[[ $stderr == *"$NAME: table b is not as the layout says: remove the region, or change the layout"* ]]
	done
	sed 's/^\[a\]/[c]/' l.ini >name.ini
	run -1 --separate-stderr dta-translate -r r.pcap --layout name.ini --region "$NAME"
	[[ $stderr == *"table a is not as the layout says"* ]]
	sed '6,$d' l.ini >few.ini
	run -1 --separate-stderr dta-translate -r r.pcap --layout few.ini --region "$NAME"
	[[ $stderr == *"has 2 tables, the layout 1"* ]]
	diff before <(dta-dump digest "$NAME" -o csv)
}
