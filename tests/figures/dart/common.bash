# SPDX-License-Identifier: BSD-2-Clause
# common.bash - what DART's figures have in common. Section numbers are those of
# "Zero-CPU Collection with Direct Telemetry Access", HotNets 2021.
. "${BASH_SOURCE%/*}/../lib.sh"

# table VALUE SLOTS COPIES [WORD]: the region anew, with one table of flows.
table() {
	dta-collect --remove --region "$REGION" 2>/dev/null || true
	run "printf '%s\\n' '[flows]' kind=keywrite key=flow4 value=$1 slots=$2 copies=$3 ${4:-stride=packed} >layout.ini
		dta-collect --create --layout layout.ini --region $REGION"
}

# store FLOWS VALUE: so many keys, whose truth is in truth.csv.
store() {
	run "dta-gen uniform --flows $1 --value $2 -q --truth truth.csv -w - | dta-translate -q -r - --region $REGION"
}
