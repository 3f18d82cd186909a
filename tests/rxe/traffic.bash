# SPDX-License-Identifier: BSD-2-Clause
# Reports for the tables of mix.ini, all primitives: load traffic

TRACE=${TRACES:-$BATS_TEST_DIRNAME/../../../shared/traces}/real-mix.pcap

# mix COUNT FILE: up to COUNT reports for each table, in one capture; out of
# the real mix where it is there.
mix() {
	local count=$1 synthetic=(--flows "$1") traffic

	traffic=("${synthetic[@]}")
	[ ! -r "$TRACE" ] || traffic=(--from "$TRACE")
	# One header is enough.
	{
		reports int-path -T 1 "${traffic[@]}"
		reports uniform -T 2 --key-type u32 --value 100 \
			"${synthetic[@]}" | tail -c +25
		reports int-postcard -T 3 "${traffic[@]}" | tail -c +25
		reports netseer-loss -T 4 "${traffic[@]}" | tail -c +25
		reports turboflow -T 5 "${traffic[@]}" | tail -c +25
	} >"$2"
}

reports() {
	dta-gen "$@" --count "$count" -q -w -
}

# tables REGION: what all tables of a region hold.
tables() {
	dta-dump digest "$1" -o csv
}

# filled: of digests on stdin none is of an empty table.
filled() {
	awk -F, 'NR > 1 && $4 == "00000000" { bad = 1 }
		END { exit bad || NR < 2 }'
}
