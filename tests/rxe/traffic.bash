# SPDX-License-Identifier: BSD-2-Clause
# Reports for the tables of mix.ini, all primitives: load traffic

# mix COUNT FILE [OPTIONS]: up to COUNT reports for each table, in one capture;
# of real traffic, or of what the options of dta-gen say.
mix() {
	local count=$1 synthetic=(--flows "$1") traffic=("${@:3}")

	[ $# -gt 2 ] || traffic=(--from "$CAPTURE")
	# One header is enough.
	{
		reports int-path --table 1 "${traffic[@]}"
		reports uniform --table 2 --key-type u32 --value 100 \
			"${synthetic[@]}" | tail -c +25
		reports int-postcard --table 3 "${traffic[@]}" | tail -c +25
		reports netseer-loss --table 4 "${traffic[@]}" | tail -c +25
		reports turboflow --table 5 "${traffic[@]}" | tail -c +25
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
