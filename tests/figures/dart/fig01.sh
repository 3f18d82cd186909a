#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# CPU of a collector: cycles of a report, and cores for a data centre.
timed=1
. "${BASH_SOURCE%/*}/common.bash"

n=$(scaled 4000000 200000)
ghz=$(awk -F: '/^cpu MHz/ { print $2 / 1000; exit }' /proc/cpuinfo)

# cycles COMMAND: of its CPU time for each of n reports, the least of three.
cycles() {
	local TIMEFORMAT='%U %S'

	tell run "$1"
	for _ in 1 2 3; do
		{ time bash -c "$1" 2>/dev/null; } 2>&1
	done | awk -v n="$n" -v g="${ghz:-2.5}" '{ t = $1 + $2
		if (NR == 1 || t < m) m = t } END { print m * g * 1e9 / n }'
}

table 36 4M 1 stride=pow2
run dta-collect --region "$REGION" --ticket ticket.ini
run dta-gen uniform --flows "$n" --value 36 -q -w reports.pcap
run dta-translate -q -r reports.pcap --ticket ticket.ini -w roce.pcap
store=$(cycles "dta-translate -q -r reports.pcap --region $REGION")
place=$(cycles "dta-collect -q --region $REGION -r roce.pcap")

figure "DART Fig. 1b" "CPU cycles of a collector for a report"
axes "" "cycles a report" logy
while read -r scheme what count why; do
	paper "$scheme" "$what" "$count"
	row "${what/_/ }, $scheme" "$count" "-" "$why"
done <<-ROWS
	I/O sockets 5040 the paper's 504 billion for 100 million reports
	storage Kafka 57960 11.5 times the sockets, which come in addition
	I/O DPDK 140 the paper's 14 billion for 100 million reports
	storage Confluo 15960 114 times DPDK's
ROWS
point "I/O and storage" dta-translate "$store"
point "I/O and storage" dta-collect "$place"
row "a report from a file into memory" "-" "$(calc "$store")" "dta-translate in the place of switch and NIC: a packet of a file is read, checked and hashed, and its slot written"
row "an RDMA write from a file into memory" "0 (the NIC)" "$(calc "$place")" "dta-collect in the place of the NIC: checks the packet's iCRC and writes"
note "The paper's are means of reports of 64 and 128 bytes; ours have 36 bytes of data, N = 1, and packets come from a file, so that no driver is in them. Ours are CPU time by the clock rate that the kernel tells, $(calc "${ghz:-2.5}") GHz."

figure "DART Fig. 1a" "cores for the reports of a data centre"
axes "switches" "cores" logx logy
rate=3e6
for switches in 10 100 1000 10000 100000; do
	paper "DPDK, I/O only" $switches "$(calc "$switches * $rate * 140 / (${ghz:-2.5} * 1e9)")"
	point "dta-translate, with storage" $switches "$(calc "$switches * $rate * $store / (${ghz:-2.5} * 1e9)")"
done
row "10,000 switches" "thousands of cores" "$(calc "1e4 * $rate * $store / (${ghz:-2.5} * 1e9)")" "of the paper it is DPDK's I/O alone"
note "Both curves are the cycles above, at 3 million reports a second from each switch, which the paper (section 2) calls a few million; its own curves are by sampling rates that its text does not have."
