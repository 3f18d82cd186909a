# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# The benchmarks: what they measure is seen by make bench; here, that they clean
# up behind themselves.

load ../helpers

@test "a benchmark whose reader goes away leaves no region" {
	local bench

	cd "$BATS_TEST_TMPDIR"
	# No file above 300 MiB: they take smaller regions then.
	ulimit -f 307200
	for bench in query prefetch dart; do
		need_built tests/bench/bench_$bench
		run bash -c 'trap "" XFSZ
			sh -c "echo \$\$ >pid; exec \"\$0\"" "$1" | true
			echo "${PIPESTATUS[0]}"' _ "$BUILD/tests/bench/bench_$bench"
		echo "$bench: $output"
		[ "$output" = 141 ] # SIGPIPE
		run ! compgen -G "/dev/shm/dta-test-$(cat pid)-*"
		run ! compgen -G "/dev/hugepages/dta-test-$(cat pid)-*"
	done
}

@test "without the tests' packages it says what is missing" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	run -1 env "PATH=$BATS_TEST_TMPDIR/bin" "$(command -v bash)" \
		"$TOP/tests/bench/run.sh" build
	[ "$output" = "bench: jq is missing: make setup bench installs it" ]
}

@test "peers that are missing are not compiled" {
	cd "$BATS_TEST_TMPDIR"
	make -C "$TOP" -nB "B=$BATS_TEST_TMPDIR/b" \
		"$BATS_TEST_TMPDIR/b/tests/bench/peers/peers" >plan
	grep -q 'peers/redis\.c' plan
	echo "#include <uthash.h>" | gcc -E - >included 2>&1 ||
		run ! grep 'peers/uthash\.c' plan
}

# Without them, the program is there, but has nobody to be beside.
need_peers() {
	local package

	for package in libabsl-dev uthash-dev libglib2.0-dev liblmdb-dev \
		redis-server libhiredis-dev librocksdb-dev libsqlite3-dev; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' $package 2>/dev/null)" = \
			installed ] || skip "no $package: make bench-peers installs it"
	done
}

PEERS=$BUILD/tests/bench/peers/peers

@test "peers: a row for each, and the exact ones find what ours finds" {
	need_built tests/bench/peers/peers
	need_peers
	cd "$BATS_TEST_TMPDIR"
	mkdir stores
	timeout 120 "$PEERS" -d stores -n 3 -c 20k -o ndjson 1000 >rows
	jq -r .peer rows >names
	diff names - <<-'END'
		ours-N=1
		ours-N=2
		absl::flat_hash_map
		uthash
		GHashTable
		LMDB
		Redis
		RocksDB
		SQLite
	END
	# Answers are judged by the last value that a flow had, a thousand at least
	# of each peer; ours misses what the plan lets it miss, and so says found.
	[ "$(jq -s 'map(select(.flows == 1000 and .n == 3 and .updates_mps > 0 and
		.lookups_mps > 0 and .wrong == 0 and .why == null)) | length' rows)" = 9 ]
	# Sanitizers have a heap of their own, which does not tell.
	[[ $BUILD == *-san ]] || [ "$(jq -s 'map(.key_bytes > 17) | all' rows)" = true ]
	[ "$(jq -r 'select(.peer | startswith("ours")) | .pages' rows | grep -c .)" = 2 ]
	[ "$(jq -s 'map(select(.gives | startswith("exact")) | .found) |
		unique == [1]' rows)" = true ]
	[ "$(jq -s 'map(select(.gives | startswith("exact") | not)
		| select(.found > 0.98 and .found < 1)) | length' rows)" = 2 ]
	run ! compgen -G "/dev/shm/dta-test-*-bench-peers"
}

@test "peers: what is not measured says why" {
	need_built tests/bench/peers/peers
	cd "$BATS_TEST_TMPDIR"
	mkdir stores
	timeout 120 "$PEERS" -d stores -n 1 -c 16 --store-flows 100 -o ndjson 101 \
		>rows
	[ "$(jq -s length rows)" = 9 ]
	jq -r 'select(.updates_mps == null) | .why' rows >why
	grep -E 'is not installed$|^would take long: --store-flows 101$' why
	[ "$(wc -l <why)" -ge 4 ] # the stores
	# Tables for which there is not enough memory.
	[ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -lt 300000000 ] ||
		return 0
	timeout 120 "$PEERS" -d stores -n 1 -m 1T -o ndjson 4000M >rows
	[ "$(jq -s 'map(select(.updates_mps == null and .why != null)) |
		length' rows)" = 9 ]
}

@test "peers: needs a directory, and numbers" {
	need_built tests/bench/peers/peers
	run -2 "$PEERS" 1000
	run -2 "$PEERS" -d . 10x
}
