# SPDX-License-Identifier: BSD-2-Clause
# What p4/README.md says can be tried on a laptop, in a mount and a process namespace
# of its own, so that nothing of it stays.

load ../helpers
load ../net/net
load p4

setup() {
	need_p4 int_label
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# What a switch that has notifications leaves: a socket with its number.
teardown() { rm -f "/tmp/bmv2-$$"[12]-notifications.ipc; }

# The lines that are set in, of the chapter. The controller, the third job, ends when
# its rows have been shown. Switches have numbers that nobody else's have.
commands() {
	awk '/^## / { mine = /Try it on a laptop/ }
		mine && sub(/^    /, "") { print; blank = 0; next }
		mine && !blank++ { print "" }' "$TOP/p4/README.md" |
		sed "s/--device-id /&$$/" >all
	sed '/^cut /q' all
	echo "kill %3; wait %3"
	sed '1,/^cut /d' all
}

@test "the commands of p4/README.md: two switches, ports that are covered" {
	ln -s "$BUILD" build
	{
		echo "mkdir -p /run/netns && mount -t tmpfs none /run/netns"
		commands
	} >try
	grep -q simple_switch try
	# unshare blocks SIGTERM while it waits
	timeout -s KILL 200 unshare -m -p -f --kill-child --mount-proc \
		bash -e try >log 2>&1 || {
		cat try log
		return 1
	}
	[ "$(tail -n +2 ports | cut -d, -f2,3 | sort -u | xargs)" = "1,1 2,1" ]
	run ! grep -iE "error|invalid|unknown syntax" log
}
