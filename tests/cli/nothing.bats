# SPDX-License-Identifier: BSD-2-Clause
# Nothing of what came was of use: exit 1, and what it probably was.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-no-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# fails TEXT COMMAND...: exit 1 with a message that says so, behind the ledger,
# which adds up.
fails() {
	local text=$1

	shift
	run -1 --separate-stderr "$@" -o ndjson
	echo "$*: $(grep -v '^{' <<<"$stderr")"
	balances - <<<"$stderr"
	[[ $stderr == *": nothing was stored: "*"$text"* ]]
}

make_region() { # workload
	dta-collect --create --layout "$EXAMPLES/$1.ini" --region "$NAME"
}

@test "dta-collect: reports, plain packets, another address, another ticket" {
	make_region uniform
	dta-gen uniform -q --count 50 -w reports.pcap
	fails "these are DTA reports: dta-translate first" \
		dta-collect --region "$NAME" -r reports.pcap
	[[ $stderr == *"reports.pcap: nothing"* ]]
	fails "no RoCEv2 packet" dta-collect --region "$NAME" -r "$CAPTURE"

	dta-collect --region "$NAME" --ticket here.ini
	dta-collect --region "$NAME" --ticket there.ini --ip 10.9.9.9
	dta-translate -q -r reports.pcap --ticket there.ini -w there.pcap
	fails "are for 10.9.9.9" dta-collect --region "$NAME" -r there.pcap
	dta-translate -q -r reports.pcap --ticket here.ini -w here.pcap
	fails "not from the translator" \
		dta-collect --region "$NAME" --peer-ip 10.8.8.8 -r here.pcap
	sed 's/^rkey.*/rkey = 0x1234/' here.ini >forged.ini
	dta-translate -q -r reports.pcap --ticket forged.ini -w forged.pcap
	fails "the ticket of another region" \
		dta-collect --region "$NAME" -r forged.pcap
}

@test "dta-translate: RoCEv2 packets, plain ones, another layout, DTA/0" {
	make_region uniform
	dta-gen uniform -q --count 50 -w reports.pcap
	dta-collect --region "$NAME" --ticket t.ini
	dta-translate -q -r reports.pcap --ticket t.ini -w roce.pcap
	fails "these are RoCEv2 packets, translated already: dta-collect" \
		dta-translate -r roce.pcap --region "$NAME"
	fails "no DTA report" dta-translate -r "$CAPTURE" --region "$NAME"
	dta-gen uniform -q --kind append --count 50 -w append.pcap
	fails "table 1 (keys) is keywrite, keys of" \
		dta-translate -r append.pcap --region "$NAME"
	dta-gen uniform -q --table 7 --count 50 -w seven.pcap
	fails "for table 7, and there is 1 keys" \
		dta-translate -r seven.pcap --region "$NAME"
	dta-gen uniform -q --value 8 --count 50 -w eight.pcap
	fails "values of 4, 0 hops; these reports are keywrite" \
		dta-translate -r eight.pcap --region "$NAME"
	dta-gen uniform -q --key-type u32 --count 50 -w flows.pcap
	fails "keys of 13 bytes, values of 4, 0 hops; these reports are keywrite, 4" \
		dta-translate -r flows.pcap --region "$NAME"
	dta-gen uniform -q --format dta0b --key-type u32 --count 50 -w old.pcap
	fails "say --format dta0a or dta0b" \
		dta-translate -r old.pcap --region "$NAME"
}

@test "traffic that its capture cut is not taken for damaged reports" {
	make_region uniform
	tshark -r "$CAPTURE" -Y udp -F nsecpcap -w - | editcap -F nsecpcap -s 50 - short.pcap
	fails "no DTA report (UDP to port 40040) is in it" \
		dta-translate -r short.pcap --region "$NAME"
}

# takes_none TEXT COMMAND...: the same of telemetry, of which no region is made.
takes_none() {
	local text=$1

	shift
	run -1 --separate-stderr "$@" -o ndjson
	echo "$*: $(grep -v '^{' <<<"$stderr")"
	[[ $stderr == *"${*: -1}: nothing was taken: "*"$text"* ]]
}

