# SPDX-License-Identifier: BSD-2-Clause
# Helpers of the bats files: load ../helpers

bats_require_minimum_version 1.5.0

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
export BUILD=${BUILD:-$TOP/build} # absolute
PATH=$BUILD:$TOP/p4/tools:$PATH
TOOLS=$BUILD/tests/tools
EXAMPLES=$TOP/cmd/dta-collect/examples
BG_PIDS=()
# Pages of programs that tests run are not among those of this machine.
export DTA_LEDGERS=${BATS_RUN_TMPDIR:-/dev/shm}

# Captures of real traffic: ours; and real-mix.pcap, which make check-all takes,
# too, where it is.
CAPTURE=$TOP/tests/data/two-lines.pcap.gz
CAPTURES=("$CAPTURE")
more=${TRACES:-$TOP/../shared/traces}/real-mix.pcap
[ -z "${ALL:-}" ] || [ ! -r "$more" ] || CAPTURES+=("$more")

# need_built FILE...: of the build directory; says what builds them if not.
need_built() {
	local f san=

	[[ $BUILD != *-san ]] || san=' SAN=1'
	[[ $BUILD != *-tsan ]] || san=' SAN=thread'
	for f; do
		[ -x "$BUILD/$f" ] && continue
		echo "$BUILD/$f is not built: make$san ${BUILD##*/}/$f," \
			"or all by make$san check" >&2
		return 1
	done
}

# need_tools NAME...: those of tests/tools, which make alone does not build.
need_tools() { need_built "${@/#/tests/tools/}"; }

need_built dta-gen
[ "${BATS_SUITE_TEST_NUMBER:-}" != 1 ] || "$TOP/tests/sweep.sh"

# The programs that were built, by name.
programs() {
	local p

	for p in "$TOP"/cmd/*/main.c; do
		p=${p%/main.c}
		[ -x "$BUILD/${p##*/}" ] && echo "${p##*/}"
	done
}

# packets_in CAPTURE: as capinfos counts them.
packets_in() { capinfos -Mrc "$1" | sed -n 's/^Number of packets: *//p'; }

# size SMALL LARGE: how much a test does in make check, and in make check-all.
size() {
	if [ "${ALL:-}" ]; then echo "$2"; else echo "$1"; fi
}

# bg COMMAND...: runs it in the background; its output goes to bg.log.
bg() {
	"$@" >"$BATS_TEST_TMPDIR/bg.log" 2>&1 3>&- &
	BG_PIDS+=("$!")
}

# timeout sends SIGCONT behind its signal, which may undo the stop by which
# LeakSanitizer looks at a program that ends: that one then waits for ever. In
# the foreground it does not.
timeout() { command timeout --foreground "$@"; }
export -f timeout

# wait_for COMMAND...: until it succeeds, for a minute: a machine that has other
# things to do is slow.
wait_for() {
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || {
			echo "waited in vain for: $*" >&2
			return 1
		}
		sleep 0.05
	done
}

# obeys PID LOG: until all signals before have been heard: a program that runs on
# answers SIGUSR1, in NDJSON to that log, in the same turn as others, and reads no
# packets between.
obeys() {
	local before

	before=$(ledger "$2" | wc -l)
	kill -USR1 "$1"
	has_answered() { [ "$(ledger "$1" | wc -l)" -gt "$2" ]; }
	wait_for has_answered "$2" "$before"
}

# Ends what bg started, each by its own id. Call it from teardown.
end_bg() {
	local pid

	for pid in "${BG_PIDS[@]}"; do
		# One that a test stopped goes on; not one that ends: it would
		# disturb LeakSanitizer, which traces its threads then.
		! grep -qs '^State:.T' "/proc/$pid/status" || kill -CONT "$pid"
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	BG_PIDS=()
}

# Removes the regions whose names begin with a prefix: dta-test-PID-, of a process
# that lives as long as they do, so that tests/sweep.sh knows whose they are.
remove_regions() {
	local path

	[ -n "$1" ] || return 0 # of a test that was skipped: it has none
	[[ $1 == dta-test-[1-9]*-* ]] || return 1
	for path in /dev/shm/"$1"* /dev/hugepages/"$1"*; do
		[ -e "$path" ] || continue
		dta-collect --remove --region "${path##*/}" 2>/dev/null || :
	done
}

# make_regions LAYOUT [NAME...]: $NAME-NAME each; file and wire by default.
make_regions() {
	local layout=$1 r

	shift
	[ $# -gt 0 ] || set -- file wire
	for r; do
		dta-collect --create --layout "$layout" --region "$NAME-$r"
	done
}

# same_memory [REGION REGION]: their tables hold the same bytes; of those that
# make_regions makes by default.
same_memory() {
	local a b

	[ $# -gt 0 ] || set -- "$NAME-file" "$NAME-wire"
	a=$(dta-dump digest "$1" -o csv) && b=$(dta-dump digest "$2" -o csv) &&
		diff <(echo "$a") <(echo "$b")
}

# ledger LOG: the rows of NDJSON ledgers, as words: stage, counter, role, value. By
# sed, as tests ask for many: it begins to work ten times as fast as jq.
ledger() {
	sed -nE 's/^\{"stage":"([^"]*)","counter":"([^"]*)",'\
'"role":"([^"]*)","value":([0-9]+)\}$/\1 \2 \3 \4/p' "$1"
}

# counter [LOG] NAME [STAGE]: of the NDJSON ledger printed last in a log, or on
# standard input.
counter() {
	[ $# -gt 1 ] || set -- - "$1"
	ledger "$1" | awk -v name="$2" -v stage="${3:-}" \
		'$2 == name && (stage == "" || $1 == stage) { value = $4 }
		END { print value }'
}

# balances LOG [RECEIVED]: every stage of the NDJSON ledger printed last that has
# an "in" adds up, and so many came in. - is standard input.
balances() {
	ledger "$1" | awk -v received="${2:-}" '
		{ stage[$1 " " $2] = $1; role[$1 " " $2] = $3
			value[$1 " " $2] = $4 }
		END {
			for (c in stage) {
				n++
				if (role[c] == "in") {
					all += value[c]
					into[stage[c]] += value[c]
				} else if (role[c] ~ /^(done|loss|harmless)$/)
					out[stage[c]] += value[c]
				else
					bad += role[c] != "note"
			}
			for (s in into)
				bad += into[s] != out[s]
			exit !n || bad || (received != "" && all != received)
		}'
}
