# SPDX-License-Identifier: BSD-2-Clause
# Helpers of the bats files: load ../helpers

bats_require_minimum_version 1.5.0

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
export BUILD=${BUILD:-$TOP/build} # absolute
PATH=$BUILD:$PATH
TOOLS=$BUILD/tests/tools
BG_PIDS=()

# need_built FILE...: of the build directory; says what builds them if not.
need_built() {
	local f san=

	[[ $BUILD != *-san ]] || san=' SAN=1'
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

# bg COMMAND...: runs it in the background; its output goes to bg.log.
bg() {
	"$@" >"$BATS_TEST_TMPDIR/bg.log" 2>&1 3>&- &
	BG_PIDS+=("$!")
}

# wait_for COMMAND...: until it succeeds, at most 10 seconds.
wait_for() {
	local i

	for ((i = 0; i < 200; i++)); do
		"$@" && return
		sleep 0.05
	done
	echo "waited in vain for: $*" >&2
	return 1
}

# Ends what bg started, each by its own id. Call it from teardown.
end_bg() {
	local pid

	for pid in "${BG_PIDS[@]}"; do
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
