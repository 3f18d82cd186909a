# SPDX-License-Identifier: BSD-2-Clause
# Reports of every primitive for the tables of mix.ini: load traffic

TRACE=${TRACES:-$BATS_TEST_DIRNAME/../../../shared/traces}/real-mix.pcap

# mix COUNT FILE [ARGS of dta-gen]: COUNT reports for each table, in one
# capture; out of the real mix where it is there.
mix() {
	local count=$1 file=$2 workload table args traffic first=1

	shift 2
	traffic=(--flows "$count")
	[ ! -r "$TRACE" ] || traffic=(--from "$TRACE")
	while read -r workload table args; do
		[ "$workload" != uniform ] || set -- "$@" --flows "$count"
		# shellcheck disable=SC2086
		dta-gen "$workload" -T "$table" $args --count "$count" \
			$([ "$workload" = uniform ] || printf '%s ' "${traffic[@]}") \
			"$@" -q -w - | tail -c "+$first"
		first=25 # one header is enough
	done <<-END >"$file"
		int-path 1
		uniform 2 --key-type u32 --value 100 --flows $count
		int-postcard 3
		netseer-loss 4
		turboflow 5
	END
}
