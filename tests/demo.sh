#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# demo.sh BUILD_DIR: the suite in under a minute, on any machine. Makes reports,
# stores them by both roads, asks, and checks every answer against the truth.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/$1:$PATH
examples=$PWD/cmd/dta-collect/examples
dir=$(mktemp -d)
name=dta-test-$$-demo
trap 'for r in $name-a $name-b $name-events; do
	dta-collect --remove --region $r 2>/dev/null || :; done; rm -rf "$dir"' EXIT
cd "$dir"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '  $ %s\n' "$*" | sed "s/$name/demo/g"; eval "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say "1. A fabric's switches report the path of 20 000 flows (INT-MD, Key-Write)."
run "dta-gen int-path --flows 20000 --seed 7 --truth truth.csv -w reports.pcap"

say "2. A collector's memory, and the reports put into it: two copies of each."
cp "$examples"/*.ini .
run "dta-collect --create --layout int-path.ini --region $name-a"
run "dta-translate -r reports.pcap --region $name-a"

say "3. Ask it: which switches did these flows cross?"
flow=$(awk -F, 'NR > 1 && n < 3 { n++; printf "'"'%s' "'", $3 }' truth.csv)
run "dta-query keywrite --region $name-a $flow"

say "4. Ask about every flow, and compare with what was reported."
run "dta-query verify --region $name-a --truth truth.csv"

say "5. The same reports as RoCEv2 packets, which any RDMA NIC takes; here a software NIC does."
run "dta-collect --create --layout int-path.ini --region $name-b"
run "dta-collect --region $name-b --ticket ticket.ini"
run "dta-translate -r reports.pcap --ticket ticket.ini -w - | dta-collect --region $name-b -r -"
run "dta-dump digest $name-a"
run "dta-dump digest $name-b"
[ "$(dta-dump digest "$name-a" -o csv)" = "$(dta-dump digest "$name-b" -o csv)" ]
echo "  Two roads, one memory, byte for byte."

say "6. Packet losses as events in a list (NetSeer, Append)."
run "dta-collect --create --layout netseer-loss.ini --region $name-events"
run "dta-gen netseer-loss --count 1000 -w - | dta-translate -r - --region $name-events"
run "dta-query list --region $name-events --table losses --last 3"

say "Done. Next: man man/dta.7, then README.md's tour."
