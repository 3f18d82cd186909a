# SPDX-License-Identifier: BSD-2-Clause
# The benchmarks: what they measure is seen by make bench; here, that they clean
# up behind themselves.

load ../helpers

@test "a benchmark whose reader goes away leaves no region" {
	need_built tests/bench/bench_query
	cd "$BATS_TEST_TMPDIR"
	# No file above 64 MiB and a little: it takes the smaller region then.
	ulimit -f 70000
	run bash -c 'trap "" XFSZ
		sh -c "echo \$\$ >pid; exec \"\$0\"" "$1" | true
		echo "${PIPESTATUS[0]}"' _ "$BUILD/tests/bench/bench_query"
	echo "$output"
	[ "$output" = 141 ] # SIGPIPE
	run ! compgen -G "/dev/shm/dta-test-$(cat pid)-*"
	run ! compgen -G "/dev/hugepages/dta-test-$(cat pid)-*"
}
