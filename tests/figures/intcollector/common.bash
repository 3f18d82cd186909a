# SPDX-License-Identifier: BSD-2-Clause
# common.bash - what INTCollector's figures have in common. Section numbers are
# those of "INTCollector: A High-performance Collector for In-band Network
# Telemetry", CNSM 2018.
. "${BASH_SOURCE%/*}/../lib.sh"

flows_py=${BASH_SOURCE%/*}/flows.py

# reports FLOWS PACKETS HOPS BITMAP [OPTION...]: int.pcap, telemetry reports 0.5
# of a million packets a second; of all 9 fields BITMAP is 0xff00.
reports() {
	[ -e "plain-$1.pcap" ] || run "python3 $flows_py $1 $2 1000000 >plain-$1.pcap"
	run "dta-gen int --from plain-$1.pcap --format report --profile intcollector-0.5 --hops $3 --instructions $4 ${*:5} -q -w int.pcap"
}

# cpu COMMAND: seconds of CPU time, the least of three runs, without what it takes
# for one packet; the ledger is in the file ledger.
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
