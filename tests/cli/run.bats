# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# tests/run.sh counts what passed, failed, was skipped or never ran; on a small
# house of its own.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir -p tests/{rxe,faults,net,cli,unit} build/tests/unit
	cp "$TOP/tests/run.sh" tests/
	suite rxe '@test "a" { skip "no guest"; }'
	suite faults '@test "a" { echo "# a line" >&3; }'
	suite net '@test "a" { echo "all: $ALL"; [ "$ALL" = all ]; }'
	suite cli '@test "a" { true; }' '@test "b" { echo why; false; }'
	unit 0
}

suite() { # NAME LINE...
	printf '%s\n' "${@:2}" >"tests/$1/$1.bats"
}

unit() { # STATUS
	printf '#!/bin/sh\necho "test $*"\nexit %s\n' "$1" >build/tests/unit/test_$1
	chmod +x build/tests/unit/test_$1
	: >tests/unit/test_$1.c
}

runs() { # STATUS ARGS...: as if not under bats
	run -"$1" env -i PATH=/usr/local/bin:/usr/bin:/bin V="${V:-}" \
		${LIMIT:+LIMIT="$LIMIT"} \
		tests/run.sh build "${@:2}"
	echo "$output"
}

@test "a line for each file, failures whole, sums" {
	unit 77
	unit 1
	runs 1
	[ "${lines[-1]}" = "3 passed, 3 failed, 2 skipped" ]
	[[ $output == *"ok       tests/rxe/rxe.bats "*" 0 passed, 1 skipped: no guest"* ]]
	[[ $output == *"not ok   tests/cli/cli.bats "*" 1 passed, 1 failed"* ]]
	[[ $output == *"not ok 2 b in "*"# why"* ]]
	[[ $output == *"not ok   tests/unit/test_1 "*" 0 passed, 1 failed
test "* ]]
	[[ $output == *"ok       tests/unit/test_77 "*" 0 passed, 1 skipped: test "* ]]
	[[ $output != *"a line"* && $output != *$'\nok 1 a'* ]]
}

@test "at full size everything is told so; V=1: a line for each test" {
	suite cli '@test "a" { true; }'
	V=1 runs 0 all
	[ "${lines[-1]}" = "4 passed, 0 failed, 1 skipped" ]
	[[ $output == *"# a line"* && $output == *"test all"* ]]
	[ "$(grep -c '^ok 1 a in ' <<<"$output")" = 4 ]
}

@test "what is tagged full runs at full size, or alone" {
	suite rxe '# bats file_tags=full' '@test "long" { true; }'
	suite cli '@test "short" { true; }' '# bats test_tags=full' \
		'@test "longer" { true; }'
	rm tests/net/net.bats
	V=1 runs 0
	[ "${lines[-1]}" = "3 passed, 0 failed, 0 skipped" ]
	[[ $output != *long* && $output != *rxe* ]]
	V=1 runs 0 all
	[ "${lines[-1]}" = "5 passed, 0 failed, 0 skipped" ]
	V=1 runs 0 full
	[ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
	[[ $output == *long* && $output == *longer* && $output != *short* ]]
}

@test "what did not run has failed" {
	suite net 'setup_file() { false; }' '@test "a" { true; }' '@test "b" { true; }'
	suite cli '@test "a" {'
	runs 1
	[ "${lines[-1]}" = "2 passed, 3 failed, 1 skipped" ]
}

@test "what never ends is named, and killed" {
	suite net '@test "a" { python3 -c "import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(1234)" & }'
	LIMIT=3 runs 1
	[ "${lines[-1]}" = "4 passed, 3 failed, 1 skipped" ]
	[[ $output == *"still there after 3 s:"*"time.sleep(1234)"* ]]
	run ! pgrep -f 'time.sleep(1234)'
}

@test "a race of threads has failed, also in a program that is let go" {
	cat >race.c <<-'EOC'
		#include <pthread.h>

		static int shared;

		static void *add(void *arg)
		{
			shared++;
			return arg;
		}

		int main(void)
		{
			pthread_t t;

			if (pthread_create(&t, 0, add, 0))
				return 2;
			add(0);
			return pthread_join(t, 0);
		}
	EOC
	gcc -g -fsanitize=thread -o race race.c
	suite net "@test \"a\" { $PWD/race 2>/dev/null 3>&- & wait \$! || :; }"
	runs 1
	[ "${lines[-1]}" = "4 passed, 2 failed, 1 skipped" ]
	[[ $output == *"not ok   tests/net/net.bats "*" 1 passed, 1 failed
not ok: races in programs: 1, the first:"*" add /"*"/race.c:7 "* ]]
}
