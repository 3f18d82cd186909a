# SPDX-License-Identifier: BSD-2-Clause
# Reporter, translator and collector in three network namespaces, live: what is
# left in memory is what the same reports leave there out of a capture.

load ../helpers
load net

setup() {
	need_net
	need_tools send six
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	end_bg
	net_down
	remove_regions "$NET"
}

# has_received PID LOG COUNT: whether its ledger says so, asked for just now.
has_received() {
	has_counted received "$@"
}

has_stored() { has_counted stored "$@"; }

has_counted() { # counter pid log count
	local lines

	lines=$(wc -l <"$3")
	kill -USR1 "$2"
	wait_for grew "$3" "$lines"
	[ "$(counter "$3" "$1")" = "$4" ]
}

grew() { [ "$(wc -l <"$1")" -gt "$2" ]; }

packets() { capinfos -cMTr "$1" | awk '{ print $NF }'; }

# What r does: sends the capture. A test may say otherwise.
report() { # capture
	on r "$TOOLS/send" "$1" r0 >sent
	grep -qx "sent $(packets "$1") dropped 0" sent
}

# live CAPTURE OPTIONS...: from r through t to c, with OPTIONS for all sources;
# COLLECT and TRANSLATE hold more of those for one of them.
live() {
	local capture=$1 n collect translate

	shift
	n=$(packets "$capture")
	dta-translate -q -r "$capture" --region "$NET-file"
	start c collect.log dta-collect -o ndjson --region "$NET-wire" \
		-i c0 --ticket ticket.ini "$@" "${COLLECT[@]}"
	collect=$PID
	wait_for listens collect.log
	# room for all, so that a busy machine's late answers lose none
	start t translate.log dta-translate -o ndjson -i t0 --to t1 \
		--window 131072 --ticket ticket.ini "$@" "${TRANSLATE[@]}"
	translate=$PID
	wait_for listens translate.log
	report "$capture"
	wait_for has_stored "$translate" translate.log "$n"
	stop "$translate" # writes what was waiting
	wait_for same_memory
	stop "$collect"
	balances translate.log
	balances collect.log
	run ! grep -h "dropped by the kernel" ./*.log
	[ -n "$OUTAGE" ] || run ! grep -h "could not be sent" ./*.log
	grep '^{' collect.log >c.ndjson
	# what was sent once more in vain is all that may be dropped
	[ "$(jq -s 'map(select(.role == "loss" and .counter != "out_of_order").value) | add' c.ndjson)" = 0 ]
	[ "$(counter translate.log acked)" = "$(counter translate.log requests)" ]
}

one_memory() { # workload kind options...
	local workload=$1 kind=$2

	shift 2
	# fewer than any source holds, so that a busy machine loses none
	net_up
	make_regions "$EXAMPLES/$workload.ini"
	dta-gen "$workload" --seed 7 --count 10000 -q -w reports.pcap
	live reports.pcap "$@"
	grep -q ": $kind\$" collect.log
	grep -q "dta-translate: t0: $kind$" translate.log
	grep -q "dta-translate: --to t1: $kind$" translate.log
}

need_xdp() {
	[ -e "$BUILD/lib/packet/xdp_src.o" ] || skip "built without libxdp"
}

@test "AF_PACKET: Key-Write" { one_memory uniform AF_PACKET --no-xdp; }
@test "AF_PACKET: postcards" { one_memory int-postcard AF_PACKET --no-xdp; }
@test "AF_PACKET: Append" { one_memory netseer-loss AF_PACKET --no-xdp; }
@test "AF_PACKET: Key-Increment" { one_memory marple-hosts AF_PACKET --no-xdp; }

@test "AF_XDP: Key-Write" {
	need_xdp
	one_memory uniform "AF_XDP copy" --xdp
}

@test "AF_XDP: postcards" {
	need_xdp
	one_memory int-postcard "AF_XDP copy" --xdp
}

@test "AF_XDP: Append" {
	need_xdp
	one_memory netseer-loss "AF_XDP copy" --xdp
}

@test "AF_XDP: Key-Increment" {
	need_xdp
	one_memory marple-hosts "AF_XDP copy" --xdp
}

@test "unasked, AF_XDP where the driver has it" {
	need_xdp
	one_memory uniform "AF_XDP copy"
}

# dta-gen in the place of the capture that it writes otherwise.
generated() { # workload kind option
	local workload=$1 kind=$2 how=$3

	report() {
		on r dta-gen "$workload" --seed 7 --count 5000 -i r0 \
			--to-mac 02:00:00:00:00:02 --rate 50000 -o ndjson \
			$how 2>gen.log
		grep -q "dta-gen: r0: $kind$" gen.log
		[ "$(counter gen.log unsent)" = 0 ]
		balances gen.log
	}
	net_up
	make_regions "$EXAMPLES/$workload.ini"
	dta-gen "$workload" --seed 7 --count 5000 --rate 50000 -q -w reports.pcap
	live reports.pcap "$how"
}

@test "dta-gen to dta-translate to dta-collect, AF_PACKET" {
	generated int-postcard AF_PACKET --no-xdp
}

@test "dta-gen to dta-translate to dta-collect, AF_XDP" {
	need_xdp
	generated marple-timeouts "AF_XDP copy" --xdp
}

# The link fails while tracked reports are under way: those that are lost are
# NACKed and sent again, and what is stored is what there would be without it.
outage() { # option
	local how=$1

	report() {
		start r gen.log dta-gen uniform --seed 7 --count 10000 -i r0 \
			--to-mac 02:00:00:00:00:02 --rate 10000 --tracked \
			--resend 10000 --wait -o ndjson "$how"
		local gen=$PID n
		for n in 500 2000; do
			wait_for has_stored_above "$translate" translate.log $n
			ip -n "$NET-t" link set t0 down
			ip -n "$NET-t" link set t0 up
		done
		wait "$gen"
		balances gen.log
	}
	OUTAGE=yes
	net_up
	sed 's/^copies = 2/&\nsequence = strict/' "$EXAMPLES/uniform.ini" >strict.ini
	make_regions strict.ini
	dta-gen uniform --seed 7 --count 10000 --rate 10000 --tracked -q \
		-w reports.pcap
	live reports.pcap "$@"
}

has_stored_above() { # pid log count
	kill -USR1 "$1"
	[ "$(counter "$2" stored)" -gt "$3" ] 2>/dev/null
}

@test "an outage: what was lost is sent again, AF_PACKET" { outage --no-xdp; }

@test "an outage: what was lost is sent again, AF_XDP" {
	need_xdp
	outage --xdp
}

# What an interface does not take is told, and so is what it took.
unsent() { # option
	net_up
	ip -n "$NET-r" link set r0 down
	on r dta-gen uniform --count 3000 -i r0 --to-mac 02:00:00:00:00:02 \
		-o ndjson "$1" 2>down.log
	ip -n "$NET-r" link set r0 up
	ip -n "$NET-t" link set t0 down
	on r dta-gen uniform --count 3000 -i r0 --to-mac 02:00:00:00:00:02 \
		-o ndjson "$1" 2>alone.log
	on r dta-gen int --count 300 -i r0 --to-mac 02:00:00:00:00:02 \
		-o ndjson "$1" 2>int.log
	on r dta-gen int --count 300 -i r0 --to-mac 02:00:00:00:00:02 \
		"$1" 2>text.log
	[ "$(counter down.log unsent)" = 3000 ]
	[ "$(counter alone.log unsent)" = 3000 ]
	[ "$(counter int.log unsent)" = "$(counter int.log frames)" ]
	grep -q 'dta-gen int: [0-9]* packets could not be sent$' text.log
	balances down.log
	balances alone.log
}

@test "an interface takes nothing: all is unsent, AF_PACKET" {
	unsent --no-xdp
}

@test "an interface takes nothing: all is unsent, AF_XDP" {
	need_xdp
	unsent --xdp
}

# A run without an end that is stopped: what it counts has been sent.
stopped() { # kind signal option
	local gen sent

	net_up
	make_regions "$EXAMPLES/uniform.ini"
	start t translate.log dta-translate -o ndjson -i t0 --no-xdp \
		--region "$NET-wire"
	wait_for listens translate.log
	local translate=$PID
	start r gen.log dta-gen uniform --rate 20000 -i r0 \
		--to-mac 02:00:00:00:00:02 -o ndjson "$3"
	gen=$PID
	wait_for has_stored_above "$translate" translate.log 2000
	kill -"$2" "$gen"
	wait "$gen"
	grep -q "dta-gen: r0: $1$" gen.log
	balances gen.log
	sent=$(counter gen.log reports)
	[ "$(counter gen.log unsent)" = 0 ]
	wait_for has_received "$translate" translate.log "$sent"
	stop "$translate"
}

@test "a signal ends it, and what was made is sent, AF_PACKET" {
	stopped AF_PACKET TERM --no-xdp
}

@test "a signal ends it, and what was made is sent, AF_XDP" {
	need_xdp
	stopped "AF_XDP copy" INT --xdp
}

@test "unasked, dta-gen and --to send by AF_XDP" {
	need_xdp
	generated uniform "AF_XDP copy"
	grep -q "dta-translate: --to t1: AF_XDP copy$" translate.log
}

@test "a filter expression: AF_PACKET, and only what it lets in" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --seed 7 --count 1000 -q -w reports.pcap
	start t translate.log dta-translate -o ndjson -i t0 \
		--region "$NET-wire" len "<" 60
	local small=$PID
	wait_for listens translate.log
	start t all.log dta-translate -o ndjson -i t0 --no-xdp \
		--region "$NET-wire" udp and dst host 10.0.0.51
	wait_for listens all.log
	grep -q "dta-translate: t0: AF_PACKET$" translate.log
	on r "$TOOLS/send" reports.pcap r0
	wait_for has_received "$PID" all.log 1000
	stop "$PID"
	# what came later has come, too; what is shorter than reports are
	has_received "$small" translate.log 0
	stop "$small"
}

@test "IPv6: reports and RoCEv2 packets, AF_PACKET" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --seed 7 --count 5000 -q -w four.pcap
	"$TOOLS/six" four.pcap reports.pcap
	COLLECT=(--ip 2001:db8::51 --peer-ip 2001:db8::101)
	live reports.pcap --no-xdp
	[ "$(counter translate.log stored)" = 5000 ]
}

@test "IPv6: reports and RoCEv2 packets, AF_XDP" {
	need_xdp
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --seed 7 --count 5000 -q -w four.pcap
	"$TOOLS/six" four.pcap reports.pcap
	COLLECT=(--ip 2001:db8::51 --peer-ip 2001:db8::101)
	live reports.pcap --xdp
	[ "$(counter translate.log stored)" = 5000 ]
}

@test "reports of the same host, whose checksums are not complete" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --count 1000 -q -w reports.pcap
	start t translate.log dta-translate -o ndjson -i t0 --no-xdp \
		--region "$NET-wire"
	wait_for listens translate.log
	by_socket reports.pcap 40040
	wait_for has_received "$PID" translate.log 1000
	stop "$PID"
	[ "$(counter translate.log stored)" = 1000 ]
	[ "$(counter translate.log partial_checksums)" = 1000 ]
}

down_and_up() { # options...
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --seed 7 --count 1000 -q -w reports.pcap
	start t translate.log dta-translate -o ndjson -i t0 "$@" \
		--region "$NET-wire"
	wait_for listens translate.log
	on r "$TOOLS/send" reports.pcap r0
	wait_for has_received "$PID" translate.log 1000
	ip -n "$NET-t" link set t0 down
	on r "$TOOLS/send" reports.pcap r0 >sent
	grep -qx "sent 1000 dropped 1000" sent
	ip -n "$NET-t" link set t0 up
	wait_for is_up
	on r "$TOOLS/send" reports.pcap r0 >sent
	grep -qx "sent 1000 dropped 0" sent
	wait_for has_received "$PID" translate.log 2000
	# and one that is gone ends it, by name
	ip -n "$NET-r" link del r0
	wait "$PID" || status=$?
	[ "$status" = 1 ]
	grep -q "dta-translate: t0: the interface was removed$" translate.log
	balances translate.log
}

is_up() { ip -n "$NET-r" link show r0 | grep -q LOWER_UP; }

@test "an interface goes down, comes back, and goes: AF_PACKET" {
	down_and_up --no-xdp
}

@test "an interface goes down, comes back, and goes: AF_XDP" {
	need_xdp
	down_and_up --xdp
}

# More than any ring holds while the translator does not read: what it
# received, and what the kernel says that it dropped, are what was sent.
too_much() { # packets options...
	local n=$1

	shift
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --seed 7 --count 1000 -q -w reports.pcap
	start t translate.log dta-translate -o ndjson -i t0 "$@" \
		--region "$NET-wire"
	wait_for listens translate.log
	kill -STOP "$PID"
	on r "$TOOLS/send" reports.pcap r0 "$n" >sent
	grep -qx "sent $n dropped 0" sent
	kill -CONT "$PID"
	wait_for is_all_read
	stop "$PID"
	balances translate.log
	[ "$(counter translate.log kernel_drops)" -gt 0 ]
	[ $(($(counter translate.log kernel_drops) +
		$(counter translate.log received))) = "$n" ]
	[ "$(counter translate.log unsent)" = 0 ]
}

# Two ledgers, one after the other, say the same.
is_all_read() {
	local before

	kill -USR1 "$PID"
	sleep 0.3
	before=$(counter translate.log received)
	has_received "$PID" translate.log "${before:-none}"
}

@test "more than can be read: received and dropped are what was sent, AF_PACKET" {
	too_much 400000 --no-xdp
}

@test "more than can be read: received and dropped are what was sent, AF_XDP" {
	need_xdp
	too_much 50000 --xdp
}

# The kernel hands over a block of the ring with whatever has come in some
# milliseconds; that few packets a block fill the ring soon must not lose any.
@test "a reader that pauses loses none of 200 packets, one at a time, AF_PACKET" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	start t translate.log dta-translate -o ndjson -i t0 --no-xdp \
		--region "$NET-wire"
	wait_for listens translate.log
	kill -STOP "$PID"
	on r dta-gen uniform --seed 7 --count 200 --rate 100 -q -i r0 \
		--to-mac 02:00:00:00:00:02 --no-xdp
	kill -CONT "$PID"
	wait_for has_received "$PID" translate.log 200
	stop "$PID"
	[ "$(counter translate.log kernel_drops)" = 0 ]
}

@test "one interface for all: reports, RoCEv2 packets, answers" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	dta-gen uniform --seed 7 --count 1000 -q -w reports.pcap
	dta-translate -q -r reports.pcap --region "$NET-file"
	start r collect.log dta-collect -o ndjson --region "$NET-wire" -i r0 \
		--ticket ticket.ini
	local collect=$PID kind=--no-xdp
	wait_for listens collect.log
	[ ! -e "$BUILD/lib/packet/xdp_src.o" ] || kind=--xdp
	start t translate.log dta-translate -o ndjson -i t0 $kind \
		--ticket ticket.ini --ack-every 8
	wait_for listens translate.log
	on r "$TOOLS/send" reports.pcap r0
	wait_for has_stored "$PID" translate.log 1000
	wait_for same_memory
	stop "$PID"
	stop "$collect"
	balances translate.log
	balances collect.log
	[ "$(counter collect.log acks)" -gt 0 ]
	[ "$(counter collect.log unsent)" = 0 ]
}

@test "no privileges: which one, and how to get it" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	chmod 666 "$(dta-dump region "$NET-wire" --no-load -o ndjson |
		jq -rs '.[0].path')"
	for tool in dta-translate dta-collect; do
		run -1 on t setpriv --reuid nobody --clear-groups \
			"$BUILD/$tool" -i t0 --region "$NET-wire"
		[[ $output == "$tool: t0: needs the capability CAP_NET_RAW: run as root, or setcap cap_net_raw+ep"* ]]
	done
}

@test "no privileges: dta-gen, too" {
	net_up
	run -1 on r setpriv --reuid nobody --clear-groups "$BUILD/dta-gen" \
		uniform -i r0 --to-mac 02:00:00:00:00:02
	[[ $output == "dta-gen: r0: needs the capability CAP_NET_RAW: "* ]]
	# one who was given the capability may
	on r setpriv --reuid nobody --regid nogroup --clear-groups \
		--inh-caps +net_raw --ambient-caps +net_raw \
		"$BUILD/dta-gen" uniform --count 5 -q -i r0 --no-xdp \
		--to-mac 02:00:00:00:00:02
}

# ticket OPTIONS...: that of a collector on c0.
ticket() {
	rm -f ticket.ini
	start c collect.log dta-collect --region "$NET-wire" -i c0 \
		--ticket ticket.ini "$@"
	wait_for listens collect.log
	stop "$PID"
}

has() { grep -qx "$1 = $2" ticket.ini; }

@test "a ticket of an interface has its addresses, or those that were given" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	local mac
	mac=$(on c cat /sys/class/net/c0/address)
	ticket
	has mac "$mac"
	has ip 10.0.0.51
	on c ip addr add 192.0.2.7/24 dev c0
	on c ip addr add 192.0.2.8/24 dev c0
	ticket
	has mac "$mac"
	has ip 192.0.2.7
	ticket --no-xdp --mac 02:00:00:00:00:77 --ip 10.0.0.52
	has mac 02:00:00:00:00:77
	has ip 10.0.0.52
	on c sh -c 'echo 0 >/proc/sys/net/ipv6/conf/c0/disable_ipv6'
	on c ip addr add 2001:db8::7/64 dev c0 nodad
	ticket --peer-ip 2001:db8::101
	has mac "$mac"
	has ip 2001:db8::7
	has peer_ip 2001:db8::101
}

@test "what is wrong is found before a program is attached" {
	net_up
	make_regions "$EXAMPLES/uniform.ini"
	echo junk >junk
	for options in "--ticket junk" "--ticket none" \
		"--region $NET-wire -t x:copies=1" "--cluster none"; do
		# shellcheck disable=SC2086
		run ! on t dta-translate -i t0 $options
		# a source says which kind it is once it is open
		[ "${#lines[@]}" = 1 ] || { echo "$output"; return 1; }
		[[ $output != *AF_* ]]
	done
}
