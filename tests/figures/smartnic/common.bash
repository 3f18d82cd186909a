# SPDX-License-Identifier: BSD-2-Clause
# common.bash - what the SmartNIC platform's figures have in common. Section
# numbers are those of "A SmartNIC-Accelerated Monitoring Platform for In-band
# Network Telemetry", LANMAN 2020.
. "${BASH_SOURCE%/*}/../lib.sh"

# What 1 to 4 instructions ask for: node, hop latency, queue, link utilization.
bitmap=(0 0x8000 0xa000 0xb000 0xb100)

# packets N HOPS INSTRUCTIONS [OPTION...]: int.pcap, as the paper's trace has them.
packets() {
	run dta-gen int --profile smartnic --hops "$2" --switches "$2" \
		--instructions "${bitmap[$3]}" -c "$1" "${@:4}" -q -w int.pcap
}

# cpu COMMAND: seconds of CPU time, the least of three runs, without what it takes
# for one packet; the ledger of the whole is in the file ledger.
cpu() {
	local TIMEFORMAT='%U %S'

	tell run "$1"
	for _ in 1 2 3; do
		{ time bash -c "$1 -c 1" >/dev/null 2>&1; } 2>&1
		{ time bash -c "$1" >/dev/null 2>ledger; } 2>&1
	done | awk '{ t = $1 + $2; i = NR % 2; if (NR < 3 || t < m[i]) m[i] = t }
		END { print (m[0] > m[1]) ? m[0] - m[1] : m[0] }'
}

# counter NAME: of the ledger.
counter() { jq -s "map(select(.counter == \"$1\"))[0].value" ledger; }
