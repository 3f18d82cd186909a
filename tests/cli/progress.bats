# SPDX-License-Identifier: BSD-2-Clause
# The line that programs draw on a terminal while they work: of bytes that they
# are bytes, of packets how many there were.

load ../helpers

setup() {
	PATH=$PATH:$TOP/tests/tools
	NAME=dta-test-$$-progress-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	remove_regions "$NAME"
}

region() {
	dta-collect --create --region "$NAME" \
		--layout "$TOP/cmd/dta-collect/examples/int-path.ini"
	dta-gen int-path --flows 100000 -q -w reports.pcap # of 99 bytes each
	dta-collect --region "$NAME" --ticket ticket.ini
}

# drawn COLUMNS REGEX SLOWLY-ARGS...: at least two lines (kept in the file
# lines), all of which fit and are like that. After the last, it is empty.
drawn() {
	local columns=$1 regex=$2

	slowly.py -w "$columns" "${@:3}" >seen
	cat seen
	[ "$(tail -n 1 seen)" = 'status 0' ]
	grep -A 1 '[^$]\$$' seen | tail -n 1 | grep '^\$'
	grep '[^$]\$$' seen >lines
	[ "$(wc -l <lines)" -ge 2 ]
	run ! grep -vE "^${regex}\\\$\$" lines
	run ! grep -E ".{$((columns + 1))}" lines # with the dollar
}

n='[0-9.]+'

@test "packets and bytes of a capture, the share, the rate, the time left" {
	region
	drawn 80 "dta-translate: $n k packets, $n MiB of 9\.4 MiB \($n %\), $n k/s, $n s left" \
		5000000 dta-translate -r reports.pcap --ticket ticket.ini -w -
	# 100 k packets of 99 bytes: each thousand is a per cent. It only grows.
	tr -cs '0-9.\n' ' ' <lines | awk '
		{ mib = $1 * 99 / 1048.576; share = $1 }
		mib < $2 - 0.06 || mib > $2 + 0.06 || share < $4 - 0.6 ||
		share > $4 + 0.6 || $4 < last { print "line " NR; bad = 1 }
		{ last = $4 } END { exit bad }'
}

@test "of a pipe the end is not known; nor has a narrow terminal room for all" {
	region
	drawn 80 "dta-translate: $n k packets, $n [KM]iB, $n k/s" \
		-i reports.pcap 5000000 dta-translate -r - --region "$NAME"
	drawn 40 "dta-translate: $n k packets, $n [KM]iB" \
		-i reports.pcap 5000000 dta-translate -r - --region "$NAME"
	dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
	drawn 80 "dta-collect: $n k packets, $n [KM]iB, $n k/s" \
		-i roce.pcap 12000000 dta-collect -r - --region "$NAME"
	# Their reports are few, and yet it is seen that something goes on.
	drawn 80 "dta-gen: $n reports, $n [KM]iB, $n/s" \
		-i reports.pcap 5000000 dta-gen int-path --from - -w /dev/null
}

@test "of so many packets, flows, reports, bytes" {
	region
	drawn 80 "dta-translate: $n k of 90\.0 k packets \($n %\), $n k/s, $n s left" \
		-i reports.pcap 5000000 \
		dta-translate -r - --region "$NAME" --count 90000
	drawn 80 "dta-gen: $n k of 100 k flows \($n %\), $n k/s, $n s left" \
		3000000 dta-gen int-path --flows 100000 -w -
	drawn 80 "dta-gen: $n k of 100 k reports \($n %\), $n k/s, $n s left" \
		3000000 dta-gen int-path --count 100000 -w -
	drawn 80 "dta-collect: $n MiB of 40 MiB \($n %\), $n [KM]iB/s, $n s left" \
		600000 dta-collect --region "$NAME" --snapshot -
}

@test "no line where stderr is no terminal, nor with -q" {
	region
	run -0 slowly.py -i reports.pcap 5000000 \
		dta-translate -q -r - --region "$NAME"
	[ "$output" = 'status 0' ]
	run -0 slowly.py -i reports.pcap 5000000 \
		bash -c "dta-translate -r - --region '$NAME' 2>err"
	[ "$output" = 'status 0' ]
	run ! grep -q ' packets, ' err
}
