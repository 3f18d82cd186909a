# SPDX-License-Identifier: BSD-2-Clause
# Flow control between reporters and translator: over pipes with a bad link in
# each, what is stored is what was sent, once and in order; or it is counted.

load ../helpers
load ../wire

setup() {
	need_tools mangle
	NAME=dta-test-$$-flow-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
	cat >append.ini <<-END
		[lists]
		id = 1
		kind = append
		value = 4
		lists = 4
		entries = 64Ki
		batch = 16
		sequence = strict
	END
	cat >keyinc.ini <<-END
		[sums]
		id = 1
		kind = keyinc
		key = flow4
		slots = 1Mi
		copies = 2
		sequence = strict
	END
	cat >keywrite.ini <<-END
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 64Ki
		sequence = strict
	END
}

teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

region() { dta-collect --create --layout "$1.ini" --region "$NAME"; }

# loop LINK REPORTER-OPTIONS...: a bad link each way; the translator's options
# are in TRANSLATE. Ledgers in gen and translate.
TRANSLATE=()
loop() {
	local link=$1

	shift
	rm -f ./*.fifo
	mkfifo {there,here}{1,2}.fifo
	# shellcheck disable=SC2086
	timeout 60 "$TOOLS/mangle" $link -s 5 <there1.fifo >there2.fifo \
		2>there 3>&- &
	BG_PIDS+=("$!")
	# shellcheck disable=SC2086
	timeout 60 "$TOOLS/mangle" $link -s 6 <here1.fifo >here2.fifo \
		2>here 3>&- &
	BG_PIDS+=("$!")
	timeout 60 dta-translate -o ndjson -r there2.fifo -R "$NAME" \
		--nacks here1.fifo "${TRANSLATE[@]}" 2>translate 3>&- &
	BG_PIDS+=("$!")
	local translate=$!
	timeout 60 dta-gen uniform --tracked -o ndjson -w there1.fifo \
		--nacks here2.fifo "$@" 2>gen
	wait "$translate"
	balances gen
	balances translate
}

verify() { dta-query verify --region "$NAME" --truth truth.csv; }

# all_there LOSS COUNT: exactly once, in order, whatever the link does.
all_there() {
	local kind

	for kind in append keyinc; do
		region $kind
		loop "-l $1 -d $1 -r $1" --kind $kind --lists 4 --flows 1000 \
			--count "$2" --wait --truth truth.csv
		[ "$(counter gen confirmed)" = "$2" ]
		[ "$(counter gen lost)" = 0 ]
		[ "$(counter translate stored)" = "$2" ]
		[ "$(counter translate lost_reports)" = 0 ]
		verify
		dta-collect --remove --region "$NAME"
	done
}

@test "a good link: nothing is sent twice" {
	all_there 0 20000
	[ "$(counter gen resent)" = 0 ]
	[ "$(counter translate repeated)" = 0 ]
	[ "$(counter translate nacks_sent)" = "$(counter gen probes)" ]
}

@test "0.1 % of packets lost, doubled, reordered each way: all is there" {
	all_there 0.001 20000
	[ "$(counter gen resent)" -gt 0 ]
}

@test "1 %: all is there" { all_there 0.01 20000; }
@test "10 %: all is there" { all_there 0.1 5000; }
@test "30 %: all is there" { all_there 0.3 1000; }

@test "flipped bits, cut packets: all is there" {
	region append
	loop "-l 0.01 -c 0.01" --kind append --lists 4 --count 10000 --wait \
		--truth truth.csv
	[ "$(counter translate malformed)" -gt 0 ]
	[ "$(counter translate stored)" = 10000 ]
	verify
}

# Reports that came are in order and none is twice: their numbers rise.
@test "beyond the window: stored + counted as lost = sent" {
	local loss
	region append
	for loss in 0.001 0.01 0.1 0.3; do
		loop "-l $loss -d $loss -r $loss" --kind append --lists 1 \
			--count 20000 --resend 8
		[ "$(counter translate lost_reports)" -gt 0 ]
		[ $(($(counter translate stored) + \
			$(counter translate lost_reports))) = 20000 ]
		[ $(($(counter gen confirmed) + $(counter gen lost))) = 20000 ]
		dta-query list --region "$NAME" -o ndjson 0 |
			tail -n "$(counter translate stored)" >entries
		jq -se 'map(.value) | length > 0 and . == (unique)' entries
	done
}

@test "a reporter that does not send again is given up at 16384 reports" {
	region keywrite
	dta-gen uniform --count 40000 --tracked -q -w all.pcap
	# the second is missing
	editcap -F nsecpcap all.pcap gap.pcap 2
	dta-translate -o ndjson -r gap.pcap -R "$NAME" --nacks n.pcap 2>translate
	# number 0, then those from 16385 on: a window behind which is number 1
	[ "$(counter translate stored)" = $((1 + 40000 - 16385)) ]
	[ "$(counter translate lost_reports)" = 16384 ]
	[ "$(counter translate out_of_order)" = $((16385 - 2)) ]
	# when the gap opened, and with every 64 reports after that
	[ "$(counter translate nacks_sent)" = $((1 + (16385 - 3) / 64)) ]
	[ "$(dta-dump packets n.pcap -o csv | grep -c ',nack,')" = \
		$((1 + (16385 - 3) / 64)) ]
	balances translate
}

@test "the limit on operations, tracked: all is there in the end" {
	region keyinc
	TRANSLATE=(--op-rate 100000)
	loop "" --kind keyinc --flows 1000 --count 10000 --wait --truth truth.csv
	[ "$(counter gen nacks_rate)" -gt 0 ]
	[ "$(counter gen backoffs)" -gt 0 ]
	[ "$(counter translate rate_limited)" -gt 0 ]
	[ "$(counter translate stored)" = 10000 ]
	verify
}

@test "the limit on operations, not tracked: by the packets' time, exactly" {
	region keywrite
	# a report each microsecond, a tenth of that allowed: 1000 + 9999 / 10
	dta-gen uniform --count 10000 -q -w r.pcap
	dta-translate -o ndjson -r r.pcap -R "$NAME" --op-rate 100000 \
		-t 1:copies=1 --nacks n.pcap 2>translate
	[ "$(counter translate stored)" = 1999 ]
	[ "$(counter translate rate_limited)" = 8001 ]
	[ "$(counter translate nacks_sent)" = 0 ]
	# two operations each: half of it
	dta-translate -o ndjson -r r.pcap -R "$NAME" --op-rate 100000 \
		-t 1:copies=2 2>translate
	[ "$(counter translate stored)" = 999 ]
	balances translate
}

@test "the limit on operations counts batches, not entries" {
	region append
	dta-gen uniform --kind append --lists 1 --count 16000 -q -w r.pcap
	# 16 ms, 16 entries a batch, two operations each: 2000 are needed
	dta-translate -o ndjson -r r.pcap -R "$NAME" --op-rate 100000 2>translate
	[ "$(counter translate ops)" -ge 2000 ]
	[ "$(counter translate stored)" = 16000 ]
	dta-translate -o ndjson -r r.pcap -R "$NAME" --op-rate 10000 2>translate
	# 100 + 160 in that time, and what one stage of 512 reports makes
	[ "$(counter translate ops)" -le $((100 + 160 + 64 + 2)) ]
	[ "$(counter translate rate_limited)" -gt 0 ]
	balances translate
}

@test "a translator that has ended is not waited for" {
	dta-gen uniform --count 1 -q -w empty.pcap
	editcap -F nsecpcap empty.pcap none.pcap 1
	run -0 --separate-stderr timeout 60 dta-gen uniform --count 5000 \
		--tracked --wait -o ndjson -w r.pcap --nacks none.pcap
	printf '%s\n' "$stderr" >gen
	[ "$(counter gen unconfirmed)" = 5000 ]
	[ "$(counter gen unanswered)" = 1 ]
	balances gen
	# they went out nevertheless
	run -0 dta-dump packets r.pcap -o csv
	[ "$(grep -c ',keywrite,' <<<"$output")" = 5000 ]
}

@test "NACKs from strangers, of nonsense, for others do not matter" {
	dta-gen uniform --count 200 -q -w r.pcap
	run -0 --separate-stderr dta-gen uniform --count 100 --tracked \
		-o ndjson -w out.pcap --nacks r.pcap
	printf '%s\n' "$stderr" >gen
	[ "$(counter gen not_nacks)" -gt 0 ]
	[ "$(counter gen confirmed)" = 0 ]
	balances gen
}

@test "an interface: a pace, and that it is interrupted" {
	wire_up t0:g0
	region keyinc
	# by ip: $! is not a shell's that runs a function
	ip netns exec "$WIRE" timeout --foreground 60 dta-translate -o ndjson \
		-i t0 -R "$NAME" 2>translate 3>&- &
	local translate=$!
	BG_PIDS+=("$translate")
	wait_for grep -q ": AF_" translate
	on_wire timeout --foreground 60 dta-gen uniform --kind keyinc --flows 500 \
		--count 3000 --tracked --rate 10000 --truth truth.csv \
		-i g0 --to-mac 02:00:00:00:00:02 >/dev/null 2>gen
	grep -q "confirmed *3000" gen
	verify
	on_wire timeout --preserve-status -s INT 1 dta-gen uniform --flows 500 \
		--count 1000000000 --tracked --rate 1000 -o ndjson -i g0 \
		--to-mac 02:00:00:00:00:02 2>gen
	grep '^{' gen >ledger
	# those of the time, and what may go at once after a pause of ours
	[ "$(counter ledger reports)" -le 1700 ]
	balances ledger
	kill "$translate"
	wait "$translate" || :
	grep '^{' translate >ledger
	balances ledger
}

@test "the immediate flag arrives at the collector, end to end" {
	region keywrite
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen uniform --count 10 -q --immediate -w r.pcap
	dta-translate -o ndjson -r r.pcap --ticket t.ini -w roce.pcap \
		-t 1:copies=1 2>translate
	[ "$(counter translate immediates)" = 10 ]
	dta-collect -q --region "$NAME" -r roce.pcap --notify -o csv >rows
	[ "$(sed 1d rows | wc -l)" = 10 ]
}

# An IPv6 report, its sum computed here; what tshark says of the answer.
@test "a NACK by IPv6 has the right sums and addresses" {
	region keywrite
	python3 - >six.pcap <<-'END'
		import struct, sys
		def sum16(b):
		    s = sum(struct.unpack('>%dH' % (len(b) // 2), b))
		    while s >> 16: s = (s & 0xffff) + (s >> 16)
		    return ~s & 0xffff
		out = sys.stdout.buffer
		out.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
		src = bytes.fromhex('fd' + '00' * 14 + '01')
		dst = bytes.fromhex('fd' + '00' * 14 + '02')
		for n in (7, 9):
		    dta = bytes.fromhex('11400d000001') + struct.pack('>H', n) + b'k' * 13 + b'vvvv'
		    if len(dta) % 2: pad = b'\0'
		    else: pad = b''
		    udp = struct.pack('>HHHH', 50000, 40040, 8 + len(dta), 0) + dta
		    c = sum16(src + dst + struct.pack('>II', len(udp), 17) + udp + pad)
		    udp = udp[:6] + struct.pack('>H', c) + udp[8:]
		    f = bytes.fromhex('020000000002' '020000000001' '86dd' '60000000')
		    f += struct.pack('>HBB', len(udp), 17, 64) + src + dst + udp
		    out.write(struct.pack('<IIII', n, 0, len(f), len(f)) + f)
	END
	dta-translate -o ndjson -r six.pcap -R "$NAME" --nacks n.pcap 2>translate
	[ "$(counter translate nacks_sent)" = 1 ]
	run -0 --separate-stderr tshark -r n.pcap -o udp.check_checksum:TRUE \
		-T fields -e eth.src -e eth.dst -e ipv6.src -e ipv6.dst \
		-e udp.dstport -e udp.checksum.status -e data.data
	[ "$output" = $'02:00:00:00:00:02\t02:00:00:00:00:01\tfd00::2\tfd00::1\t40044\t1\t1f00000100010007' ]
}
