# SPDX-License-Identifier: BSD-2-Clause
# common.bash - what DTA's figures have in common. Section numbers are those of
# "Direct Telemetry Access", SIGCOMM 2023.
. "${BASH_SOURCE%/*}/../lib.sh"

# table KIND LINE...: the region anew, with one table of flow4 keys, t.
table() {
	dta-collect --remove --region "$REGION" 2>/dev/null || true
	[ "$1" = append ] || set -- "$@" "key = flow4"
	run "printf '%s\\n' '[t]' 'kind = $1' $(printf "'%s' " "${@:2}")>t.ini
		dta-collect --create --layout t.ini --region $REGION"
}

# seconds COMMAND...: the least of three runs; the first one brings the memory.
seconds() {
	local i start

	for i in 1 2 3; do
		start=$EPOCHREALTIME
		"$@" >/dev/null
		echo "${EPOCHREALTIME/.}" "${start/.}"
	done | awk '{ t = ($1 - $2) / 1e6; if (NR == 1 || t < m) m = t }
		END { print m }'
}

# rate N COMMAND...: millions of N reports or keys a second.
rate() {
	tell run "${*:2}"
	calc "$1 / 1e6 / $(seconds "${@:2}")"
}

# counter NAME: of a ledger in NDJSON on stdin.
counter() { jq -s "map(select(.counter == \"$1\"))[0].value"; }
