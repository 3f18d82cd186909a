# SPDX-License-Identifier: BSD-2-Clause
# Bad input: every packet is stored or counted under its reason, nothing crashes
# or hangs, and the ledger adds up.

load ../helpers

setup() {
	need_tools mangle
	PATH=$TOOLS:$PATH
	NAME=dta-test-$$-hostile-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	dta-collect --remove --region "$NAME" 2>/dev/null || :
}

out_of() { sed -n 's/.* out=\([0-9]*\)$/\1/p' "$1"; }

prepare() { # workload
	dta-collect --create --layout "$EXAMPLES/$1.ini" --region "$NAME"
	dta-gen "$1" --seed 3 --count 20000 -q -w reports.pcap
}

# Reports over a bad link into the region; then RoCEv2 packets over one.
over_a_bad_link() { # workload
	prepare "$1"
	for seed in 1 2 3 4 5; do
		mangle -s $seed -l 0.1 -d 0.1 -f 0.5 -c 0.2 -r 0.1 \
			<reports.pcap >bad.pcap 2>told
		run -0 --separate-stderr dta-translate -o ndjson -r bad.pcap --region "$NAME"
		balances - "$(out_of told)" <<<"$stderr"
		dta-collect --region "$NAME" --ticket ticket.ini
		dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
		mangle -s $seed -l 0.01 -d 0.1 -f 0.2 -c 0.1 -r 0.01 \
			<roce.pcap >bad.pcap 2>told
		run -0 --separate-stderr dta-collect -o ndjson --region "$NAME" \
			-r bad.pcap -w answers.pcap
		balances - "$(out_of told)" <<<"$stderr"
	done
	dta-dump region "$NAME" -o ndjson >/dev/null
}

@test "Key-Write over a bad link" { over_a_bad_link int-path; }
@test "Postcarding over a bad link" { over_a_bad_link int-postcard; }
@test "Append over a bad link" { over_a_bad_link netseer-loss; }
@test "Key-Increment over a bad link" { over_a_bad_link marple-hosts-sum; }

@test "traffic that is no telemetry at all is foreign or malformed" {
	prepare uniform
	before=$(dta-dump digest "$NAME" -o csv)
	for capture in "${CAPTURES[@]}"; do
		n=$(packets_in "$capture")
		run -1 --separate-stderr dta-translate -o ndjson -r "$capture" \
			--region "$NAME"
		balances - "$n" <<<"$stderr"
		run -1 --separate-stderr dta-collect -o ndjson -r "$capture" \
			--region "$NAME"
		balances - "$n" <<<"$stderr"
		[ "$before" = "$(dta-dump digest "$NAME" -o csv)" ]
	done
}

@test "a flipped bit never reaches memory by RoCEv2: the iCRC sees it" {
	# An unreliable queue pair goes on after a packet that was refused.
	{ cat "$EXAMPLES/uniform.ini"; echo "qp = uc"; } >uc.ini
	dta-collect --create --layout uc.ini --region "$NAME"
	dta-gen uniform --seed 3 --count 20000 --copies 1 -q \
		--truth truth.csv -w reports.pcap
	dta-collect --region "$NAME" --ticket ticket.ini
	dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
	# Every packet has one bit flipped, of 82 bytes. Nothing covers those of
	# the source's MAC address and of the BTH's congestion byte: packets with
	# a flip in these 7 are as good as whole.
	mangle -s 9 -f 1 <roce.pcap >bad.pcap 2>/dev/null
	dta-collect -o ndjson --region "$NAME" -r bad.pcap 2>ledger
	balances ledger 20000
	value() { jq "select(.counter == \"$1\").value" ledger; }
	[ "$(value bad_icrc)" -gt 9000 ]
	executed=$(value executed)
	echo "executed: $executed"
	[ "$executed" -gt 1500 ] # 7 / 82 of all
	[ "$executed" -lt 1900 ]
	# Whatever is stored is what was reported, and nothing else is.
	run dta-query verify --region "$NAME" --truth truth.csv -o ndjson
	jq -e '.wrong == 0 and .ambiguous == 0' <<<"$output"
	jq -e --argjson n "$executed" '.right <= $n and .right > $n - 20' \
		<<<"$output"
	[ "$(dta-dump region "$NAME" -o ndjson | jq .used)" -le "$executed" ]
}

@test "a truncated capture: what came before is stored, then an error" {
	prepare uniform
	head -c 100000 reports.pcap >cut.pcap
	run -1 --separate-stderr dta-translate -o ndjson -r cut.pcap --region "$NAME"
	[[ $stderr == *cut.pcap* ]]
	balances - <<<"$stderr"
	grep '^{' <<<"$stderr" | jq -se 'map(select(.role == "done").value)[0] > 1000'
}

@test "not a capture, an empty file, another link type, a directory" {
	prepare uniform
	echo "this is not a capture, but a text of some length" >text
	: >empty
	printf '\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\x71\0\0\0' >sll.pcap
	for bad in text empty sll.pcap /dev missing; do
		run -1 --separate-stderr dta-translate -r $bad --region "$NAME"
		[[ $stderr == *"$bad"* && -z $output ]]
		run -1 --separate-stderr dta-collect -r $bad --region "$NAME"
		[[ $stderr == *"$bad"* ]]
	done
	run -1 --separate-stderr dta-translate -r sll.pcap --region "$NAME"
	[[ $stderr == *Ethernet* ]]
}

@test "no such region, a file that is no region, one that shrank, another version" {
	prepare uniform
	run -1 --separate-stderr dta-translate -r reports.pcap --region "$NAME-none"
	[[ $stderr == *"$NAME-none"* ]]
	path=$(dta-dump region "$NAME" --no-load -o ndjson | jq -r .path | head -n 1)
	cp "$path" "$BATS_TEST_TMPDIR/copy"
	printf '\x63' | dd of=copy bs=1 seek=12 conv=notrunc status=none
	run -1 --separate-stderr dta-dump region ./copy
	[[ $stderr == *version* ]]
	head -c 1000000 "$path" >short
	run -1 --separate-stderr dta-dump region ./short
	[[ $stderr == *shr* || $stderr == *cut* || $stderr == *short* ]]
	run -1 --separate-stderr dta-translate -r reports.pcap --region ./short
}

@test "a full disk is an error, in every program that writes" {
	prepare uniform
	dta-collect --region "$NAME" --ticket ticket.ini
	run -1 --separate-stderr dta-gen uniform --flows 100 -q -w /dev/full
	[[ $stderr == *"No space"* ]]
	run -1 --separate-stderr dta-translate -q -r reports.pcap --ticket ticket.ini -w /dev/full
	[[ $stderr == *"No space"* ]]
	run -1 --separate-stderr dta-collect --region "$NAME" --ticket /dev/full
	[[ $stderr == *"No space"* ]]
	run -1 --separate-stderr dta-collect --region "$NAME" --snapshot /dev/full
	[[ $stderr == *"No space"* ]]
}

@test "a closed pipe ends a pipeline without a word" {
	prepare uniform
	run --separate-stderr bash -c 'set -o pipefail
		dta-gen uniform --flows 1000000 -q -w - | head -c 1000 >/dev/null'
	[[ -z $stderr ]]
	run --separate-stderr bash -c 'dta-dump packets reports.pcap | head -n 1'
	[[ $status = 0 && -z $stderr ]]
}