@test "int-collect, int-label-ctl: packets without telemetry, another profile" {
	dta-gen int -q -w md.pcap
	dta-gen int -q -F report -w reports.pcap
	takes_none "no INT, telemetry report or IOAM trace" int-collect -r "$CAPTURE"
	takes_none "another --profile" int-collect -p 0.5 -r md.pcap
	takes_none "another --profile or --report-port" \
		int-collect --report-port 6000 -r reports.pcap
	editcap -F nsecpcap -s 60 md.pcap cut.pcap
	takes_none "are cut short: capture whole packets" int-collect -r cut.pcap
	# Wrong INT among more of plain traffic.
	dta-gen int -q -c 200 -w wrong.pcap
	dta-gen uniform -q -c 300 -w plain.pcap
	mergecap -F nsecpcap -w mix.pcap plain.pcap wrong.pcap
	takes_none "200 of 500 frames are unknown_type: another --profile" \
		int-collect -p 1.0 -r mix.pcap
	takes_none "no INT, telemetry report" int-collect -p 1.0 -r plain.pcap
	takes_none "no packet with labels" int-label-ctl -r md.pcap
	# One that is taken is enough; none at all is none lost; a sink's packets
	# go on.
	head -c 24 md.pcap >none.pcap
	dta-gen int -q --flows 1 -c 1 -w one.pcap
	mergecap -F nsecpcap -w both.pcap "$CAPTURE" one.pcap
	int-collect -q -r both.pcap -R none
	int-collect -q -r none.pcap
	int-label-ctl -q -r none.pcap
	int-collect -q -r "$CAPTURE" -R none -w on.pcap
}

@test "one good report among others is enough, and no report at all is none lost" {
	make_region uniform
	dta-gen uniform -q --count 1 -w one.pcap
	dta-gen uniform -q --table 7 --count 50 -w seven.pcap
	mergecap -F pcap -w both.pcap seven.pcap one.pcap
	run -0 --separate-stderr dta-translate -q -r both.pcap --region "$NAME"
	[ "$stderr" = "dta-translate: both.pcap: 50 of 51 reports were not stored,\
 most as bad_table" ]
	run -0 --separate-stderr dta-translate -q -r one.pcap --region "$NAME"
	[ -z "$stderr" ]
	# Nothing was stored, and that is no error: it was interrupted.
	mkfifo live
	bg dta-translate -q -o ndjson -r live --region "$NAME"
	exec 7>live
	cat seven.pcap >&7
	obeys "${BG_PIDS[0]}" bg.log
	kill -INT "${BG_PIDS[0]}"
	wait "${BG_PIDS[0]}"
	exec 7>&-
	grep 'live: 50 of 50 reports were not stored, most as bad_table' bg.log
	head -c 24 one.pcap >none.pcap
	dta-translate -q -r none.pcap --region "$NAME"
	dta-collect -q -r none.pcap --region "$NAME"
}

@test "what was never acknowledged: said, though it counts as stored" {
	printf '[t]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 64Ki\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen uniform -q --count 200 --copies 1 -w r.pcap
	mkfifo frames answers
	exec 7<>frames 8<>answers
	# Half of it is taken; all of it fits the pipe.
	timeout 60 dta-collect -q -r - -w - --count 100 --region "$NAME" \
		<&7 >&8 3>&- 7>&- 8>&- &
	local collector=$!
	run -0 --separate-stderr timeout 60 dta-translate -r r.pcap \
		--ticket t.ini -w frames --answers answers --ack-every 8
	exec 7>&- 8>&-
	[[ $stderr == *"104 of 200 requests were never acknowledged"* ]]
	wait "$collector"
}

@test "dta-translate --layout makes the region, if there is none yet" {
	dta-gen uniform -q --count 50 --truth truth.csv -w r.pcap
	for i in 1 2; do
		dta-translate -q -r r.pcap --region "$NAME" \
			--layout "$EXAMPLES/uniform.ini"
	done
	dta-query verify --region "$NAME" --truth truth.csv -o ndjson |
		jq -e '.right == 50'
	run -2 --separate-stderr dta-translate -r r.pcap --ticket t --layout x -w y
	[[ $stderr == *"--layout needs --region"* ]]
	run -1 --separate-stderr dta-translate -r r.pcap --region "$NAME-no" \
		--layout nowhere.ini
	[[ $stderr == *nowhere.ini* ]]
}
