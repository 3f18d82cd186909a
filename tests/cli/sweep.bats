# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# A run of tests that is killed leaves its regions behind, with names that tell
# whose they are: the next run removes them, and never those of a run that goes
# on, of this checkout or another.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir -p build checkout/tests/cli
	cp "$TOP"/tests/{run.sh,sweep.sh,helpers.bash} checkout/tests
	ln -s "$BUILD"/dta-* build
	ln -s "$PWD/build" checkout/build
	printf '[t]\nkind = keyinc\nkey = u32\nslots = 64\n' >layout.ini
	# A test that waits in the middle of its work, until it is told to go on.
	# (bats would take it for one of this file, were it not for the word.)
	sed 's/^A TEST/@test "x"/' >checkout/tests/cli/x.bats <<-EOT
		load ../helpers
		setup() { NAME=dta-test-\$\$-sweep; }
		teardown() { remove_regions "\$NAME"; }
		A TEST {
			dta-collect --create --layout $PWD/layout.ini --region "\$NAME"
			dta-collect --create --layout $PWD/layout.ini --region "\$NAME-2"
			echo "\$NAME" >"\$ROOM/name"
			wait_for [ -e "\$ROOM/go" ]
		}
	EOT
}

teardown() {
	local group

	for group in $(jobs -pr); do
		kill -9 -- "-$group"
		wait_for gone "$group"
	done
	"$TOP/tests/sweep.sh"
}

# begin ROOM COMMAND...: in a session of its own, without what bats told us,
# until its test has made its regions. Then NAME is their name, RUN its group.
begin() {
	mkdir "$1"
	env -i PATH="${PATH//"$BATS_LIBEXEC:"/}" TMPDIR="$PWD" \
		ROOM="$PWD/$1" setsid "${@:2}" \
		>"$1/log" 2>&1 3>&- &
	RUN=$!
	wait_for [ -s "$1/name" ] || { cat "$1/log"; return 1; }
	NAME=$(<"$1/name")
	[ -e "/dev/shm/$NAME" ]
	[ -e "/dev/shm/$NAME-2" ]
}

gone() { ! pgrep -g "$1" >/dev/null; }

@test "kill -9 in the middle of a run: the next one cleans up behind it" {
	local run dead alive living

	for run in checkout/tests/run.sh\ build 'bats checkout/tests/cli/x.bats'; do
		echo "$run"
		rm -rf dead alive next
		# shellcheck disable=SC2086
		begin alive $run
		alive=$NAME living=$RUN
		# shellcheck disable=SC2086
		begin dead $run
		dead=$NAME
		[ "$dead" != "$alive" ]
		kill -9 -- "-$RUN"
		wait_for gone "$RUN"
		# (Any other run that begins now sweeps, too.)
		# shellcheck disable=SC2086
		begin next $run
		[ ! -e "/dev/shm/$dead" ]
		[ ! -e "/dev/shm/$dead-2" ]
		[ -e "/dev/shm/$alive" ]
		[ -e "/dev/shm/$alive-2" ]
		touch next/go alive/go
		wait_for gone "$RUN"
		wait_for gone "$living"
		cat alive/log
		grep -q '^ok  *tests/cli/x.bats\|^ok 1 x\|^ ✓ x' alive/log
		[ ! -e "/dev/shm/$alive" ]
	done
}

@test "what is not a test's stays" {
	local dead f

	dead=$(bash -c 'echo $$')
	cd /dev/shm
	touch "dta-test-$dead-x" ".dta-test-$dead-x.$dead.new"
	touch "dta-test-$$-x" "dta-test-x-$dead-$$" "dta-test-$dead" "x-$dead-$$"
	"$TOP/tests/sweep.sh"
	[ ! -e "dta-test-$dead-x" ]
	[ ! -e ".dta-test-$dead-x.$dead.new" ]
	rm "dta-test-$$-x" "dta-test-x-$dead-$$" "dta-test-$dead" "x-$dead-$$"
}
