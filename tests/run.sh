#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR: every unit test, then every bats file; closes with the
# plain line "N passed, N failed, N skipped".
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
export BUILD=$PWD/$build
passed=0 failed=0 skipped=0
tests/sweep.sh

for t in "$build"/tests/unit/test_*; do
	case $t in *.o | *.d) continue ;; esac
	[ -e "tests/unit/${t##*/}.c" ] || continue # a stale binary
	"$t"
	case $? in
	0) passed=$((passed + 1)); echo "ok ${t##*/}" ;;
	77) skipped=$((skipped + 1)); echo "skipped ${t##*/}" ;;
	*) failed=$((failed + 1)); echo "not ok ${t##*/}" ;;
	esac
done

tap=$(mktemp)
trap 'rm -f "$tap"' EXIT
suites=()
for d in tests/cli tests/faults tests/net tests/rxe; do
	ls $d/*.bats >/dev/null 2>&1 && suites+=("$d")
done
if [ ${#suites[@]} -gt 0 ]; then
	# A test that hangs fails; the slowest takes a tenth of this.
	BATS_TEST_TIMEOUT=600 bats --tap "${suites[@]}" | tee "$tap"
	[ "${PIPESTATUS[0]}" -le 1 ] || failed=$((failed + 1))
	grep -q '^1\.\.' "$tap" || failed=$((failed + 1))
	skipped=$((skipped + $(grep -c '^ok .* # skip' "$tap")))
	passed=$((passed + $(grep '^ok ' "$tap" | grep -vc ' # skip')))
	failed=$((failed + $(grep -c '^not ok ' "$tap")))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
